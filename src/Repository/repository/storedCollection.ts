/**
 * The collection of a model in its store, without the rules of callers.
 */
import * as Effect from "effect/Effect"
import { managedField, type ModelLike } from "../../Model/introspection.ts"
import { isDocument } from "../bson/value.ts"
import type { Document, DocumentStore, Filter, FindOptions } from "../DocumentStore.ts"
import { withDefaults } from "./defaultedFields.ts"
import { everyState, type ModelCollection } from "./modelCollection.ts"
import { narrowed } from "./narrowed.ts"
import type { Deleted } from "./softDeletion.ts"

/** @internal */
export const makeModelCollection = (model: ModelLike, store: DocumentStore["Service"]): ModelCollection => {
  const collection = storeCollection(model, store)
  const deletedField = managedField(model, "deleted")
  return deletedField === undefined ? collection : excludingDeleted(model, collection, deletedField)
}

// internal

const storeCollection = (model: ModelLike, store: DocumentStore["Service"]): ModelCollection => {
  const name = model.modelName
  const stored = withDefaults(model)
  const within = <O extends FindOptions>(options: O): O =>
    options.filter === undefined ? options : { ...options, filter: stored(options.filter) }
  return {
    findById: (id, _, options) => store.findById(name, id, options),
    find: (options) => store.find(name, within(options)),
    findAndCount: (options) => store.findAndCount(name, within(options)),
    stream: (options) => store.stream(name, within(options)),
    count: (filter, _, options) => store.count(name, stored(filter), options),
    estimatedCount: () => store.estimatedCount(name),
    distinct: (path, filter) => store.distinct(name, path, stored(filter)),
    aggregate: (pipeline, options) => store.aggregate(name, pipelineOf(pipeline, stored), options),
    insertOne: (document) => store.insertOne(name, document),
    insertMany: (documents, options) => store.insertMany(name, documents, options),
    replaceOne: (filter, document, options) => store.replaceOne(name, stored(filter), document, options),
    updateOne: (filter, update, options) => store.updateOne(name, stored(filter), update, options),
    updateMany: (filter, update, options) => store.updateMany(name, stored(filter), update, options),
    findOneAndUpdate: (filter, update, options) => store.findOneAndUpdate(name, stored(filter), update, options),
    findOneAndDelete: (filter) => store.findOneAndDelete(name, stored(filter)),
    deleteOne: (filter) => store.deleteOne(name, stored(filter)),
    deleteMany: (filter) => store.deleteMany(name, stored(filter)),
    isLimited: () => Effect.succeed(false),
    statesOf: () => Effect.succeed(everyState)
  }
}

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

const excludingDeleted = (model: ModelLike, all: ModelCollection, field: string): ModelCollection => {
  const conditions: { readonly [K in Deleted]: Filter | undefined } = {
    exclude: { [field]: null },
    include: undefined,
    only: { [field]: { $ne: null } }
  }
  return narrowed(model, all, (_, scope) => conditions[scope?.deleted ?? "exclude"])
}
