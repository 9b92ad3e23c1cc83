/**
 * The collection of a model as the caller for whom the fiber runs may use it. Each operation asks for the decision when it runs,
 * so its row filters hold in transactions, in streams and in forked fibers as well.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { ModelLike } from "../../Model/internal.ts"
import type { DocumentStore } from "../DocumentStore.ts"
import { AccessDenied, type ReadError } from "../RepositoryError.ts"
import { AccessDecision, type RowFilters } from "./accessDecision.ts"
import { type Kind, makeCollection, type ModelCollection, type Runner, type Scope } from "./modelCollection.ts"
import { recorded, recordedStream, writeOf } from "./recordedOperations.ts"

export const authorized = (
  model: ModelLike,
  all: ModelCollection,
  store: DocumentStore["Service"]
): ModelCollection => {
  // It is loaded with the first decision, since it loads the query language.
  let filtered: ModelCollection | undefined
  const loadFiltered = Effect.map(
    Effect.promise(() => import("./filteredCollection.ts")),
    ({ makeFiltered }) => filtered ??= makeFiltered(model, all, store)
  )

  const useBy = <S extends { readonly scope?: Scope | undefined }, A, E>(
    decision: AccessDecision | undefined,
    operation: S,
    f: (documents: ModelCollection, operation: S) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | ReadError> => {
    if (decision === undefined) return f(all, operation)
    const run = (filters: RowFilters) => {
      const own = { ...operation, scope: { ...operation.scope, filters } }
      return filtered === undefined
        ? Effect.flatMap(loadFiltered, (documents) => f(documents, own))
        : f(filtered, own)
    }
    return decision.addressed?.model === model
      ? run(decision.addressed.rows)
      : Effect.flatMap(decision.of(model), (own) => run(own?.rows ?? unlimited))
  }
  const use = <S extends { readonly scope?: Scope | undefined }, A, E>(
    operation: S,
    f: (documents: ModelCollection, operation: S) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | ReadError> => Effect.withFiber((fiber) => useBy(fiber.getRef(AccessDecision), operation, f))
  const run: Runner["run"] = (operation) =>
    Effect.withFiber((fiber) => {
      const decision = fiber.getRef(AccessDecision)
      const runOwn: Runner["run"] = (operation) => useBy(decision, operation, (documents, own) => documents.run(own))
      return decision?.trail === undefined
        ? runOwn(operation)
        : recorded(decision.trail, model, store, operation, runOwn)
    })
  return makeCollection({
    run: (operation) => logging(model, operation.kind, run(operation)),
    runStream: (operation) =>
      Stream.unwrap(Effect.withFiber((fiber) => {
        const trail = fiber.getRef(AccessDecision)?.trail
        return use(operation, (documents, own) => {
          const stream = documents.runStream(own)
          return Effect.succeed(trail === undefined ? stream : recordedStream(trail, model, operation.kind, stream))
        })
      }))
  }, {
    note: (touched) =>
      Effect.withFiber((fiber) => {
        const trail = fiber.getRef(AccessDecision)?.trail
        if (trail === undefined) return Effect.void
        return touched.operation !== "read" ? trail.wrote(touched) : Effect.sync(() => {
          if (trail.hasReads) trail.read(touched)
        })
      }),
    isLimited: (given) => use({ scope: given }, (documents, { scope }) => documents.isLimited(scope)),
    statesOf: (id, given) =>
      use({ scope: given }, (documents, { scope }) => documents.statesOf(id, { ...scope, privilege: given.privilege }))
  })
}

// internal

/** Logs a write of a handler that the row filters refuse. Of the document that a request addresses, the answer says enough. */
const logging = <A, E>(model: ModelLike, kind: Kind, operation: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const write = writeOf(kind)
  return write === undefined ? operation : Effect.withFiber((fiber) => {
    const decision = fiber.getRef(AccessDecision)
    if (decision === undefined) return operation
    const { trail } = decision
    const noted = trail === undefined ? Effect.void : Effect.sync(() => {
      trail.refused(model.modelName, write)
    })
    if (decision.addressed !== undefined && trail === undefined) return operation
    const refused = decision.addressed === undefined
      ? Effect.andThen(noted, logRefused(decision, model, write))
      : noted
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

/** The row filters for a model without a registration. Its pipelines still cannot read other models. */
const unlimited: RowFilters = { rows: () => undefined, check: () => undefined }
