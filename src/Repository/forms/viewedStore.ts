/** A model's documents, in their newest form, as the store of an earlier form of it. */
import * as Effect from "effect/Effect"
import { ValidationException } from "../../Model/ModelError.ts"
import type { ModelCollection, Scope } from "../collection/modelCollection.ts"
import type { DocumentStore, Update, UpdatePipeline } from "../DocumentStore.ts"
import { AccessDenied } from "../RepositoryError.ts"

export const viewedStore = (store: DocumentStore["Service"], all: ModelCollection): DocumentStore["Service"] => ({
  ...store,
  findById: (_, id, { filter, ...options } = {}) =>
    filter === undefined
      ? all.findById(id, everything, options)
      : Effect.map(all.find({ ...options, filter: { $and: [{ _id: id }, filter] }, limit: 1 }, everything), ([one]) =>
        one),
  find: (_, options) => all.find(options, everything),
  findAndCount: (_, options) => all.findAndCount(options, everything),
  stream: (_, options) => all.stream(options, everything),
  count: (_, filter, options) => all.count(filter, everything, options),
  estimatedCount: () => all.estimatedCount(everything),
  distinct: (_, path, filter) => all.distinct(path, filter, everything),
  insertOne: (_, document) => unruled(all.insertOne(document, everything)),
  insertMany: (_, documents, options) =>
    Effect.map(all.insertMany(documents, options, everything), ({ failures, insertedCount }) => ({
      insertedCount,
      failures: failures.flatMap(({ error, index }) => isOfRules(error) ? [] : [{ index, error }])
    })),
  replaceOne: (_, filter, document, options) => unruled(all.replaceOne(filter, document, options, everything)),
  updateOne: (_, filter, update, options = {}) =>
    unruled(all.updateOne(filter, operators(update), options, everything)),
  updateMany: (_, filter, update, options = {}) =>
    unruled(all.updateMany(filter, operators(update), options, everything)),
  findOneAndUpdate: (_, filter, update, options = {}) =>
    unruled(all.findOneAndUpdate(filter, operators(update), options, everything)),
  findOneAndDelete: (_, filter) => all.findOneAndDelete(filter, everything),
  deleteOne: (_, filter) => all.deleteOne(filter, everything),
  deleteMany: (_, filter) => all.deleteMany(filter, everything),
  aggregate: (_, pipeline, options) => all.aggregate(pipeline, options, everything)
})

// internal

/** The earlier form itself leaves out deleted documents. */
const everything: Scope = { deleted: "include" }

// Collections update by operators only.
const operators = (update: Update | UpdatePipeline): Update => update as Update

const isOfRules = (error: unknown): error is AccessDenied | ValidationException =>
  error instanceof AccessDenied || error instanceof ValidationException

/** The complete collection has no rules that a write could break. */
const unruled = <A, E>(write: Effect.Effect<A, E>) =>
  Effect.catchIf(
    write,
    (error: E): error is Extract<E, AccessDenied | ValidationException> => isOfRules(error),
    Effect.die
  )
