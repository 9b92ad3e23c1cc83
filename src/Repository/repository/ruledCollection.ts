/**
 * The collection of a model under the rules of the caller for whom the fiber runs. Each operation asks for the rules when it
 * runs, so they hold in transactions, in streams and in forked fibers as well.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ModelLike } from "../../Model/introspection.ts"
import type { DocumentStore } from "../DocumentStore.ts"
import { QueryRejected, type ReadError } from "../RepositoryError.ts"
import { CallerRules, rowMatcher, type RowRules } from "./callerRules.ts"
import { checkingWrites } from "./checkedWrites.ts"
import { everyState, type ModelCollection } from "./modelCollection.ts"
import { narrowed } from "./narrowed.ts"

/** @internal */
export const underCallerRules = (
  model: ModelLike,
  all: ModelCollection,
  store: DocumentStore["Service"]
): ModelCollection => {
  const collections = new WeakMap<RowRules, ModelCollection>()
  const collectionOf = (rules: RowRules = unlimited): ModelCollection => {
    const known = collections.get(rules)
    if (known !== undefined) return known
    const collection = ruled(model, all, rules, store)
    collections.set(rules, collection)
    return collection
  }

  const use = <A, E>(f: (documents: ModelCollection) => Effect.Effect<A, E>): Effect.Effect<A, E | ReadError> =>
    Effect.withFiber((fiber) => {
      const callerRules = fiber.getRef(CallerRules)
      return callerRules === undefined
        ? f(all)
        : Effect.flatMap(callerRules.of(model), (rules) => f(collectionOf(rules)))
    })
  const useStream = <A, E>(f: (documents: ModelCollection) => Stream.Stream<A, E>): Stream.Stream<A, E | ReadError> =>
    Stream.unwrap(use((documents) => Effect.succeed(f(documents))))

  return {
    findById: (id, scope, options) => use((documents) => documents.findById(id, scope, options)),
    find: (options, scope) => use((documents) => documents.find(options, scope)),
    findAndCount: (options) => use((documents) => documents.findAndCount(options)),
    stream: (options, scope) => useStream((documents) => documents.stream(options, scope)),
    count: (filter, scope, options) => use((documents) => documents.count(filter, scope, options)),
    estimatedCount: use((documents) => documents.estimatedCount),
    distinct: (path, filter, scope) => use((documents) => documents.distinct(path, filter, scope)),
    aggregate: (pipeline, options, scope) => useStream((documents) => documents.aggregate(pipeline, options, scope)),
    insertOne: (document) => use((documents) => documents.insertOne(document)),
    insertMany: (inserted, options) => use((documents) => documents.insertMany(inserted, options)),
    replaceOne: (filter, document, options) => use((documents) => documents.replaceOne(filter, document, options)),
    updateOne: (filter, update, options, scope) =>
      use((documents) => documents.updateOne(filter, update, options, scope)),
    updateMany: (filter, update, options, scope) =>
      use((documents) => documents.updateMany(filter, update, options, scope)),
    findOneAndUpdate: (filter, update, options, scope) =>
      use((documents) => documents.findOneAndUpdate(filter, update, options, scope)),
    findOneAndDelete: (filter, scope) => use((documents) => documents.findOneAndDelete(filter, scope)),
    deleteOne: (filter, scope) => use((documents) => documents.deleteOne(filter, scope)),
    deleteMany: (filter, scope) => use((documents) => documents.deleteMany(filter, scope)),
    statesOf: (id, access) => use((documents) => documents.statesOf(id, access))
  }
}

// internal

/** The rules of a caller for a model without rules. Its pipelines still cannot read other models. */
const unlimited: RowRules = { rows: () => undefined, check: () => undefined }

const ruled = (
  model: ModelLike,
  all: ModelCollection,
  rules: RowRules,
  store: DocumentStore["Service"]
): ModelCollection => {
  const reached = checkingWrites(model, narrowed(all, (access) => rules.rows(access)), { all, rules, store })
  return {
    ...reached,
    aggregate: (pipeline, options, scope) => {
      const foreign = foreignStage(pipeline)
      return foreign === undefined ? reached.aggregate(pipeline, options, scope) : Stream.fail(
        new QueryRejected({
          operation: "aggregate",
          detail: `${foreign} reaches other collections, which the rules of a caller do not allow`
        })
      )
    },
    statesOf: (id, access) =>
      Effect.map(reached.findById(id, { access, deleted: "include" }), (document) => {
        const rows = rules.rows(access)
        return document === undefined ? undefined : rows === undefined ? everyState : rowMatcher(rows)
      })
  }
}

/** The first stage, of a nested pipeline too, that reads or writes other collections than the pipeline's own. */
const foreignStage = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, part] of Object.entries(value)) {
    const found = foreignStages.has(key) ? key : foreignStage(part)
    if (found !== undefined) return found
  }
  return undefined
}

const foreignStages: ReadonlySet<string> = new Set(["$lookup", "$graphLookup", "$unionWith", "$out", "$merge"])
