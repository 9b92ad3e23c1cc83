/**
 * Keeps documents in a folder of this machine, or in memory, without a server: for development, tests, and programs that
 * run as one process.
 *
 * **Details**
 *
 * A write is acknowledged once it is on disk, and survives whatever happens to the process. Writes that wait at the same
 * time are brought to disk together. Reads go on in small steps, between which others run; a find or a stream of many
 * documents is therefore no snapshot, and may or may not show what is written meanwhile. Without a sort, documents that no
 * index was asked for come in the order in which they were inserted. One process at a time may have a folder open.
 *
 * A stream has no more than 128 documents in memory at a time, and what was read before them until it is collected: of a
 * million documents of 250 bytes it takes less than 200 MB of the process's own memory. Pages of the store's file that were
 * read are mapped into the process, too, and some tools count them as its memory; the system takes them back whenever it
 * needs them.
 *
 * Filters, updates and pipelines are MongoDB's, evaluated by `mingo` with MongoDB's order of all BSON values. Indexes
 * serve equality, `$in`, ranges, plain beginnings of texts (`/^Ann/`), and sorts with or without them; where documents
 * have lists, an index finds values and one bound of a range, and sorts nothing. A partial index serves what asks for no
 * more than it holds. Expired documents are removed every minute, and when the store is opened.
 *
 * A text index holds the words of its fields in lower case and without diacritics, taken apart by Unicode's rules, and by
 * all that is no letter, digit, mark or underscore. `$text` has words, phrases and excluded words, and `$meta: "textScore"`
 * sorts by MongoDB's score, or projects it.
 *
 * Transactions are serializable: the outcome is as if they had run one after the other. A transaction reads a snapshot of
 * what was committed when it began, and keeps what it writes in memory until it is written in one go. It runs again when
 * others have meanwhile written a document that it has read by its identifier, or one that came into, or left, the range of
 * an index, or the collection, that it has searched; one that only reads never does. Those that have to run again go
 * one after the other. After three times one of them has the store for itself, for a second at most, while other writers
 * wait; after 30 seconds it fails with a retryable `StoreUnavailable`. What others replace while a transaction is open is
 * kept in memory; one that is open for so long that this takes some hundred megabytes has to run again.
 *
 * **Gotchas**
 *
 * The operating system locks the file `owner.lock` of a folder for the process that has it open, and unlocks it when the
 * process ends, however it ends. So a process that was killed keeps nobody out, and two containers with one volume are kept
 * apart. Whoever wants a folder waits five seconds for it. `owner.lock` is empty, stays in the folder, and may be copied
 * with it; a process that opens and closes it itself, to copy it for instance, gives up its own lock. Folders need a file
 * system with locks (`fcntl`), which lmdb needs, too. Up to Node 22, Node prints that its SQLite, which locks the file, is
 * experimental.
 *
 * When the files of an open folder are removed, moved or replaced, the log says so within a second, and writes fail with
 * `StoreUnavailable` until they are back; reads go on. Files that are overwritten in place are not noticed.
 *
 * When the disk is full, writes fail with `StoreUnavailable` and lmdb complains on standard error; a few free pages are
 * needed to remove something.
 *
 * What is known to differ from MongoDB:
 *
 * - There is no `$where`, `$function`, `$accumulator`, `$jsonSchema`, no geographic and no bitwise filter, no
 *   `$out`, `$merge` and `$documents`, no `$lookup` with a pipeline, no update by a pipeline, no
 *   `$push`, `$addToSet` and `$pullAll` on a path with `$`, no path that makes a nested document called like something
 *   that every JavaScript object has (`constructor`, `toString`), no positional projection, no collation. All of them fail
 *   with `Unsupported`; so do geographic, hashed and wildcard indexes, text indexes with other fields, and a schema
 *   for all documents of a collection.
 * - A text index knows no language: it leaves out no words, and takes none for the same because of their stem, as
 *   MongoDB's do with the language `none`. It doesn't matter what a document's `language` is.
 * - Regular expressions have RE2's syntax: neither look-around nor back references, and no option `x`. `$` matches at
 *   the very end only. One that is long and counts far (`(…){500}`) is refused. `$range` gives a million numbers at most.
 * - Numbers lose their type: what is stored as a 64-bit integer or a double comes back as a `number`, and `$type` only
 *   tells `int` from `double`, and `long` where a `number` would not be exact.
 * - Expressions of pipelines and of `$expr` compute with doubles, pass over `Decimal128` values and over integers
 *   beyond the safe ones, and name BSON's own types in lower case.
 * - A pipeline and its stages are refused when they ask for too much, as MongoDB's are: when a document, or a value that
 *   is computed for one, has more than 16 MiB; when what stages have to keep takes more than 100 MiB of memory, all of
 *   them together; with more than 1000 stages. So is a `find` that computes more than 100 MiB of fields, or
 *   sorts more than that without an index; of the first 8,192 documents in an order only as many are kept. Other than
 *   MongoDB, it also refuses an expression that has too much to compute for one document: what takes more than some 50
 *   milliseconds, such as `$map` over a hundred thousand items. Nothing else can run meanwhile.
 * - There is no `$setWindowFields`, and no granularity of `$bucketAuto`. `$densify` and `$fill` refuse more than 50,000
 *   documents.
 * - Many documents change in several steps: when `updateMany` or `deleteMany` fails, earlier changes stay, as they do in
 *   MongoDB.
 * - A unique index that is being made already refuses duplicates, even if it fails later.
 * - A read whose index is dropped meanwhile fails with a retryable `StoreUnavailable`, as MongoDB's do, at once.
 * - A document in memory may be of any size.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { DocumentStore } from "./DocumentStore.ts"
import { Catalog } from "./embedded/catalog/catalog.ts"
import { DocumentWriter } from "./embedded/operations/documentWriter.ts"
import { makeIndexing } from "./embedded/operations/indexBuild.ts"
import { makeReading } from "./embedded/operations/reads.ts"
import { makeExpiry } from "./embedded/operations/ttl.ts"
import { makeWriting } from "./embedded/operations/writes.ts"
import { makeGate, makePolicy } from "./embedded/transaction/optimisticTransaction.ts"
import { makeVersions } from "./embedded/transaction/snapshots.ts"
import type { StoreUnavailable } from "./RepositoryError.ts"
import * as keyValueLmdb from "./storage/lmdb/store.ts"
import * as keyValueMemory from "./storage/memory/store.ts"
import type { SteppedKeyValue } from "./storage/orderedStore.ts"
import { makeTransactional } from "./store/transactionRunner.ts"

/**
 * Options of {@link make} and {@link layerWith}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The folder, which is made when it isn't there. A relative one is relative to where the process was started. */
  readonly path: string
}

/**
 * The options as configuration: `appkernel.embedded.path`, in the environment `APPKERNEL_EMBEDDED_PATH`. Defaults to
 * `./data`.
 *
 * @category models
 * @since 0.1.0
 */
export const config: Config.Config<Options> = Config.all({
  path: Config.String("PATH").pipe(Config.withDefault("./data"))
}).pipe(Config.nested("EMBEDDED"), Config.nested("APPKERNEL"))

/**
 * A store in a folder. When the scope closes, it first finishes what it is writing. Fails with `StoreUnavailable` when
 * the folder can't be written to, or when another process has had it for five seconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options: Options
) => Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> = (options) =>
  Effect.flatMap(keyValueLmdb.make(options.path), (store) => fromKeyValue(store, `folder ${store.description}`))

/**
 * A store that is gone with the process. All reads of a document give the same frozen object.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<DocumentStore["Service"], never, Scope.Scope> = Effect.orDie(
  Effect.flatMap(keyValueMemory.make, (store) => fromKeyValue(store, "memory"))
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
 * {@link make} as a layer, with the options of {@link config}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<DocumentStore, StoreUnavailable | Config.ConfigError> = Layer.effect(
  DocumentStore,
  Effect.gen(function*() {
    return yield* make(yield* config)
  })
)

/**
 * {@link makeMemory} as a layer, for tests and benchmarks.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<DocumentStore> = Layer.effect(DocumentStore, makeMemory)

// internal

const fromKeyValue = (
  store: SteppedKeyValue,
  place: string
): Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const versions = makeVersions(store)
    const gate = makeGate(versions.store)
    const { store: gated } = gate
    const catalog = new Catalog(gated)
    const writer = new DocumentWriter(gated, catalog)
    const indexing = yield* makeIndexing(gated, catalog, writer, yield* makeExpiry(gated, catalog, writer))
    const { operations, outside, transaction } = makeTransactional(
      { ...makeReading(gated, catalog), ...makeWriting(gated, catalog, writer) },
      makePolicy(versions, gate, catalog)
    )
    return DocumentStore.of({
      description: `the embedded store in ${place}`,
      ...operations,
      transaction,
      ...outside(indexing)
    })
  })
