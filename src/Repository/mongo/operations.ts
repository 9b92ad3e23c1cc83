/**
 * What the driver does with documents, in a transaction or without one.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { FindCursor, UpdateResult as DriverUpdateResult } from "mongodb"
import { setImmediate } from "node:timers/promises"
import type {
  Document,
  Filter,
  FindOneAndDeleteOptions,
  FindOneAndReplaceOptions,
  FindOptions,
  IndexDescription,
  InsertManyResult,
  UpdateManyOptions,
  UpdateResult
} from "../DocumentStore.ts"
import { DuplicateKey, QueryRejected, type ReadError } from "../RepositoryError.ts"
import type { Operations } from "../store/transactionRunner.ts"
import * as mongo from "./driverCall.ts"

/** @internal */
export const makeOperations = (
  session: mongo.MongoSession,
  listIndexes: (collection: string) => Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
): Operations => {
  const call = (operation: string, collection: string, timeLimit?: Duration.Input): mongo.MongoCall =>
    timeLimit === undefined ? { session, operation, collection } : { session, operation, collection, timeLimit }

  const participant = session.transaction === undefined ? {} : { session: session.transaction.session }
  const asked = { ...never, ...participant }

  const count: Operations["count"] = (collection, filter, options) =>
    mongo.read(
      call("count", collection, options?.timeLimit),
      (_, signal) => _.countDocuments(filter, { ...asked, ...mongo.limits(options?.timeLimit), signal })
    )

  const find: Operations["find"] = (collection, options) =>
    limited(
      options,
      Effect.succeed([]),
      (limit) =>
        mongo.read(call("find", collection, options.timeLimit), (_, signal) => {
          // As many as will come may come at once.
          const cursor = _.find<Document>(options.filter ?? {}, { ...asked, ...findOptions(options), ...limit, signal })
          return options.take === undefined ? cursor.toArray() : taken(cursor, options.take)
        })
    )

  return {
    findById: (collection, id, options) =>
      Effect.map(
        mongo.read(
          call("findById", collection, options?.timeLimit),
          (_, signal) => _.findOne(byId(id), { ...asked, ...mongo.limits(options?.timeLimit), signal })
        ),
        (document) => document ?? undefined
      ),
    find,
    findAndCount: (collection, options) =>
      Effect.all({
        documents: find(collection, options),
        total: count(collection, options.filter ?? {}, { timeLimit: options.timeLimit })
        // A transaction takes one after the other.
      }, { concurrency: session.transaction === undefined ? 2 : 1 }),
    stream: (collection, options) =>
      Stream.unwrap(limited(options, Effect.succeed(Stream.empty), (limit) =>
        Effect.succeed(
          mongo.readBatches(call("stream", collection, options.timeLimit), (_, signal) =>
            _.find(options.filter ?? {}, {
              ...asked,
              ...findOptions(options),
              ...limit,
              batchSize: streamBatchSize,
              signal
            }))
        ))),
    count,
    estimatedCount: session.transaction === undefined
      ? (collection) =>
        mongo.read(
          call("estimatedCount", collection),
          (_, signal) => _.estimatedDocumentCount(mongo.withSignal(mongo.limits(undefined), signal))
        )
      // The server does not take it in a transaction.
      : (collection) => count(collection, {}),
    distinct: (collection, path, filter, options) =>
      path === ""
        ? Effect.fail(new QueryRejected({ operation: "distinct", detail: "the path is empty" }))
        : mongo.read(
          call("distinct", collection, options?.timeLimit),
          (_, signal) =>
            _.distinct(path, filter, mongo.withSignal({ ...asked, ...mongo.limits(options?.timeLimit) }, signal))
        ),
    insertOne: (collection, document) =>
      Effect.asVoid(
        mongo.write(call("insertOne", collection), (_, signal) =>
          _.insertOne(document, mongo.withSignal(participant, signal)))
      ),
    insertMany: (collection, documents, options) =>
      documents.length === 0
        ? Effect.succeed({ insertedCount: 0, failures: [] })
        : Effect.uninterruptible(Effect.flatMap(
          mongo.insertMany(call("insertMany", collection), documents, options?.ordered ?? true, participant),
          (result) => withFields(result, listIndexes(collection))
        )),
    replaceOne: (collection, filter, document, options) =>
      Effect.map(
        mongo.write(
          call("replaceOne", collection),
          (_, signal) =>
            _.replaceOne(
              pinned(filter),
              document,
              mongo.withSignal({ ...participant, upsert: options?.upsert ?? false }, signal)
            )
        ),
        updateResult
      ),
    updateOne: (collection, filter, update, options) =>
      Effect.map(
        mongo.write(
          call("updateOne", collection),
          (_, signal) =>
            _.updateOne(
              pinned(filter),
              update,
              mongo.withSignal({ ...participant, ...itemFilters(options), upsert: options?.upsert ?? false }, signal)
            )
        ),
        updateResult
      ),
    updateMany: (collection, filter, update, options) =>
      Effect.map(
        mongo.write(
          call("updateMany", collection),
          (_, signal) =>
            _.updateMany(pinned(filter), update, mongo.withSignal({ ...participant, ...itemFilters(options) }, signal))
        ),
        updateResult
      ),
    findOneAndUpdate: (collection, filter, update, options = {}) =>
      Effect.map(
        mongo.write(
          call("findOneAndUpdate", collection),
          (_, signal) =>
            _.findOneAndUpdate(
              pinned(filter),
              update,
              mongo.withSignal({ ...participant, ...itemFilters(options), ...replaceOptions(options) }, signal)
            )
        ),
        (document) => document ?? undefined
      ),
    findOneAndReplace: (collection, filter, document, options = {}) =>
      Effect.map(
        mongo.write(
          call("findOneAndReplace", collection),
          (_, signal) =>
            _.findOneAndReplace(
              pinned(filter),
              document,
              mongo.withSignal({ ...participant, ...replaceOptions(options) }, signal)
            )
        ),
        (document) => document ?? undefined
      ),
    findOneAndDelete: (collection, filter, options = {}) =>
      Effect.map(
        mongo.remove(
          call("findOneAndDelete", collection),
          (_, signal) => _.findOneAndDelete(filter, mongo.withSignal({ ...asked, ...deleteOptions(options) }, signal))
        ),
        (document) => document ?? undefined
      ),
    deleteOne: (collection, filter) =>
      Effect.map(
        mongo.remove(
          call("deleteOne", collection),
          (_, signal) => _.deleteOne(filter, mongo.withSignal(asked, signal))
        ),
        (result) => result.deletedCount
      ),
    deleteMany: (collection, filter) =>
      Effect.map(
        mongo.remove(call("deleteMany", collection), (_, signal) =>
          _.deleteMany(filter, mongo.withSignal(asked, signal))),
        (result) =>
          result.deletedCount
      ),
    aggregate: (collection, pipeline, options) =>
      mongo.readBatches(
        call("aggregate", collection, options?.timeLimit),
        (_, signal) =>
          _.aggregate<Document>([...pipeline], {
            ...asked,
            ...mongo.limits(options?.timeLimit),
            batchSize: streamBatchSize,
            signal
          }),
        { writes: pipeline.some((stage) => Object.hasOwn(stage, "$out") || Object.hasOwn(stage, "$merge")) }
      )
  }
}

// internal

// Few round trips, and never many documents in memory at once.
const streamBatchSize = 1000

// The client leaves `undefined` out of what it sends; in a filter that would match more than was asked for.
const never = { ignoreUndefined: false } as const

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

const findOptions = ({ projection, skip, sort, timeLimit }: FindOptions) => ({
  ...mongo.limits(timeLimit),
  ...projection === undefined ? {} : { projection },
  ...skip === undefined ? {} : { skip },
  ...sort === undefined ? {} : { sort }
})

const itemFilters = ({ arrayFilters }: UpdateManyOptions = {}) =>
  arrayFilters === undefined || arrayFilters.length === 0 ? {} : { arrayFilters: arrayFilters.map(pinned) }

// So many are decoded and taken in one turn of the event loop.
const takenAtOnce = 64

/** Gives what a cursor has to whoever takes it, and closes it when that is enough. */
const taken = (
  cursor: FindCursor<Document>,
  take: (documents: ReadonlyArray<Document>) => boolean
): Promise<ReadonlyArray<Document>> =>
  cursor.hasNext().then((isThere): ReadonlyArray<Document> | Promise<ReadonlyArray<Document>> => {
    if (!isThere) return []
    return take(cursor.readBufferedDocuments(takenAtOnce))
      ? cursor.bufferedCount() === 0 ? taken(cursor, take) : setImmediate().then(() => taken(cursor, take))
      : cursor.close().then(() => [])
  })

const deleteOptions = ({ projection, sort }: FindOneAndDeleteOptions) => ({
  ...projection === undefined ? {} : { projection },
  ...sort === undefined ? {} : { sort }
})

const replaceOptions = (options: FindOneAndReplaceOptions) => ({
  ...deleteOptions(options),
  returnDocument: options.returnDocument ?? "before",
  upsert: options.upsert ?? false
})

// An id that came from outside may be an object whose keys are operators.
const byId = (id: unknown): Filter => ({
  _id: Predicate.isObject(id) && !(id instanceof Date) && !("_bsontype" in id) ? { $eq: id } : id
})

// An update's filter travels with its update, so the option above can't tell them apart.
const pinned = (filter: Filter): Filter => {
  const pin = (value: unknown): unknown =>
    value === undefined ? null : Array.isArray(value) ? value.map(pin) : isPlainObject(value) ? pinned(value) : value
  return Object.fromEntries(Object.entries(filter).map(([key, value]) => [key, pin(value)]))
}

const isPlainObject = (value: unknown): value is Document => {
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
