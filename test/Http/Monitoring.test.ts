/** Health, metrics, traces, overload and compression of a service, over a socket. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Duration, Effect, Fiber, Layer, Metric, Redacted, Schema } from "effect"
import { HttpEffect, HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createHook } from "node:async_hooks"
import { createServer } from "node:http"
import { layer as telemetryLayer } from "../../src/Http/monitoring/telemetry.ts"
import { Draining } from "../../src/Http/server/readiness.ts"
import { CircuitBreaker, EmbeddedStore, Jwt, KernelEngine, Monitoring, Role, Service } from "../../src/index.ts"
import { Application } from "../../src/internal/application.ts"
import { Note } from "../support/models.ts"
import { atOnce, refused, send, serving } from "../support/rest.ts"

const engine = KernelEngine.make("watched").register(Note, { methods: ["GET", "POST"] })

const configured = (env: { readonly [name: string]: string }) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

/** A registry of its own, in which no other test counts. */
const registry = Layer.sync(Metric.MetricRegistry, () => new Map())

describe("Monitoring / health", () => {
  it.live("answers by its checks, while it stops, and with details for those who may see them", () =>
    Effect.gen(function*() {
      const draining = { isStopping: false }
      let isFull = false
      const queue = Effect.suspend(() => isFull ? Effect.fail({ message: "too many jobs wait" }) : Effect.void)
      const secured = KernelEngine.make("watched").register(Note).enableSecurity()
      const watched = serving(secured, EmbeddedStore.layerMemory).pipe(
        Layer.provide(
          Monitoring.layer({
            checks: {
              queue,
              slow: Effect.suspend(() => isFull ? Effect.never : Effect.void)
            },
            require: Role("operator")
          })
        ),
        Layer.provide(Layer.succeed(Draining, draining)),
        Layer.provideMerge(
          Layer.provide(
            Layer.fresh(Jwt.layer),
            Layer.succeed(Application, { id: "watched", cfgDir: ".", development: true, isTest: true })
          )
        ),
        Layer.provide(configured({ APPKERNEL_HEALTH_TIMEOUT: "50 millis" })),
        Layer.provide(registry)
      )
      const program = Effect.gen(function*() {
        assert.deepStrictEqual((yield* send("GET", "/health/live")).body, { status: "ok" })
        for (const path of ["/health/live/", "/health/live?", "/health/live?at=1", "//health//live//?at=1"]) {
          assert.deepStrictEqual((yield* send("GET", path)).body, { status: "ok" }, path)
        }
        refused(404, yield* send("GET", "/health/lives"))
        assert.deepStrictEqual(
          (yield* send("GET", "/health/ready/")).status,
          (yield* send("GET", "/health/ready")).status
        )
        const ready = yield* send("GET", "/health/ready")
        assert.deepStrictEqual([ready.status, ready.body, ready.headers["cache-control"]], [
          200,
          { status: "ok" },
          "no-store"
        ])
        refused(401, yield* send("GET", "/health"))
        const { sign } = yield* Jwt.Jwt
        const bearer = (role: string) =>
          Effect.map(
            sign({ subject: "U1", roles: [role] }),
            (token) => ({ authorization: `Bearer ${Redacted.value(token)}` })
          )
        refused(403, yield* send("GET", "/health", undefined, yield* bearer("buyer")))
        isFull = true
        // Results count for a second.
        yield* Effect.sleep("1100 millis")
        const unready = yield* send("GET", "/health/ready")
        assert.deepStrictEqual([unready.status, unready.body], [503, {
          status: "unavailable",
          failing: ["queue", "slow"]
        }])
        const { body, status } = yield* send("GET", "/health", undefined, yield* bearer("operator"))
        assert.strictEqual(status, 503)
        assert.deepStrictEqual(Object.keys(body.checks), ["store", "queue", "slow"])
        assert.deepInclude(body.checks.queue, { status: "failed", reason: "too many jobs wait" })
        assert.deepInclude(body.checks.slow, { status: "failed", reason: "no answer within 50ms" })
        assert.strictEqual(body.checks.store.status, "ok")
        draining.isStopping = true
        assert.deepStrictEqual((yield* send("GET", "/health/ready")).body, { status: "stopping" })
        assert.strictEqual((yield* send("GET", "/health/live")).status, 200)
      })
      yield* Effect.provide(program, watched)
    }))

  it.live("is not ready where little space is free, and where a breaker is open if that is configured", () =>
    Effect.gen(function*() {
      const program = Effect.gen(function*() {
        const breaker = yield* CircuitBreaker.make({
          name: "payments",
          failureThreshold: 1,
          recoveryTimeout: "1 minute",
          halfOpenMaxCalls: 1
        })
        yield* Effect.ignore(breaker.run(Effect.fail("no answer")))
        return (yield* send("GET", "/health/ready")).body
      })
      const folder = Layer.unwrap(Effect.map(
        Effect.sync(() => `${process.env["TMPDIR"] ?? "/tmp"}/appkernel-health-${process.pid}`),
        (path) => EmbeddedStore.layerWith({ path })
      ))
      const body = yield* Effect.scoped(program).pipe(
        Effect.provide(
          serving(engine, folder).pipe(
            Layer.provideMerge(configured({
              APPKERNEL_HEALTH_ENABLED: "true",
              APPKERNEL_HEALTH_MIN_DISK_SPACE: "9000000000000000",
              APPKERNEL_HEALTH_OPEN_BREAKERS: "fail"
            })),
            Layer.provideMerge(registry)
          )
        )
      )
      assert.deepStrictEqual(body, { status: "unavailable", failing: ["disk", "upstreams"] })
    }))

  it.effect("has none of its paths unless it is enabled, and fails the start if another has them", () =>
    Effect.gen(function*() {
      const program = atOnce(2, (i) => send("GET", ["/health/live", "/metrics"][i]!))
      const answers = yield* Effect.provide(program, serving(engine, EmbeddedStore.layerMemory))
      assert.deepStrictEqual(answers.map(({ status }) => status), [404, 404])
      const taken = KernelEngine.make("taken").register(
        Service.make("MetricsService").operation(
          "metrics",
          { method: "GET", path: "/metrics", success: Schema.String },
          () => Effect.succeed("")
        ),
        { urlBase: "/" }
      )
      const failure = yield* Effect.flip(Effect.provide(
        Effect.void,
        serving(taken, EmbeddedStore.layerMemory).pipe(Layer.provide(configured({ APPKERNEL_METRICS_ENABLED: "yes" })))
      ))
      assert.strictEqual(failure._tag, "RouteConflict")
    }))
})

describe("Monitoring / metrics", () => {
  it.live("counts by route, whatever callers send, and says what the process needs", () =>
    Effect.gen(function*() {
      yield* send("POST", "/notes", { text: "one" })
      yield* atOnce(20, (i) => send("GET", `/notes/N-${i}`))
      yield* atOnce(20, (i) => send("GET", `/nowhere/${i}`))
      yield* send("TRACE", "/notes")
      const { headers, text } = yield* send("GET", "/metrics")
      assert.match(String(headers["content-type"]), /^text\/plain; version=0.0.4/u)
      const lines = text.split("\n")
      const counts = lines.filter((line) => line.startsWith("http_server_request_duration_seconds_count"))
      assert.sameMembers(counts, [
        "http_server_request_duration_seconds_count{http_request_method=\"POST\",http_response_status_code=\"201\",http_route=\"/notes\"} 1",
        "http_server_request_duration_seconds_count{http_request_method=\"GET\",http_response_status_code=\"404\",http_route=\"/notes/:id\"} 20",
        "http_server_request_duration_seconds_count{http_request_method=\"GET\",http_response_status_code=\"404\"} 20",
        "http_server_request_duration_seconds_count{http_request_method=\"TRACE\",http_response_status_code=\"405\"} 1"
      ])
      for (
        const start of [
          "http_server_active_requests 1",
          "http_server_request_body_size_bytes_count{",
          "http_server_response_body_size_bytes_sum{",
          "db_client_operations_total{db_collection_name=\"Note\"",
          "db_client_operation_duration_seconds_bucket{",
          "process_cpu_time_seconds_total{cpu_mode=\"user\"} ",
          "process_memory_usage_bytes ",
          "v8js_memory_heap_used_bytes ",
          "nodejs_eventloop_delay_p99_seconds ",
          "nodejs_eventloop_utilization_ratio 0"
        ]
      ) assert.isTrue(lines.some((line) => line.startsWith(start)), start)
    }).pipe(
      Effect.provide(
        serving(engine, EmbeddedStore.layerMemory).pipe(
          Layer.provideMerge(
            configured({ APPKERNEL_METRICS_ENABLED: "yes", APPKERNEL_SERVER_RESPONSE_TIMEOUT: "1 minute" })
          ),
          Layer.provideMerge(registry)
        )
      )
    ))
})

describe("Monitoring / limits and credentials", () => {
  it.effect("are counted by what refused them", () =>
    Effect.gen(function*() {
      refused(401, yield* send("GET", "/notes", undefined, { authorization: "Bearer nonsense" }))
      refused(429, yield* send("GET", "/notes"))
      // Probes are under no limit.
      const probes = yield* atOnce(3, () => send("GET", "/health/ready?verbose"))
      assert.deepStrictEqual(probes.map(({ status }) => status), [200, 200, 200])
      const counts = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        id.startsWith("appkernel.") && id.endsWith(".refused") && "count" in state
          ? [[id, attributes?.["policy"] ?? `${attributes?.["scheme"]} ${attributes?.["reason"]}`, state.count]]
          : []
      )
      assert.deepStrictEqual(counts.filter(([, , count]) => count !== 0), [
        ["appkernel.credentials.refused", "bearer malformed", 1],
        ["appkernel.rate_limit.refused", "address", 1]
      ])
    }).pipe(
      Effect.provide(
        serving(KernelEngine.make("limited").register(Note).enableSecurity(), EmbeddedStore.layerMemory).pipe(
          Layer.provide(
            configured({ APPKERNEL_RATE_LIMITS_PER_ADDRESS: "1 per minute", APPKERNEL_HEALTH_ENABLED: "true" })
          ),
          Layer.provide(Layer.provide(
            Layer.fresh(Jwt.layer),
            Layer.succeed(Application, { id: "limited", cfgDir: ".", development: true, isTest: true })
          )),
          Layer.provideMerge(registry)
        )
      )
    ))
})

/** The fields of a Protobuf message by their numbers; texts and messages are bytes. */
const fieldsIn = (bytes: Buffer): ReadonlyMap<number, ReadonlyArray<Buffer>> => {
  const fields = new Map<number, Array<Buffer>>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1;; shift *= 128) {
      const byte = bytes[at++]!
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const key = varint()
    const kind = key % 8
    const start = at
    if (kind === 0) varint()
    const length = kind === 2 ? varint() : kind === 1 ? 8 : kind === 5 ? 4 : at - start
    const from = kind === 2 ? at : start
    at = from + length
    const number = Math.floor(key / 8)
    fields.set(number, [...fields.get(number) ?? [], bytes.subarray(from, at)])
  }
  return fields
}

const inside = (bytes: Buffer, ...path: ReadonlyArray<number>): ReadonlyArray<Buffer> =>
  path.reduce<ReadonlyArray<Buffer>>((found, number) => found.flatMap((one) => fieldsIn(one).get(number) ?? []), [
    bytes
  ])

const spansIn = (body: Buffer) =>
  inside(body, 1, 2, 2).map((span) => ({
    trace: inside(span, 1)[0]!.toString("hex"),
    id: inside(span, 2)[0]!.toString("hex"),
    parent: inside(span, 4)[0]?.toString("hex"),
    name: String(inside(span, 5)[0]),
    attributes: Object.fromEntries(
      inside(span, 9).map((attribute) => [
        String(inside(attribute, 1)[0]),
        // A text, or a small number.
        String(inside(attribute, 2, 1)[0] ?? inside(attribute, 2, 3)[0]?.[0] ?? "")
      ])
    )
  }))

describe("Monitoring / traces", () => {
  const collector = Effect.acquireRelease(
    Effect.callback<
      { readonly url: string; readonly bodies: Array<readonly [string, Buffer]>; readonly close: () => void }
    >(
      (resume) => {
        const bodies: Array<readonly [string, Buffer]> = []
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => {
            bodies.push([`${request.url} ${String(request.headers["x-key"])}`, Buffer.concat(chunks)])
            response.end()
          })
        }).listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, bodies, close: () => server.close() }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

  const sending = (endpoint: string, sampleRatio: number) =>
    telemetryLayer({
      endpoint,
      headers: Redacted.make({ "x-key": "k" }),
      signals: ["traces", "metrics"],
      sampleRatio,
      interval: Duration.minutes(1)
    })

  const failing = Service.make("FailingService").operation(
    "fail",
    { method: "GET", success: Schema.String },
    () => Effect.die(new Error("secret-in-error"))
  )

  const traced = engine.register(failing)

  it.live("continues the caller's trace down to the store, and tells no values", () =>
    Effect.gen(function*() {
      const { bodies, url } = yield* collector
      const trace = "0af7651916cd43dd8448eb211c80319c"
      yield* Effect.gen(function*() {
        yield* send("POST", "/notes", [{ text: "one" }, { text: "two" }])
        yield* send("GET", "/notes?count=none", undefined, { "user-agent": "secret-agent" })
        yield* send("GET", "/notes?text=secret-value", undefined, { traceparent: `00-${trace}-b7ad6b7169203331-01` })
        yield* send("GET", "/failings/fail")
        yield* send("GET", "/photos/P1/picture/signed/secret-signature?download=secret")
      }).pipe(
        Effect.provide(
          serving(traced, EmbeddedStore.layerMemory).pipe(
            Layer.provideMerge(sending(url, 1)),
            Layer.provideMerge(registry)
          )
        )
      )
      const spans = bodies.filter(([path]) => path === "/v1/traces k").flatMap(([, body]) => spansIn(body))
      const ours = spans.filter((span) => span.trace === trace)
      const request = ours.find(({ name }) => name === "GET /notes")
      assert.deepInclude(request, { parent: "b7ad6b7169203331" })
      assert.deepInclude(request?.attributes, { "http.route": "/notes", "http.request.method": "GET" })
      const operation = ours.find(({ name }) => name.startsWith("Repository."))
      assert.strictEqual(operation?.attributes["db.collection.name"], "Note")
      // A page is read by parts.
      const rows = (operation: string) =>
        spans.filter(({ name }) => name === operation).map(({ attributes }) => attributes["db.response.returned_rows"])
      assert.deepStrictEqual(rows("Repository.findDocuments"), ["2"])
      assert.deepStrictEqual(rows("Repository.findAndCountDocuments"), ["0"])
      assert.isTrue(spans.some(({ name }) => name === "GET /failings/fail"))
      const paths = spans.map(({ attributes }) => attributes["url.path"])
      assert.include(paths, "/photos/P1/picture/signed/")
      const [, measured = Buffer.of()] = bodies.find(([path]) => path === "/v1/metrics k") ?? []
      assert.include(String(measured), "db.client.operation.duration")
      // The unit is that of the metric, and no attribute of its points.
      assert.notInclude(String(measured), "\n\u0004unit")
      assert.notInclude(String(Buffer.concat(bodies.map(([, body]) => body))), "secret")
    }).pipe(Effect.scoped))

  it.live("sends the traces that fail, and of the others a part", () =>
    Effect.gen(function*() {
      const { bodies, url } = yield* collector
      yield* Effect.andThen(send("GET", "/notes"), send("GET", "/failings/fail")).pipe(
        Effect.provide(
          serving(traced, EmbeddedStore.layerMemory).pipe(
            Layer.provideMerge(sending(url, 0)),
            Layer.provideMerge(configured({ OTEL_SERVICE_NAME: "notes-of-europe" })),
            Layer.provideMerge(registry)
          )
        )
      )
      const spans = bodies.filter(([path]) => path === "/v1/traces k").flatMap(([, body]) => spansIn(body))
      assert.deepStrictEqual(spans.map(({ name }) => name), ["GET /failings/fail"])
      assert.strictEqual(spans[0]?.attributes["http.request.method"], "GET")
      for (const [, body] of bodies) assert.include(String(body), "notes-of-europe")
    }).pipe(Effect.scoped))
})

describe("Monitoring / overload", () => {
  it.live("refuses more requests than it handles at once, and answers probes nevertheless", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const slow = Service.make("SlowService")
        .operation(
          "wait",
          { method: "GET", success: Schema.String },
          () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(release), "done"))
        )
      const program = Effect.gen(function*() {
        const waiting = yield* Effect.forkChild(send("GET", "/slows/wait"))
        yield* Deferred.await(begun)
        const { headers } = refused(503, yield* send("GET", "/slows/wait"))
        assert.strictEqual(headers["retry-after"], "7")
        assert.strictEqual((yield* send("GET", "/notes")).status, 200)
        assert.strictEqual((yield* send("GET", "/health/ready")).status, 200)
        yield* Deferred.succeed(release, undefined)
        assert.strictEqual((yield* Fiber.join(waiting)).status, 200)
        assert.strictEqual((yield* send("GET", "/slows/wait")).status, 200)
      })
      const limits = configured({
        APPKERNEL_HEALTH_ENABLED: "on",
        APPKERNEL_OVERLOAD_MAX_REQUESTS: "10",
        APPKERNEL_OVERLOAD_MAX_REQUESTS_PER_ROUTE: "1",
        APPKERNEL_OVERLOAD_RETRY_AFTER: "7"
      })
      const served = serving(engine.register(slow), EmbeddedStore.layerMemory)
      yield* Effect.provide(program, Layer.provideMerge(served, limits))
    }))
})

describe("Monitoring / compression", () => {
  const large = "a text that repeats itself, ".repeat(400_000)
  const texts = Layer.mergeAll(
    HttpRouter.add("GET", "/large/open", HttpServerResponse.text(large)),
    // As tokens do.
    HttpRouter.add(
      "GET",
      "/large/late",
      Effect.as(
        HttpEffect.appendPreResponseHandler((_, response) =>
          Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
        ),
        HttpServerResponse.text(large)
      )
    ),
    HttpRouter.add("GET", "/large/secret", HttpServerResponse.text(large, { headers: { "cache-control": "no-store" } }))
  )

  it.live("compresses what is large, and nothing where a browser adds credentials by itself", () =>
    Effect.gen(function*() {
      yield* send("POST", "/notes", { text: "long ".repeat(1_000) })
      const { address } = yield* HttpServer.HttpServer
      const base = "port" in address ? `http://127.0.0.1:${address.port}` : ""
      const encodingOf = (path: string, headers: { readonly [name: string]: string }) =>
        Effect.map(send("GET", path, undefined, headers), (answer) => answer.headers["content-encoding"])
      for (const encoding of ["br", "gzip", "zstd"]) {
        const { headers } = yield* Effect.promise(() =>
          fetch(`${base}/notes`, { method: "HEAD", headers: { "accept-encoding": encoding } })
        )
        assert.strictEqual(headers.get("content-encoding"), encoding)
      }
      assert.isUndefined(yield* encodingOf("/notes", {}))
      assert.isUndefined(yield* encodingOf("/notes/none", { "accept-encoding": "br" }))
      assert.isUndefined(yield* encodingOf("/notes", { "accept-encoding": "br", cookie: "a=b" }))
      assert.isUndefined(yield* encodingOf("/notes", { "accept-encoding": "br", authorization: "Basic YTpi" }))
      assert.isUndefined(yield* encodingOf("/large/secret", { "accept-encoding": "br" }))
      assert.isUndefined(yield* encodingOf("/large/late", { "accept-encoding": "br" }))
      // Another thread compresses, and tells the loop when it has.
      let told = 0
      const compressing = new Set<number>()
      const hook = createHook({
        init: (id, type) => {
          if (type === "ZLIB") compressing.add(id)
        },
        before: (id) => {
          if (compressing.has(id)) told++
        }
      }).enable()
      assert.strictEqual(yield* encodingOf("/large/open", { "accept-encoding": "br" }), "br")
      hook.disable()
      assert.isAbove(told, 0)
      const answer = yield* Effect.promise(() => fetch(`${base}/notes`, { headers: { "accept-encoding": "br" } }))
      assert.match(String(answer.headers.get("vary")), /accept-encoding/iu)
      assert.include(yield* Effect.promise(() => answer.text()), "long long")
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          serving(engine.use(texts), EmbeddedStore.layerMemory),
          configured({ APPKERNEL_COMPRESSION_ENABLED: "true" })
        )
      )
    ))
})
