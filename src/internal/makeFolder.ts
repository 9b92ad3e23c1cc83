import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Creates a folder and its parents; returns why it failed, or `undefined`.
 *
 * `fs.mkdirSync` with `recursive` loops forever where no folder can be created, as in /proc.
 */
export const makeFolder = (folder: string): string | undefined =>
  problemOf(() => {
    ensureFolder(folder)
    return undefined
  })

/** The problem that a check returns, or the message of what it throws. */
export const problemOf = (check: () => string | undefined): string | undefined =>
  Result.getOrElse(
    Result.try({ try: check, catch: (cause) => cause instanceof Error ? cause.message : "it can't be used" }),
    (problem) => problem
  )

const ensureFolder = (folder: string): void => {
  const exists = () => fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const parent = path.dirname(folder)
  if (exists()) return
  if (parent !== folder) ensureFolder(parent)
  const made = Result.try({ try: () => fs.mkdirSync(folder), catch: (cause) => cause })
  // Another process may have created it meanwhile.
  if (!exists()) Result.getOrThrowWith(made, (cause) => cause)
}
