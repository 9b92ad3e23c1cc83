/** The shop, watched by those who read what it tells: OpenTelemetry's collector and Prometheus, where there is one. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import { freshDirectory } from "../support/folders.ts"
import { freePort, patient, printed, programOf, runProgram } from "../support/processes.ts"
import { atOnce, bearer } from "../support/rest.ts"
import { request, signIn } from "../support/shop.ts"

const textOf = (file: string): string => readFileSync(join(import.meta.dirname, "../..", file), "utf8")

const pathOf = (variable: string, name: string): string | undefined =>
  [process.env[variable], `/usr/bin/${name}`, `/usr/local/bin/${name}`].find((file) =>
    file !== undefined && existsSync(file)
  )

const collector = pathOf("OTELCOL_PATH", "otelcol")
const prometheus = pathOf("PROMETHEUS_PATH", "prometheus")

/** Another program, which ends with the scope. */
const running = (file: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => programOf(spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] }))),
    ({ ended, process }) => {
      process.kill("SIGKILL")
      return ended
    }
  )

const password = "maple-meadow-645"
const ada = { name: "Ada Lovelace", email: "ada@example.com", password: "analytical engine" }

/** A shop whose administrator has the password. */
const shopAt = Effect.fnUntraced(function*(env: { readonly [name: string]: string }) {
  const port = yield* freePort
  const program = yield* runProgram("examples/shop/main.ts", {
    ...patient,
    ...env,
    APPKERNEL_EMBEDDED_PATH: join(yield* freshDirectory, "data"),
    APPKERNEL_SERVER_PORT: String(port),
    SHOP_ADMIN_PASSWORD: password
  })
  yield* printed(program, "a browser at")
  return { base: `http://127.0.0.1:${port}`, program }
})

/** Somebody signs up, fails to sign in once, orders and pays. */
const buys = Effect.fnUntraced(function*(base: string, traceparent: string) {
  yield* request(base, "POST /api/v1/users", ada)
  const wrong = { grant_type: "password", username: ada.email, password: "wrong-password" }
  assert.strictEqual((yield* request(base, "POST /api/v1/token", wrong)).status, 400)
  const token = (yield* signIn(base, ada.email, ada.password)).access_token
  yield* request(base, "GET /api/v1/orders", undefined, bearer("nonsense"))
  const products = yield* request(base, "GET /api/v1/products?stock=>10&page_size=3&sort_by=price")
  const { id: product, price } = products.body._items[0]
  const placed = yield* request(
    base,
    "POST /api/v1/orders",
    { lines: [{ product, quantity: 1, price }] },
    bearer(token)
  )
  const order: string = placed.body.result
  const paid = yield* request(base, "POST /api/v1/payments/pay", { order, amount: price, method: "card" }, {
    ...bearer(token),
    traceparent
  })
  assert.strictEqual(paid.status, 200, paid.text)
  return { order, token }
})

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes?: Attributes
}

type Attributes = ReadonlyArray<{ readonly key: string; readonly value: { readonly [kind: string]: unknown } }>

interface Points {
  readonly dataPoints: ReadonlyArray<{ readonly attributes?: Attributes }>
}

interface ReceivedMetric {
  readonly name: string
  readonly unit: string
  readonly gauge?: Points
  readonly histogram?: Points
  readonly sum?: Points
}

describe.skipIf(collector === undefined)("OpenTelemetry's collector", () => {
  it.live(
    "gets a trace from the request to the call of another service, and metrics with their units",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const folder = yield* freshDirectory
        const received: Array<string> = []
        const sink = yield* Effect.acquireRelease(
          Effect.callback<string>((resume) => {
            const server = createServer((incoming, response) => {
              let text = ""
              incoming.setEncoding("utf8").on("data", (part: string) => {
                text += part
              }).on("end", () => {
                received.push(text)
                response.setHeader("content-type", "application/json").end("{}")
              })
            }).listen(0, "127.0.0.1", () => {
              const address = server.address()
              resume(Effect.succeed(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`))
            }).unref()
          }),
          () => Effect.void
        )
        const pipeline = { receivers: ["otlp"], exporters: ["otlphttp"] }
        writeFileSync(
          join(folder, "collector.yaml"),
          JSON.stringify({
            receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
            exporters: {
              otlphttp: { endpoint: sink, encoding: "json", compression: "none", sending_queue: { enabled: false } }
            },
            service: {
              telemetry: { metrics: { level: "none" } },
              pipelines: { traces: pipeline, metrics: pipeline, logs: pipeline }
            }
          })
        )
        const started = yield* running(collector ?? "", ["--config", join(folder, "collector.yaml")])
        yield* printed(started, "Everything is ready")
        const { base, program } = yield* shopAt({
          APPKERNEL_TELEMETRY_ENDPOINT: `http://127.0.0.1:${port}`,
          APPKERNEL_TELEMETRY_SIGNALS: "traces,metrics,logs",
          APPKERNEL_TELEMETRY_INTERVAL: "1 second"
        })
        const trace = "0af7651916cd43dd8448eb211c80319c"
        const { order, token } = yield* buys(base, `00-${trace}-b7ad6b7169203331-01`)
        // Gauges are those of the process while it runs.
        yield* Effect.sleep("1500 millis")
        program.process.kill("SIGTERM")
        assert.strictEqual(yield* program.ended, 0)
        assert.notMatch(started.output(), /\berror\b/u)

        const bodies = received.map((text) => JSON.parse(text))
        const spans: ReadonlyArray<Span> = bodies.flatMap(({ resourceSpans = [] }) => resourceSpans)
          .flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans)
        const ours = spans.filter(({ traceId }) => traceId === trace)
        const byId = new Map(ours.map((span) => [span.spanId, span]))
        const pathTo = (span: Span | undefined): string =>
          span === undefined ? "" : `${pathTo(byId.get(span.parentSpanId ?? ""))} > ${span.name}`
        const paths = ours.map(pathTo)
        const pay = " > POST /api/v1/payments/pay"
        assert.includeMembers(paths, [
          pay,
          `${pay} > pay > Repository.findById`,
          `${pay} > pay > Repository.updateOne`,
          `${pay} > pay > POST`,
          // The service that takes the payments.
          `${pay} > pay > POST > POST /payments`,
          `${pay} > pay > POST > POST /payments > charge > Repository.insert`
        ])
        assert.isTrue(paths.every((path) => path === pay || path.startsWith(`${pay} > pay`)), paths.join("\n"))
        assert.strictEqual(ours.find((span) => pathTo(span) === pay)?.parentSpanId, "b7ad6b7169203331")
        const attributesOf = (name: string) =>
          Object.fromEntries(
            spans.find((span) => span.name === name)?.attributes?.map(({ key, value }) =>
              [key, Object.values(value)[0]] as const
            ) ?? []
          )
        assert.deepStrictEqual(attributesOf("Repository.findAndCountDocuments"), {
          "db.collection.name": "Product",
          "db.operation.name": "findAndCountDocuments",
          "db.response.returned_rows": "3"
        })
        assert.hasAllKeys(attributesOf("POST"), [
          "http.request.method",
          "http.response.status_code",
          "server.address",
          "server.port"
        ])
        const logged = bodies.flatMap(({ resourceLogs = [] }) => resourceLogs).flatMap(({ scopeLogs }) => scopeLogs)
          .flatMap(({ logRecords }) => logRecords)
        assert.isTrue(logged.some(({ spanId, traceId }) => traceId === trace && byId.has(spanId)))

        const told = JSON.stringify(
          bodies.map(({ resourceMetrics, resourceSpans }) => [resourceSpans, resourceMetrics])
        )
        for (
          const secret of [ada.password, ada.email, "wrong-password", password, token, order, "sort_by", "nonsense"]
        ) {
          assert.notInclude(told, secret)
        }
        const metrics: ReadonlyArray<ReceivedMetric> = bodies.flatMap(({ resourceMetrics = [] }) => resourceMetrics)
          .flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics)
        const units = new Map(metrics.map(({ name, unit }) => [name, unit]))
        // There may have been no garbage.
        assert.strictEqual(units.get("v8js.gc.duration") ?? "s", "s")
        units.delete("v8js.gc.duration")
        assert.deepStrictEqual(Object.fromEntries(units), {
          "appkernel.credentials.refused": "1",
          "appkernel.sign_ins": "1",
          "appkernel.store.size": "By",
          "circuit_breaker.state": "1",
          "db.client.operation.duration": "s",
          "db.client.operations": "1",
          "http.server.active_requests": "{request}",
          "http.server.request.body.size": "By",
          "http.server.request.duration": "s",
          "http.server.response.body.size": "By",
          "nodejs.eventloop.delay.max": "s",
          "nodejs.eventloop.delay.p50": "s",
          "nodejs.eventloop.delay.p99": "s",
          "nodejs.eventloop.utilization": "1",
          "process.cpu.time": "s",
          "process.memory.usage": "By",
          "process.uptime": "s",
          "v8js.memory.heap.limit": "By",
          "v8js.memory.heap.used": "By"
        })
        const keys = metrics.flatMap(({ gauge, histogram, sum }) => (gauge ?? histogram ?? sum)?.dataPoints ?? [])
          .flatMap(({ attributes = [] }) => attributes.map(({ key }) => key))
        assert.include(keys, "http.route")
        assert.notInclude(keys, "unit")
      })
  )
})

const panels: ReadonlyArray<{ readonly targets: ReadonlyArray<{ readonly expr: string }> }> =
  JSON.parse(textOf("docs/operations/dashboard.json")).panels

describe.skipIf(prometheus === undefined)("Prometheus", () => {
  it.live(
    "scrapes the shop as the page says, and runs the rules and what the dashboard asks",
    () =>
      Effect.gen(function*() {
        const { base } = yield* shopAt({
          APPKERNEL_SERVER_TRUSTED_PROXIES: "127.0.0.1",
          APPKERNEL_RATE_LIMITS_PER_ADDRESS: "100 per minute",
          APPKERNEL_OVERLOAD_MAX_REQUESTS_PER_ROUTE: "1"
        })
        const folder = yield* freshDirectory
        const [, page = ""] = /^```yaml\n(scrape_configs:.*?)^```$/msu.exec(textOf("docs/guides/metrics.md")) ?? []
        const [scraped] = parse(page).scrape_configs
        writeFileSync(join(folder, "password"), password)
        writeFileSync(
          join(folder, "prometheus.yml"),
          JSON.stringify({
            global: { scrape_interval: "1s", evaluation_interval: "1s" },
            rule_files: [join(import.meta.dirname, "../../docs/operations/alerts.yml")],
            scrape_configs: [{
              ...scraped,
              static_configs: [{ targets: [new URL(base).host] }],
              basic_auth: { username: "admin@shop.example", password_file: join(folder, "password") }
            }]
          })
        )
        const promtool = join(dirname(prometheus ?? ""), "promtool")
        if (existsSync(promtool)) {
          execFileSync(promtool, ["check", "config", join(folder, "prometheus.yml")])
          const credentials = Buffer.from(`admin@shop.example:${password}`).toString("base64")
          const { text } = yield* request(base, "GET /metrics", undefined, { authorization: `Basic ${credentials}` })
          execFileSync(promtool, ["check", "metrics"], { input: text })
        }
        const port = yield* freePort
        const started = yield* running(prometheus ?? "", [
          `--config.file=${join(folder, "prometheus.yml")}`,
          `--storage.tsdb.path=${join(folder, "data")}`,
          `--web.listen-address=127.0.0.1:${port}`
        ])
        yield* printed(started, "Server is ready to receive web requests")
        const ask = (path: string) =>
          Effect.map(request(`http://127.0.0.1:${port}`, `GET /api/v1/${path}`), ({ body, text }) => {
            assert.strictEqual(body?.status, "success", text)
            return body.data
          })
        const resultOf = (expr: string) =>
          Effect.map(ask(`query?query=${encodeURIComponent(expr)}`), ({ result }): ReadonlyArray<unknown> => result)
        yield* Effect.repeat(resultOf("count_over_time(up{job=\"shop\"}[1m]) >= 2"), {
          until: (found) => found.length > 0,
          schedule: Schedule.spaced("100 millis")
        })
        const scrape = Effect.suspend(() =>
          Effect.repeat(resultOf(`timestamp(up{job="shop"} == 1) > ${Date.now() / 1_000}`), {
            until: (found) => found.length > 0,
            schedule: Schedule.spaced("100 millis")
          })
        )
        // A rate needs a series twice.
        for (const limited of [false, false, true, true]) {
          if (limited) {
            // Of another address than Prometheus.
            const headers = { "x-forwarded-for": "198.51.100.7" }
            const one = request(base, "GET /api/v1/products?page_size=1", undefined, headers)
            yield* Effect.repeat(one, { until: ({ status }) => status === 429 })
          } else {
            yield* buys(base, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
            // A password takes long enough for the others to be refused.
            const { email: username, password } = ada
            yield* atOnce(4, () => request(base, "POST /api/v1/token", { grant_type: "password", username, password }))
          }
          yield* scrape
        }
        const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
        const isSilent = (expr: string) =>
          Effect.map(
            resultOf(expr.replaceAll("$__rate_interval", "10m").replaceAll("$job", "shop")),
            (found) => found.length === 0
          )
        // Gauges are silent after a scrape that took too long, until the next one.
        const silent = yield* Effect.repeat(Effect.filter(exprs, isSilent), {
          until: (found) => found.length === 0,
          schedule: Schedule.max([Schedule.spaced("100 millis"), Schedule.recurs(300)])
        })
        assert.deepStrictEqual(silent, [])
        const { groups } = yield* ask("rules")
        const rules: ReadonlyArray<{ readonly name: string; readonly health: string; readonly lastError?: string }> =
          groups.flatMap((group: { readonly rules: unknown }) => group.rules)
        assert.lengthOf(rules, 10)
        assert.deepStrictEqual(rules.filter(({ health }) => health !== "ok"), [])
      })
  )
})
