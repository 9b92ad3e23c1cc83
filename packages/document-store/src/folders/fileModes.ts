/**
 * The permissions of files and folders that a process writes, as a setting that stores and log files take from the
 * context.
 */
import * as Context from "effect/Context"

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
