/** The circuit breaker beside those of other libraries. */
import { assert, describe, it } from "@effect/vitest"
import { circuitBreaker as cockatiel, ConsecutiveBreaker, handleWhen } from "cockatiel"
import { Cause, Duration, Effect, Exit, Option } from "effect"
import { CircuitBreaker as EffectCircuitBreaker } from "effect/persistence"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import { CircuitBreaker } from "../../../src/index.ts"
import { callOf, type Outcome, outcomeOf, silent, started } from "../support/breakerCalls.ts"
import { sequenceOf } from "../support/breakerTable.ts"

describe("where they say the same, a circuit breaker is equal to", () => {
  it.effect("CircuitBreaker of effect/persistence, for one probe and any calls at once", () =>
    Effect.gen(function*() {
      for (let seed = 0; seed < 200; seed++) {
        const { limits: { failureThreshold, recoveryTimeout }, steps } = sequenceOf(seed)
        const ours = yield* CircuitBreaker.make({ name: "payments", failureThreshold, recoveryTimeout })
        const theirs = yield* EffectCircuitBreaker.make({
          tripPolicy: EffectCircuitBreaker.consecutive(failureThreshold),
          openDuration: recoveryTimeout
        })
        const key = `${seed}`
        // A call that is rejected by the service closes a half open circuit and is not counted otherwise.
        const classify = (exit: Exit.Exit<void, Outcome>) =>
          Effect.map(theirs.state(key).pipe(Effect.orDie), ({ _tag }) => {
            const outcome = outcomeOf(exit)
            if (outcome === "Failure") return EffectCircuitBreaker.failure()
            return outcome === "Success" || outcome === "Rejected" && _tag === "HalfOpen"
              ? EffectCircuitBreaker.success
              : EffectCircuitBreaker.ignored
          })
        const running: Array<(outcome: Outcome) => Effect.Effect<void>> = []
        for (const [call, { kind, of }] of steps.entries()) {
          const at = `seed ${seed}, step ${call}`
          if (kind === "wait") yield* TestClock.adjust(of)
          else if (kind === "start") {
            const one = yield* started((effect) => ours.run(effect, outcomeOf))
            const other = yield* started((effect) => theirs.execute(effect, { key, classify }))
            assert.strictEqual(one !== undefined, other !== undefined, at)
            if (one !== undefined && other !== undefined) {
              running.push((outcome) => Effect.andThen(one(outcome), other(outcome)))
            }
          } else {
            const [ended] = running.splice(of % Math.max(1, running.length), 1)
            if (ended !== undefined) yield* ended(kind)
          }
          const [one, other] = [yield* ours.state, yield* theirs.state(key)]
          // Theirs becomes half open by the next call.
          if (one._tag === "HalfOpen" && other._tag === "Open") {
            assert.strictEqual(Duration.toMillis(other.retryAfter), 0, at)
          } else {
            assert.strictEqual(one._tag, other._tag, at)
            if (one._tag === "Open" && other._tag === "Open") assert.deepStrictEqual(one.retryAfter, other.retryAfter)
          }
        }
      }
    }).pipe(Effect.provide(EffectCircuitBreaker.layerStoreMemory()), silent))

  it.effect("cockatiel, for one call after another", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.useFakeTimers({ toFake: ["Date"], now: 0 })),
        () => Effect.sync(() => vi.useRealTimers())
      )
      let time = 0
      for (let seed = 0; seed < 200; seed++) {
        const { limits: { failureThreshold, recoveryTimeout }, steps } = sequenceOf(seed)
        const ours = yield* CircuitBreaker.make({ name: "payments", failureThreshold, recoveryTimeout })
        const theirs = cockatiel(handleWhen((error) => error instanceof Error && error.message === "Failure"), {
          breaker: new ConsecutiveBreaker(failureThreshold),
          halfOpenAfter: recoveryTimeout
        })
        for (const [call, { kind, of }] of steps.entries()) {
          const outcome = kind === "start" ? "Failure" : kind
          if (outcome === "wait") {
            yield* TestClock.adjust(of)
            time += of
            vi.setSystemTime(time)
            continue
          }
          // It knows no interrupted calls.
          if (outcome === "Unknown") continue
          const one = yield* Effect.exit(ours.run(callOf(outcome), outcomeOf))
          const other = yield* Effect.exit(Effect.tryPromise({
            try: () =>
              theirs.execute(() => outcome === "Success" ? Promise.resolve() : Promise.reject(new Error(outcome))),
            catch: (error) => error instanceof Error ? error.message : ""
          }))
          const oneEnd = Exit.isSuccess(one) ? "Success" : Option.getOrThrow(Cause.findErrorOption(one.cause))
          const otherEnd = Exit.isSuccess(other) ? "Success" : Option.getOrThrow(Cause.findErrorOption(other.cause))
          assert.strictEqual(
            typeof oneEnd === "string" ? oneEnd : "Execution prevented because the circuit breaker is open",
            otherEnd,
            `seed ${seed}, step ${call}`
          )
        }
      }
    }).pipe(silent))
})
