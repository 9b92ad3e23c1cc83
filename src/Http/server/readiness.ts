import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ListenFailed } from "./listenFailed.ts"

type Step = Effect.Effect<void, ListenFailed>

/** What is to be done once all is ready; `undefined` where nobody waits for that. */
const Pending = Context.Reference<Array<Step> | undefined>("appkernel/Http/server/readiness/Pending", {
  defaultValue: () => undefined
})

/**
 * Does something once all of {@link readyLast} around it is ready; without one, at once.
 *
 * @internal
 */
export const whenReady = (step: Step): Step =>
  Effect.flatMap(Pending, (steps) =>
    steps === undefined ? step : Effect.sync(() => {
      // A server is made before what it serves, and listens last.
      steps.unshift(step)
    }))

/**
 * Builds a service, and then does what waits in it for all to be ready, unless a larger one that it is part of does so.
 *
 * @internal
 */
export const readyLast = <A, E, R>(build: Effect.Effect<A, E, R>): Effect.Effect<A, E | ListenFailed, R> =>
  Effect.flatMap(Pending, (outer): Effect.Effect<A, E | ListenFailed, R> => {
    if (outer !== undefined) return build
    const steps: Array<Step> = []
    return Effect.tap(
      Effect.provideService(build, Pending, steps),
      () => Effect.forEach(steps, (step) => step, { discard: true })
    )
  })
