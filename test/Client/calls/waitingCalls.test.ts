/** Calls that wait for a connection while the circuit breaker of their proxy opens. */
import { assert, describe, it } from "@effect/vitest"
import { Credentials, HttpClientFactory } from "appkernel"
import { Effect, Fiber, Redacted, References } from "effect"
import { upstream } from "../support/upstream.ts"

const client = (maxConnections: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(HttpClientFactory.layerWith({ maxConnections, poolTimeout: "1 minute", callTimeout: "1 minute" })),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.scoped
  )

const breaker = { failureThreshold: 1, recoveryTimeout: "1 minute" } as const

/** A service that answers `/now` at once, and anything else with 500 when `fail` is called. */
const failing = Effect.gen(function*() {
  const held: Array<() => void> = []
  const service = yield* upstream((request, response) => {
    if (request.url === "/now") return { answered: true }
    held.push(() => response.writeHead(500).end("{}"))
    return undefined
  })
  const until = (count: number) => Effect.repeat(Effect.sleep("5 millis"), { until: () => held.length >= count })
  return { ...service, until, fail: Effect.sync(() => held.splice(0).forEach((answer) => answer())) }
})

const failureOf = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E, R>) =>
  Effect.match(call, { onSuccess: () => "answered", onFailure: ({ _tag }) => _tag })

const forked = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.forkChild(effect, { startImmediately: true }))

const counted = (results: ReadonlyArray<string>) =>
  Object.fromEntries([...new Set(results)].map((one) => [one, results.filter((result) => result === one).length]))

describe("Calls that wait for a connection", () => {
  it.live("fail with CircuitOpenError, and are not sent, when their breaker opens", () =>
    Effect.gen(function*() {
      const { fail, requests, until, url } = yield* failing
      const proxy = yield* HttpClientFactory.get(url, { circuitBreaker: breaker })
      const running = yield* forked(1, failureOf(proxy.wrap("held").get()))
      yield* until(1)
      // An interrupted one leaves its place.
      const left = yield* forked(20, failureOf(proxy.wrap("held").get()))
      const waiting = yield* forked(500, failureOf(proxy.wrap("held").post({ payload: { n: 1 } })))
      // Other proxies of the same pool go on.
      const other = yield* HttpClientFactory.get(url, { circuitBreaker: null })
      const others = yield* forked(50, failureOf(other.wrap("now").get()))
      yield* Fiber.interruptAll(left)
      yield* fail
      const results = yield* Fiber.joinAll([...running, ...waiting])
      assert.deepStrictEqual(counted(results), { RequestHandlingException: 1, CircuitOpenError: 500 })
      assert.deepStrictEqual(counted(yield* Fiber.joinAll(others)), { answered: 50 })
      assert.strictEqual(requests.filter(({ url }) => url === "/held").length, 1)
      // All places are free again.
      assert.deepStrictEqual(
        counted(
          yield* Effect.all(Array.from({ length: 100 }, () => failureOf(other.wrap("now").get())), {
            concurrency: 100
          })
        ),
        { answered: 100 }
      )
    }).pipe(client(1)))

  it.live("as probes fail when another probe does", () =>
    Effect.gen(function*() {
      const { fail, requests, until, url } = yield* failing
      const proxy = yield* HttpClientFactory.get(url, {
        circuitBreaker: { failureThreshold: 1, recoveryTimeout: 0, halfOpenMaxCalls: 10 }
      })
      const call = failureOf(proxy.wrap("held").get())
      const [first] = yield* forked(1, call)
      yield* until(1)
      yield* fail
      yield* Fiber.join(first!)
      const probes = yield* forked(10, call)
      yield* until(1)
      yield* fail
      const results = yield* Fiber.joinAll(probes)
      assert.deepStrictEqual(counted(results), { RequestHandlingException: 1, CircuitOpenError: 9 })
      assert.strictEqual(requests.length, 2)
    }).pipe(client(1)))

  it.live("for their credentials are not sent after it either", () =>
    Effect.gen(function*() {
      const { fail, requests, until, url } = yield* failing
      const ready = Effect.as(Effect.sleep("300 millis"), Redacted.make("token"))
      const proxy = yield* HttpClientFactory.get(url, { circuitBreaker: breaker })
      const running = yield* forked(1, failureOf(proxy.wrap("held").get()))
      yield* until(1)
      const waiting = yield* forked(200, failureOf(proxy.wrap("now").post({ credentials: Credentials.bearer(ready) })))
      yield* fail
      const results = yield* Fiber.joinAll([...running, ...waiting])
      assert.deepStrictEqual(counted(results), { RequestHandlingException: 1, CircuitOpenError: 200 })
      assert.strictEqual(requests.length, 1)
    }).pipe(client(300)))
})
