/**
 * A store of documents in a folder or in memory, without a server: for development, tests, and programs that run as one
 * process.
 *
 * **Details**
 *
 * A write is acknowledged once it is on disk, and survives a crash of the process. Concurrent writes are flushed to disk
 * together (group commit). A read runs in small steps, and other work runs between them. So a find or a stream over many
 * documents is not a snapshot, and may or may not see concurrent writes. An aggregation reads a snapshot of the last commit
 * before it began, of all its collections. Without a sort and without an index, documents are returned in the order of their
 * insertion. One process at a time can open a folder.
 *
 * A stream holds at most 128 documents in memory, besides those that are not yet garbage-collected: a stream of a million
 * documents of 250 bytes uses less than 200 MB of the process's own memory. Pages of the store's file that were read are
 * mapped into the process as well, and some tools count them as its memory. The operating system reclaims them on demand.
 *
 * Filters, updates and pipelines are MongoDB's, with MongoDB's order of all BSON values. Indexes serve
 * equality, `$in`, ranges, prefixes of texts (`/^Ann/`), and sorts with or without them. In an index on lists, a query uses
 * values and one bound of a range, and no sort. A partial index serves queries whose filter implies the filter of the index.
 * Expired documents are removed every minute, and when the store is opened.
 *
 * A text index has the words of its fields in lower case and without diacritics. Words are separated by Unicode's rules, and
 * by every character that is not a letter, digit, mark or underscore. `$text` supports words, phrases and excluded words, and
 * `$meta: "textScore"` sorts by MongoDB's score, or projects it.
 *
 * Transactions are serializable: their outcome equals that of some serial execution. A transaction reads a snapshot of the
 * last commit before it began, and buffers its writes in memory until it commits. It conflicts when another writer has
 * changed a document that it has read by its identifier, or a document that entered or left an index range, or a collection,
 * that it has searched. A read-only transaction never conflicts. Conflicting transactions are retried one at a time. After
 * three attempts a transaction runs exclusively, for one second at most, while other writers wait. After 30 seconds it fails
 * with a retryable `StoreUnavailable`. Values that are replaced while a transaction or an aggregation is open are retained in
 * memory. When they exceed 256 MiB, the oldest transactions are aborted and retried, and the oldest aggregations continue with
 * the last commit.
 *
 * **Gotchas**
 *
 * The process that opens a folder locks its file `owner.lock`. The operating system releases the lock when the process ends,
 * even if it is killed. The lock also excludes containers that share a volume. An opening process waits five seconds for the
 * lock. `owner.lock` is empty, is never removed, and may be copied with the folder. A process that opens and closes the file
 * itself, to copy it for instance, releases its own lock. The file system has to support locks (`fcntl`), which lmdb requires
 * as well. Up to Node 22, Node warns that its SQLite module, which locks the file, is experimental.
 *
 * When the files of an open folder are removed, moved or replaced, the store logs it within a second, and writes fail with
 * `StoreUnavailable` until the files are restored. Reads continue. Files that are overwritten in place are not detected.
 *
 * When the disk is full, writes fail with `StoreUnavailable`, and lmdb prints an error. A delete needs a few free pages, too.
 *
 * Known differences from MongoDB, besides what `docs/reference/embedded-store.md` lists as unsupported, which fails with `Unsupported`:
 *
 * - A text index has no language: it has no stop words and no stemming, like MongoDB's with the language `none`. The
 *   `language` of a document has no effect.
 * - Regular expressions have RE2's syntax: no look-around and no back references. `$` matches only at the very end. A long
 *   expression with a large repetition (`(…){500}`) is rejected, and so is a large one for a text of many thousand
 *   characters. `$range` returns a million numbers at most.
 * - Pipelines are rejected at limits, as MongoDB's are: a document or a computed value over 16 MiB, more than 100 MiB of memory
 *   for all stages together, more than 1000 stages. A `find` is rejected when it computes more than 100 MiB of fields, or sorts
 *   more than that without an index; of the first 8,192 documents in an order, only as many are retained. Unlike MongoDB, an
 *   expression that takes more than some 50 milliseconds for one document is rejected, such as `$map` over a hundred thousand
 *   elements, because nothing else can run in that time.
 * - `updateMany` and `deleteMany` change many documents in several steps. When one fails, earlier changes are not undone, as in
 *   MongoDB.
 * - A unique index rejects duplicates while it is being built, even if the build fails later.
 * - When an index is dropped while it is read, the read fails immediately with a retryable `StoreUnavailable`, as in MongoDB.
 * - The size of a document in memory is not limited.
 *
 * @since 0.1.0
 */
import * as Store from "@appkernel/embedded-store"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { configOf, configOr } from "../internal/configurationKeys.ts"
import { withFileModes } from "../internal/fileModes.ts"
import { refuseWorkers } from "../internal/worker.ts"
import { DocumentStore } from "./DocumentStore.ts"
import type { FoundFiles } from "./files/folderFiles.ts"
import type { ReadError, StoreUnavailable } from "./RepositoryError.ts"

export type { Backup, CollectionVerification, LogVerification, Options, Verification } from "@appkernel/embedded-store"
export { verify } from "@appkernel/embedded-store"
export type { FoundFiles } from "./files/folderFiles.ts"

/**
 * The options as configuration: `appkernel.embedded.path`, which defaults to `./data`, and `appkernel.cache.records`, a number
 * of bytes or a size such as `64 MiB`; in the environment `APPKERNEL_EMBEDDED_PATH` and `APPKERNEL_CACHE_RECORDS`.
 *
 * @category models
 * @since 0.1.0
 */
export const config: Config.Config<Store.Options> = Config.all({
  path: configOf("embedded.path"),
  cacheBytes: configOr("cache.records", undefined)
})

/**
 * A store in a folder. When the scope closes, pending writes are completed first. Fails with `StoreUnavailable` when the
 * folder is not writable or its data file is damaged or truncated, or when another process holds its lock for five seconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Store.Options): Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> =>
  Effect.andThen(refuseWorkers, withFileModes(Store.make(options)))

/**
 * Copies a folder into a new one, while this process, another one or nobody has it open. The copy has the documents and
 * indexes of one moment, without the free space of the folder, their files, and a file `manifest.json` with the {@link Backup}. It is
 * read and checked before it appears at its place. Fails with `StoreUnavailable` if something is there already, or the
 * folder is damaged.
 *
 * **Example** (A backup every night)
 *
 * ```ts check
 * import { EmbeddedStore } from "appkernel"
 * import { DateTime, Effect, Schedule } from "effect"
 *
 * const backup = Effect.gen(function*() {
 *   const day = DateTime.formatIsoDate(yield* DateTime.now)
 *   const { path } = yield* EmbeddedStore.config
 *   yield* EmbeddedStore.backup({ path, to: `./backups/${day}` })
 * })
 *
 * export const nightly = Effect.schedule(backup, Schedule.cron("0 3 * * *"))
 * ```
 *
 * @category backups
 * @since 0.1.0
 */
export const backup = (
  options: Store.Options & {
    /** The folder to make. */
    readonly to: string
  }
): Effect.Effect<Store.Backup, StoreUnavailable> =>
  // Held before the documents are copied, so that no file is removed that they refer to.
  Effect.scoped(Effect.flatMap(folderFiles, ({ copyFolderFiles, holdFiles }) =>
    Effect.andThen(holdFiles(options.path), withFileModes(Store.backup({ ...options, beside: copyFolderFiles })))))

/**
 * Copies the documents of a folder as {@link backup} does, without their files.
 *
 * @internal
 */
export const backupDocuments = (options: Parameters<typeof backup>[0]): Effect.Effect<Store.Backup, StoreUnavailable> =>
  withFileModes(Store.backup(options))

/**
 * Makes a folder of a {@link backup}, which is read and checked, beside its place, and moves it there. Fails with
 * `StoreUnavailable` if the folder is there and not empty, or the backup is damaged. With `replace`, the folder that is
 * there is kept under the name of the result's `replaced`, and fails if somebody has it open.
 *
 * @category backups
 * @since 0.1.0
 */
export const restore = (
  options: Store.Options & {
    /** The folder of the backup. */
    readonly from: string
    /** Whether the folder may be there already. Defaults to false. */
    readonly replace?: boolean | undefined
  }
): Effect.Effect<Pick<Store.Backup, "collections"> & { readonly replaced?: string }, StoreUnavailable> =>
  Effect.flatMap(
    folderFiles,
    ({ copyFolderFiles }) => withFileModes(Store.restore({ ...options, beside: copyFolderFiles }))
  )

/**
 * Reads all files that the documents of a folder, or of a {@link backup}, refer to, and compares their checksums. This process must not
 * have the folder open.
 *
 * @category verification
 * @since 0.1.0
 */
export const verifyFiles = (options: Pick<Store.Options, "path">): Effect.Effect<FoundFiles, ReadError> =>
  Effect.flatMap(folderFiles, ({ foundInFolder }) => foundInFolder(options.path))

/** Copies the files that belong to the documents of a store that was copied. @internal */
export const copyFiles = (
  from: DocumentStore["Service"],
  to: DocumentStore["Service"]
): Effect.Effect<{ readonly files: number; readonly missing: number }, ReadError> =>
  Effect.flatMap(folderFiles, ({ copyDocumentFiles }) => copyDocumentFiles(from, to))

/**
 * A store in memory, which ends with the process. All reads of a document return the same frozen object.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<DocumentStore["Service"], never, Scope.Scope> = Effect.andThen(
  refuseWorkers,
  Store.makeMemory
)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Store.Options): Layer.Layer<DocumentStore, StoreUnavailable> =>
  Layer.effect(DocumentStore, make(options))

/**
 * {@link make} as a layer, with the options of {@link config}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<DocumentStore, StoreUnavailable | Config.ConfigError> = Layer.effect(
  DocumentStore,
  Effect.flatMap(Effect.suspend(() => config), make)
)

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

const folderFiles = Effect.promise(() => import("./files/folderFiles.ts"))
