import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber, Logger, Metric, Random, References, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CircuitBreaker, ClientError } from "../../src/index.ts"
import { type Outcome, outcomeOf, silent, started } from "./support/breakerCalls.ts"
import { breakerTable, sequenceOf } from "./support/breakerTable.ts"

/** The number that the table has for a state. */
const numberOf = (state: CircuitBreaker.State): number => {
  if (state._tag === "Open") return Duration.toMillis(state.retryAfter)
  return state._tag === "Closed" ? state.failures : state.probes
}

/** Opens a breaker by failed calls. */
const opened = (options: Partial<CircuitBreaker.Options> = {}) =>
  Effect.gen(function*() {
    const breaker = yield* CircuitBreaker.make({ name: "payments", failureThreshold: 1, ...options })
    yield* Effect.ignore(breaker.run(Effect.fail("no answer")))
    assert.strictEqual((yield* breaker.state)._tag, "Open")
    return breaker
  })

describe("a circuit breaker", () => {
  it.effect(
    "has the states and transitions of the table, for random calls at random times",
    () =>
      Effect.gen(function*() {
        for (let seed = 0; seed < 500; seed++) {
          const { limits, steps } = sequenceOf(seed)
          const scope = yield* Scope.make()
          const breaker = yield* Scope.provide(CircuitBreaker.make({ name: "payments", ...limits }), scope)
          const published = yield* Effect.forkChild(Stream.runCollect(breaker.transitions), { startImmediately: true })
          const table = breakerTable(limits)
          const running: Array<readonly [call: number, end: (outcome: Outcome) => Effect.Effect<void>]> = []
          for (const [call, { kind, of }] of steps.entries()) {
            if (kind === "wait") {
              yield* TestClock.adjust(of)
              table.pass(of)
            } else if (kind === "start") {
              const end = yield* started((effect) => breaker.run(effect, outcomeOf))
              assert.strictEqual(end !== undefined, table.start(call), `seed ${seed}, step ${call}`)
              if (end !== undefined) running.push([call, end])
            } else {
              const [ended] = running.splice(of % Math.max(1, running.length), 1)
              if (ended === undefined) continue
              yield* ended[1](kind)
              table.end(ended[0], kind)
            }
            const state = yield* breaker.state
            if (state._tag !== table.state || numberOf(state) !== table.number) {
              assert.fail(`seed ${seed}, step ${call}`)
            }
          }
          yield* Scope.close(scope, Exit.void)
          assert.deepStrictEqual(
            yield* Fiber.join(published),
            table.transitions.map((transition) => ({ name: "payments", ...transition })),
            `seed ${seed}`
          )
        }
      }).pipe(silent)
  )

  it.effect("refuses calls while it is open: they fail with a CircuitOpenError, and nothing runs", () =>
    Effect.gen(function*() {
      const breaker = yield* opened({ recoveryTimeout: "30 seconds" })
      yield* TestClock.adjust("12 seconds")
      const error = yield* Effect.flip(breaker.run(Effect.die("this ran")))
      assert.strictEqual(error._tag, "CircuitOpenError")
      assert.strictEqual(error.statusCode, 503)
      assert.strictEqual(error.upstreamService, "payments")
      assert.strictEqual(Duration.toMillis(error.retryAfter), 18_000)
      assert.strictEqual(
        error.message,
        "payments is not called, because too many calls to it failed; try again in 18 s"
      )
      assert.strictEqual((yield* Effect.flip(breaker.check))._tag, "CircuitOpenError")
      yield* TestClock.adjust("18 seconds")
      yield* breaker.check
      assert.strictEqual(yield* breaker.run(Effect.succeed("paid")), "paid")
    }).pipe(silent))

  it.effect("lets exactly halfOpenMaxCalls of 1,000 callers at once through while it is half open", () =>
    Effect.gen(function*() {
      for (const halfOpenMaxCalls of [1, 2, 7, 1000]) {
        const breaker = yield* opened({ halfOpenMaxCalls, recoveryTimeout: "1 second" })
        yield* TestClock.adjust("1 second")
        let count = 0
        const call = breaker.run(Effect.andThen(Effect.sync(() => count++), Effect.sleep("1 second")))
        const callers = yield* Effect.forEach(
          Array.from({ length: 1000 }),
          () => Effect.forkChild(Effect.andThen(Effect.yieldNow, call))
        )
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(count, halfOpenMaxCalls)
        assert.deepStrictEqual(yield* breaker.state, { _tag: "HalfOpen", probes: halfOpenMaxCalls })
        const refused = callers.map((caller) => caller.pollUnsafe()).filter((exit) => exit !== undefined)
        assert.strictEqual(refused.length, 1000 - halfOpenMaxCalls)
        yield* TestClock.adjust("500 millis")
        assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 0 })
      }
    }).pipe(silent))

  it.effect("takes back the places of probes that are interrupted at any point", () =>
    Effect.gen(function*() {
      const halfOpenMaxCalls = 3
      const breaker = yield* opened({ halfOpenMaxCalls, recoveryTimeout: "1 second" })
      yield* TestClock.adjust("1 second")
      let running = 0
      let most = 0
      let admitted = 0
      const yields = (count: number) => Effect.repeat(Effect.yieldNow, { times: count })
      const call = breaker.run(Effect.acquireUseRelease(
        Effect.sync(() => {
          most = Math.max(most, ++running)
          admitted++
        }),
        () => Effect.never,
        () => Effect.sync(() => running--)
      ))
      yield* Effect.forEach(
        Array.from({ length: 300 }),
        () =>
          Effect.gen(function*() {
            yield* yields(yield* Random.nextIntBetween(0, 40))
            const fiber = yield* Effect.forkChild(call, { startImmediately: yield* Random.nextBoolean })
            yield* yields(yield* Random.nextIntBetween(0, 5))
            yield* Fiber.interrupt(fiber)
          }),
        { concurrency: 300, discard: true }
      )
      assert.isAbove(admitted, halfOpenMaxCalls)
      assert.strictEqual(most, halfOpenMaxCalls)
      assert.strictEqual(running, 0)
      assert.deepStrictEqual(yield* breaker.state, { _tag: "HalfOpen", probes: 0 })
      yield* breaker.run(Effect.void)
      assert.strictEqual((yield* breaker.state)._tag, "Closed")
    }).pipe(silent))

  it.effect("is closed by a probe that is answered, and counts a call at its end otherwise", () =>
    Effect.gen(function*() {
      const breaker = yield* opened({ failureThreshold: 1, recoveryTimeout: "1 second" })
      const long = breaker.runAnswering((answered) =>
        Effect.andThen(answered, Effect.andThen(Effect.sleep("1 minute"), Effect.fail("the end is missing")))
      )
      yield* TestClock.adjust("1 second")
      const probe = yield* Effect.forkChild(long, { startImmediately: true })
      assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 0 })
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Exit.isFailure(yield* Fiber.await(probe)))
      assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 0 })
      yield* Effect.forkChild(long, { startImmediately: true })
      assert.deepStrictEqual(yield* breaker.state, { _tag: "Closed", failures: 0 })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* breaker.state)._tag, "Open")
    }).pipe(silent))

  it.effect("learns nothing from defects, and takes their places back, also when the outcome can't be told", () =>
    Effect.gen(function*() {
      const breaker = yield* opened({ recoveryTimeout: "1 second" })
      yield* TestClock.adjust("1 second")
      yield* Effect.exit(breaker.run(Effect.die("a mistake")))
      assert.deepStrictEqual(yield* breaker.state, { _tag: "HalfOpen", probes: 0 })
      const exit = yield* Effect.exit(breaker.run(Effect.void, () => {
        throw new Error("a mistake")
      }))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.deepStrictEqual(yield* breaker.state, { _tag: "HalfOpen", probes: 0 })
    }).pipe(silent))

  it.effect("becomes half open at its time without a call, and whatever the wall clock says", () =>
    Effect.gen(function*() {
      const breaker = yield* CircuitBreaker.make({
        name: "payments",
        failureThreshold: 1,
        recoveryTimeout: "1 minute"
      })
      const published: Array<string> = []
      yield* breaker.transitions.pipe(
        Stream.runForEach(({ from, to }) => Effect.sync(() => published.push(`${from} ${to}`))),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* Effect.ignore(breaker.run(Effect.fail("no answer")))
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(published, ["Closed Open"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(published, ["Closed Open", "Open HalfOpen"])

      yield* Effect.ignore(breaker.run(Effect.fail("no answer")))
      yield* TestClock.setTime(-3_600_000)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* breaker.state, { _tag: "HalfOpen", probes: 0 })
    }).pipe(silent))

  it.effect("logs and counts each transition", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ fiber, logLevel, message }) => {
        const { from, to } = fiber.getRef(References.CurrentLogAnnotations)
        lines.push(`${logLevel}, ${String(from)} to ${String(to)}: ${String(message)}`)
      })
      const failed = Effect.fail("no answer")
      const counts = yield* Effect.gen(function*() {
        const breaker = yield* CircuitBreaker.make({ name: "payments", failureThreshold: 2 })
        yield* Effect.ignore(breaker.run(failed))
        yield* Effect.ignore(breaker.run(failed))
        yield* TestClock.adjust("30 seconds")
        yield* Effect.ignore(breaker.run(failed))
        yield* TestClock.adjust("30 seconds")
        yield* breaker.run(Effect.void)
        const metrics = (yield* Metric.snapshot).filter(({ id }) => id === "circuit_breaker.transitions")
        return Object.fromEntries(metrics.map(({ attributes, state }) => [
          `${attributes?.["circuit_breaker.name"]}, ${attributes?.["from"]} to ${attributes?.["to"]}`,
          Reflect.get(state, "count")
        ]))
      }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(Metric.MetricRegistry, new Map()))
      assert.deepStrictEqual(counts, {
        "payments, Closed to Open": 1,
        "payments, Open to HalfOpen": 2,
        "payments, HalfOpen to Open": 1,
        "payments, HalfOpen to Closed": 1
      })
      assert.deepStrictEqual(lines, [
        "Warn, Closed to Open: 2 calls in a row to payments failed: its circuit breaker is open, calls are refused for 30s",
        "Info, Open to HalfOpen: The circuit breaker of payments is half open: the next calls are probes",
        "Warn, HalfOpen to Open: A probe of payments failed: its circuit breaker is open, calls are refused for 30s",
        "Info, Open to HalfOpen: The circuit breaker of payments is half open: the next calls are probes",
        "Info, HalfOpen to Closed: payments works again: its circuit breaker is closed"
      ])
    }))

  it("counts answers of 5xx and failures of the network, but no other answers, and no calls that were not sent", () => {
    const outcomeOf = (reason: ClientError.Reason) =>
      CircuitBreaker.outcomeOfCall(Exit.fail(
        new ClientError.RequestHandlingException({ message: "", upstreamService: "payments", reason })
      ))
    const answered = (statusCode: number) => outcomeOf({ _tag: "Status", statusCode })
    const { Status: _, ...unanswered } = ClientError.Reason.cases
    const outcomes = Object.entries(unanswered).map(([tag, reason]) => [tag, outcomeOf(reason.make({}))])
    assert.deepStrictEqual(Object.fromEntries(outcomes), {
      Refused: "Failure",
      Unreachable: "Failure",
      Reset: "Failure",
      Dns: "Failure",
      Tls: "Failure",
      Timeout: "Failure",
      InvalidAnswer: "Failure",
      TooManyRedirects: "Rejected",
      NotRepeatable: "Rejected",
      InvalidRequest: "Unknown",
      PoolTimeout: "Unknown",
      PoolFull: "Unknown",
      TooManyFiles: "Unknown",
      Closed: "Unknown"
    })
    for (const status of [300, 400, 404, 429, 499]) assert.strictEqual(answered(status), "Rejected")
    for (const status of [500, 503, 599]) assert.strictEqual(answered(status), "Failure")
    assert.strictEqual(CircuitBreaker.outcomeOfCall(Exit.void), "Success")
    assert.strictEqual(CircuitBreaker.outcomeOfCall(Exit.fail("The disk is full")), "Success")
    const refused = new ClientError.CircuitOpenError({ upstreamService: "payments", retryAfter: Duration.zero })
    assert.strictEqual(CircuitBreaker.outcomeOfCall(Exit.fail(refused)), "Unknown")
    assert.strictEqual(CircuitBreaker.outcomeOfCall(Exit.interrupt()), "Unknown")
  })

  it.effect("rejects limits that it can't have", () =>
    Effect.gen(function*() {
      for (
        const config of [
          { failureThreshold: 0 },
          { failureThreshold: 1.5 },
          { halfOpenMaxCalls: 0 },
          { recoveryTimeout: Number.POSITIVE_INFINITY }
        ]
      ) {
        const exit = yield* Effect.exit(CircuitBreaker.make({ name: "payments", ...config }))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), JSON.stringify(config))
      }
    }))
})
