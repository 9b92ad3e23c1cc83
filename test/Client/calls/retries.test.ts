/** Further tries of calls, and their deadline, over real connections. */
import { assert, describe, it } from "@effect/vitest"
import { type ClientError, Deadline, HttpClientFactory, type RequestWrapper } from "appkernel"
import { Duration, Effect, Fiber, Schedule, Stream } from "effect"
import { HttpBody } from "effect/http"
import * as fs from "node:fs"
import type * as http from "node:http"
import * as path from "node:path"
import { freshDirectory } from "../../support/folders.ts"
import { busy, nobody, rawUpstream, type Upstream, upstream } from "../support/upstream.ts"

type Method = "get" | "put" | "delete" | "post" | "patch"

const client = Effect.provide(HttpClientFactory.layer)

/** Two further tries, at once. */
const twice = Schedule.recurs(2)

/** What a service does with a request. */
const doings = {
  "resets the connection": (response: http.ServerResponse) => void response.socket?.resetAndDestroy(),
  "sends half an answer": (response: http.ServerResponse) => {
    response.writeHead(200, { "content-length": 20 }).write("{")
    response.socket?.end()
  },
  "does not answer": () => undefined,
  ...Object.fromEntries(
    [300, 400, 401, 404, 408, 409, 425, 429, 500, 501, 502, 503, 504].map((status) => [
      `answers ${status}`,
      (response: http.ServerResponse) => void response.writeHead(status).end()
    ])
  )
}

/** A service that does something with the first requests, and answers the others. */
const failingFirst = (count: number, doing: (response: http.ServerResponse) => void) => {
  let arrived = 0
  return upstream((_, response) => arrived++ < count ? doing(response) : { arrived })
}

const call = (
  { url }: Pick<Upstream, "url">,
  method: Method,
  options: RequestWrapper.SendOptions
) =>
  Effect.flatMap(
    HttpClientFactory.get(url),
    (proxy) => proxy.wrap("things")[method]({ timeout: "20 seconds", ...options })
  )

/** The number of requests of a call that may be tried twice again. */
const requestsOf = (doing: (response: http.ServerResponse) => void, method: Method, idempotencyKey?: string) =>
  Effect.gen(function*() {
    const service = yield* failingFirst(2, doing)
    const hasTimeout = doing === doings["does not answer"]
    let tries = 1
    const retry = Schedule.tap(twice, () => Effect.sync(() => tries++))
    const timeout = hasTimeout ? "200 millis" : "20 seconds"
    yield* Effect.ignore(call(service, method, { retry, idempotencyKey, timeout }))
    // On a busy machine, the time may be over before the service has the request.
    return hasTimeout ? tries : service.requests.length
  })

/** The whole milliseconds that an effect takes, rounded up: a timer of Node may end part of one early. */
const elapsed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([time, result]) => ({ millis: Math.ceil(Duration.toMillis(time)), result }))

const failureOf = <A, R>(
  effect: Effect.Effect<A, ClientError.RequestHandlingException | ClientError.CircuitOpenError, R>
) =>
  Effect.flatMap(
    Effect.flip(effect),
    (failure) => failure._tag === "RequestHandlingException" ? Effect.succeed(failure) : Effect.die(failure)
  )

/** What the answer of a call that fails with its status tells. */
const answered = <A, R>(
  effect: Effect.Effect<A, ClientError.RequestHandlingException | ClientError.CircuitOpenError, R>
) =>
  Effect.flatMap(
    failureOf(effect),
    ({ reason }) => reason._tag === "Status" ? Effect.succeed(reason) : Effect.die(reason)
  )

describe("retries", () => {
  it.live("are off by default", () =>
    Effect.gen(function*() {
      const service = yield* failingFirst(1, (response) => void response.writeHead(503).end())
      yield* Effect.flip(call(service, "get", {}))
      assert.strictEqual(service.requests.length, 1)
    }).pipe(client))

  it.live("follow failures that may pass, of methods that are idempotent", () =>
    Effect.gen(function*() {
      const passing = new Set(["resets the connection", "sends half an answer", "does not answer"].concat(
        [408, 425, 429, 500, 502, 503, 504].map((status) => `answers ${status}`)
      ))
      const cases = Object.entries(doings).flatMap(([name, doing]) =>
        (["get", "put", "delete", "post", "patch"] as const).map((method) => ({ name, doing, method }))
      )
      yield* Effect.forEach(cases, ({ doing, method, name }) =>
        Effect.gen(function*() {
          const mayPass = passing.has(name)
          const isIdempotent = method !== "post" && method !== "patch"
          assert.strictEqual(yield* requestsOf(doing, method), mayPass && isIdempotent ? 3 : 1, `${method}: ${name}`)
          if (isIdempotent) return
          assert.strictEqual(yield* requestsOf(doing, method, "k1"), mayPass ? 3 : 1, `${method} with key: ${name}`)
        }), { concurrency: 8 })
    }).pipe(client))

  it.live("do not follow a write that a service took and redirected to one that is away", () =>
    Effect.gen(function*() {
      const away = yield* nobody
      const service = yield* upstream((_, response) => void response.writeHead(303, { location: `${away}/x` }).end())
      const { reason } = yield* failureOf(call(service, "post", { retry: twice }))
      assert.strictEqual(reason._tag, "Refused")
      assert.strictEqual(service.requests.length, 1)
    }).pipe(client))

  it.live("follow a write that was not sent, with or without a key", () =>
    Effect.gen(function*() {
      const silent = yield* rawUpstream(() => {})
      const soon = Effect.provide(HttpClientFactory.layerWith({ connectTimeout: "100 millis" }))
      const addresses = [
        { url: yield* nobody, reason: "Refused", within: client },
        { url: "http://does-not-exist.invalid", reason: "Dns", within: client },
        // It takes the connection and says nothing in the TLS handshake.
        { url: silent.url.replace("http:", "https:"), reason: "Timeout", within: soon },
        { url: yield* busy, reason: "Timeout", within: soon }
      ]
      yield* Effect.forEach(addresses, ({ reason, url, within }) =>
        Effect.gen(function*() {
          for (const idempotencyKey of [undefined, "k1"]) {
            let tries = 1
            const counted = Schedule.tap(twice, () => Effect.sync(() => tries++))
            const options = { retry: counted, payload: { a: 1 }, idempotencyKey }
            const failure = yield* failureOf(call({ url }, "post", options)).pipe(within)
            assert.deepStrictEqual([failure.reason._tag, tries], [reason, 3], url)
          }
        }), { concurrency: "unbounded" })
    }))

  it.live("send the same key and body with each try, and another random key for each call", () =>
    Effect.gen(function*() {
      const service = yield* failingFirst(2, (response) => void response.socket?.resetAndDestroy())
      const options = { retry: twice, payload: { amount: 5 } }
      yield* call(service, "post", { ...options, idempotencyKey: true })
      yield* call(service, "post", { ...options, idempotencyKey: true })
      yield* call(service, "post", { ...options, idempotencyKey: "order-7" })
      const keys = service.requests.map(({ headers }) => headers["idempotency-key"])
      assert.match(String(keys[0]), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u)
      assert.deepStrictEqual(keys, [keys[0], keys[0], keys[0], keys[3], "order-7"])
      assert.notStrictEqual(keys[0], keys[3])
      assert.deepStrictEqual(service.requests.map(({ body }) => body), Array(5).fill("{\"amount\":5}"))
    }).pipe(client))

  it.live("don't send a body again that can be read once only", () =>
    Effect.gen(function*() {
      const service = yield* failingFirst(2, (response) => void response.writeHead(503).end())
      const payload = HttpBody.raw(new Blob(["once"]).stream(), { contentType: "text/plain" })
      yield* Effect.flip(call(service, "put", { retry: twice, payload }))
      assert.deepStrictEqual(service.requests.map(({ body }) => body), ["once"])
    }).pipe(client))

  it.live("end when the caller is interrupted", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => undefined)
      const fiber = yield* Effect.forkChild(
        call(service, "post", { retry: Schedule.forever, idempotencyKey: true, timeout: "1 minute" })
      )
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => service.requests.length > 0 })
      yield* Fiber.interrupt(fiber)
      yield* Effect.sleep("50 millis")
      assert.strictEqual(service.requests.length, 1)
    }).pipe(client))

  it.live("count for the circuit breaker one by one, and end when it opens", () =>
    Effect.gen(function*() {
      const service = yield* failingFirst(9, (response) => void response.writeHead(500).end())
      const proxy = yield* HttpClientFactory.get(service.url, {
        circuitBreaker: { failureThreshold: 3 },
        retry: Schedule.recurs(5)
      })
      const failure = yield* Effect.flip(proxy.wrap("things").get())
      assert.strictEqual(failure._tag, "CircuitOpenError")
      assert.strictEqual(service.requests.length, 3)
      yield* Effect.flip(proxy.wrap("things").get({ retry: null }))
      assert.strictEqual(service.requests.length, 3)
    }).pipe(client))

  it.live("are those of the proxy, unless a call has none", () =>
    Effect.gen(function*() {
      const service = yield* failingFirst(9, (response) => void response.writeHead(503).end())
      const proxy = yield* HttpClientFactory.get(service.url, { retry: twice })
      yield* Effect.flip(proxy.wrap("things").get())
      assert.strictEqual(service.requests.length, 3)
      yield* Effect.flip(proxy.wrap("things").get({ retry: null }))
      assert.strictEqual(service.requests.length, 4)
    }).pipe(client))
})

describe("retries of files", () => {
  /** What a service sends with the head of an answer that stops in the middle. */
  const half = (response: http.ServerResponse) => {
    response.writeHead(200, { "content-length": 4 }).write("ha")
    setTimeout(() => response.socket?.resetAndDestroy(), 50)
  }
  const things = ({ url }: Upstream) =>
    Effect.map(HttpClientFactory.get(url, { retry: twice }), (proxy) => proxy.wrap("things"))

  it.live("begin a download anew, but not one whose first bytes were passed on", () =>
    Effect.gen(function*() {
      const failing = yield* failingFirst(1, half)
      assert.strictEqual(String(Buffer.from((yield* (yield* things(failing)).download())[1])), "{\"arrived\":2}")

      const dest = path.join(yield* freshDirectory, "things")
      const saving = yield* failingFirst(1, half)
      yield* (yield* things(saving)).downloadTo(dest)
      assert.strictEqual(fs.readFileSync(dest, "utf8"), "{\"arrived\":2}")

      const streaming = yield* failingFirst(1, half)
      const chunks: Array<string> = []
      const failure = yield* (yield* things(streaming)).streamDownload().pipe(
        Stream.runForEach((chunk) => Effect.sync(() => chunks.push(String(Buffer.from(chunk))))),
        failureOf
      )
      assert.strictEqual(failure.reason._tag, "Reset")
      assert.strictEqual(streaming.requests.length, 1)

      const refusing = yield* failingFirst(1, (response) => void response.writeHead(503).end())
      const whole = yield* (yield* things(refusing)).streamDownload().pipe(Stream.decodeText(), Stream.mkString)
      assert.strictEqual(whole, "{\"arrived\":2}")
    }).pipe(client))

  it.live("send an upload again with a key, unless it can be read once only", () =>
    Effect.gen(function*() {
      const service = yield* failingFirst(1, (response) => void response.writeHead(503).end())
      const wrapper = yield* things(service)
      yield* wrapper.upload(new TextEncoder().encode("content"), { idempotencyKey: true })
      assert.strictEqual(service.requests.length, 2)
      for (const { body } of service.requests) assert.include(body, "\r\n\r\ncontent\r\n")

      const failing = yield* failingFirst(2, (response) => void response.writeHead(503).end())
      const once = yield* things(failing)
      yield* Effect.flip(once.upload(new TextEncoder().encode("content")))
      yield* Effect.flip(once.upload(new Blob(["content"]).stream(), { idempotencyKey: true }))
      assert.strictEqual(failing.requests.length, 2)
    }).pipe(client))
})

describe("Retry-After", () => {
  const asking = (value: string) =>
    failingFirst(1, (response) => void response.writeHead(503, { "retry-after": value }).end())

  it.live("is waited for, in seconds and as a date", () =>
    Effect.gen(function*() {
      const date = new Date(Date.now() + 2_000).toUTCString()
      yield* Effect.forEach(["1", date], (value) =>
        Effect.gen(function*() {
          const service = yield* asking(value)
          const { millis } = yield* elapsed(call(service, "get", { retry: twice }))
          assert.isAtLeast(millis, value === "1" ? 1_000 : 500, value)
          assert.strictEqual(service.requests.length, 2)
        }), { concurrency: 2 })
    }).pipe(client))

  it.live("does not shorten the wait of the schedule", () =>
    Effect.gen(function*() {
      const service = yield* asking("0")
      const { millis } = yield* elapsed(call(service, "get", { retry: Schedule.spaced("100 millis") }))
      assert.isAtLeast(millis, 100)
    }).pipe(client))

  it.live("of more than a minute ends the tries, and is told", () =>
    Effect.gen(function*() {
      const service = yield* asking("61")
      const { retryAfter } = yield* answered(call(service, "get", { retry: twice }))
      assert.deepStrictEqual(retryAfter, Duration.seconds(61))
      assert.strictEqual(service.requests.length, 1)
    }).pipe(client))

  it.live("is read in all forms of RFC 9110, and ignored otherwise", () =>
    Effect.gen(function*() {
      const time = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000)
      const [weekday, day, month, year, clock] = time.toUTCString().replace(",", "").split(" ")
      const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
      const dates = [
        time.toUTCString(),
        `${days[time.getUTCDay()]}, ${day}-${month}-${year?.slice(2)} ${clock} GMT`,
        `${weekday} ${month} ${String(Number(day)).padStart(2)} ${clock} ${year}`
      ]
      for (const value of dates) {
        const { retryAfter } = yield* answered(call(yield* asking(value), "get", {}))
        const seconds = retryAfter === undefined ? 0 : Duration.toSeconds(retryAfter)
        assert.isTrue(seconds > 3_000 && seconds <= 3_600, `${value}: ${seconds}`)
      }
      for (const value of ["soon", "-5", "1.5", "1e3", "12345678901"]) {
        assert.isUndefined((yield* answered(call(yield* asking(value), "get", {}))).retryAfter, value)
      }
    }).pipe(client))
})

describe("a deadline", () => {
  it.live("ends a call, which counts for the circuit breaker if the service had at least a second", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }) => url === "/fine" ? {} : undefined)
      const proxy = yield* HttpClientFactory.get(service.url, { circuitBreaker: { failureThreshold: 1 } })
      const ending = (time: Duration.Input) =>
        failureOf(proxy.wrap("silent").get({ timeout: "1 minute" })).pipe(Deadline.within(time))
      assert.strictEqual((yield* ending("500 millis")).reason._tag, "Timeout")
      assert.deepStrictEqual(yield* proxy.wrap("fine").get(), [200, {}])
      // Waiting for a connection is no time of the service.
      const holding = yield* Effect.forkChild(proxy.wrap("silent").get({ timeout: "1 minute" }), {
        startImmediately: true
      })
      assert.strictEqual((yield* ending("2 seconds")).reason._tag, "Timeout")
      yield* Fiber.interrupt(holding)
      assert.deepStrictEqual(yield* proxy.wrap("fine").get(), [200, {}])
      assert.strictEqual((yield* ending("3 seconds")).reason._tag, "Timeout")
      assert.strictEqual((yield* Effect.flip(proxy.wrap("fine").get()))._tag, "CircuitOpenError")
    }).pipe(Effect.provide(HttpClientFactory.layerWith({ maxConnections: 1 }))))

  it.live("ends a call, and does not count for the circuit breaker where it was short", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }) => url === "/fine" ? {} : undefined)
      const proxy = yield* HttpClientFactory.get(service.url, { circuitBreaker: { failureThreshold: 1 } })
      const { millis, result } = yield* elapsed(
        failureOf(proxy.wrap("silent").get({ timeout: "1 minute" })).pipe(Deadline.within("150 millis"))
      )
      assert.deepStrictEqual([result.reason._tag, result.message], [
        "Timeout",
        "silent did not answer in the time that was left"
      ])
      assert.isAtLeast(millis, 150)
      assert.isBelow(millis, 60_000)
      assert.deepStrictEqual(yield* proxy.wrap("fine").get(), [200, {}])
    }).pipe(client))

  it.live("that has passed sends nothing", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const { message, reason } = yield* failureOf(call(service, "get", {}).pipe(Deadline.within(0)))
      assert.deepStrictEqual([reason._tag, message], ["Timeout", "things was not called, since no time is left"])
      assert.strictEqual(service.connections(), 0)
    }).pipe(client))

  it.live("is not waited for between tries: the last failure comes at once", () =>
    Effect.gen(function*() {
      const service = yield* failingFirst(9, (response) => void response.writeHead(503, { "retry-after": "30" }).end())
      const { millis, result } = yield* elapsed(
        failureOf(call(service, "get", { retry: Schedule.forever })).pipe(Deadline.within("20 seconds"))
      )
      assert.strictEqual(result.statusCode, 503)
      assert.isBelow(millis, 10_000)
      assert.strictEqual(service.requests.length, 1)
    }).pipe(client))
})
