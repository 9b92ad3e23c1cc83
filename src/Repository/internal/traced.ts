import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/**
 * Puts an operation into a span, where a tracer is installed that would see it: without one a span costs more than many
 * an operation. The span tells the collection, the operation, and how many documents came back; never values.
 *
 * @internal
 */
export const traced = <Args extends ReadonlyArray<unknown>, A, E, R>(
  name: string,
  collection: string,
  operation: (...args: Args) => Effect.Effect<A, E, R>
): (...args: Args) => Effect.Effect<A, E, R> => {
  const options = { attributes: { "db.collection.name": collection, "db.operation.name": name } }
  return (...args) =>
    Effect.withFiber((fiber) =>
      fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer
        ? operation(...args)
        : Effect.withSpan(Effect.tap(operation(...args), annotate), `Repository.${name}`, options)
    )
}

const annotate = (result: unknown) =>
  Array.isArray(result) ? Effect.annotateCurrentSpan("db.response.returned_rows", result.length) : Effect.void
