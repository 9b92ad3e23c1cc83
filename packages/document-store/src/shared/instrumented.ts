/**
 * Metrics and spans of repository operations: their number, duration and outcome. They have the names and attributes of
 * OpenTelemetry's conventions for databases: the collection, if there is one, the operation and the outcome, never values.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { getOrMake } from "../internal/getOrMake.ts"
import type { TakeOptions } from "../StoreTypes.ts"

/** Whether operations are counted and timed: a service that nobody measures turns it off. */
export const CountsOperations = Context.Reference<boolean>("appkernel/Repository/CountsOperations", {
  defaultValue: () => true
})

/**
 * Counts and times an operation. Runs it in a span if a tracer is installed, because a span costs more than many
 * operations. The span has the collection, the operation and the number of returned documents, never values.
 */
export const instrumented = <Args extends ReadonlyArray<unknown>, A, E, R>(
  name: string,
  collection: string,
  operation: (...args: Args) => Effect.Effect<A, E, R>
): (...args: Args) => Effect.Effect<A, E, R> => {
  const instrument = makeInstrumentation(name, collection)
  return (...args) => instrument((isTraced) => isTraced ? Effect.tap(operation(...args), annotate) : operation(...args))
}

/** {@link instrumented} for reads whose documents a consumer takes: the result has none. */
export const instrumentedTake = <A, E>(
  name: string,
  collection: string,
  read: (options: TakeOptions) => Effect.Effect<A, E>
): (options: TakeOptions) => Effect.Effect<A, E> => {
  const instrument = makeInstrumentation(name, collection)
  return (options) => {
    const { take } = options
    return instrument((isTraced) => {
      if (!isTraced) return read(options)
      if (take === undefined) return Effect.tap(read(options), annotate)
      let taken = 0
      const counted = (documents: ReadonlyArray<unknown>): void => {
        taken += documents.length
      }
      return Effect.tap(
        read({ ...options, take: (documents) => (counted(documents), take(documents)) }),
        () => annotateCount(taken)
      )
    })
  }
}

/** {@link instrumented} for single effects. `run` is called with whether the effect is traced. */
export const makeInstrumentation = (
  name: string,
  collection?: string
): <A, E, R>(run: (isTraced: boolean) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> => {
  // A stack for each span costs more than many operations.
  const options = { attributes: attributesOf(name, collection), captureStackTrace: false }
  const record = operationRecorder(options.attributes)
  return (run) =>
    Effect.withFiber((fiber) => {
      const operation = hasTracer(fiber) ? Effect.withSpan(run(true), `Repository.${name}`, options) : run(false)
      if (!fiber.getRef(CountsOperations)) return operation
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      return Effect.onExitPrimitive(operation, (exit) => {
        record(exit, clock.monotonicTimeNanosUnsafe() - start, fiber.context)
        return undefined
      })
    })
}

/** {@link instrumented} for streams. The operation ends when the stream does, or when its consumer stops. */
export const instrumentedStream = <Args extends ReadonlyArray<unknown>, A, E>(
  name: string,
  collection: string,
  operation: (...args: Args) => Stream.Stream<A, E>
): (...args: Args) => Stream.Stream<A, E> => {
  const options = { attributes: attributesOf(name, collection), captureStackTrace: false }
  const record = operationRecorder(options.attributes)
  return (...args) =>
    Stream.unwrap(Effect.withFiber((fiber) => {
      const all = operation(...args)
      const traced = hasTracer(fiber) ? Stream.withSpan(all, `Repository.${name}`, options) : all
      if (!fiber.getRef(CountsOperations)) return Effect.succeed(traced)
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      const { context } = fiber
      return Effect.succeed(Stream.onExit(traced, (exit) =>
        Effect.sync(() => {
          record(exit, clock.monotonicTimeNanosUnsafe() - start, context)
        })))
    }))
}

// internal

const hasTracer = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer

const annotate = (result: unknown): Effect.Effect<void> => {
  const found: unknown = ["documents", "items"].map((name) => Reflect.get(Object(result), name)).find(Array.isArray)
  const all = found ?? result
  return Array.isArray(all) ? annotateCount(all.length) : Effect.void
}

const annotateCount = (count: number): Effect.Effect<void> =>
  Effect.annotateCurrentSpan("db.response.returned_rows", count)

/** Records an operation that has ended, with its duration in nanoseconds. */
type Recorder = (
  exit: Exit.Exit<unknown, unknown>,
  nanoseconds: bigint,
  context: Context.Context<never>
) => void

/** The attributes of an operation that are known before it runs. A transaction has no collection. */
const attributesOf = (
  operation: string,
  collection: string | undefined
): { readonly [name: string]: string } => ({
  ...collection === undefined ? {} : { "db.collection.name": collection },
  "db.operation.name": operation
})

/** The recorder of an operation, with a series for each outcome in the registry of the operation's context. */
const operationRecorder = (operation: { readonly [name: string]: string }): Recorder => {
  const seriesOf = (outcome: string): Series => {
    const attributes = { ...operation, outcome }
    return {
      count: Metric.counter("db.client.operations", {
        description: "Operations of repositories that have ended",
        attributes,
        incremental: true
      }),
      duration: Metric.histogram("db.client.operation.duration", {
        description: "How long operations of repositories took, in seconds",
        attributes: { ...attributes, unit: "s" },
        boundaries: durationBoundaries
      })
    }
  }
  const made = new Map<string, Series>()
  return (exit, nanoseconds, context) => {
    const outcome = exit._tag === "Success" ? "ok" : outcomeOf(exit.cause)
    const { count, duration } = getOrMake(made, outcome, () => seriesOf(outcome))
    count.updateUnsafe(1, context)
    duration.updateUnsafe(Number(nanoseconds) / 1e9, context)
  }
}

interface Series {
  readonly count: Metric.Counter<number>
  readonly duration: Metric.Histogram<number>
}

// In seconds, as OpenTelemetry recommends for this metric.
const durationBoundaries = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** The outcome of a failure: the tag of its error, of which the number is bounded. */
const outcomeOf = (cause: Cause.Cause<unknown>): string => {
  const failure = cause.reasons.find(Cause.isFailReason)
  if (failure === undefined) return Cause.hasInterruptsOnly(cause) ? "interrupted" : "defect"
  return Predicate.hasProperty(failure.error, "_tag") && Predicate.isString(failure.error._tag)
    ? failure.error._tag
    : "failure"
}
