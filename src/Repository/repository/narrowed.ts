/**
 * Restricts the operations of a collection to the documents that match a condition: those that are not deleted, or those
 * that the caller's rules admit. The condition is part of the store's own operation, so both are one atomic step.
 */
import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/introspection.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import type { Access } from "./callerRules.ts"
import { conjunctionOf, type ModelCollection, type Scope } from "./modelCollection.ts"
import { modelMatcher } from "./rowMatcher.ts"

/**
 * The collection whose operations reach a document only if it matches their condition as well. `undefined`: all documents.
 *
 * @internal
 */
export const narrowed = (
  model: ModelLike,
  all: ModelCollection,
  conditionOf: (access: Access, scope: Scope | undefined) => Filter | undefined
): ModelCollection => {
  const within = (filter: Filter, access: Access, scope?: Scope): Filter => {
    const condition = conditionOf(scope?.access ?? access, scope)
    return condition === undefined ? filter : conjunctionOf(filter, condition)
  }
  return {
    findById: (id, scope, options) => {
      const condition = conditionOf(scope?.access ?? "read", scope)
      const found = all.findById(id, scope, options)
      return condition === undefined
        ? found
        : Effect.map(
          found,
          (document) => document !== undefined && modelMatcher(model, condition)(document) ? document : undefined
        )
    },
    find: (options, scope) => all.find({ ...options, filter: within(options.filter ?? {}, "read", scope) }, scope),
    findAndCount: (options, scope) =>
      all.findAndCount({ ...options, filter: within(options.filter ?? {}, "read", scope) }, scope),
    stream: (options, scope) => all.stream({ ...options, filter: within(options.filter ?? {}, "read", scope) }, scope),
    count: (filter, scope, options) => all.count(within(filter, "read", scope), scope, options),
    estimatedCount: (scope) => {
      const condition = conditionOf("read", scope)
      return condition === undefined ? all.estimatedCount(scope) : all.count(condition, scope)
    },
    distinct: (path, filter, scope) => all.distinct(path, within(filter, "read", scope), scope),
    aggregate: (pipeline, options, scope) => {
      const condition = conditionOf("read", scope)
      return all.aggregate(condition === undefined ? pipeline : pipelineWithin(pipeline, condition), options, scope)
    },
    insertOne: all.insertOne,
    insertMany: all.insertMany,
    replaceOne: (filter, document, options, scope) =>
      all.replaceOne(within(filter, "update", scope), document, options, scope),
    updateOne: (filter, update, options, scope) =>
      all.updateOne(within(filter, "update", scope), update, options, scope),
    updateMany: (filter, update, options, scope) =>
      all.updateMany(within(filter, "update", scope), update, options, scope),
    findOneAndUpdate: (filter, update, options, scope) =>
      all.findOneAndUpdate(within(filter, "update", scope), update, options, scope),
    findOneAndDelete: (filter, scope) => all.findOneAndDelete(within(filter, "delete", scope), scope),
    deleteOne: (filter, scope) => all.deleteOne(within(filter, "delete", scope), scope),
    deleteMany: (filter, scope) => all.deleteMany(within(filter, "delete", scope), scope),
    isLimited: all.isLimited,
    statesOf: all.statesOf
  }
}

// internal

/**
 * Adds the condition as early in the pipeline as possible. A stage that has to be the first one gets the condition as part
 * of its query, or right after it when it has no query.
 */
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
