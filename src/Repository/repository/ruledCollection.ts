/**
 * The collection of a model under the rules of the caller for whom the fiber runs. Each operation asks for the rules when it
 * runs, so they hold in transactions, in streams and in forked fibers as well.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isRequiredInput, managedField, type ModelLike } from "../../Model/introspection.ts"
import type { DocumentStore, Filter } from "../DocumentStore.ts"
import { AccessDenied, QueryRejected, type ReadError } from "../RepositoryError.ts"
import { CallerRules, nothing, type RowRules } from "./callerRules.ts"
import { checkingWrites } from "./checkedWrites.ts"
import { everyState, type ModelCollection, type Scope } from "./modelCollection.ts"
import { narrowed } from "./narrowed.ts"
import { modelMatcher } from "./rowMatcher.ts"

/** @internal */
export const underCallerRules = (
  model: ModelLike,
  all: ModelCollection,
  store: DocumentStore["Service"]
): ModelCollection => {
  const ruled = makeRuled(model, all, store)

  const use = <A, E>(
    scope: Scope | undefined,
    f: (documents: ModelCollection, scope: Scope | undefined) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | ReadError> =>
    Effect.withFiber((fiber) => {
      const callerRules = fiber.getRef(CallerRules)
      return callerRules === undefined
        ? f(all, scope)
        : Effect.flatMap(callerRules.of(model), (rules = unlimited) => f(ruled, { ...scope, rules }))
    })
  /** {@link use} for a write, whose refusal is told to those who run the service. */
  const write = <A, E>(
    operation: "insert" | "replace" | "update",
    scope: Scope | undefined,
    f: (documents: ModelCollection, scope: Scope | undefined) => Effect.Effect<A, E>,
    isRefusal: (result: A) => boolean = () => false
  ): Effect.Effect<A, E | ReadError> =>
    Effect.withFiber((fiber) => {
      const refused = fiber.getRef(CallerRules)?.refused
      const written = use(scope, f)
      return refused === undefined ? written : Effect.tap(
        Effect.tapError(written, (error) => error instanceof AccessDenied ? refused(model, operation) : Effect.void),
        (result) => isRefusal(result) ? refused(model, operation) : Effect.void
      )
    })
  const useStream = <A, E>(
    given: Scope | undefined,
    f: (documents: ModelCollection, scope: Scope | undefined) => Stream.Stream<A, E>
  ): Stream.Stream<A, E | ReadError> =>
    Stream.unwrap(use(given, (documents, scope) => Effect.succeed(f(documents, scope))))

  return {
    findById: (id, given, options) => use(given, (_, scope) => _.findById(id, scope, options)),
    find: (options, given) => use(given, (_, scope) => _.find(options, scope)),
    findAndCount: (options, given) => use(given, (_, scope) => _.findAndCount(options, scope)),
    stream: (options, given) => useStream(given, (_, scope) => _.stream(options, scope)),
    count: (filter, given, options) => use(given, (_, scope) => _.count(filter, scope, options)),
    estimatedCount: (given) => use(given, (_, scope) => _.estimatedCount(scope)),
    distinct: (path, filter, given) => use(given, (_, scope) => _.distinct(path, filter, scope)),
    aggregate: (pipeline, options, given) => useStream(given, (_, scope) => _.aggregate(pipeline, options, scope)),
    insertOne: (document, given) => write("insert", given, (_, scope) => _.insertOne(document, scope)),
    insertMany: (documents, options, given) =>
      write(
        "insert",
        given,
        (_, scope) => _.insertMany(documents, options, scope),
        ({ failures }) => failures.some(({ error }) => error instanceof AccessDenied)
      ),
    replaceOne: (filter, document, options, given) =>
      write("replace", given, (_, scope) => _.replaceOne(filter, document, options, scope)),
    updateOne: (filter, update, options, given) =>
      write("update", given, (_, scope) => _.updateOne(filter, update, options, scope)),
    updateMany: (filter, update, options, given) =>
      write("update", given, (_, scope) => _.updateMany(filter, update, options, scope)),
    findOneAndUpdate: (filter, update, options, given) =>
      write("update", given, (_, scope) => _.findOneAndUpdate(filter, update, options, scope)),
    findOneAndDelete: (filter, given) => use(given, (_, scope) => _.findOneAndDelete(filter, scope)),
    deleteOne: (filter, given) => use(given, (_, scope) => _.deleteOne(filter, scope)),
    deleteMany: (filter, given) => use(given, (_, scope) => _.deleteMany(filter, scope)),
    isLimited: (given) => use(given, (_, scope) => _.isLimited(scope)),
    statesOf: (id, given) => use(given, (_, scope) => _.statesOf(id, { ...scope, access: given.access }))
  }
}

// internal

/** The rules of a caller for a model without rules. Its pipelines still cannot reach other models. */
const unlimited: RowRules = { rows: () => undefined, check: () => undefined }

/** The collection whose operations have the rules in their scope. */
const makeRuled = (model: ModelLike, all: ModelCollection, store: DocumentStore["Service"]): ModelCollection => {
  const reached = narrowed(model, all, (access, scope) => scope?.rules?.rows(access))
  return {
    ...checkingWrites(model, { all, reached, store }),
    aggregate: (pipeline, options, scope) => {
      const foreign = foreignStage(pipeline)
      return foreign === undefined ? reached.aggregate(pipeline, options, scope) : Stream.fail(
        new QueryRejected({
          operation: "aggregate",
          detail: `${foreign} reaches other collections, which the rules of a caller do not allow`
        })
      )
    },
    isLimited: (scope) => Effect.succeed(scope?.rules !== undefined && isLimited(model, scope.rules)),
    statesOf: (id, scope) =>
      Effect.map(reached.findById(id, { ...scope, deleted: "include" }), (document) => {
        const rows = scope.rules?.rows(scope.access)
        return document === undefined ? undefined : rows === undefined ? everyState : modelMatcher(model, rows)
      })
  }
}

/**
 * Whether a chosen identifier would tell of documents that the caller does not reach: under a rule for what is inserted, or for
 * what is replaced unless callers have to send identifiers. A rule about the identifier itself says which ones there may be.
 */
const isLimited = (model: ModelLike, { check, rows }: RowRules): boolean => {
  const id = managedField(model, "id")
  const isGiven = id !== undefined && isRequiredInput(model, id)
  return [check("insert"), isGiven ? undefined : rows("update")].some((filter) =>
    filter !== undefined && !isAboutId(filter)
  )
}

const isAboutId = (filter: Filter): boolean => filter !== nothing && Object.hasOwn(filter, "_id")

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
