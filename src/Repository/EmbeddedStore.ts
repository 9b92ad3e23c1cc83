/**
 * Keeps documents in a folder of this machine, or in memory, without a server: for development, tests, and programs that
 * run as one process.
 *
 * **Details**
 *
 * A write is acknowledged once it is on disk, and survives whatever happens to the process. Writes that wait at the same
 * time are brought to disk together. Reads go on in small steps, between which others run; a find or a stream of many
 * documents is therefore no snapshot, and may or may not show what is written meanwhile. One process at a time may have
 * a folder open.
 *
 * Filters, updates and pipelines are MongoDB's, evaluated by `mingo` with MongoDB's order of all BSON values. Indexes
 * serve equality, `$in`, ranges, and sorts with or without them; where documents have lists, an index finds values and
 * one bound of a range, and sorts nothing.
 *
 * **Gotchas**
 *
 * A folder's process is recognised by its number and, on Linux, the time it started. Processes that can't see each
 * other, such as those of two containers, are not kept apart. When the disk is full, writes fail with `StoreUnavailable`
 * and lmdb complains on standard error; a few free pages are needed to remove something.
 *
 * What is known to differ from MongoDB:
 *
 * - There is no `$where`, `$function`, `$accumulator`, `$text`, `$jsonSchema`, no geographic and no bitwise filter, no
 *   `$out`, `$merge` and `$documents`, no `$lookup` with a pipeline, no update by a pipeline, no array filter, no
 *   `$push`, `$addToSet` and `$pullAll` on a positional path, no positional projection, no collation. All of them fail
 *   with `Unsupported`; so do indexes other than ascending and descending ones.
 * - Regular expressions have RE2's syntax: neither look-around nor back references, and no option `x`. `$` matches at
 *   the very end only.
 * - Numbers lose their type: what is stored as a 64-bit integer or a double comes back as a `number`, and `$type` only
 *   tells `int` from `double`, and `long` where a `number` would not be exact.
 * - Expressions of pipelines and of `$expr` compute with doubles, pass over `Decimal128` values and over integers
 *   beyond the safe ones, and name BSON's own types in lower case. A stage that needs all its input at once, other than
 *   `$sort`, `$group` and those made of them, computes in one go, during which nothing else runs.
 * - Many documents change in several steps: when `updateMany` or `deleteMany` fails, earlier changes stay, as they do in
 *   MongoDB.
 * - A unique index that is being made already refuses duplicates, even if it fails later.
 * - A document in memory may be of any size.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { DocumentStore } from "./DocumentStore.ts"
import { Catalog } from "./internal/catalog.ts"
import { DocumentWriter } from "./internal/documentWriter.ts"
import { makeIndexing } from "./internal/embeddedIndexing.ts"
import { makeReading } from "./internal/embeddedRead.ts"
import { makeWriting } from "./internal/embeddedWrite.ts"
import type { KeyValue } from "./internal/keyValue.ts"
import * as keyValueLmdb from "./internal/keyValueLmdb.ts"
import * as keyValueMemory from "./internal/keyValueMemory.ts"
import type { StoreUnavailable } from "./RepositoryError.ts"

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
 * the folder can't be written to, or another process has it.
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
export const makeMemory: Effect.Effect<DocumentStore["Service"]> = Effect.orDie(
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
  store: KeyValue,
  place: string
): Effect.Effect<DocumentStore["Service"], StoreUnavailable> =>
  Effect.suspend(() => {
    const catalog = new Catalog(store)
    const writer = new DocumentWriter(store, catalog)
    return Effect.map(makeIndexing(store, catalog, writer), (indexing) =>
      DocumentStore.of({
        description: `the embedded store in ${place}`,
        ...makeReading(store, catalog),
        ...makeWriting(store, catalog, writer),
        ...indexing
      }))
  })
