/**
 * The collection of a model under the rules of the caller for whom the fiber runs. Each operation asks for the rules when it
 * runs, so they hold in transactions, in streams and in forked fibers as well.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { isRequiredInput, managedField, type ModelLike } from "../../Model/introspection.ts"
import type { DocumentStore, Filter } from "../DocumentStore.ts"
import { AccessDenied, QueryRejected, type ReadError } from "../RepositoryError.ts"
import { CallerRules, nothing, type RowRules } from "./callerRules.ts"
import { checkingWrites } from "./checkedWrites.ts"
import { everyState, type Kind, makeCollection, type ModelCollection, type Scope } from "./modelCollection.ts"
import { narrowed } from "./narrowed.ts"
import { modelMatcher } from "./rowMatcher.ts"

/** @internal */
export const underCallerRules = (
  model: ModelLike,
  all: ModelCollection,
  store: DocumentStore["Service"]
): ModelCollection => {
  const ruled = makeRuled(model, all, store)

  const use = <S extends { readonly scope?: Scope | undefined }, A, E>(
    operation: S,
    f: (documents: ModelCollection, operation: S) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | ReadError> =>
    Effect.withFiber((fiber) => {
      const callerRules = fiber.getRef(CallerRules)
      return callerRules === undefined
        ? f(all, operation)
        : Effect.flatMap(
          callerRules.of(model),
          (rules = unlimited) => f(ruled, { ...operation, scope: { ...operation.scope, rules } })
        )
    })
  return makeCollection({
    run: (operation) => telling(model, operation.kind, use(operation, (documents, ruled) => documents.run(ruled))),
    runStream: (operation) =>
      Stream.unwrap(use(operation, (documents, ruled) => Effect.succeed(documents.runStream(ruled))))
  }, {
    isLimited: (given) => use({ scope: given }, (documents, { scope }) => documents.isLimited(scope)),
    statesOf: (id, given) =>
      use({ scope: given }, (documents, { scope }) => documents.statesOf(id, { ...scope, access: given.access }))
  })
}

// internal

/** Tells those who run the service of a write that the rules refuse. */
const telling = <A, E>(model: ModelLike, kind: Kind, operation: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const write = writes[kind]
  return write === undefined ? operation : Effect.withFiber((fiber) => {
    const refused = fiber.getRef(CallerRules)?.refused
    return refused === undefined ? operation : Effect.tap(
      Effect.tapError(operation, (error) => error instanceof AccessDenied ? refused(model, write) : Effect.void),
      (result) => isRefusal(result) ? refused(model, write) : Effect.void
    )
  })
}

/** An insert of several documents says of each why it was rejected. */
const isRefusal = (result: unknown): boolean =>
  Predicate.hasProperty(result, "failures") && Array.isArray(result.failures) &&
  result.failures.some((failure) => Predicate.hasProperty(failure, "error") && failure.error instanceof AccessDenied)

const writes: { readonly [K in Kind]?: "insert" | "replace" | "update" } = {
  insertOne: "insert",
  insertMany: "insert",
  replaceOne: "replace",
  updateOne: "update",
  updateMany: "update",
  findOneAndUpdate: "update"
}

/** The rules of a caller for a model without rules. Its pipelines still cannot reach other models. */
const unlimited: RowRules = { rows: () => undefined, check: () => undefined }

/** The collection whose operations have the rules in their scope. */
const makeRuled = (model: ModelLike, all: ModelCollection, store: DocumentStore["Service"]): ModelCollection => {
  const reached = makeCollection(narrowed(all, (access, scope) => scope?.rules?.rows(access)))
  return makeCollection({
    run: checkingWrites(model, { all, reached, store }),
    runStream: (operation) => {
      const foreign = operation.kind === "aggregate" ? foreignStage(operation.pipeline) : undefined
      return foreign === undefined ? reached.runStream(operation) : Stream.fail(
        new QueryRejected({
          operation: "aggregate",
          detail: `${foreign} reaches other collections, which the rules of a caller do not allow`
        })
      )
    }
  }, {
    isLimited: (scope) => Effect.succeed(scope?.rules !== undefined && isLimited(model, scope.rules)),
    statesOf: (id, scope) =>
      Effect.map(reached.findById(id, { ...scope, deleted: "include" }), (document) => {
        const rows = scope.rules?.rows(scope.access)
        return document === undefined ? undefined : rows === undefined ? everyState : modelMatcher(model, rows)
      })
  })
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
