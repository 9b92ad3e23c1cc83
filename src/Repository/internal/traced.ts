import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { operationRecorder } from "./operationMetrics.ts"

/**
 * Counts and times an operation, and puts it into a span, where a tracer is installed that would see it: without one a
 * span costs more than many an operation. The span tells the collection, the operation, and how many documents came back;
 * never values.
 *
 * @internal
 */
export const traced = <Args extends ReadonlyArray<unknown>, A, E, R>(
  name: string,
  collection: string,
  operation: (...args: Args) => Effect.Effect<A, E, R>
): (...args: Args) => Effect.Effect<A, E, R> => {
  const options = { attributes: { "db.collection.name": collection, "db.operation.name": name } }
  const record = operationRecorder(collection, name)
  return (...args) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      return Effect.onExitPrimitive(
        isWatched(fiber)
          ? Effect.withSpan(Effect.tap(operation(...args), annotate), `Repository.${name}`, options)
          : operation(...args),
        (exit) => {
          record(exit, clock.monotonicTimeNanosUnsafe() - start, fiber.context)
          return undefined
        }
      )
    })
}

/**
 * {@link traced} for what is read as it is pulled: it ends with the last document, or when nobody wants more.
 *
 * @internal
 */
export const tracedStream = <Args extends ReadonlyArray<unknown>, A, E>(
  name: string,
  collection: string,
  operation: (...args: Args) => Stream.Stream<A, E>
): (...args: Args) => Stream.Stream<A, E> => {
  const options = { attributes: { "db.collection.name": collection, "db.operation.name": name } }
  const record = operationRecorder(collection, name)
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
