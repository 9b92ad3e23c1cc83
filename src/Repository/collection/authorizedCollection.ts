/**
 * The collection of a model as the caller for whom the fiber runs may use it. Each operation asks for the decision when it runs,
 * so its row filters hold in transactions, in streams and in forked fibers as well.
 */
import { storeOperations } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { folded, type Stage } from "../../internal/stages.ts"
import type { ModelLike } from "../../Model/internal.ts"
import type { DocumentStore } from "../DocumentStore.ts"
import { operationStage } from "../OperationStages.ts"
import { AccessDenied, type ReadError } from "../RepositoryError.ts"
import { AccessDecision, type RowFilters } from "./accessDecision.ts"
import {
  collectionOfRunner,
  type CollectionOperation,
  type ModelCollection,
  type Name,
  type Outcome,
  type Runner,
  type Scope,
  type StreamOperation
} from "./modelCollection.ts"
import { recorded, recordedStream } from "./recordedOperations.ts"

/** What the stages of a caller depend on. */
export interface CallerFacts {
  readonly model: ModelLike
  readonly store: DocumentStore["Service"]
  /** Runs `use` with the collection within the row filters of the caller. */
  readonly filtered: <S extends { readonly scope?: Scope | undefined }, A, E>(
    decision: AccessDecision,
    operation: S,
    use: (documents: ModelCollection, operation: S) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | ReadError>
}

/** Runs operations of a caller for whom there is a decision. */
export interface CallerRunner {
  readonly run: <N extends Name>(decision: AccessDecision, operation: CollectionOperation<N>) => Outcome<N>
  /** Succeeds with the stream once it is decided which documents it has. */
  readonly runStream: (
    decision: AccessDecision,
    operation: StreamOperation
  ) => Effect.Effect<ReturnType<Runner["runStream"]>, ReadError>
}

/** What operations of a caller meet; without access control, and outside of requests, none of these is there. */
export const callerStages: ReadonlyArray<Stage<CallerFacts, CallerRunner>> = [
  {
    ...operationStage("refusals"),
    wrap: ({ model }) => (inner) => ({
      ...inner,
      run: (decision, operation) => logging(decision, model, operation.name, inner.run(decision, operation))
    })
  },
  {
    ...operationStage("audit log"),
    wrap: ({ model, store }) => (inner) => ({
      run: (decision, operation) =>
        decision.trail === undefined
          ? inner.run(decision, operation)
          : recorded(decision.trail, model, store, operation, (operation) => inner.run(decision, operation)),
      runStream: (decision, operation) => {
        const { trail } = decision
        const stream = inner.runStream(decision, operation)
        return trail === undefined
          ? stream
          : Effect.map(stream, (documents) => recordedStream(trail, model, operation.name, documents))
      }
    })
  },
  {
    ...operationStage("row filters"),
    wrap: ({ filtered }) => () => ({
      run: (decision, operation) => filtered(decision, operation, (documents, own) => documents.run(own)),
      runStream: (decision, operation) =>
        filtered(decision, operation, (documents, own) => Effect.succeed(documents.runStream(own)))
    })
  }
]

export const authorized = (
  model: ModelLike,
  all: ModelCollection,
  store: DocumentStore["Service"]
): ModelCollection => {
  // It is loaded with the first decision, since it loads the query language.
  let loaded: ModelCollection | undefined
  const loadFiltered = Effect.map(
    Effect.promise(() => import("./rowFilteredCollection.ts")),
    ({ makeFiltered }) => loaded ??= makeFiltered(model, all, store)
  )

  const filtered: CallerFacts["filtered"] = (decision, operation, use) => {
    const run = (filters: RowFilters) => {
      const own = { ...operation, scope: { ...operation.scope, filters } }
      return loaded === undefined ? Effect.flatMap(loadFiltered, (documents) => use(documents, own)) : use(loaded, own)
    }
    return decision.addressed?.model === model
      ? run(decision.addressed.rows)
      : Effect.flatMap(decision.of(model), (own) => run(own?.rows ?? unlimited))
  }
  const caller = folded<CallerFacts, CallerRunner>(callerStages, { model, store, filtered }, {
    run: (_, operation) => all.run(operation),
    runStream: (_, operation) => Effect.succeed(all.runStream(operation))
  })
  return collectionOfRunner({
    // Who reads without a fiber has no caller.
    atOnce: all.atOnce,
    run: (operation) =>
      Effect.withFiber((fiber) => {
        const decision = fiber.getRef(AccessDecision)
        return decision === undefined ? all.run(operation) : caller.run(decision, operation)
      }),
    runStream: (operation) =>
      Stream.unwrap(Effect.withFiber((fiber) => {
        const decision = fiber.getRef(AccessDecision)
        return decision === undefined
          ? Effect.succeed(all.runStream(operation))
          : caller.runStream(decision, operation)
      }))
  }, {
    note: (touched) =>
      deciding(Effect.void, ({ trail }) => {
        if (trail === undefined) return Effect.void
        return touched.operation !== "read" ? trail.wrote(touched) : Effect.sync(() => {
          if (trail.hasReads) trail.read(touched)
        })
      }),
    isLimited: (scope) =>
      deciding(
        all.isLimited(scope),
        (decision) => filtered(decision, { scope }, (documents, { scope }) => documents.isLimited(scope))
      ),
    statesOf: (id, scope) =>
      deciding(
        all.statesOf(id, scope),
        (decision) =>
          filtered(decision, { scope }, (documents, own) =>
            documents.statesOf(id, { ...own.scope, privilege: scope.privilege }))
      )
  })
}

// internal

/** Uses the decision for the caller; without one there are no limits. */
const deciding = <A, E>(none: Effect.Effect<A, E>, use: (decision: AccessDecision) => Effect.Effect<A, E>) =>
  Effect.withFiber((fiber) => {
    const decision = fiber.getRef(AccessDecision)
    return decision === undefined ? none : use(decision)
  })

/** Logs a write of a handler that the row filters refuse. Of the document that a request addresses, the answer says enough. */
const logging = <A, E>(
  decision: AccessDecision,
  model: ModelLike,
  name: Name,
  operation: Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const write = storeOperations[name].kind
  const { addressed, trail } = decision
  if (write === "read" || (addressed !== undefined && trail === undefined)) return operation
  const noted = trail === undefined ? Effect.void : Effect.sync(() => {
    trail.refused(model.modelName, write)
  })
  const refused = addressed === undefined ? Effect.andThen(noted, logRefused(decision, model, write)) : noted
  return Effect.tap(
    Effect.tapError(operation, (error) => error instanceof AccessDenied ? refused : Effect.void),
    (result) => isRefusal(result) ? refused : Effect.void
  )
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
