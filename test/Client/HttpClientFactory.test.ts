import { Agent } from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import { ClientError, HttpClientFactory } from "appkernel"
import { ConfigProvider, Effect, Exit, Fiber, Layer, Metric, Option, Schedule, Scope, Stream } from "effect"
import * as net from "node:net"
import { rawUpstream, type Upstream, upstream } from "./support/upstream.ts"

const factory = (options: HttpClientFactory.Options = {}) => Effect.provide(HttpClientFactory.layerWith(options))

const reasonOf = (error: ClientError.RequestHandlingException | { readonly _tag: string }) =>
  error instanceof ClientError.RequestHandlingException ? error.reason._tag : error._tag

/** A client that is configured by these variables, without their prefix. */
const fromEnvironment = (variables: { readonly [name: string]: string }) => {
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`APPKERNEL_CLIENT_${name}`, value]))
  return Layer.provide(HttpClientFactory.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
}

/** Loads what the first call of a client loads, by a call that nobody answers. */
const loaded = Effect.flatMap(
  HttpClientFactory.get("http://127.0.0.1:9"),
  (nobody) => Effect.flip(nobody.wrap("things").get())
)

/** A server that answers when it is told to. */
const holding = Effect.gen(function*() {
  const held: Array<() => void> = []
  const service = yield* upstream((request, response) => {
    held.push(() => response.end(JSON.stringify(request.url)))
  })
  const until = (count: number): Effect.Effect<void> =>
    Effect.suspend(() => held.length >= count ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(count)))
  return { ...service, held, until }
})

const untilOpen = (service: Upstream, count: number) =>
  Effect.repeat(Effect.sleep("5 millis"), { until: () => service.open() === count })

describe("HttpClientFactory", () => {
  it.live("gives the same proxy for the same address and options", () =>
    Effect.gen(function*() {
      const { get } = HttpClientFactory
      const proxy = yield* get("http://users:5000")
      for (
        const same of ["http://users:5000/", "http://USERS:5000", new URL("http://users:5000//"), "HTTP://users:05000"]
      ) {
        assert.strictEqual(yield* get(same), proxy, String(same))
      }
      assert.strictEqual(yield* get("https://users:443"), yield* get("https://users"))
      for (
        const [one, other] of [
          [undefined, { circuitBreaker: null }],
          [undefined, { name: "bulk" }],
          [undefined, { circuitBreaker: { failureThreshold: 3 } }],
          [{ name: "bulk" }, { name: "bulk", circuitBreaker: null }],
          [{ circuitBreaker: { recoveryTimeout: "1 second" } }, { circuitBreaker: { recoveryTimeout: "2 seconds" } }]
        ] as const
      ) assert.notStrictEqual(yield* get("http://users:5000", one), yield* get("http://users:5000", other))
      assert.strictEqual(
        yield* get("http://users:5000", { circuitBreaker: { recoveryTimeout: "60 seconds" } }),
        yield* get("http://users:5000", {
          circuitBreaker: { recoveryTimeout: "1 minute", failureThreshold: undefined }
        })
      )
      const all = yield* Effect.all(Array.from({ length: 50 }, () => get("http://orders", { circuitBreaker: {} })), {
        concurrency: 50
      })
      assert.strictEqual(new Set(all).size, 1)
      for (
        const wrong of [
          "users",
          "ftp://users",
          "http://users?a=b",
          "http://users#a",
          "http://me:secret@users",
          "http://127.0.0.1:0"
        ]
      ) {
        assert.isTrue(Exit.hasDies(yield* Effect.exit(get(wrong))), wrong)
      }
    }).pipe(factory()))

  it.live("keeps the 1,000 services that were used last", () =>
    Effect.gen(function*() {
      const proxyOf = (n: number) => HttpClientFactory.get(`http://service-${n}`, { circuitBreaker: {} })
      const [first, second] = [yield* proxyOf(1), yield* proxyOf(2)]
      for (let n = 3; n <= 1_000; n++) yield* proxyOf(n)
      assert.strictEqual(yield* proxyOf(1), first)
      yield* proxyOf(1_001)
      assert.strictEqual(yield* proxyOf(1), first)
      assert.notStrictEqual(yield* proxyOf(2), second)
    }).pipe(factory()))

  it.live("shares one breaker among the proxies of one address, unless they have another name or none", () =>
    Effect.gen(function*() {
      const service = yield* upstream((_, response) => void response.writeHead(500).end())
      const { get } = HttpClientFactory
      const tagOf = (options?: HttpClientFactory.ProxyOptions) =>
        Effect.flatMap(
          get(service.url, options),
          (proxy) => Effect.map(Effect.flip(proxy.wrap("things").get()), ({ _tag }) => _tag)
        )
      yield* tagOf()
      yield* tagOf({ getHeaders: Effect.succeed({}) })
      assert.deepStrictEqual(
        yield* Effect.all([
          tagOf(),
          tagOf({ getHeaders: Effect.succeed({ a: "b" }) }),
          tagOf({ circuitBreaker: null }),
          tagOf({ name: "other" })
        ]),
        ["CircuitOpenError", "CircuitOpenError", "RequestHandlingException", "RequestHandlingException"]
      )
      assert.strictEqual(service.requests.length, 4)
    }).pipe(factory({ circuitBreaker: { failureThreshold: 2 } })))

  it.live("lets the last call end when it closes, and no other begin", () =>
    Effect.gen(function*() {
      const service = yield* holding
      const scope = yield* Scope.make()
      const { get } = yield* Scope.provide(HttpClientFactory.make(), scope)
      const proxy = yield* get(service.url)
      const call = yield* Effect.forkChild(proxy.wrap("last").get())
      yield* service.until(1)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      assert.strictEqual(reasonOf(yield* Effect.flip(proxy.wrap("late").get())), "Closed")
      assert.isUndefined(closing.pollUnsafe())
      service.held[0]?.()
      assert.deepStrictEqual(yield* Fiber.join(call), [200, "/last"])
      yield* Fiber.join(closing)
      yield* untilOpen(service, 0)
    }))

  it.live("ends calls that take longer than its time to close, those that wait included", () =>
    Effect.gen(function*() {
      const service = yield* holding
      const dispatcher = new Agent()
      const options = { shutdownTimeout: "100 millis", maxConnections: 1, poolTimeout: "1 minute" } as const
      for (const own of [{}, { dispatcher }]) {
        const scope = yield* Scope.make()
        const { get } = yield* Scope.provide(HttpClientFactory.make({ ...options, ...own }), scope)
        const proxy = yield* get(service.url)
        const before = service.requests.length
        const call = Effect.flip(proxy.wrap("last").get({ timeout: "1 minute", retry: Schedule.recurs(5) }))
        const calls = yield* Effect.forkChild(Effect.all(Array.from({ length: 50 }, () => call), { concurrency: 50 }))
        yield* service.until(before + 1)
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(new Set((yield* Fiber.join(calls)).map(reasonOf)), new Set(["Closed"]))
        assert.strictEqual(service.requests.length, before + 1)
      }
      yield* Effect.promise(() => dispatcher.destroy())
    }))
})

describe("HttpClientConfig", () => {
  it.live("has numbers that are limits, and connections that may be kept forever", () =>
    Effect.gen(function*() {
      for (
        const options of [{ maxConnections: 0 }, { maxConnections: NaN }, { maxQueued: -1 }, {
          maxKeepaliveConnections: 1.5
        }]
      ) {
        assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.scoped(HttpClientFactory.make(options)))))
      }
      const service = yield* upstream(() => ({}))
      const call = Effect.flatMap(HttpClientFactory.get(service.url), (proxy) => proxy.wrap("things").get())
      const forever = HttpClientFactory.layerWith({ keepaliveExpiry: "Infinity" })
      assert.deepStrictEqual(yield* Effect.provide(call, forever), [200, {}])
    }))

  it.live("maxConnections: further calls wait for a connection, in their order", () =>
    Effect.gen(function*() {
      const service = yield* holding
      const proxy = yield* HttpClientFactory.get(service.url)
      const fibers = yield* Effect.forEach(["a", "b", "c", "d", "e"], (path) =>
        Effect.forkChild(proxy.wrap(path).get(), { startImmediately: true }))
      yield* service.until(2)
      yield* Effect.sleep("50 millis")
      assert.strictEqual(service.held.length, 2)
      for (let called = 2; called <= 5; called++) {
        yield* service.until(called)
        service.held[called - 2]?.()
      }
      service.held[4]?.()
      yield* Effect.forEach(fibers, (fiber) =>
        Fiber.join(fiber))
      // The first two are called at once.
      const urls = service.requests.map(({ url }) => url)
      assert.deepStrictEqual([urls.slice(0, 2).toSorted(), urls.slice(2)], [["/a", "/b"], ["/c", "/d", "/e"]])
      assert.strictEqual(service.connections(), 2)
    }).pipe(factory({ maxConnections: 2, poolTimeout: "60 seconds" })))

  it.live("poolTimeout: a call waits so long for a connection", () =>
    Effect.gen(function*() {
      const service = yield* holding
      const proxy = yield* HttpClientFactory.get(service.url)
      const first = yield* Effect.forkChild(proxy.wrap("a").get({ timeout: "1 minute" }))
      yield* service.until(1)
      const began = performance.now()
      const late = yield* Effect.flip(proxy.wrap("b").get())
      // Timers may fire a moment early.
      assert.isAtLeast(performance.now() - began, 190)
      assert.deepInclude({ ...late }, { statusCode: 500, reason: { _tag: "PoolTimeout" }, upstreamService: "b" })
      service.held[0]?.()
      assert.deepStrictEqual(yield* Fiber.join(first), [200, "/a"])
      assert.deepStrictEqual(service.requests.map(({ url }) => url), ["/a"])
    }).pipe(factory({ maxConnections: 1, poolTimeout: "200 millis" })))

  it.live("maxQueued: at most so many wait, first come first served, and an interruption gives the place back", () =>
    Effect.gen(function*() {
      let atOnce = 0
      let most = 0
      const answered: Array<string> = []
      const service = yield* upstream(({ url }, response) => {
        most = Math.max(most, ++atOnce)
        setTimeout(() => {
          atOnce--
          answered.push(url ?? "")
          response.end("{}")
        }, 1)
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      yield* loaded
      const fibers = yield* Effect.forEach(
        Array.from({ length: 500 }, (_, i) => i),
        (i) => Effect.forkChild(Effect.exit(proxy.wrap(String(i)).get()), { startImmediately: true })
      )
      // 5 are called, 395 wait, 100 are turned away. 100 of those that wait leave, and as many others take their places.
      yield* Effect.forEach(fibers.slice(100, 200), (fiber) => Fiber.interrupt(fiber))
      const others = yield* Effect.forEach(
        Array.from({ length: 120 }, (_, i) => 500 + i),
        (i) => Effect.forkChild(Effect.exit(proxy.wrap(String(i)).get()), { startImmediately: true })
      )
      const count = (exits: ReadonlyArray<Exit.Exit<unknown, { readonly _tag: string }>>) => {
        const full = exits.filter((exit) =>
          Exit.isFailure(exit) &&
          exit.cause.reasons.some((reason) => reason._tag === "Fail" && reasonOf(reason.error) === "PoolFull")
        )
        return { done: exits.filter((exit) => Exit.isSuccess(exit)).length, full: full.length }
      }
      const rest = [...fibers.slice(0, 100), ...fibers.slice(200)]
      assert.deepStrictEqual(count(yield* Effect.forEach(rest, (fiber) => Fiber.join(fiber))), { done: 300, full: 100 })
      assert.deepStrictEqual(count(yield* Effect.forEach(others, (fiber) => Fiber.join(fiber))), {
        done: 100,
        full: 20
      })
      assert.strictEqual(most, 5)
      assert.strictEqual(service.connections(), 5)
      // In the order of their calls, but for those that are under way at once.
      const numbers = answered.map((url) => Number(url.slice(1)))
      for (const [at, number] of numbers.entries()) {
        assert.isBelow(numbers.slice(at + 1).filter((later) => later < number).length, 5)
      }
    }).pipe(factory({ maxConnections: 5, maxQueued: 395, poolTimeout: "60 seconds" })))

  it.live("maxKeepaliveConnections: so many connections stay open", () =>
    Effect.gen(function*() {
      const service = yield* holding
      const other = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url)
      const fibers = yield* Effect.forEach(["a", "b", "c", "d"], (path) => Effect.forkChild(proxy.wrap(path).get()))
      yield* service.until(4)
      assert.strictEqual(service.open(), 4)
      for (const answer of service.held) answer()
      yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
      yield* untilOpen(service, 2)
      // One of them makes room for another service.
      yield* Effect.flatMap(HttpClientFactory.get(other.url), (proxy) => proxy.wrap("x").get())
      yield* untilOpen(service, 1)
      yield* untilOpen(other, 1)
    }).pipe(factory({ maxKeepaliveConnections: 2, keepaliveExpiry: "1 minute" })))

  it.live("keepaliveExpiry: connections stay open for so long", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const began = performance.now()
      yield* Effect.flatMap(HttpClientFactory.get(service.url), (proxy) => proxy.wrap("x").get())
      yield* untilOpen(service, 0)
      // Timers may fire a moment early.
      assert.isAtLeast(performance.now() - began, 390)
    }).pipe(factory({ keepaliveExpiry: "400 millis" })))

  it.live("maxKeepaliveConnections 0: each call has a connection of its own", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url)
      yield* Effect.repeat(proxy.wrap("x").get(), { times: 2 })
      yield* untilOpen(service, 0)
      assert.strictEqual(service.connections(), 3)
    }).pipe(factory({ maxKeepaliveConnections: 0 })))

  it.live("connectTimeout: for the TLS handshake as well", () =>
    Effect.gen(function*() {
      const service = yield* rawUpstream(() => {})
      const proxy = yield* HttpClientFactory.get(service.url.replace("http:", "https:"))
      const error = yield* Effect.flip(proxy.wrap("things").get())
      assert.strictEqual(error.message, "things did not accept the connection in time")
    }).pipe(factory({ connectTimeout: "100 millis" })))

  it.live("callTimeout, uploadTimeout, downloadTimeout: each for the calls of its kind that have no timeout, and for no other", () =>
    Effect.gen(function*() {
      const service = yield* rawUpstream(() => {})
      const kinds = ["callTimeout", "uploadTimeout", "downloadTimeout"] as const
      for (const configured of [...kinds, "readTimeout"] as const) {
        yield* Effect.gen(function*() {
          yield* loaded
          const things = (yield* HttpClientFactory.get(service.url)).wrap("things")
          const calls = {
            callTimeout: things.get(),
            uploadTimeout: things.upload(new Uint8Array(1)),
            downloadTimeout: things.download()
          }
          const ended = yield* Effect.forEach(
            kinds,
            (kind) => Effect.timeoutOption(Effect.flip(calls[kind]), "300 millis"),
            { concurrency: 3 }
          )
          for (const [i, kind] of kinds.entries()) {
            const message = ended[i]?.pipe(Option.getOrUndefined)?.message
            assert.strictEqual(message, kind === configured ? "things did not answer in time" : undefined, kind)
          }
          const slow = yield* Effect.timeoutOption(Effect.flip(things.get({ timeout: "1 minute" })), "300 millis")
          assert.isTrue(Option.isNone(slow))
        }).pipe(Effect.provide(HttpClientFactory.layerWith({ [configured]: "100 millis" })))
      }
    }))

  it.live("uses one connection for a caller that makes one call after the other", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }, response) => {
        const size = Number(url?.slice(1))
        response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(size))
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      for (let i = 0; i < 60; i++) yield* proxy.wrap(String([0, 1, 200_000][i % 3])).get()
      for (let i = 0; i < 10; i++) yield* Stream.runDrain(proxy.wrap("100000").streamDownload())
      assert.strictEqual(service.connections(), 1)
    }).pipe(factory()))

  it.live("names breakers by their address, so that those of two ports differ, or by the name of the proxy", () =>
    Effect.gen(function*() {
      const services = yield* Effect.all(
        [1, 2].map(() => upstream((_, response) => void response.writeHead(500).end()))
      )
      for (const { url } of services) {
        for (const name of [undefined, `of ${url}`]) {
          const proxy = yield* HttpClientFactory.get(url, { circuitBreaker: { failureThreshold: 1 }, name })
          yield* Effect.flip(proxy.wrap("things").get())
        }
      }
      const names = (yield* Metric.snapshot).filter(({ id }) => id === "circuit_breaker.transitions")
        .map(({ attributes }) => attributes?.["circuit_breaker.name"])
      assert.sameMembers(names, services.flatMap(({ url }) => [url, `of ${url}`]))
    }).pipe(factory(), Effect.provide(Layer.sync(Metric.MetricRegistry, () => new Map()))))

  it.live("writeTimeout: if the service does not read the body", () =>
    Effect.gen(function*() {
      const service = yield* Effect.acquireRelease(
        Effect.callback<net.Server>((resume) => {
          const server = net.createServer((socket) => socket.on("error", () => {}).pause())
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const address = service.address() as net.AddressInfo
      const proxy = yield* HttpClientFactory.get(`http://127.0.0.1:${address.port}`)
      const error = yield* Effect.flip(proxy.wrap("things").post({ payload: new Uint8Array(30_000_000) }))
      assert.strictEqual(error.message, "things did not take the request in time")
    }).pipe(factory({ writeTimeout: "200 millis" })))

  it.live("circuitBreaker: of every proxy, and from the environment", () =>
    Effect.gen(function*() {
      const service = yield* upstream((_, response) => void response.writeHead(500).end())
      const tags = Effect.gen(function*() {
        const proxy = yield* HttpClientFactory.get(service.url)
        const call = Effect.map(Effect.flip(proxy.wrap("x").get()), ({ _tag }) => _tag)
        return [yield* call, yield* call]
      })
      const expected = ["RequestHandlingException", "CircuitOpenError"]
      assert.deepStrictEqual(yield* tags.pipe(factory({ circuitBreaker: { failureThreshold: 1 } })), expected)
      assert.deepStrictEqual(
        yield* tags.pipe(Effect.provide(fromEnvironment({ CIRCUIT_BREAKER_FAILURE_THRESHOLD: "1" }))),
        expected
      )
    }))

  it.live("maxConnections and maxQueued: from the environment", () =>
    Effect.gen(function*() {
      const service = yield* holding
      const proxy = yield* HttpClientFactory.get(service.url)
      const calls = yield* Effect.forEach(Array.from({ length: 9 }), () =>
        Effect.forkChild(Effect.exit(proxy.wrap("x").get()), { startImmediately: true }))
      yield* service.until(7)
      assert.strictEqual(reasonOf(yield* Effect.flip(proxy.wrap("x").get())), "PoolFull")
      assert.strictEqual(service.held.length, 7)
      for (let called = 0; called < 9; called++) {
        yield* service.until(called + 1)
        service.held[called]?.()
      }
      const exits = yield* Effect.forEach(calls, (fiber) =>
        Fiber.join(fiber))
      assert.isTrue(exits.every((exit) => Exit.isSuccess(exit)))
      assert.strictEqual(service.connections(), 7)
    }).pipe(Effect.provide(fromEnvironment({ MAX_CONNECTIONS: "7", MAX_QUEUED: "2" }))))
})
