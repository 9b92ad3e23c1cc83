/** Services that call each other in a row, each with tries of its own. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, References, Schedule, Schema } from "effect"
import type * as http from "node:http"
import { HttpClientFactory, KernelApi, KernelClient, KernelEngine, Service } from "../../../src/index.ts"
import { nobody, type Upstream, upstream } from "../support/upstream.ts"

const client = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(HttpClientFactory.layer),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.scoped
  )

const retry = Schedule.recurs(2)

const level = Service.describe("Level").operation("tell", { path: "./tell", success: Schema.Unknown })

const api = KernelApi.make("level").register(level)

/** A service that calls the next one, in one of two ways. */
const levelOver = (next: string, isTyped: boolean) =>
  KernelEngine.make("level").register(
    Service.make("Level").operation("tell", { path: "./tell", success: Schema.Unknown }, () =>
      isTyped
        ? Effect.flatMap(
          HttpClientFactory.typed(api, next, { retry }),
          (client) => KernelClient.passOn(client.levels.tell())
        )
        : Effect.flatMap(HttpClientFactory.get(next, { retry }), (proxy) => proxy.wrap("levels/tell").get()))
  ).test()

/** Three services in a row before the last one, and a caller of the first. */
const chainTo = (last: string, isTyped: boolean) =>
  Effect.gen(function*() {
    let next = last
    for (let i = 0; i < 2; i++) next = (yield* levelOver(next, isTyped)).baseUrl
    const proxy = yield* HttpClientFactory.get(next, { retry })
    return yield* Effect.exit(proxy.wrap("levels/tell").get({ timeout: "20 seconds" }))
  })

const answering = (status: number) => (_: http.IncomingMessage, response: http.ServerResponse) =>
  void response.writeHead(status).end()

describe("Three services that try three times each", () => {
  it.live("send three requests to one that does not work, and not 27", () =>
    Effect.gen(function*() {
      for (const isTyped of [false, true]) {
        for (const status of [429, 500, 503]) {
          const last: Upstream = yield* upstream(answering(status))
          const exit = yield* chainTo(last.url, isTyped)
          assert.strictEqual(exit._tag, "Failure")
          assert.strictEqual(last.requests.length, 3, `${status} ${isTyped ? "typed" : "proxy"}`)
        }
      }
    }).pipe(client))

  it.live("try again what the next one says of itself", () =>
    Effect.gen(function*() {
      const last = yield* upstream((_, response) => {
        response.statusCode = 503
        return { _type: "ErrorMessage", code: 503, message: "busy" }
      })
      const proxy = yield* HttpClientFactory.get(last.url, { retry })
      yield* Effect.flip(proxy.wrap("x").get())
      assert.strictEqual(last.requests.length, 3)
      const exit = yield* chainTo(yield* nobody, false)
      assert.strictEqual(exit._tag, "Failure")
    }).pipe(client))
})

describe("The trace of a request", () => {
  it.live("is passed on by calls, with or without a tracer", () =>
    Effect.gen(function*() {
      const last = yield* upstream(() => ({}))
      const { baseUrl } = yield* levelOver(last.url, false)
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      yield* Effect.promise(() => fetch(`${baseUrl}/levels/tell`, { headers: { traceparent, tracestate: "a=1" } }))
      assert.match(String(last.requests[0]?.headers["traceparent"]), /^00-0af7651916cd43dd8448eb211c80319c-/u)
      assert.strictEqual(last.requests[0]?.headers["tracestate"], "a=1")
    }).pipe(client))
})
