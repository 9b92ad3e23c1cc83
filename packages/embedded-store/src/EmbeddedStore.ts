/**
 * A store of documents in a folder or in memory, without a server, for programs that run as one process.
 *
 * **Details**
 *
 * A write is acknowledged once it is on disk, and survives a crash of the process. Concurrent writes are flushed to disk
 * together (group commit). A read runs in small steps, and other work runs between them. Filters, updates and pipelines are
 * MongoDB's, with MongoDB's order of all BSON values. Transactions are serializable. One process at a time can open a folder.
 *
 * @since 0.1.0
 */
import { DocumentStore } from "@appkernel/document-store/DocumentStore"
import type { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Backup, Beside } from "./store/backup.ts"
import { loaded } from "./store/loaded.ts"
import type { Verification } from "./store/verify.ts"

export type { Backup } from "./store/backup.ts"
export type { CollectionVerification, LogVerification, Verification } from "./store/verify.ts"

/**
 * Options of {@link make} and {@link layerWith}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The folder, which is created if it is missing. A relative path is relative to the working directory of the process. */
  readonly path: string
  /**
   * The memory for decoded documents and index entries that are read again, in bytes. A quarter of it at most is for where
   * documents were found by their identifiers, eight bytes for each. Defaults to 32 MiB.
   */
  readonly cacheBytes?: number | undefined
}

/**
 * A store in a folder. When the scope closes, pending writes are completed first. Fails with `StoreUnavailable` when the
 * folder is not writable or its data file is damaged or truncated, or when another process holds its lock for five seconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options: Options
) => Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> = (options) =>
  Effect.flatMap(folders, ({ openFolder }) => openFolder(options))

/**
 * Reads a whole folder and checks its pages and the checksum of each document and index entry. It changes nothing, takes
 * about 2 seconds for each GB, and nobody may have the folder open meanwhile: fails with `StoreUnavailable` otherwise. Of a
 * {@link backup}, it checks the manifest as well.
 *
 * **Example** (Are the files as they were written?)
 *
 * ```ts
 * import * as EmbeddedStore from "@appkernel/embedded-store"
 * import { Effect } from "effect"
 *
 * const isSound = Effect.map(
 *   EmbeddedStore.verify({ path: "./data" }),
 *   ({ collections, problem }) =>
 *     problem === undefined && collections.every(({ damaged, missing }) => damaged.length === 0 && missing === 0)
 * )
 * ```
 *
 * @category verification
 * @since 0.1.0
 */
export const verify = (options: Options): Effect.Effect<Verification, StoreUnavailable> =>
  Effect.gen(function*() {
    const { verified, verify } = yield* backups
    // Nobody writes to a backup, which may be where nothing can be written.
    return (yield* verified(options.path)) ?? (yield* verify(options.path))
  })

/**
 * Copies a folder into a new one, while this process, another one or nobody has it open. The copy has the documents and
 * indexes of one moment, without the free space of the folder, and a file `manifest.json` with the {@link Backup}. It is
 * read and checked before it appears at its place. Fails with `StoreUnavailable` if something is there already, or the
 * folder is damaged.
 *
 * **Example** (A backup every night)
 *
 * ```ts check
 * import * as EmbeddedStore from "@appkernel/embedded-store"
 * import { DateTime, Effect, Schedule } from "effect"
 *
 * const backup = Effect.gen(function*() {
 *   const day = DateTime.formatIsoDate(yield* DateTime.now)
 *   yield* EmbeddedStore.backup({ path: "./data", to: `./backups/${day}` })
 * })
 *
 * export const nightly = Effect.schedule(backup, Schedule.cron("0 3 * * *"))
 * ```
 *
 * @category backups
 * @since 0.1.0
 */
export const backup = (
  options: Options & {
    /** The folder to make. */
    readonly to: string
    /** Copies what belongs to the documents. @internal */
    readonly beside?: Beside | undefined
  }
): Effect.Effect<Backup, StoreUnavailable> =>
  Effect.flatMap(backups, ({ backup }) => backup(options.path, options.to, options.beside))

/**
 * Makes a folder of a {@link backup}, which is read and checked, beside its place, and moves it there. Fails with
 * `StoreUnavailable` if the folder is there and not empty, or the backup is damaged. With `replace`, the folder that is
 * there is kept under the name of the result's `replaced`, and fails if somebody has it open.
 *
 * @category backups
 * @since 0.1.0
 */
export const restore = (
  options: Options & {
    /** The folder of the backup. */
    readonly from: string
    /** Whether the folder may be there already. Defaults to false. */
    readonly replace?: boolean | undefined
    /** Copies what belongs to the documents. @internal */
    readonly beside?: Beside | undefined
  }
): Effect.Effect<Pick<Backup, "collections"> & { readonly replaced?: string }, StoreUnavailable> =>
  Effect.flatMap(
    backups,
    ({ restore }) => restore({ ...options, folder: options.path, replace: options.replace === true })
  )

/**
 * A store in memory, which ends with the process. All reads of a document return the same frozen object.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<DocumentStore["Service"], never, Scope.Scope> = Effect.suspend(() =>
  Effect.flatMap(memories, ({ openMemory }) => openMemory)
)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<DocumentStore, StoreUnavailable> =>
  Layer.effect(DocumentStore, make(options))

/**
 * {@link makeMemory} as a layer, for tests and benchmarks.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<DocumentStore> = Layer.effect(DocumentStore, makeMemory)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// LMDB and the query language are loaded by programs that use them, and by no others.
const folders = loaded(() => import("./store/folder.ts"))
const backups = loaded(() => import("./store/backup.ts"))
const memories = Effect.promise(() => import("./store/memory.ts"))
