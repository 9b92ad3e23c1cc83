/** The circuit breaker of a proxy, over real connections. */
import { assert, describe, it } from "@effect/vitest"
import { type ClientError, Deadline, HttpClientFactory } from "appkernel"
import { type Duration, Effect, Fiber, Option, References, Schedule, Stream } from "effect"
import { freshDirectory } from "../../support/folders.ts"
import { upstream } from "../support/upstream.ts"

const client = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(HttpClientFactory.layer),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.scoped
  )

/** A service that answers with the status in the path, or closes the connection at `/reset/`. */
const service = Effect.suspend(() =>
  upstream((request, response) => {
    const [, name = ""] = request.url?.replace("/api/", "/").split("/") ?? []
    if (name === "reset") return void response.socket?.resetAndDestroy()
    if (name !== "long") return void response.writeHead(Number(name)).end("{}")
    response.writeHead(200, { "content-length": 10 }).write("begin")
  })
)

const proxyOf = (url: string, failureThreshold: number, recoveryTimeout: Duration.Input = "1 minute") =>
  HttpClientFactory.get(url, { circuitBreaker: { failureThreshold, recoveryTimeout } })

/** The result of a call: its status, or what it failed with. */
const resultOf = <A, E extends { readonly _tag: string; readonly statusCode?: number }, R>(
  call: Effect.Effect<A, E, R>
) => Effect.match(call, { onSuccess: () => 200, onFailure: ({ _tag, statusCode }) => `${_tag} ${statusCode}` })

describe("the circuit breaker of a proxy", () => {
  it.live("opens after failures in a row, and refuses every kind of call without a connection", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      for (const failing of ["500", "503", "reset"]) {
        const { connections, requests, url } = yield* service
        const proxy = yield* proxyOf(url, 2)
        const call = resultOf(proxy.at(failing).get())
        yield* call
        yield* resultOf(proxy.at("200").get())
        yield* call
        yield* resultOf(proxy.at("404").get())
        yield* call
        const [before, opened] = [requests.length, connections()]
        const wrapper = proxy.at("200")
        const calls = [
          wrapper.get(),
          wrapper.post({ payload: {} }),
          wrapper.put(),
          wrapper.patch(),
          wrapper.delete(),
          wrapper.upload(new Uint8Array(1)),
          wrapper.download(),
          Stream.runDrain(wrapper.streamDownload()),
          wrapper.downloadTo(`${folder}/`)
        ]
        for (const call of calls) assert.strictEqual(yield* resultOf(call), "CircuitOpenError 503", failing)
        assert.deepStrictEqual([requests.length, connections()], [before, opened])
      }
    }).pipe(client))

  it.live("refuses calls in the name that they have when they fail, whatever its own name is", () =>
    Effect.gen(function*() {
      const { url } = yield* service
      const getHeaders = Effect.succeed({})
      for (const options of [{}, { name: "bulk" }, { name: "other", getHeaders }]) {
        const proxy = yield* HttpClientFactory.get(`${url}/api`, {
          circuitBreaker: { failureThreshold: 1 },
          ...options
        })
        const nameOf = (
          call: Effect.Effect<unknown, ClientError.RequestHandlingException | ClientError.CircuitOpenError>
        ) => Effect.map(Effect.flip(call), ({ _tag, upstreamService }) => [_tag, upstreamService])
        const call = nameOf(proxy.at("reset").get({ pathExtension: 7 }))
        assert.deepStrictEqual(yield* call, ["RequestHandlingException", "reset"])
        assert.deepStrictEqual(yield* call, ["CircuitOpenError", "reset"])
        assert.deepStrictEqual(yield* nameOf(proxy.wrap("v1/users").download()), ["CircuitOpenError", "users"])
        const streamed = Stream.runDrain(proxy.at("files").streamDownload())
        assert.deepStrictEqual(yield* nameOf(streamed), ["CircuitOpenError", "files"])
      }
    }).pipe(client))

  it.live("does not open by answers of 4xx, and has them decide as probes", () =>
    Effect.gen(function*() {
      const { url } = yield* service
      const proxy = yield* proxyOf(url, 1, "1 second")
      for (const status of [400, 404, 409, 429]) {
        assert.strictEqual(yield* resultOf(proxy.at(`${status}`).get()), `RequestHandlingException ${status}`)
      }
      yield* resultOf(proxy.at("500").get())
      assert.strictEqual(yield* resultOf(proxy.at("404").get()), "CircuitOpenError 503")
      yield* Effect.sleep("1100 millis")
      assert.strictEqual(yield* resultOf(proxy.at("404").get()), "RequestHandlingException 404")
      assert.strictEqual(yield* resultOf(proxy.at("200").get()), 200)
    }).pipe(client))

  it.live("is closed by the head of a long download, which others need not wait for", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* service
      const proxy = yield* proxyOf(url, 1, "1 second")
      yield* resultOf(proxy.at("500").get())
      yield* Effect.sleep("1100 millis")
      const download = yield* Effect.forkChild(Stream.runDrain(proxy.at("long").streamDownload()))
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => requests.length === 2 })
      const answered = Effect.map(resultOf(proxy.at("200").get()), (result) => result === 200)
      const isAnswered = yield* Effect.repeat(answered, {
        until: (is) => is,
        schedule: Schedule.max([Schedule.spaced("20 millis"), Schedule.recurs(50)])
      })
      const ended = download.pollUnsafe()
      yield* Fiber.interrupt(download)
      assert.isTrue(isAnswered)
      assert.isUndefined(ended)
    }).pipe(client))

  it.live("is none with null, and not shared by proxies with different names", () =>
    Effect.gen(function*() {
      const { url } = yield* service
      const unguarded = yield* HttpClientFactory.get(url, { circuitBreaker: null })
      const one = yield* HttpClientFactory.get(url, { circuitBreaker: { failureThreshold: 1 }, name: "one" })
      const other = yield* HttpClientFactory.get(url, { circuitBreaker: { failureThreshold: 1 }, name: "other" })
      for (const proxy of [unguarded, unguarded, one]) {
        assert.strictEqual(yield* resultOf(proxy.at("500").get()), "RequestHandlingException 500")
      }
      const again = yield* HttpClientFactory.get(url, { circuitBreaker: { failureThreshold: 1 }, name: "one" })
      assert.strictEqual(yield* resultOf(again.at("200").get()), "CircuitOpenError 503")
      assert.strictEqual(yield* resultOf(other.at("200").get()), 200)
    }).pipe(Effect.provide(HttpClientFactory.layerWith({ circuitBreaker: { failureThreshold: 1 } })), client))

  it.live("opens without the headers of a proxy being asked for, and they count for the deadline", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* service
      let asked = 0
      const getHeaders = Effect.sync(() => ({ "x-count": String(++asked) }))
      const breaker = { failureThreshold: 1, recoveryTimeout: "1 minute" } as const
      const proxy = yield* HttpClientFactory.get(url, { circuitBreaker: breaker, getHeaders })
      yield* resultOf(proxy.at("500").get())
      for (const call of [proxy.at("200").get(), proxy.at("200").download()]) {
        assert.strictEqual(yield* resultOf(call), "CircuitOpenError 503")
      }
      assert.strictEqual(asked, 1)
      const slow = yield* HttpClientFactory.get(url, { circuitBreaker: null, getHeaders: Effect.never })
      const late = resultOf(slow.at("200").get()).pipe(Deadline.within("50 millis"), Effect.timeoutOption("1 minute"))
      assert.deepStrictEqual(yield* late, Option.some("RequestHandlingException 500"))
      assert.strictEqual(requests.length, 1)
    }).pipe(client))
})
