/**
 * The collection of a model in its store, without the rules of callers.
 */
import * as Effect from "effect/Effect"
import { managedField, type ModelLike } from "../../Model/introspection.ts"
import type { DocumentStore, Filter } from "../DocumentStore.ts"
import { everyState, type ModelCollection } from "./modelCollection.ts"
import { narrowed } from "./narrowed.ts"
import type { Deleted } from "./softDeletion.ts"

/** @internal */
export const makeModelCollection = (model: ModelLike, store: DocumentStore["Service"]): ModelCollection => {
  const collection = storeCollection(model.modelName, store)
  const deletedField = managedField(model, "deleted")
  return deletedField === undefined ? collection : excludingDeleted(collection, deletedField)
}

// internal

const storeCollection = (name: string, store: DocumentStore["Service"]): ModelCollection => ({
  findById: (id, _, options) => store.findById(name, id, options),
  find: (options) => store.find(name, options),
  findAndCount: (options) => store.findAndCount(name, options),
  stream: (options) => store.stream(name, options),
  count: (filter, _, options) => store.count(name, filter, options),
  estimatedCount: () => store.estimatedCount(name),
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
  deleteMany: (filter) => store.deleteMany(name, filter),
  isLimited: () => Effect.succeed(false),
  statesOf: () => Effect.succeed(everyState)
})

const excludingDeleted = (all: ModelCollection, field: string): ModelCollection => {
  const conditions: { readonly [K in Deleted]: Filter | undefined } = {
    exclude: { [field]: null },
    include: undefined,
    only: { [field]: { $ne: null } }
  }
  return narrowed(all, (_, scope) => conditions[scope?.deleted ?? "exclude"])
}
