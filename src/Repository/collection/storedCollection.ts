/** The collection of a model in its store, without the row filters of callers. */
import { conjunctionOf, CurrentStoreOptions } from "@appkernel/document-store/shared"
import { isDocument } from "@appkernel/mql/values"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import {
  managedField,
  type ModelLike,
  shardKeyOf,
  someFieldIn,
  versionsTypeId,
  type ViewOf,
  viewTypeId
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, DocumentStore, Filter, StoreOptions } from "../DocumentStore.ts"
import { isStoredIdentically } from "../query/bsonForm.ts"
import { QueryRejected } from "../RepositoryError.ts"
import { fieldsOfUpdate } from "./documentFields.ts"
import {
  type Aggregation,
  type Handlers,
  type Kind,
  limitedTo,
  makeCollection,
  type ModelCollection,
  type Operation,
  type Runner
} from "./modelCollection.ts"
import type { Deleted } from "./softDeletion.ts"

/** Runs operations in the store. */
export interface StoreRunner {
  readonly runner: Runner
  /** The filter of an operation with its conditions, as the store has it. */
  readonly whole: (operation: Pick<Operation<"count">, "conditions" | "filter">) => Filter
  /** The pipeline of an operation with its conditions, as the store has it. */
  readonly pipeline: (operation: Aggregation) => ReadonlyArray<Document>
}

/** Makes the collection. `stored` makes filters for stored documents: see `withDefaults`. */
export const makeModelCollection = (
  model: ModelLike,
  store: DocumentStore["Service"],
  stored: (filter: Filter) => Filter,
  { options, runnerOf = ({ runner }) => runner }: {
    readonly runnerOf?: ((runner: StoreRunner) => Runner) | undefined
    readonly options?: StoreOptions | undefined
  } = {}
): ModelCollection => {
  const runner = withStoreOptions(keepingShards(model, runnerOf(storeRunner(model, store, stored))), model, options)
  const deletedField = managedField(model, "deleted")
  return makeCollection(deletedField === undefined ? runner : excludingDeleted(runner, deletedField))
}

/** Whether a field of the model, or one in it, has a value as which documents without it are read. */
export const hasDefaults = (model: ModelLike): boolean =>
  someFieldIn(model, (attributes) => attributes.absent !== undefined)

/** Whether documents of the model may be stored in earlier forms. */
export const hasVersions = (model: ModelLike): boolean => versionsTypeId in model

/** The model whose documents are stored: itself, unless it is an earlier form of another one. */
export const ownerOf = (model: ModelLike): Model.Any => viewOf(model)?.model ?? model

/** Of which model this is an earlier form, and which one. */
export const viewOf = (model: ModelLike): ViewOf<Model.Any> | undefined =>
  // Only `Model.form` sets this property.
  Reflect.get(model, viewTypeId) as ViewOf<Model.Any> | undefined

/** What documents have to match that are deleted or not; `undefined` for all of them. */
export const deletionConditions = (field: string): { readonly [K in Deleted]: Filter | undefined } => ({
  exclude: { [field]: null },
  include: undefined,
  only: { [field]: { $ne: null } }
})

// internal

const everything: Filter = {}

const storeRunner = (
  model: ModelLike,
  store: DocumentStore["Service"],
  stored: (filter: Filter) => Filter
): StoreRunner => {
  const name = model.modelName
  /** The filter of an operation with its conditions, as the store has it. */
  const whole: StoreRunner["whole"] = ({ conditions = [], filter }) => {
    if (conditions.length === 0) return stored(filter ?? everything)
    // The conditions of a caller are the same objects each time, whose stored form is known.
    return conjunctionOf(...[filter ?? {}, ...conditions].map(stored))
  }
  const handlers: Handlers = {
    findById: ({ conditions, id, options }) =>
      store.findById(name, id, conditions === undefined ? options : { ...options, filter: whole({ conditions }) }),
    find: (operation) => store.find(name, { ...operation.options, filter: whole(operation) }),
    findAndCount: (operation) => store.findAndCount(name, { ...operation.options, filter: whole(operation) }),
    count: (operation) => store.count(name, whole(operation), operation.options),
    estimatedCount: (operation) =>
      operation.conditions === undefined
        ? store.estimatedCount(name)
        : store.count(name, whole(operation)),
    distinct: (operation) => store.distinct(name, operation.path, whole(operation)),
    insertOne: ({ document }) => store.insertOne(name, document),
    insertMany: ({ documents, options }) => store.insertMany(name, documents, options),
    replaceOne: (operation) => store.replaceOne(name, whole(operation), operation.document, operation.options),
    updateOne: (operation) => store.updateOne(name, whole(operation), operation.update, operation.options),
    updateMany: (operation) => store.updateMany(name, whole(operation), operation.update, operation.options),
    findOneAndUpdate: (operation) =>
      store.findOneAndUpdate(name, whole(operation), operation.update, operation.options),
    findOneAndDelete: (operation) => store.findOneAndDelete(name, whole(operation)),
    deleteOne: (operation) => store.deleteOne(name, whole(operation)),
    deleteMany: (operation) => store.deleteMany(name, whole(operation))
  }
  const pipeline: StoreRunner["pipeline"] = (operation) =>
    pipelineOf((operation.conditions ?? []).reduce(pipelineWithin, operation.pipeline), stored)
  const runner: Runner = {
    run: (operation) => handlers[operation.kind](operation),
    runStream: (operation) =>
      operation.kind === "stream"
        ? store.stream(name, { ...operation.options, filter: whole(operation) })
        : store.aggregate(name, pipeline(operation), operation.options)
  }
  return { runner, whole, pipeline }
}

/** Rejects writes that change a value of the shard key: a document stays in its shard. */
const keepingShards = (model: ModelLike, runner: Runner): Runner => {
  const fields = new Set(shardKeyOf(model).map(([field]) => field))
  const changedBy = (operation: Operation<Kind>): string | undefined => {
    if ("update" in operation) return fieldsOfUpdate(operation.update).find((field) => fields.has(field))
    if (!("document" in operation)) return undefined
    const { document, filter = {} } = operation
    return [...fields].find((field) => {
      const target = filter[field]
      return isDocument(target) && "$eq" in target && !isStoredIdentically(document[field] ?? null, target["$eq"])
    })
  }
  return fields.size === 0 ? runner : {
    ...runner,
    run: (operation) => {
      const changed = changedBy(operation)
      return changed === undefined ? runner.run(operation) : Effect.fail(
        new QueryRejected({
          operation: operation.kind,
          detail: `${model.modelName}.${changed} is part of the shard key, and never changes`
        })
      )
    }
  }
}

/** Operations with options, unless the surrounding effect has others. */
const withStoreOptions = (
  runner: Runner,
  { modelName: collection }: ModelLike,
  options: StoreOptions | undefined
): Runner => ({
  run: (operation) => {
    const isPartOfWrite = (operation.scope?.privilege ?? "read") !== "read"
    if (options === undefined && !isPartOfWrite) return runner.run(operation)
    return Effect.withFiber((fiber) => {
      const all = fiber.getRef(CurrentStoreOptions)
      if (options === undefined && all[collection] === undefined) return runner.run(operation)
      const own = { ...options, ...all[collection] }
      return Effect.provideService(runner.run(operation), CurrentStoreOptions, {
        ...all,
        // A write that depends on what is outdated would fail, or be lost.
        [collection]: isPartOfWrite ? { writeConcern: own.writeConcern } : own
      })
    })
  },
  runStream: (operation) =>
    options === undefined
      ? runner.runStream(operation)
      : Stream.updateService(runner.runStream(operation), CurrentStoreOptions, (all) => ({
        ...all,
        [collection]: { ...options, ...all[collection] }
      }))
})

/** The filters with which a pipeline begins select documents; all other stages compute with what is stored. */
const pipelineOf = (pipeline: ReadonlyArray<Document>, stored: (filter: Filter) => Filter): ReadonlyArray<Document> => {
  const end = pipeline.findIndex((stage) => !isDocument(stage["$match"]))
  const count = end < 0 ? pipeline.length : end
  return pipeline.map((stage, i) => {
    const { $geoNear, $match } = stage
    if (i < count && isDocument($match)) return { ...stage, $match: stored($match) }
    return i === 0 && isDocument($geoNear) && isDocument($geoNear["query"])
      ? { ...stage, $geoNear: { ...$geoNear, query: stored($geoNear["query"]) } }
      : stage
  })
}

/** Adds the condition as early as possible: a stage that must be first has it in its query, or right after. */
const pipelineWithin = (
  [first, ...others]: ReadonlyArray<Document>,
  condition: Filter
): ReadonlyArray<Document> => {
  const [stage] = Object.keys(first ?? {})
  if (first === undefined || stage === undefined) return [{ $match: condition }]
  const operand = Object(first[stage])
  if (stage === "$match") return [{ $match: conjunctionOf(operand, condition) }, ...others]
  if (stage === "$geoNear") {
    return [{ $geoNear: { ...operand, query: conjunctionOf(Object(operand["query"] ?? {}), condition) } }, ...others]
  }
  return firstStages.has(stage)
    ? [first, { $match: condition }, ...others]
    : [{ $match: condition }, first, ...others]
}

const firstStages: ReadonlySet<string> = new Set(["$search", "$vectorSearch"])

const excludingDeleted = (all: Runner, field: string): Runner => {
  const conditions = deletionConditions(field)
  return limitedTo(all, (_, scope) => conditions[scope?.deleted ?? "exclude"])
}
