/**
 * Evaluates conditions that may fail for a document only for documents that match the other ones of their filter. MongoDB sorts the
 * conditions of a filter by their kind, and joins the filters of stages, but moves none of them to the other side of a `$limit`.
 */
import type { Document, Filter, FindOptions, UpdateResult } from "@appkernel/document-store/DocumentStore"
import {
  conjunctionOf,
  CurrentStoreOptions,
  filterOrderOf,
  holdsLast,
  isLast,
  type OperationsWith,
  type StoreOperations
} from "@appkernel/document-store/shared"
import { QueryRejected, type ReadError } from "@appkernel/document-store/StoreError"
import { isDocument } from "@appkernel/mql/values"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import {
  type AbstractCursor,
  type AggregateOptions,
  BSON,
  type Collection,
  type DistinctOptions,
  type FindOptions as DriverFindOptions
} from "mongodb"

/** The pipeline, whose filters keep the order in which they are evaluated. */
export const pipelineInOrder = (pipeline: ReadonlyArray<Document>): Stages => {
  const [first, ...others] = pipeline
  const filter = first?.["$match"]
  // A marked one is the caller's own, without conditions.
  if (first === undefined || !isDocument(filter) || isLast(filter)) return [...pipeline]
  const stages = stagesInOrder(filter) ?? (others.some(hasLast) ? [first, barrier] : [first])
  return [...stages, ...others]
}

/** The documents of a find, whose filter is evaluated in its order. */
export const findInOrder = (
  collection: Collection,
  filter: Filter,
  options: ReadOptions<DriverFindOptions>
): AbstractCursor<Document> => {
  const stages = stagesInOrder(filter)
  if (stages === undefined) return collection.find<Document>(filter, options)
  const { limit, projection, skip, sort, ...others } = options
  const given = Object.entries({ $sort: sort, $skip: skip, $limit: limit, $project: projection }).flatMap(
    // Stages refuse empty operands, which mean nothing to a find.
    ([name, operand]) => operand === undefined || isDocument(operand) && isEmpty(operand) ? [] : [{ [name]: operand }]
  )
  // With one more the server knows that there are no others.
  const batch = limit === undefined ? {} : { batchSize: limit + 1 }
  return collection.aggregate<Document>([...stages, ...given], { ...others, ...batch })
}

export const findOneInOrder = (
  collection: Collection,
  filter: Filter,
  options: ReadOptions<DriverFindOptions>
): Promise<Document | null> =>
  filterOrderOf(filter) === undefined
    ? collection.findOne<Document>(filter, options)
    : findInOrder(collection, filter, { ...options, limit: 1 }).next()

export const countInOrder = (
  collection: Collection,
  filter: Filter,
  options: ReadOptions<AggregateOptions>
): Promise<number> => {
  const stages = stagesInOrder(filter)
  return stages === undefined
    ? collection.countDocuments(filter, options)
    : collection.aggregate([...stages, { $count: "n" }], options).next().then((counted) => Number(counted?.["n"] ?? 0))
}

export const distinctInOrder = (
  collection: Collection,
  path: string,
  filter: Filter,
  options: ReadOptions<DistinctOptions>
): Promise<ReadonlyArray<unknown>> => {
  const stages = stagesInOrder(filter)
  if (stages === undefined) return collection.distinct(path, filter, options)
  return collection.aggregate([...stages, ...distinctStages(path)], options).next().then((all) => all?.["values"] ?? [])
}

/** The operations that write the documents of a filter. */
export type FilteredWrites = Pick<StoreOperations, OperationsWith<{ readonly kind: "replace" | "update" | "delete" }>>

/**
 * Writes whose filter is evaluated in its order: the documents are found first, and they are the only ones that the write looks at.
 * For this `byId` has a hint.
 */
export const writesInOrder = (
  find: StoreOperations["find"],
  direct: FilteredWrites,
  byId: FilteredWrites
): FilteredWrites => {
  /** The identifiers of what a write is for. */
  const targetsOf = (collection: string, options: FindOptions) =>
    options.collation === undefined
      ? Effect.provideService(
        Effect.map(find(collection, { ...options, projection: { _id: 1 } }), distinctIds),
        CurrentStoreOptions,
        // A write depends on it.
        { [collection]: { readPreference: "primary" } }
      )
      // The index of identifiers has another one, so that the write would look at all documents.
      : Effect.fail(
        new QueryRejected({ operation: "find", detail: "these conditions can't have a collation in a write" })
      )
  /** Writes the first match. */
  const one = <A, E>(
    collection: string,
    filter: Filter,
    options: WriteOptions | undefined,
    write: Write<A, E>
  ): Effect.Effect<A, E | ReadError> =>
    filterOrderOf(filter) === undefined ? write(direct, filter) : Effect.flatMap(
      targetsOf(collection, { filter, sort: options?.sort, collation: options?.collation, limit: 1 }),
      (ids) =>
        Effect.flatMap(write(byId, among(ids, filter)), (result) =>
          // If there is no match any more, another write has changed the document meanwhile.
          ids.length > 0 && isNone(result) ? one(collection, filter, options, write) : Effect.succeed(result))
    )

  /** Writes all matches, in batches. */
  const many = <A, E>(
    collection: string,
    filter: Filter,
    options: WriteOptions | undefined,
    write: Write<A, E>,
    sum: (one: A, other: A) => A
  ): Effect.Effect<A, E | ReadError> =>
    filterOrderOf(filter) === undefined ? write(direct, filter) : Effect.flatMap(
      targetsOf(collection, { filter, collation: options?.collation }),
      (ids) => {
        const batches = Arr.isArrayNonEmpty(ids) ? Arr.chunksOf(ids, batchSize) : [[]]
        const [first, ...others] = Arr.map(batches, (ids) => write(byId, among(ids, filter)))
        return Effect.uninterruptible(Effect.flatMap(first, (written) =>
          Effect.reduce(others, () =>
            written, (all, batch) => Effect.map(batch, (more) => sum(all, more)))))
      }
    )

  return {
    replaceOne: (collection, filter, document, options) =>
      one(collection, filter, options, (_, filter) => _.replaceOne(collection, filter, document, options)),
    updateOne: (collection, filter, update, options) =>
      one(collection, filter, options, (_, filter) => _.updateOne(collection, filter, update, options)),
    updateMany: (collection, filter, update, options) =>
      many(collection, filter, options, (_, filter) => _.updateMany(collection, filter, update, options), sumOf),
    findOneAndUpdate: (collection, filter, update, options) =>
      one(collection, filter, options, (_, filter) => _.findOneAndUpdate(collection, filter, update, options)),
    findOneAndReplace: (collection, filter, document, options) =>
      one(collection, filter, options, (_, filter) => _.findOneAndReplace(collection, filter, document, options)),
    findOneAndDelete: (collection, filter, options) =>
      one(collection, filter, options, (_, filter) => _.findOneAndDelete(collection, filter, options)),
    deleteOne: (collection, filter, options) =>
      one(collection, filter, options, (_, filter) => _.deleteOne(collection, filter, options)),
    deleteMany: (collection, filter, options) =>
      many(
        collection,
        filter,
        options,
        (_, filter) => _.deleteMany(collection, filter, options),
        (one, more) => one + more
      )
  }
}

// internal

type Stages = Array<Document>

type ReadOptions<Options> = Options & { readonly signal: AbortSignal }

/** The stages of a filter with an order; `undefined`: any order will do. */
const stagesInOrder = (filter: Filter): Stages | undefined => {
  const order = filterOrderOf(filter)
  if (order === undefined) return undefined
  const { first, last } = order
  return [{ $match: first }, barrier, ...(isEmpty(last) ? [] : [{ $match: last }])]
}

const hasLast = ({ $match }: Document): boolean => isDocument($match) && holdsLast($match)

/** The stages that give the distinct values at a path, as MongoDB's own do for a view. */
const distinctStages = (path: string): Stages => {
  const names = path.split(".")
  const paths = names.map((_, i) => `$${names.slice(0, i + 1).join(".")}`)
  return [
    ...paths.map((path) => ({ $unwind: { path, preserveNullAndEmptyArrays: true } })),
    { $match: { $expr: { $and: paths.slice(0, -1).map((path) => ({ $eq: [{ $type: path }, "object"] })) } } },
    { $group: { _id: null, values: { $addToSet: `$${path}` } } }
  ]
}

const among = (ids: ReadonlyArray<unknown>, filter: Filter): Filter => conjunctionOf({ _id: { $in: ids } }, filter)

const isEmpty = (document: Document): boolean => Object.keys(document).length === 0

const barrier: Document = { $limit: BSON.Long.MAX_VALUE }

const batchSize = 1000

type WriteOptions = Pick<FindOptions, "collation" | "sort">

type Write<A, E> = (operations: FilteredWrites, filter: Filter) => Effect.Effect<A, E>

const sumOf = (one: UpdateResult, other: UpdateResult): UpdateResult => ({
  matchedCount: one.matchedCount + other.matchedCount,
  modifiedCount: one.modifiedCount + other.modifiedCount
})

/** A document that is moved within an index while it is read may come twice. */
const distinctIds = (documents: ReadonlyArray<Document>): Array<unknown> => [
  ...new Map(documents.map(({ _id }) => [Buffer.from(BSON.serialize({ _id })).toString("latin1"), _id])).values()
]

const isNone = (result: unknown): boolean =>
  result === undefined || result === 0 || Reflect.get(Object(result), "matchedCount") === 0
