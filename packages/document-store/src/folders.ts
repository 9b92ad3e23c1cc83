/**
 * Folders and files with exact permissions, which `fs.mkdirSync` leaves to the umask, for stores, keys and logs of programs
 * on Node. It may change in any version.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"

/** The permissions of what a process writes. */
export interface FileModes {
  readonly folder: number
  readonly file: number
  /** The permissions of others that are no surprise. */
  readonly expected: number
}

/** The permissions of the context. By default, only the owner reads the files. */
export const FileModes = Context.Reference<FileModes>("@appkernel/document-store/FileModes", {
  defaultValue: () => ({ folder: 0o700, file: 0o600, expected: 0 })
})

/**
 * Creates a folder and its parents, with these permissions whatever the umask; returns why it failed, or `undefined`.
 *
 * `fs.mkdirSync` with `recursive` loops forever where no folder can be created, as in /proc.
 */
export const makeFolder = (folder: string, mode: number): string | undefined =>
  problemOf(() => {
    ensureFolder(folder, mode)
    return undefined
  })

/** Creates an empty file with these permissions whatever the umask. One that is there stays as it is, and is not opened. */
export const makeFile = (file: string, mode: number): void => {
  // Who writes to it reports why that fails.
  Result.map(Result.try(() => fs.openSync(file, "wx", mode)), (descriptor) => {
    fs.fchmodSync(descriptor, mode)
    fs.closeSync(descriptor)
  })
}

/** The problem that a check returns, or the message of what it throws. */
export const problemOf = (check: () => string | undefined): string | undefined =>
  Result.getOrElse(
    Result.try({ try: check, catch: (cause) => cause instanceof Error ? cause.message : "it can't be used" }),
    (problem) => problem
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ensureFolder = (folder: string, mode: number): void => {
  const exists = () => fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const parent = path.dirname(folder)
  if (exists()) return
  if (parent !== folder) ensureFolder(parent, mode)
  const made = Result.try({
    try: () => {
      fs.mkdirSync(folder, { mode })
      fs.chmodSync(folder, mode)
    },
    catch: (cause) => cause
  })
  // Another process may have created it meanwhile.
  if (!exists()) Result.getOrThrowWith(made, (cause) => cause)
}
