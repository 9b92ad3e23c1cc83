/** The part of Node's `FileHandle` that uploads use, declared here so that the client does not import Node. */
import * as Predicate from "effect/Predicate"

/** A file that Node has open: what is used of its `FileHandle`. */
export interface FileHandle {
  readonly fd: number
  readonly stat: () => Promise<{ readonly size: number; readonly isFile: () => boolean }>
  readonly createReadStream: (
    options: { readonly start: number; readonly end?: number; readonly autoClose: boolean }
  ) => AsyncIterable<Uint8Array>
}

export const isFileHandle = (value: object): value is FileHandle =>
  Predicate.hasProperty(value, "fd") && Predicate.hasProperty(value, "createReadStream")

/** The bytes of a file from its beginning; `length` of them, or all. It remains open. */
export const readingOf = (file: FileHandle, length?: number): AsyncIterable<Uint8Array> =>
  file.createReadStream({ start: 0, ...(length === undefined ? {} : { end: length - 1 }), autoClose: false })
