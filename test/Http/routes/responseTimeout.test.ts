/** The time in which a request has to be answered, over a socket. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Duration, Effect, Fiber, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Deadline, EmbeddedStore, HttpClientFactory, KernelEngine, Service } from "../../../src/index.ts"
import { upstream } from "../../Client/support/upstream.ts"
import { send, serving } from "../../support/rest.ts"

const started = Deferred.makeUnsafe<void>()
const interrupted = Deferred.makeUnsafe<void>()

const Jobs = Service.make("Job")
  .operation("stuck", { method: "GET", success: Schema.String }, () =>
    Deferred.succeed(started, undefined).pipe(
      Effect.andThen(Effect.never),
      Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
    ))
  .operation(
    "left",
    { method: "GET", success: Schema.Struct({ millis: Schema.NullOr(Schema.Finite) }) },
    () => Effect.map(Deadline.remaining, (left) => ({ millis: Option.getOrNull(Option.map(left, Duration.toMillis)) }))
  )
  .operation(
    "ask",
    { method: "GET", query: { url: Schema.String }, success: Schema.Struct({ reason: Schema.String }) },
    ({ query }) =>
      Effect.flatMap(
        HttpClientFactory.get(query.url),
        (proxy) =>
          proxy.wrap("things").get({ timeout: "1 minute" }).pipe(
            Effect.as({ reason: "none" }),
            Effect.catchTag("RequestHandlingException", ({ reason }) => Effect.succeed({ reason: reason._tag })),
            Effect.orDie
          )
      )
  )

const served = (env: { readonly [name: string]: string }) =>
  serving(KernelEngine.make("jobs").register(Jobs), EmbeddedStore.layerMemory).pipe(
    Layer.provide(HttpClientFactory.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  )

describe("server.response_timeout", () => {
  it.effect("interrupts a handler that takes longer, and answers 503", () =>
    Effect.gen(function*() {
      const answer = yield* Effect.forkChild(send("GET", "/jobs/stuck"))
      yield* Deferred.await(started)
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(answer.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const { body, status } = yield* Fiber.join(answer)
      assert.strictEqual(status, 503)
      assert.deepStrictEqual(body, {
        _type: "ErrorMessage",
        code: 503,
        message: "The answer took too long, try again later"
      })
      yield* Deferred.await(interrupted)
    }).pipe(Effect.provide(served({ APPKERNEL_SERVER_RESPONSE_TIMEOUT: "2 seconds" }))))

  it.effect("is the deadline of the handler, less a moment", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* send("GET", "/jobs/left")).body.millis, 1_900)
    }).pipe(Effect.provide(served({ APPKERNEL_SERVER_RESPONSE_TIMEOUT: "2 seconds" }))))

  it.effect("ends the calls of the handler in time for another answer", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const service = yield* upstream(() => void Deferred.doneUnsafe(asked, Effect.void))
      const answer = yield* Effect.forkChild(send("GET", `/jobs/ask?url=${encodeURIComponent(service.url)}`))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("1899 millis")
      assert.isUndefined(answer.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const { body, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, body.reason], [200, "Timeout"])
      assert.strictEqual(service.requests.length, 1)
    }).pipe(Effect.provide(served({ APPKERNEL_SERVER_RESPONSE_TIMEOUT: "2 seconds" }))))

  it.effect("is none by default", () =>
    Effect.gen(function*() {
      assert.isNull((yield* send("GET", "/jobs/left")).body.millis)
    }).pipe(Effect.provide(served({}))))
})
