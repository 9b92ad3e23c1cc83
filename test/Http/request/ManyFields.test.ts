/** Fields, parameters and headers that repeat or that nobody knows: bounded by one key, wherever they come from. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Logger, Schema } from "effect"
import { EmbeddedStore, KernelConfig, KernelEngine, Model, Resource, Service } from "../../../src/index.ts"
import { refused, send, sendBytes, serving } from "../../support/rest.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  text: Schema.String,
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => []))
}) {}

const names = Schema.optionalKey(Schema.Array(Schema.String))

const SignUp = Service.make("SignUpService")
  .operation("join", { path: "/join", payload: { name: Schema.String }, form: true, success: Schema.String }, (
    { payload }
  ) => Effect.succeed(payload.name))
  .operation("invite", { path: "/invite", payload: { names }, form: true, success: Schema.Array(Schema.String) }, (
    { payload }
  ) => Effect.succeed(payload.names ?? []))
  .operation(
    "look",
    { path: "/look", query: { names }, success: Schema.Array(Schema.String) },
    ({ query }) => Effect.succeed(query.names ?? [])
  )

const engine = KernelEngine.make("many-fields")
  .register(Resource.make(Note, { methods: ["GET", "POST"] }))
  .register(SignUp)

const form = { "content-type": "application/x-www-form-urlencoded" }

const repeated = (count: number, name = "names") => Array.from({ length: count }, (_, i) => `${name}=${i}`).join("&")

const parts = (count: number) =>
  `${"--X\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nx\r\n".repeat(count)}--X--`

const withHeaders = (count: number) =>
  sendBytes(`GET /notes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${"a:b\r\n".repeat(count - 2)}\r\n`)

const multipart = { "content-type": "multipart/form-data; boundary=X" }

/** Each way for fields to come, with so many of them, and the status where they are too many. */
const ways: ReadonlyArray<readonly [way: string, status: number, of: (count: number) => ReturnType<typeof send>]> = [
  ["repeated fields of a form", 413, (n) => send("POST", "/invite", repeated(n), form)],
  ["unknown fields of a form", 413, (n) => send("POST", "/join", `name=a&${repeated(n - 1, "x")}`, form)],
  ["empty fields of a form", 413, (n) => send("POST", "/join", `name=a&${"x&".repeat(n - 1)}`, form)],
  ["parts of a multipart body", 413, (n) => send("POST", "/notes", parts(n), multipart)],
  ["repeated parameters of an operation", 400, (n) => send("GET", `/look?${repeated(n)}`)],
  ["unknown parameters of an operation", 400, (n) => send("GET", `/look?${repeated(n, "x")}`)],
  ["filters of a collection", 400, (n) => send("GET", `/notes?${repeated(n, "text")}`)],
  ["unknown parameters of a collection", 400, (n) => send("GET", `/notes?${"x&".repeat(n)}`)],
  ["parameters of a document", 400, (n) => send("GET", `/notes/1?${"x&".repeat(n)}`)],
  ["parameters of a schema", 400, (n) => send("GET", `/notes/schema?${"x&".repeat(n)}`)]
]

const tooMany = /more than (?:1000|12) |in at most (?:1000|12) parts/u

const configured = engine.layer.pipe(
  Layer.provide([EmbeddedStore.layerMemory, Logger.layer([])]),
  Layer.provide(KernelConfig.layer({ cfgDir: "nowhere", enableDefaults: true })),
  Layer.provide([
    NodeServices.layer,
    ConfigProvider.layer(
      ConfigProvider.fromEnv({ env: { APPKERNEL_SERVER_PORT: "0", APPKERNEL_SERVER_MAX_FIELDS: "12" } })
    )
  ])
)

it.layer(configured, { excludeTestServices: true })("fields of a request, by the configuration", (it) => {
  it.effect("are as many as server.max_fields says", () =>
    Effect.gen(function*() {
      for (const [way, status, of] of ways) {
        assert.notMatch((yield* of(12)).text, tooMany, way)
        assert.match(refused(status, yield* of(13)).body.message, tooMany, way)
      }
      assert.match(yield* withHeaders(12), /^HTTP\/1\.1 200 /u)
      assert.match(yield* withHeaders(13), /^HTTP\/1\.1 431 /u)
    }))
})

it.layer(serving(engine, EmbeddedStore.layerMemory), { excludeTestServices: true })("fields of a request", (it) => {
  it.effect("are a thousand at most, in forms, multipart bodies and URLs", () =>
    Effect.gen(function*() {
      for (const [way, status, of] of ways) {
        const most = yield* of(1_000)
        assert.notMatch(most.text, tooMany, way)
        const { body } = refused(status, yield* of(1_001))
        assert.match(body.message, tooMany, way)
      }
    }))

  it.effect("keep their order where they repeat, up to the last one", () =>
    Effect.gen(function*() {
      const expected = Array.from({ length: 1_000 }, (_, i) => String(i))
      const { body: invited } = yield* send("POST", "/invite", repeated(1_000), form)
      assert.deepStrictEqual(invited._items, expected)
      const { body: looked } = yield* send("GET", `/look?${repeated(1_000)}`)
      assert.deepStrictEqual(looked._items, expected)
      const { body: one } = yield* send("POST", "/invite", "names=a&names=&x=1", form)
      assert.deepStrictEqual(one._items, ["a"])
    }))

  it.effect("headers are a thousand at most as well, and none of them is left out", () =>
    Effect.gen(function*() {
      assert.match(yield* withHeaders(1_000), /^HTTP\/1\.1 200 /u)
      assert.match(
        yield* withHeaders(1_001),
        /^HTTP\/1\.1 431 [^]*"code":431,"message":"The request has more than 1000 headers"/u
      )
    }))
})
