import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { attributesOf, operationRecorder } from "./operationMetrics.ts"

/**
 * Counts and times an operation, and puts it into a span, where a tracer is installed that would see it: without one a
 * span costs more than many an operation. The span tells the collection, the operation, and how many documents came back;
 * never values.
 *
 * @internal
 */
export const instrumented = <Args extends ReadonlyArray<unknown>, A, E, R>(
  name: string,
  collection: string,
  operation: (...args: Args) => Effect.Effect<A, E, R>
): (...args: Args) => Effect.Effect<A, E, R> => {
  const observe = observer(name, collection)
  return (...args) => observe((isWatched) => isWatched ? Effect.tap(operation(...args), annotate) : operation(...args))
}

/**
 * What {@link instrumented} does, for one effect at a time, which is told whether somebody watches.
 *
 * @internal
 */
export const observer = (
  name: string,
  collection?: string
): <A, E, R>(run: (isWatched: boolean) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> => {
  const options = { attributes: attributesOf(name, collection) }
  const record = operationRecorder(options.attributes)
  return (run) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      return Effect.onExitPrimitive(
        isWatched(fiber) ? Effect.withSpan(run(true), `Repository.${name}`, options) : run(false),
        (exit) => {
          record(exit, clock.monotonicTimeNanosUnsafe() - start, fiber.context)
          return undefined
        }
      )
    })
}

/**
 * {@link instrumented} for what is read as it is pulled: it ends with the last document, or when nobody wants more.
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
      return Effect.succeed(isWatched(fiber) ? Stream.withSpan(stream, `Repository.${name}`, options) : stream)
    }))
}

// internal

const isWatched = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer

const annotate = (result: unknown) =>
  Array.isArray(result) ? Effect.annotateCurrentSpan("db.response.returned_rows", result.length) : Effect.void
