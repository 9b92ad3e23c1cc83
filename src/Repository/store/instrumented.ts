/**
 * Metrics and spans of repository operations.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { attributesOf, operationRecorder } from "./operationMetrics.ts"

/**
 * Counts and times an operation. Runs it in a span if a tracer is installed, because a span costs more than many
 * operations. The span has the collection, the operation and the number of returned documents, never values.
 *
 * @internal
 */
export const instrumented = <Args extends ReadonlyArray<unknown>, A, E, R>(
  name: string,
  collection: string,
  operation: (...args: Args) => Effect.Effect<A, E, R>
): (...args: Args) => Effect.Effect<A, E, R> => {
  const instrument = makeInstrumentation(name, collection)
  return (...args) => instrument((isTraced) => isTraced ? Effect.tap(operation(...args), annotate) : operation(...args))
}

/**
 * {@link instrumented} for single effects. `run` is called with whether the effect is traced.
 *
 * @internal
 */
export const makeInstrumentation = (
  name: string,
  collection?: string
): <A, E, R>(run: (isTraced: boolean) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> => {
  const options = { attributes: attributesOf(name, collection) }
  const record = operationRecorder(options.attributes)
  return (run) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      return Effect.onExitPrimitive(
        hasTracer(fiber) ? Effect.withSpan(run(true), `Repository.${name}`, options) : run(false),
        (exit) => {
          record(exit, clock.monotonicTimeNanosUnsafe() - start, fiber.context)
          return undefined
        }
      )
    })
}

/**
 * {@link instrumented} for streams. The operation ends when the stream does, or when its consumer stops.
 *
 * @internal
 */
export const instrumentedStream = <Args extends ReadonlyArray<unknown>, A, E>(
  name: string,
  collection: string,
  operation: (...args: Args) => Stream.Stream<A, E>
): (...args: Args) => Stream.Stream<A, E> => {
  const options = { attributes: attributesOf(name, collection) }
  const record = operationRecorder(options.attributes)
  return (...args) =>
    Stream.unwrap(Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      const { context } = fiber
      const stream = Stream.onExit(operation(...args), (exit) =>
        Effect.sync(() => {
          record(exit, clock.monotonicTimeNanosUnsafe() - start, context)
        }))
      return Effect.succeed(hasTracer(fiber) ? Stream.withSpan(stream, `Repository.${name}`, options) : stream)
    }))
}

// internal

const hasTracer = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer

const annotate = (result: unknown) =>
  Array.isArray(result) ? Effect.annotateCurrentSpan("db.response.returned_rows", result.length) : Effect.void
