/** Calls through a circuit breaker, for tests. */
import { Cause, Deferred, Effect, Exit, Fiber, Option, References } from "effect"
import type { CircuitBreaker } from "../../../src/index.ts"

export type Outcome = CircuitBreaker.Outcome

/** A call that fails with an outcome other than a success has that outcome. */
export const outcomeOf = (exit: Exit.Exit<void, Outcome>): Outcome =>
  Exit.isSuccess(exit) ? "Success" : Option.getOrElse(Cause.findErrorOption(exit.cause), () => "Unknown" as const)

export const callOf = (outcome: Outcome): Effect.Effect<void, Outcome> =>
  outcome === "Success" ? Effect.void : outcome === "Unknown" ? Effect.interrupt : Effect.fail(outcome)

/** A call that runs until it is told how to end. `undefined` if it does not run. */
export const started = (run: (call: Effect.Effect<void, Outcome>) => Effect.Effect<void, unknown>) =>
  Effect.gen(function*() {
    const gate = Deferred.makeUnsafe<void, Outcome>()
    const fiber = yield* Effect.forkChild(run(Deferred.await(gate)), { startImmediately: true })
    if (fiber.pollUnsafe() !== undefined) return undefined
    return Effect.fnUntraced(function*(outcome: Outcome) {
      if (outcome === "Unknown") return yield* Fiber.interrupt(fiber)
      Deferred.doneUnsafe(gate, callOf(outcome))
      yield* Fiber.await(fiber)
    })
  })

export const silent = Effect.provideService(References.MinimumLogLevel, "None")
