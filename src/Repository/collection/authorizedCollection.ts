/**
 * The collection of a model as the caller for whom the fiber runs may use it. Each operation asks for the decision when it runs,
 * so its row filters hold in transactions, in streams and in forked fibers as well.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { isRequiredInput, managedField, type ModelLike } from "../../Model/introspection.ts"
import type { DocumentStore, Filter } from "../DocumentStore.ts"
import { AccessDenied, QueryRejected, type ReadError } from "../RepositoryError.ts"
import { nothing } from "../store/filters.ts"
import { AccessDecision, type RowFilters } from "./accessDecision.ts"
import { checkingWrites } from "./checkedWrites.ts"
import {
  everyState,
  type Kind,
  limitedTo,
  makeCollection,
  type ModelCollection,
  type Scope
} from "./modelCollection.ts"
import { modelMatcher } from "./rowMatcher.ts"

/** @internal */
export const authorized = (
  model: ModelLike,
  all: ModelCollection,
  store: DocumentStore["Service"]
): ModelCollection => {
  const filtered = makeFiltered(model, all, store)

  const use = <S extends { readonly scope?: Scope | undefined }, A, E>(
    operation: S,
    f: (documents: ModelCollection, operation: S) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | ReadError> =>
    Effect.withFiber((fiber) => {
      const decision = fiber.getRef(AccessDecision)
      if (decision === undefined) return f(all, operation)
      const run = (filters: RowFilters) => f(filtered, { ...operation, scope: { ...operation.scope, filters } })
      return decision.addressed?.model === model
        ? run(decision.addressed.rows)
        : Effect.flatMap(decision.of(model), (own) => run(own?.rows ?? unlimited))
    })
  return makeCollection({
    run: (operation) => logging(model, operation.kind, use(operation, (documents, own) => documents.run(own))),
    runStream: (operation) =>
      Stream.unwrap(use(operation, (documents, own) => Effect.succeed(documents.runStream(own))))
  }, {
    isLimited: (given) => use({ scope: given }, (documents, { scope }) => documents.isLimited(scope)),
    statesOf: (id, given) =>
      use({ scope: given }, (documents, { scope }) => documents.statesOf(id, { ...scope, privilege: given.privilege }))
  })
}

// internal

/** Logs a write of a handler that the row filters refuse. Of the document that a request addresses, the answer says enough. */
const logging = <A, E>(model: ModelLike, kind: Kind, operation: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const write = writes[kind]
  return write === undefined ? operation : Effect.withFiber((fiber) => {
    const decision = fiber.getRef(AccessDecision)
    if (decision === undefined || decision.addressed !== undefined) return operation
    const refused = logRefused(decision, model, write)
    return Effect.tap(
      Effect.tapError(operation, (error) => error instanceof AccessDenied ? refused : Effect.void),
      (result) => isRefusal(result) ? refused : Effect.void
    )
  })
}

const logRefused = Effect.fnUntraced(function*({ of, origin }: AccessDecision, model: ModelLike, operation: string) {
  const { modelName } = model
  const own = yield* Effect.orElseSucceed(of(model), () => undefined)
  yield* Effect.annotateLogs(
    Effect.logInfo(`A handler may not write this: ${own?.reason}. Repository.unrestricted(${modelName}) has no rules`),
    { ...origin, model: modelName, operation }
  )
})

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

/** The row filters for a model without a registration. Its pipelines still cannot read other models. */
const unlimited: RowFilters = { rows: () => undefined, check: () => undefined }

/** The collection whose operations have the row filters in their scope. */
const makeFiltered = (model: ModelLike, all: ModelCollection, store: DocumentStore["Service"]): ModelCollection => {
  const permitted = makeCollection(limitedTo(all, (privilege, scope) => scope?.filters?.rows(privilege)))
  return makeCollection({
    run: checkingWrites(model, { all, permitted, store }),
    runStream: (operation) => {
      const foreign = operation.kind === "aggregate" ? foreignStage(operation.pipeline) : undefined
      return foreign === undefined ? permitted.runStream(operation) : Stream.fail(
        new QueryRejected({
          operation: "aggregate",
          detail: `${foreign} reaches other collections, which the rules of a caller do not allow`
        })
      )
    }
  }, {
    isLimited: (scope) => Effect.succeed(scope?.filters !== undefined && isLimited(model, scope.filters)),
    statesOf: (id, scope) =>
      Effect.map(permitted.findById(id, { ...scope, deleted: "include" }), (document) => {
        const rows = scope.filters?.rows(scope.privilege)
        return document === undefined ? undefined : rows === undefined ? everyState : modelMatcher(model, rows)
      })
  })
}

/**
 * Whether a chosen identifier would tell of documents that the caller may not read: with a row filter for what is inserted, or for
 * what is replaced unless callers have to send identifiers. A filter on the identifier itself says which ones there may be.
 */
const isLimited = (model: ModelLike, { check, rows }: RowFilters): boolean => {
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
