import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** The fiber that runs an Effect, of which its references can be asked for. */
type Running = Fiber.Fiber<unknown, unknown>

const evaluations = new WeakMap<Effect.Effect<unknown>, (fiber: Running) => unknown>()

/**
 * An Effect of which {@link immediateOf} tells how to get its value without handing it to the fiber, for whoever runs in
 * that fiber and has many of them to run.
 *
 * @internal
 */
export const immediate = <A>(evaluate: (fiber: Running) => A): Effect.Effect<A> => {
  const self = Effect.withFiber<A>((fiber) => Effect.succeed(evaluate(fiber)))
  evaluations.set(self, evaluate)
  return self
}

/** @internal */
export const immediateOf = <A>(self: Effect.Effect<A>): ((fiber: Running) => A) | undefined =>
  // What was set for an Effect gives what the Effect gives.
  evaluations.get(self) as ((fiber: Running) => A) | undefined
