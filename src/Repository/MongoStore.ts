/**
 * Keeps documents in MongoDB, through its official driver.
 *
 * **Details**
 *
 * Read preference, read and write concern are the connection string's. Where it says nothing, reads go to the primary,
 * writes are acknowledged by the majority, and the driver repeats both once when a connection breaks. An interrupted
 * read closes its cursor and its connection, which makes the server stop. The credentials never appear in an error, a
 * log or a span.
 *
 * **Gotchas**
 *
 * `undefined` in a stored document leaves its key out; in a filter or a pipeline it means `null`.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { UpdateResult as DriverUpdateResult } from "mongodb"
import {
  type Document,
  DocumentStore,
  type Filter,
  type FindOptions,
  type IndexDescription,
  type InsertManyResult,
  type UpdateResult
} from "./DocumentStore.ts"
import * as mongo from "./internal/mongo.ts"
import { parseAddress } from "./internal/mongoAddress.ts"
import { conflictOf, fromDriverIndex, toDriverIndex } from "./internal/mongoIndex.ts"
import { DuplicateKey, QueryRejected, type ReadError, StoreUnavailable } from "./RepositoryError.ts"

/**
 * Options of {@link make} and {@link layerWith}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * `host`, `host:port`, several of these separated by commas, or a whole `mongodb://` or `mongodb+srv://` URL, whose
   * user and password are percent-encoded. The port defaults to 27017.
   */
  readonly host: string | Redacted.Redacted<string>
  /** The database. Defaults to the one in the URL's path, else `app`. */
  readonly db?: string | undefined
  /**
   * How long to look for a usable server, at start and before each operation, before it fails with `StoreUnavailable`.
   * Options of the URL (`serverSelectionTimeoutMS`, `connectTimeoutMS`) win before each operation. Defaults to 5
   * seconds.
   */
  readonly connectTimeout?: Duration.Input | undefined
}

/**
 * The options as configuration: `appkernel.mongo.host` (defaults to `localhost`) and `appkernel.mongo.db`, in the
 * environment `APPKERNEL_MONGO_HOST` and `APPKERNEL_MONGO_DB`. The host is redacted, since it may carry a password.
 *
 * @category models
 * @since 0.1.0
 */
export const config: Config.Config<Options> = Config.all({
  host: Config.Redacted("HOST").pipe(Config.withDefault(Redacted.make("localhost"))),
  db: Config.option(Config.String("DB")).pipe(Config.map(Option.getOrUndefined))
}).pipe(Config.nested("MONGO"), Config.nested("APPKERNEL"))

/**
 * A store over a client of its own, which has answered a `ping` and is closed with the scope. Fails with
 * `StoreUnavailable` when no server answers in time, the credentials are refused, or the host is malformed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options: Options
) => Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> = Effect.fnUntraced(
  function*(options) {
    const address = parseAddress(Redacted.isRedacted(options.host) ? Redacted.value(options.host) : options.host)
    if (address === undefined) {
      return yield* new StoreUnavailable({
        operation: "connect",
        detail: "the host is neither host[:port] nor mongodb://[user:password@]host[:port][/database][?options], "
          + "with special characters of user and password percent-encoded",
        retryable: false
      })
    }
    const database = options.db ?? address.database ?? "app"
    const timeout = Duration.fromInputUnsafe(options.connectTimeout ?? "5 seconds")
    const session = yield* mongo.connect(address, database, timeout)
    return makeStore(session, `MongoDB at ${address.hosts}/${database}`)
  }
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

// internal

// Few round trips, and never many documents in memory at once.
const streamBatchSize = 1000

// The client leaves `undefined` out of what it sends; in a filter that would match more than was asked for.
const asked = { ignoreUndefined: false } as const

const makeStore = (session: mongo.MongoSession, description: string): DocumentStore["Service"] => {
  const call = (operation: string, collection: string): mongo.MongoCall => ({ session, operation, collection })

  const listIndexes = (collection: string): Effect.Effect<ReadonlyArray<IndexDescription>, ReadError> =>
    Effect.map(
      mongo.listIndexes(call("listIndexes", collection)),
      (infos) => infos.filter((info) => info.name !== "_id_").map((info) => fromDriverIndex(info))
    )

  return DocumentStore.of({
    description,
    findById: (collection, id) =>
      Effect.map(
        mongo.read(
          call("findById", collection),
          (_, signal) => _.findOne(byId(id), { ...asked, signal })
        ),
        (document) => document ?? undefined
      ),
    find: (collection, options) =>
      limited(options, Effect.succeed([]), (limit) =>
        mongo.read(call("find", collection), (_, signal) =>
          // As many as will come may come at once.
          _.find(options.filter ?? {}, { ...findOptions(options), ...limit, signal }).toArray())),
    stream: (collection, options) =>
      Stream.unwrap(limited(options, Effect.succeed(Stream.empty), (limit) =>
        Effect.succeed(
          mongo.readBatches(call("stream", collection), (_, signal) =>
            _.find(options.filter ?? {}, { ...findOptions(options), ...limit, batchSize: streamBatchSize, signal }))
        ))),
    count: (collection, filter) =>
      mongo.read(call("count", collection), (_, signal) => _.countDocuments(filter, { ...asked, signal })),
    insertOne: (collection, document) =>
      Effect.asVoid(mongo.write(call("insertOne", collection), (_) => _.insertOne(document))),
    insertMany: (collection, documents, options) =>
      documents.length === 0
        ? Effect.succeed({ insertedCount: 0, failures: [] })
        : Effect.uninterruptible(Effect.flatMap(
          mongo.insertMany(call("insertMany", collection), documents, options?.ordered ?? true),
          (result) => withFields(result, listIndexes(collection))
        )),
    replaceOne: (collection, filter, document, options) =>
      Effect.map(
        mongo.write(
          call("replaceOne", collection),
          (_) => _.replaceOne(pinned(filter), document, { upsert: options?.upsert ?? false })
        ),
        updateResult
      ),
    updateOne: (collection, filter, update, options) =>
      Effect.map(
        mongo.write(
          call("updateOne", collection),
          (_) => _.updateOne(pinned(filter), update, { upsert: options?.upsert ?? false })
        ),
        updateResult
      ),
    updateMany: (collection, filter, update) =>
      Effect.map(
        mongo.write(call("updateMany", collection), (_) => _.updateMany(pinned(filter), update)),
        updateResult
      ),
    deleteOne: (collection, filter) =>
      Effect.map(
        mongo.remove(call("deleteOne", collection), (_) => _.deleteOne(filter, asked)),
        (result) => result.deletedCount
      ),
    deleteMany: (collection, filter) =>
      Effect.map(
        mongo.remove(call("deleteMany", collection), (_) => _.deleteMany(filter, asked)),
        (result) => result.deletedCount
      ),
    aggregate: (collection, pipeline) =>
      mongo.readBatches(
        call("aggregate", collection),
        (_, signal) => _.aggregate<Document>([...pipeline], { ...asked, batchSize: streamBatchSize, signal }),
        { writes: pipeline.some((stage) => Object.hasOwn(stage, "$out") || Object.hasOwn(stage, "$merge")) }
      ),
    createIndexes: (collection, indexes) =>
      indexes.length === 0
        ? Effect.void
        // A build may take hours, and asking again is harmless: whoever waits may leave.
        : mongo.attempt(call("createIndexes", collection), (_) => _.createIndexes(indexes.map(toDriverIndex))).pipe(
          Effect.asVoid,
          Effect.catchTag("QueryRejected", (rejected) =>
            Effect.flatMap(listIndexes(collection), (installed) =>
              Effect.fail(conflictOf(collection, indexes, installed) ?? rejected)))
        ),
    listIndexes
  })
}

// The driver takes 0 for "all", and a negative limit for its amount.
const limited = <A, E>(
  options: FindOptions,
  none: Effect.Effect<A>,
  some: (limit: { readonly limit?: number; readonly batchSize?: number }) => Effect.Effect<A, E>
): Effect.Effect<A, E | QueryRejected> => {
  const { limit } = options
  if (limit === undefined) return some({})
  if (limit === 0) return none
  return Number.isInteger(limit) && limit > 0
    ? some({ limit, batchSize: limit })
    : Effect.fail(new QueryRejected({ operation: "find", detail: `limit must be a whole number from 0, not ${limit}` }))
}

const findOptions = ({ projection, skip, sort }: FindOptions) => ({
  ...asked,
  ...projection === undefined ? {} : { projection },
  ...skip === undefined ? {} : { skip },
  ...sort === undefined ? {} : { sort }
})

// An id that came from outside may be an object whose keys are operators.
const byId = (id: unknown): Filter => ({
  _id: Predicate.isObject(id) && !(id instanceof Date) && !("_bsontype" in id) ? { $eq: id } : id
})

// An update's filter travels with its update, so the option above can't tell them apart.
const pinned = (filter: Filter): Filter => {
  const pin = (value: unknown): unknown =>
    value === undefined ? null : Array.isArray(value) ? value.map(pin) : isPlain(value) ? pinned(value) : value
  return Object.fromEntries(Object.entries(filter).map(([key, value]) => [key, pin(value)]))
}

const isPlain = (value: unknown): value is Document => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const updateResult = (result: DriverUpdateResult): UpdateResult => ({
  matchedCount: result.matchedCount,
  modifiedCount: result.modifiedCount,
  ...result.upsertedCount === 0 ? {} : { upsertedId: result.upsertedId }
})

const isNameless = (error: DuplicateKey | QueryRejected): error is DuplicateKey =>
  error._tag === "DuplicateKey" && error.fields.length === 0

// The server names a bulk write's duplicates by their index only.
const withFields = (
  result: InsertManyResult,
  listIndexes: Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
): Effect.Effect<InsertManyResult, ReadError> => {
  if (!result.failures.some(({ error }) => isNameless(error))) return Effect.succeed(result)
  return Effect.map(
    // The documents are written: not to know their names is no failure.
    Effect.orElseSucceed(listIndexes, () => []),
    (indexes) => ({
      insertedCount: result.insertedCount,
      failures: result.failures.map(({ error, index }) => {
        if (!isNameless(error)) return { index, error }
        const key = indexes.find((_) => _.name === error.index)?.key
        const fields = key === undefined ? [error.index] : Object.keys(key)
        return { index, error: new DuplicateKey({ collection: error.collection, index: error.index, fields }) }
      })
    })
  )
}
