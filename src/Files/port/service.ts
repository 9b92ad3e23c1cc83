/** The port between those who need the bytes of files and the stores that keep them. `FileStore` exports it. */
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { FileMissing, FileStoreFailed, FileTooLarge } from "./errors.ts"

/**
 * What a store says of the bytes that it has put.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stored {
  /** The identifier, which the store has made: random, and fit for a path and an address. */
  readonly id: string
  /** In bytes. */
  readonly size: number
  /** The checksum of the bytes, in hexadecimal digits. */
  readonly sha256: string
}

/**
 * What a store knows of bytes without reading them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  readonly id: string
  /** In bytes. */
  readonly size: number
  /** When the last of the bytes was written. */
  readonly modified: DateTime.Utc
}

/**
 * A part of a file, in bytes. What is behind the file's end is left out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Range {
  readonly offset: number
  readonly length: number
}

/**
 * Keeps the bytes of files. They never change: other bytes have another identifier.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service {
  /** A description for logs: `files in ./data/files`. Contains no credentials. */
  readonly description: string
  /**
   * Reads a content to its end and keeps it. It is durable once the effect succeeds, if the store is. Fails with
   * `FileTooLarge` as soon as the content is longer than `maxSize` bytes. With `id`, it is a copy of what another store has under
   * this identifier; otherwise the store makes a new one. What a failure or an interruption leaves is nothing
   * that {@link read} finds: it is removed, or {@link entries} has it.
   */
  readonly put: <E, R>(
    content: Stream.Stream<Uint8Array, E, R>,
    options?: { readonly maxSize?: number | undefined; readonly id?: string | undefined }
  ) => Effect.Effect<Stored, E | FileTooLarge | FileStoreFailed, R>
  /** The bytes, or those of a range. They are read as the stream is pulled. */
  readonly read: (id: string, range?: Range) => Stream.Stream<Uint8Array, FileMissing | FileStoreFailed>
  /** The size, and the time of the last byte. */
  readonly stat: (id: string) => Effect.Effect<Omit<Entry, "id">, FileMissing | FileStoreFailed>
  /** Removes bytes. Those that are not there are no failure. */
  readonly remove: (ids: ReadonlyArray<string>) => Effect.Effect<void, FileStoreFailed>
  /** All that is there, in no particular order, contents included that are being written or were not completed. */
  readonly entries: Stream.Stream<Entry, FileStoreFailed>
  /**
   * Asks all processes to remove nothing until the scope closes: see {@link isHeld}. A hold of a process that was killed ends
   * within two minutes.
   */
  readonly hold: Effect.Effect<void, FileStoreFailed, Scope.Scope>
  /**
   * Whether somebody has asked for a {@link hold}. Who removes the bytes of documents asks this after the documents are gone.
   */
  readonly isHeld: Effect.Effect<boolean, FileStoreFailed>
}
