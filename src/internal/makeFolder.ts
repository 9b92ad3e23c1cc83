import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Makes a folder and those above it, and says why it couldn't.
 *
 * Node's own way to make all folders of a path never ends where nothing can be made, as in /proc.
 *
 * @internal
 */
export const makeFolder = (folder: string): string | undefined =>
  problemOf(() => {
    ensureFolder(folder)
    return undefined
  })

/**
 * What somebody found to be wrong, or what was thrown meanwhile.
 *
 * @internal
 */
export const problemOf = (look: () => string | undefined): string | undefined =>
  Result.getOrElse(
    Result.try({ try: look, catch: (cause) => cause instanceof Error ? cause.message : "it can't be used" }),
    (problem) => problem
  )

const ensureFolder = (folder: string): void => {
  const isThere = () => fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const parent = path.dirname(folder)
  if (isThere()) return
  if (parent !== folder) ensureFolder(parent)
  const made = Result.try({ try: () => fs.mkdirSync(folder), catch: (cause) => cause })
  // Another process may have made it meanwhile.
  if (!isThere()) Result.getOrThrowWith(made, (cause) => cause)
}
