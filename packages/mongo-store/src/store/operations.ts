/** The operations on documents by MongoDB's driver, inside or outside of a transaction. */
import type {
  Document,
  FindOneAndDeleteOptions,
  FindOneAndReplaceOptions,
  FindOptions,
  IndexDescription,
  InsertManyResult,
  QueryOptions,
  StoreOptions,
  UpdateManyOptions,
  UpdateResult
} from "@appkernel/document-store/DocumentStore"
import { conjunctionOf, type StoreOperations } from "@appkernel/document-store/shared"
import { DuplicateKey, QueryRejected, type ReadError, type StoreError } from "@appkernel/document-store/StoreError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AbstractCursor, ClientSession, Collection, UpdateResult as DriverUpdateResult } from "mongodb"
import { setImmediate } from "node:timers/promises"
import { asBytes, documentOfBytes, documentsOfBytes } from "../driver/documentBytes.ts"
import * as mongo from "../driver/driverCall.ts"
import { bulkInsert } from "./bulkInsert.ts"
import { collationOf } from "./collation.ts"
import { filterById, withNulls } from "./filterForm.ts"
import {
  countInOrder,
  distinctInOrder,
  type FilteredWrites,
  findInOrder,
  findOneInOrder,
  pipelineInOrder,
  writesInOrder
} from "./filterOrder.ts"

export const makeMongoOperations = (
  session: mongo.MongoSession,
  listIndexes: (collection: string) => Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
): StoreOperations => {
  const participation = session.transaction === undefined ? {} : { session: session.transaction.session }
  const context: DriverContext = {
    participation,
    filterOptions: { ...keepUndefined, ...participation },
    isTransaction: mongo.isTransactional(session),
    lookUpLimit: session.lookUpLimit,
    listIndexes,
    call: (operation, collection, timeLimit) =>
      timeLimit === undefined ? { session, operation, collection } : { session, operation, collection, timeLimit }
  }
  const reads = readOperations(context)
  const byId: DriverContext = {
    ...context,
    participation: { ...participation, ...hintOfIds },
    filterOptions: { ...context.filterOptions, ...hintOfIds }
  }
  return {
    ...reads,
    ...insertOperations(context),
    ...writesInOrder(reads.find, writeOperations(context), writeOperations(byId))
  }
}

// internal

interface DriverContext {
  readonly lookUpLimit: number
  /** The driver's session of the calls, if any, as options of a call; and the index of writes, if it matters. */
  readonly participation: { readonly session?: ClientSession; readonly hint?: typeof hintOfIds.hint }
  /** The options of every call with a filter only: `participation`, and `undefined` in the filter means `null`. */
  readonly filterOptions: DriverContext["participation"] & { readonly ignoreUndefined: false }
  readonly isTransaction: boolean
  readonly listIndexes: (collection: string) => Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
  readonly call: (operation: string, collection: string, timeLimit?: Duration.Input) => mongo.MongoCall
}

type Read =
  | "findById"
  | "find"
  | "findAndCount"
  | "stream"
  | "count"
  | "estimatedCount"
  | "distinct"
  | "aggregate"

const readOperations = (context: DriverContext): Pick<StoreOperations, Read> => {
  const { call, filterOptions, isTransaction, lookUpLimit } = context
  const count = counter(context)
  const find = finder(context)
  return {
    findById: (collection, id, options) =>
      Effect.map(
        mongo.read(
          call("findById", collection, options?.timeLimit),
          (_, signal) =>
            findOneInOrder(_, conjunctionOf(filterById(id), options?.filter ?? {}), {
              ...filterOptions,
              ...asBytes,
              ...mongo.limits(options?.timeLimit),
              signal
            }),
          options?.timeLimit === undefined ? lookUpLimit : undefined
        ),
        (bytes) => bytes === null ? undefined : documentOfBytes(bytes)
      ),
    find,
    findAndCount: (collection, options) =>
      Effect.all({
        documents: find(collection, options),
        total: count(collection, options.filter ?? {}, { timeLimit: options.timeLimit, collation: options.collation })
        // The calls of a transaction can't overlap.
      }, { concurrency: isTransaction ? 1 : 2 }),
    stream: streamer(context),
    count,
    // The server rejects an estimated count in a transaction.
    estimatedCount: isTransaction ? (collection) => count(collection, {}) : (collection) =>
      mongo.read(
        call("estimatedCount", collection),
        (_, signal) => _.estimatedDocumentCount(mongo.withSignal(mongo.limits(undefined), signal))
      ),
    distinct: (collection, path, filter, options) =>
      path === ""
        ? Effect.fail(new QueryRejected({ operation: "distinct", detail: "the path is empty" }))
        : mongo.read(
          call("distinct", collection, options?.timeLimit),
          (_, signal, storeOptions) =>
            distinctInOrder(
              _,
              path,
              filter,
              mongo.withSignal({ ...filterOptions, ...queryOptions(options), ...hintOf(storeOptions) }, signal)
            )
        ),
    aggregate: aggregator(context)
  }
}

const counter = ({ call, filterOptions }: DriverContext): StoreOperations["count"] => (collection, filter, options) =>
  mongo.read(
    call("count", collection, options?.timeLimit),
    (_, signal, storeOptions) =>
      countInOrder(_, filter, { ...filterOptions, ...queryOptions(options), ...hintOf(storeOptions), signal })
  )

const finder = ({ call, filterOptions }: DriverContext): StoreOperations["find"] => (collection, options) =>
  limited(
    options,
    Effect.succeed([]),
    (limit) =>
      mongo.read(call("find", collection, options.timeLimit), (_, signal, storeOptions) => {
        const cursor = findInOrder(_, options.filter ?? {}, {
          ...filterOptions,
          ...asBytes,
          ...findOptions(options),
          ...hintOf(storeOptions),
          ...storeOptions.batchSize === undefined ? {} : { batchSize: storeOptions.batchSize },
          ...limit,
          signal
        })
        return options.take === undefined ? cursor.toArray().then(documentsOfBytes) : taken(cursor, options.take)
      })
  )

const streamer = ({ call, filterOptions, isTransaction }: DriverContext): StoreOperations["stream"] =>
(
  collection,
  options
) =>
  Stream.unwrap(limited(options, Effect.succeed(Stream.empty), (limit) =>
    Effect.succeed(
      mongo.readBatches(call("stream", collection, options.timeLimit), (_, signal, storeOptions) =>
        findInOrder(_, options.filter ?? {}, {
          ...filterOptions,
          ...asBytes,
          ...findOptions(options),
          ...hintOf(storeOptions),
          ...limit,
          // A transaction has a snapshot anyway.
          ...options.snapshot === true && !isTransaction ? snapshotConcern : {},
          batchSize: storeOptions.batchSize ?? streamBatchSize,
          signal
        }))
    )))

const aggregator =
  ({ call, filterOptions }: DriverContext): StoreOperations["aggregate"] => (collection, pipeline, options) =>
    mongo.readBatches(
      call("aggregate", collection, options?.timeLimit),
      (_, signal, storeOptions) =>
        _.aggregate<Document>(pipelineInOrder(pipeline), {
          ...filterOptions,
          ...asBytes,
          ...queryOptions(options),
          ...hintOf(storeOptions),
          batchSize: storeOptions.batchSize ?? streamBatchSize,
          signal
        }),
      { writes: pipeline.some((stage) => Object.hasOwn(stage, "$out") || Object.hasOwn(stage, "$merge")) }
    )

const insertOperations = (
  { call, listIndexes, participation }: DriverContext
): Pick<StoreOperations, "insertOne" | "insertMany"> => ({
  insertOne: (collection, document) =>
    Effect.asVoid(
      mongo.write(call("insertOne", collection), (_, signal) =>
        _.insertOne(document, mongo.withSignal(participation, signal)))
    ),
  insertMany: (collection, documents, options) =>
    documents.length === 0
      ? Effect.succeed({ insertedCount: 0, failures: [] })
      : Effect.uninterruptible(Effect.flatMap(
        bulkInsert(call("insertMany", collection), documents, options?.ordered ?? true, participation),
        (result) => withFields(result, listIndexes(collection))
      ))
})

const writeOperations = (context: DriverContext): FilteredWrites => ({
  ...updateOperations(context),
  ...findAndModifyOperations(context),
  ...deleteOperations(context)
})

const updateOperations = (
  { call, participation }: DriverContext
): Pick<StoreOperations, "replaceOne" | "updateOne" | "updateMany"> => ({
  replaceOne: (collection, filter, document, options) =>
    updating(call("replaceOne", collection), (_, signal) =>
      _.replaceOne(
        withNulls(filter),
        document,
        mongo.withSignal({ ...participation, ...collationOf(options), upsert: options?.upsert ?? false }, signal)
      )),
  updateOne: (collection, filter, update, options) =>
    updating(call("updateOne", collection), (_, signal) =>
      _.updateOne(
        withNulls(filter),
        update,
        mongo.withSignal({ ...participation, ...updateOptions(options), upsert: options?.upsert ?? false }, signal)
      )),
  updateMany: (collection, filter, update, options) =>
    updating(
      call("updateMany", collection),
      (_, signal) =>
        _.updateMany(
          withNulls(filter),
          update,
          mongo.withSignal({ ...participation, ...updateOptions(options) }, signal)
        )
    )
})

const updating = (
  call: mongo.MongoCall,
  run: (_: Collection, signal: AbortSignal) => PromiseLike<DriverUpdateResult>
): Effect.Effect<UpdateResult, StoreError> => Effect.map(mongo.write(call, run), updateResult)

const findAndModifyOperations = (
  { call, filterOptions, participation }: DriverContext
): Pick<StoreOperations, "findOneAndUpdate" | "findOneAndReplace" | "findOneAndDelete"> => ({
  findOneAndUpdate: (collection, filter, update, options = {}) =>
    modifying(mongo.write(call("findOneAndUpdate", collection), (_, signal) =>
      _.findOneAndUpdate(
        withNulls(filter),
        update,
        mongo.withSignal({ ...participation, ...updateOptions(options), ...replaceOptions(options) }, signal)
      ))),
  findOneAndReplace: (collection, filter, document, options = {}) =>
    modifying(mongo.write(call("findOneAndReplace", collection), (_, signal) =>
      _.findOneAndReplace(
        withNulls(filter),
        document,
        mongo.withSignal({ ...participation, ...replaceOptions(options) }, signal)
      ))),
  findOneAndDelete: (collection, filter, options = {}) =>
    modifying(
      mongo.remove(call("findOneAndDelete", collection), (_, signal) =>
        _.findOneAndDelete(filter, mongo.withSignal({ ...filterOptions, ...deleteOptions(options) }, signal)))
    )
})

const modifying = <A, E>(found: Effect.Effect<A | null, E>): Effect.Effect<A | undefined, E> =>
  Effect.map(found, (document) => document ?? undefined)

const deleteOperations = (
  { call, filterOptions }: DriverContext
): Pick<StoreOperations, "deleteOne" | "deleteMany"> => {
  const deleting =
    (operation: "deleteOne" | "deleteMany"): StoreOperations["deleteOne"] => (collection, filter, options) =>
      Effect.map(
        mongo.remove(
          call(operation, collection),
          (_, signal) => _[operation](filter, mongo.withSignal({ ...filterOptions, ...collationOf(options) }, signal))
        ),
        ({ deletedCount }) => deletedCount
      )
  return { deleteOne: deleting("deleteOne"), deleteMany: deleting("deleteMany") }
}

const snapshotConcern = { readConcern: { level: "snapshot" } } as const

// Few round trips, and few documents in memory at once.
const streamBatchSize = 1000

const hintOfIds = { hint: { _id: 1 } } as const

// The client omits `undefined` from what it sends; a filter without a condition would match more documents.
const keepUndefined = { ignoreUndefined: false } as const

// The driver reads a limit of 0 as "all", and uses the absolute value of a negative one.
const limited = <A, E>(
  options: FindOptions,
  none: Effect.Effect<A>,
  some: (limit: { readonly limit?: number; readonly batchSize?: number }) => Effect.Effect<A, E>
): Effect.Effect<A, E | QueryRejected> => {
  const { limit } = options
  if (limit === undefined) return some({})
  if (limit === 0) return none
  // The batch size makes the server send all documents at once.
  return Number.isInteger(limit) && limit > 0
    ? some({ limit, batchSize: limit })
    : Effect.fail(new QueryRejected({ operation: "find", detail: `limit must be a whole number from 0, not ${limit}` }))
}

const queryOptions = (options: QueryOptions = {}) => ({ ...mongo.limits(options.timeLimit), ...collationOf(options) })

const hintOf = ({ hint }: StoreOptions) =>
  hint === undefined ? {} : { hint: typeof hint === "string" ? hint : { ...hint } }

const findOptions = ({ projection, skip, sort, ...options }: FindOptions) => ({
  ...queryOptions(options),
  ...projection === undefined ? {} : { projection },
  ...skip === undefined ? {} : { skip },
  ...sort === undefined ? {} : { sort }
})

const updateOptions = ({ arrayFilters: filters, let: variables, ...options }: UpdateManyOptions = {}) => ({
  ...collationOf(options),
  ...filters === undefined || filters.length === 0 ? {} : { arrayFilters: filters.map(withNulls) },
  ...variables === undefined ? {} : { let: variables }
})

// The number of documents that are decoded in one turn of the event loop.
const takenAtOnce = 64

/** Passes the documents of a cursor to `take`, until `take` returns `false`; then closes the cursor. */
const taken = (
  cursor: AbstractCursor<Document>,
  take: (documents: ReadonlyArray<Document>) => boolean
): Promise<ReadonlyArray<Document>> =>
  cursor.hasNext().then((isThere): ReadonlyArray<Document> | Promise<ReadonlyArray<Document>> => {
    if (!isThere) return []
    return take(documentsOfBytes(cursor.readBufferedDocuments(takenAtOnce)))
      ? cursor.bufferedCount() === 0 ? taken(cursor, take) : setImmediate().then(() => taken(cursor, take))
      : cursor.close().then(() => [])
  })

const deleteOptions = ({ projection, sort, ...options }: FindOneAndDeleteOptions) => ({
  ...collationOf(options),
  ...projection === undefined ? {} : { projection },
  ...sort === undefined ? {} : { sort }
})

const replaceOptions = (options: FindOneAndReplaceOptions) => ({
  ...deleteOptions(options),
  returnDocument: options.returnDocument ?? "before",
  upsert: options.upsert ?? false
})

const updateResult = (result: DriverUpdateResult): UpdateResult => ({
  matchedCount: result.matchedCount,
  modifiedCount: result.modifiedCount,
  ...result.upsertedCount === 0 ? {} : { upsertedId: result.upsertedId }
})

const lacksFields = (error: DuplicateKey | QueryRejected): error is DuplicateKey =>
  error._tag === "DuplicateKey" && error.fields.length === 0

// For duplicates in a bulk write, the server reports the index without its fields.
const withFields = (
  result: InsertManyResult,
  listIndexes: Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
): Effect.Effect<InsertManyResult, ReadError> => {
  if (!result.failures.some(({ error }) => lacksFields(error))) return Effect.succeed(result)
  return Effect.map(
    // The documents are written, so a failure to list the indexes is no failure of the insertion.
    Effect.orElseSucceed(listIndexes, () => []),
    (indexes) => ({
      insertedCount: result.insertedCount,
      failures: result.failures.map(({ error, index }) => {
        if (!lacksFields(error)) return { index, error }
        const key = indexes.find((_) => _.name === error.index)?.key
        const fields = key === undefined ? [error.index] : Object.keys(key)
        return { index, error: new DuplicateKey({ collection: error.collection, index: error.index, fields }) }
      })
    })
  )
}
