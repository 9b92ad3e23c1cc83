import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Schema, Tracer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as NetAddress from "effect/net/NetAddress"
import { vi } from "vitest"
import { AccessLogger } from "../../../src/Http/server/kernelLogger.ts"
import { gated } from "../../../src/Http/server/shedding.ts"
import { routeStages, serviceStages } from "../../../src/Http/startup/stages.ts"
import { EmbeddedStore, KernelEngine, Model, Resource, Role } from "../../../src/index.ts"
import type { Stage, StageRow } from "../../../src/internal/stages.ts"

/** What stands behind a stage that it has to stand before. */
const misplaced = (stages: ReadonlyArray<StageRow>): ReadonlyArray<string> =>
  stages.flatMap(({ before = {}, name }, i) =>
    Object.keys(before).flatMap((other) =>
      stages.slice(i + 1).some((stage) => stage.name === other) ? [] : [`${name} before ${other}`]
    )
  )

describe("The stages of a service and of its routes", () => {
  const lists = new Map<string, ReadonlyArray<StageRow>>([["service", serviceStages], ["route", routeStages]])
  for (const [of, stages] of lists) {
    it(`have names of their own in the list of a ${of}, and stand before those that they name`, () => {
      assert.lengthOf(new Set(stages.map(({ name }) => name)), stages.length)
      assert.deepStrictEqual(misplaced(stages), [])
    })

    it(`are misplaced in the list of a ${of} wherever two of them change places against a reason`, () => {
      const reasons = stages.flatMap(({ before = {}, name }) => Object.keys(before).map((other) => [name, other]))
      assert.isAbove(reasons.length, 10)
      for (const [name, other] of reasons) {
        const at = stages.findIndex((stage) => stage.name === name)
        const otherAt = stages.findIndex((stage) => stage.name === other)
        const changed = stages.with(at, stages[otherAt]!).with(otherAt, stages[at]!)
        assert.include(misplaced(changed), `${name} before ${other}`)
      }
    })
  }
})

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }, { logged: true }) {}

/** What may be on in a service. */
const Choice = Schema.Struct({
  audit: Schema.Boolean,
  caching: Schema.Boolean,
  compression: Schema.Boolean,
  cors: Schema.Boolean,
  delay: Schema.Boolean,
  deprecated: Schema.Boolean,
  health: Schema.Boolean,
  metrics: Schema.Boolean,
  overload: Schema.Boolean,
  rates: Schema.Boolean,
  routeOverload: Schema.Boolean,
  security: Schema.Boolean,
  storeOptions: Schema.Boolean,
  time: Schema.Boolean,
  timeout: Schema.Boolean,
  traces: Schema.Boolean,
  use: Schema.Boolean
})

const variables = {
  audit: ["AUDIT_TO", "log"],
  compression: ["COMPRESSION_ENABLED", "true"],
  cors: ["CORS_ORIGINS", "https://page.example"],
  delay: ["OVERLOAD_MAX_DELAY", "5 seconds"],
  metrics: ["METRICS_ENABLED", "true"],
  overload: ["OVERLOAD_MAX_REQUESTS", "9"],
  rates: ["RATE_LIMITS_PER_CALLER", "9 per minute"],
  routeOverload: ["OVERLOAD_MAX_REQUESTS_PER_ROUTE", "9"],
  time: ["SERVER_RESPONSE_TIMEOUT", "60 seconds"],
  traces: ["TELEMETRY_ENDPOINT", "http://127.0.0.1:9"],
  health: ["HEALTH_ENABLED", "true"]
} as const

const variablesOf = (choice: typeof Choice.Type): { readonly [variable: string]: string } =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, [variable, value]]) =>
      choice[name as keyof typeof variables] ? [[`APPKERNEL_${variable}`, value]] : []
    )
  )

const configured = (env: { readonly [variable: string]: string }) =>
  ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

const engineOf = (choice: typeof Choice.Type) => {
  const notes = Resource.make(Note, { methods: ["GET", "POST"] })
  const engine = KernelEngine.make("notes").register(choice.security ? notes.require(Role("writer")) : notes, {
    ...choice.caching ? { cacheControl: "no-cache" } : {},
    ...choice.deprecated ? { deprecated: "2026-01-01" } : {},
    ...choice.storeOptions ? { storeOptions: { readPreference: "primary" } } : {},
    ...choice.timeout ? { timeout: "60 seconds" } : {}
  })
  const used = choice.use ? engine.use(HttpRouter.middleware((handler) => handler, { global: true })) : engine
  // The result has the type of the engine with security. Only `bearer` asks for what the other one lacks.
  return choice.security ? used.enableSecurity() : used as never
}

/** The credentials of a user with a role. A service without security has no tokens. */
const bearer = (
  token: ((user: KernelEngine.TestUser) => Effect.Effect<Redacted.Redacted<string>>) | undefined,
  role: string
) =>
  token === undefined
    ? Effect.die(new Error("no security"))
    : Effect.map(token({ subject: role, roles: [role] }), (text) => `Bearer ${Redacted.value(text)}`)

/** Has the stages of a list note when a request meets them, until the scope closes. */
const noting = <About, Part, AtOnce>(
  stages: ReadonlyArray<Stage<About, Part, AtOnce>>,
  noted: (name: string, part: Part) => Part
) =>
  Effect.forEach(stages, (stage) => {
    const { wrap } = stage
    return Effect.acquireRelease(
      Effect.sync(() =>
        vi.spyOn(stage, "wrap").mockImplementation((about) => {
          const own = wrap(about)
          return own && ((inner) => noted(stage.name, own(inner)))
        })
      ),
      (spy) => Effect.sync(() => spy.mockRestore())
    )
  })

describe("appkernel routes --stages", () => {
  it.effect.prop(
    "names what a request meets, in the order in which it meets it, whatever is on",
    [Choice],
    ([choice]) =>
      Effect.gen(function*() {
        const met: Array<string> = []
        const note = (name: string) => Effect.sync(() => met.push(name))
        yield* noting(serviceStages, (name, serving) => (serve) =>
          serving((answer) => serve(Effect.andThen(note(name), answer))))
        yield* noting(routeStages, (name, answer) =>
          Effect.andThen(note(name), answer))
        const engine = engineOf(choice)
        const { baseUrl, token } = yield* engine.test()
        const { routes, service } = yield* engine["~appkernel/Stages"]
        const headers = {
          "content-type": "application/json",
          ...choice.security
            ? { authorization: yield* bearer(token, "writer") }
            : {}
        }
        for (
          const [route, status, request] of [
            ["GET /notes", 200, {}],
            ["QUERY /notes", 200, { method: "QUERY", body: "{}" }],
            ["POST /notes", 201, { method: "POST", body: "{\"text\":\"a\"}" }]
          ] as const
        ) {
          met.length = 0
          const response = yield* Effect.promise(() => fetch(`${baseUrl}/notes`, { ...request, headers }))
          yield* Effect.promise(() => response.text())
          assert.strictEqual(response.status, status)
          const own = routes.find((one) => one.route === route)
          assert.deepStrictEqual(met, [...service.map(({ name }) => name), ...own?.stages ?? ["no route"]])
        }
      }).pipe(
        Effect.scoped,
        Effect.provide([
          configured(variablesOf(choice)),
          // `launch` provides them.
          Layer.succeed(AccessLogger, { write: () => {} }),
          choice.traces ? Layer.succeed(Tracer.Tracer, { ...Tracer.nativeTracer }) : Layer.empty
        ])
      ),
    { arbitrary: { runs: 20 } }
  )
})

/** Everything is on. */
const all = Schema.decodeSync(Choice)(
  Object.fromEntries(Object.keys(Choice.fields).map((name) => [name, true])) as never
)

describe("The order of stages", () => {
  it.effect("lets preflights and probes pass where requests are refused, and lets scripts read the refusal", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engineOf(all).test()
      const ask = (path: string, headers: { readonly [name: string]: string } = {}, method = "GET") =>
        Effect.promise(() =>
          fetch(`${baseUrl}${path}`, { method, headers: { origin: "https://page.example", ...headers } })
        )
      const asked = [yield* ask("/none"), yield* ask("/notes", { authorization: "Bearer wrong" }), yield* ask("/notes")]
      assert.deepStrictEqual(asked.map(({ status }) => status), [404, 401, 429])
      assert.strictEqual(asked[2]?.headers.get("access-control-allow-origin"), "https://page.example")
      const preflight = yield* ask("/notes", { "access-control-request-method": "POST" }, "OPTIONS")
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual((yield* ask("/health/live")).status, 200)
      // The caller's own rate is left, and so is what the route has for every answer.
      assert.isNull(asked[2]!.headers.get("deprecation"))
      assert.isNotNull(asked[1]?.headers.get("deprecation"))
    }).pipe(
      Effect.scoped,
      Effect.provide(configured({ ...variablesOf(all), APPKERNEL_RATE_LIMITS_PER_ADDRESS: "2 per hour" }))
    ))

  it.effect("ends the queue before the server waits for its last responses", () =>
    Effect.gen(function*() {
      const node: Parameters<typeof gated>[1] = { gate: undefined, answersAtOnce: undefined }
      const queues: Array<boolean> = []
      const note = Effect.sync(() => queues.push(node.gate !== undefined))
      const server = HttpServer.HttpServer.of(HttpServer.make({
        address: NetAddress.unixPathAddress("none"),
        serve: () => Effect.acquireRelease(note, () => note)
      }))
      gated(server, node)
      yield* Effect.scoped(Effect.andThen(
        Layer.build(Layer.provide(engineOf({ ...all, security: false, audit: false }).layerServe, [
          EmbeddedStore.layerMemory,
          Layer.succeed(HttpServer.HttpServer, server)
        ])),
        note
      ))
      assert.deepStrictEqual(queues, [false, true, false])
    }).pipe(Effect.provide(configured(variablesOf(all)))))

  it.effect("says nothing of a route to callers who may not use it", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* engineOf(all).test()
      const ask = Effect.fnUntraced(function*(role: string, method: string, body: string | null) {
        const authorization = yield* bearer(token, role)
        const { status } = yield* Effect.promise(() =>
          fetch(`${baseUrl}/notes`, { method, body, headers: { authorization, accept: "image/png" } })
        )
        return status
      })
      for (const [method, body] of [["GET", null], ["QUERY", "{"], ["POST", "{"]] as const) {
        assert.strictEqual(yield* ask("reader", method, body), 403)
        assert.strictEqual(yield* ask("writer", method, body), 406)
      }
    }).pipe(Effect.scoped, Effect.provide(configured(variablesOf(all)))))
})
