/** Effects that hot paths evaluate without the run loop, such as generators of identifiers. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** The fiber that runs an Effect and provides its references. */
type Running = Fiber.Fiber<unknown, unknown>

const evaluations = new WeakMap<Effect.Effect<unknown>, (fiber: Running) => unknown>()

/** An Effect whose value {@link synchronousOf} computes without the run loop, within a fiber that has many. */
export const synchronous = <A>(evaluate: (fiber: Running) => A): Effect.Effect<A> => {
  const self = Effect.withFiber<A>((fiber) => Effect.succeed(evaluate(fiber)))
  evaluations.set(self, evaluate)
  return self
}

export const synchronousOf = <A>(self: Effect.Effect<A>): ((fiber: Running) => A) | undefined =>
  // The map holds the evaluation of the same Effect.
  evaluations.get(self) as ((fiber: Running) => A) | undefined
