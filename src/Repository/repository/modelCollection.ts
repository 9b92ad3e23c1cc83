/**
 * The collection of a model, through which its repository reads and writes. For a model with `Model.softDeleted`, each
 * operation excludes deleted documents unless its `deleted` argument includes them.
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { managedField, type ModelLike } from "../../Model/introspection.ts"
import type {
  Document,
  DocumentStore,
  Filter,
  FindOneAndUpdateOptions,
  FindOptions,
  ReadOptions,
  TakeOptions,
  Update,
  UpdateManyOptions,
  UpdateResult
} from "../DocumentStore.ts"
import type { ReadError, StoreError } from "../RepositoryError.ts"
import type { Deleted } from "./softDeletion.ts"

/** An operation of the store without its first argument, the collection. */
type OnCollection<Name extends keyof DocumentStore["Service"]> = DocumentStore["Service"][Name] extends
  (collection: string, ...args: infer Args) => infer Result ? (...args: Args) => Result : never

/** @internal */
export interface ModelCollection {
  readonly findById: (
    id: unknown,
    deleted?: Deleted,
    options?: ReadOptions
  ) => Effect.Effect<Document | undefined, ReadError>
  readonly find: (options: TakeOptions, deleted?: Deleted) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  readonly findAndCount: OnCollection<"findAndCount">
  readonly stream: (options: FindOptions, deleted?: Deleted) => Stream.Stream<Document, ReadError>
  readonly count: (filter: Filter, deleted?: Deleted, options?: ReadOptions) => Effect.Effect<number, ReadError>
  readonly estimatedCount: Effect.Effect<number, ReadError>
  readonly distinct: (
    path: string,
    filter: Filter,
    deleted?: Deleted
  ) => Effect.Effect<ReadonlyArray<unknown>, ReadError>
  readonly aggregate: (
    pipeline: ReadonlyArray<Document>,
    options?: ReadOptions,
    deleted?: Deleted
  ) => Stream.Stream<Document, ReadError>
  readonly insertOne: OnCollection<"insertOne">
  readonly insertMany: OnCollection<"insertMany">
  readonly replaceOne: OnCollection<"replaceOne">
  readonly updateOne: (
    filter: Filter,
    update: Update,
    options: UpdateManyOptions,
    deleted?: Deleted
  ) => Effect.Effect<UpdateResult, StoreError>
  readonly updateMany: (
    filter: Filter,
    update: Update,
    options: UpdateManyOptions,
    deleted?: Deleted
  ) => Effect.Effect<UpdateResult, StoreError>
  readonly findOneAndUpdate: (
    filter: Filter,
    update: Update,
    options: FindOneAndUpdateOptions,
    deleted?: Deleted
  ) => Effect.Effect<Document | undefined, StoreError>
  readonly findOneAndDelete: (filter: Filter, deleted?: Deleted) => Effect.Effect<Document | undefined, ReadError>
  readonly deleteOne: (filter: Filter, deleted?: Deleted) => Effect.Effect<number, ReadError>
  readonly deleteMany: (filter: Filter, deleted?: Deleted) => Effect.Effect<number, ReadError>
}

/** @internal */
export const makeModelCollection = (model: ModelLike, store: DocumentStore["Service"]): ModelCollection => {
  const collection = storeCollection(model.modelName, store)
  const deletedField = managedField(model, "deleted")
  return deletedField === undefined ? collection : excludingDeleted(collection, deletedField)
}

/**
 * The filter that requires two filters. Their conditions stay at the top level where no key is in both, because `$text` has
 * to stand there.
 *
 * @internal
 */
export const conjunctionOf = (first: Filter, second: Filter): Filter =>
  Object.keys(second).some((key) => Object.hasOwn(first, key)) ? { $and: [first, second] } : { ...first, ...second }

// internal

const storeCollection = (name: string, store: DocumentStore["Service"]): ModelCollection => ({
  findById: (id, _, options) => store.findById(name, id, options),
  find: (options) => store.find(name, options),
  findAndCount: (options) => store.findAndCount(name, options),
  stream: (options) => store.stream(name, options),
  count: (filter, _, options) => store.count(name, filter, options),
  estimatedCount: Effect.suspend(() => store.estimatedCount(name)),
  distinct: (path, filter) => store.distinct(name, path, filter),
  aggregate: (pipeline, options) => store.aggregate(name, pipeline, options),
  insertOne: (document) => store.insertOne(name, document),
  insertMany: (documents, options) => store.insertMany(name, documents, options),
  replaceOne: (filter, document, options) => store.replaceOne(name, filter, document, options),
  updateOne: (filter, update, options) => store.updateOne(name, filter, update, options),
  updateMany: (filter, update, options) => store.updateMany(name, filter, update, options),
  findOneAndUpdate: (filter, update, options) => store.findOneAndUpdate(name, filter, update, options),
  findOneAndDelete: (filter) => store.findOneAndDelete(name, filter),
  deleteOne: (filter) => store.deleteOne(name, filter),
  deleteMany: (filter) => store.deleteMany(name, filter)
})

const excludingDeleted = (all: ModelCollection, field: string): ModelCollection => {
  const within = (filter: Filter, deleted: Deleted = "exclude"): Filter => {
    if (deleted === "include") return filter
    return conjunctionOf(filter, { [field]: deleted === "only" ? { $ne: null } : null })
  }
  const admits = (document: Document, deleted: Deleted = "exclude"): boolean =>
    deleted === "include" || (deleted === "only") === isDeleted(document, field)

  /**
   * Adds the condition as early in the pipeline as possible. A stage that has to be the first one gets the condition as part
   * of its query, or right after it when it has no query.
   */
  const pipelineWithin = ([first, ...others]: ReadonlyArray<Document>, deleted?: Deleted): ReadonlyArray<Document> => {
    const [stage] = Object.keys(first ?? {})
    if (first === undefined || stage === undefined) return [{ $match: within({}, deleted) }]
    const operand = Object(first[stage])
    if (stage === "$match") return [{ $match: within(operand, deleted) }, ...others]
    if (stage === "$geoNear") {
      return [{ $geoNear: { ...operand, query: within(Object(operand["query"] ?? {}), deleted) } }, ...others]
    }
    return firstStages.has(stage)
      ? [first, { $match: within({}, deleted) }, ...others]
      : [{ $match: within({}, deleted) }, first, ...others]
  }

  return {
    findById: (id, deleted, options) =>
      Effect.map(
        all.findById(id, undefined, options),
        (document) => document !== undefined && admits(document, deleted) ? document : undefined
      ),
    find: (options, deleted) => all.find({ ...options, filter: within(options.filter ?? {}, deleted) }),
    findAndCount: (options) => all.findAndCount({ ...options, filter: within(options.filter ?? {}) }),
    stream: (options, deleted) => all.stream({ ...options, filter: within(options.filter ?? {}, deleted) }),
    count: (filter, deleted, options) => all.count(within(filter, deleted), undefined, options),
    estimatedCount: Effect.suspend(() => all.count(within({}))),
    distinct: (path, filter, deleted) => all.distinct(path, within(filter, deleted)),
    aggregate: (pipeline, options, deleted) =>
      all.aggregate(deleted === "include" ? pipeline : pipelineWithin(pipeline, deleted), options),
    insertOne: (document) => all.insertOne(document),
    insertMany: (documents, options) => all.insertMany(documents, options),
    replaceOne: (filter, document, options) => all.replaceOne(within(filter), document, options),
    updateOne: (filter, update, options, deleted) => all.updateOne(within(filter, deleted), update, options),
    updateMany: (filter, update, options, deleted) => all.updateMany(within(filter, deleted), update, options),
    findOneAndUpdate: (filter, update, options, deleted) =>
      all.findOneAndUpdate(within(filter, deleted), update, options),
    findOneAndDelete: (filter, deleted) => all.findOneAndDelete(within(filter, deleted)),
    deleteOne: (filter, deleted) => all.deleteOne(within(filter, deleted)),
    deleteMany: (filter, deleted) => all.deleteMany(within(filter, deleted))
  }
}

const firstStages: ReadonlySet<string> = new Set(["$search", "$vectorSearch"])

const isDeleted = (document: Document, field: string): boolean =>
  document[field] !== undefined && document[field] !== null
