import { Agent } from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import { Converter, HttpClientFactory, KernelEngine, Marshaller, Model } from "appkernel"
import { Arbitrary, DateTime, Effect, Schema, Stream } from "effect"
import * as HttpBody from "effect/http/HttpBody"
import { open } from "node:fs/promises"
import { Readable } from "node:stream"
import { requestBodyOf } from "../../../src/Client/calls/bodies.ts"
import { kinds } from "../../support/everyKind.ts"
import { upstream } from "../support/upstream.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String
}) {}

class Address extends Model.Class<Address>()("Address", { city: Schema.String }) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  address: Address,
  lines: Schema.Array(Address).pipe(Model.optional),
  since: Model.Date
}) {}

/** Fields whose wire form is another one than that of their values. */
class Meeting extends Model.Class<Meeting>()("Meeting", {
  id: Model.id({ prefix: "M" }),
  day: Model.Date,
  at: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  room: Schema.String.pipe(Model.converted(Converter.lowerCase))
}) {}

const fields: { readonly [name: string]: unknown } = {
  timestamp: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  mongoDateTime: Model.Date.pipe(Model.marshalled(Marshaller.mongoDateTime)),
  model: Meeting,
  models: Schema.Array(Meeting),
  optionalModel: Meeting.pipe(Model.optional)
}

const kindSchemas = Object.fromEntries(Object.entries(kinds).map(([name, { schema }]) => [name, schema]))

const withModels = Effect.provide(HttpClientFactory.layerWith({ models: [User] }))

const jane = { _type: "User", id: "U1", name: "Jane" }
const bytes = new TextEncoder().encode("hällo")

/** What a service gets of each payload: its content type, and its body. */
const payloads: ReadonlyArray<readonly [name: string, payload: unknown, type: string | undefined, body: string]> = [
  ["nothing", undefined, undefined, ""],
  ["an instance", new User({ id: "U1", name: "Jane" }), "application/json", JSON.stringify(jane)],
  ["a record", { a: [1, null] }, "application/json", "{\"a\":[1,null]}"],
  ["a list", [1, "two"], "application/json", "[1,\"two\"]"],
  ["a number", 7, "application/json", "7"],
  ["a boolean", false, "application/json", "false"],
  ["null", null, "application/json", "null"],
  ["a text", "{\"as\": \"it is\"}", "text/plain", "{\"as\": \"it is\"}"],
  ["bytes", bytes, "application/octet-stream", "hällo"],
  ["a buffer", bytes.slice().buffer, "application/octet-stream", "hällo"],
  ["a list of instances", [new User({ id: "U1", name: "Jane" })], "application/json", JSON.stringify([jane])],
  [
    "an instance in a record",
    { users: [{ user: new User({ id: "U1", name: "Jane" }) }] },
    "application/json",
    JSON.stringify({ users: [{ user: jane }] })
  ],
  ["a stream", Stream.make(bytes.subarray(0, 2), bytes.subarray(2)), "application/octet-stream", "hällo"],
  ["a blob", new Blob([bytes], { type: "text/markdown" }), "text/markdown", "hällo"],
  ["a form", new URLSearchParams({ q: "a b" }), "application/x-www-form-urlencoded", "q=a+b"],
  ["a body", HttpBody.text("a,b\r\n", "text/csv"), "text/csv", "a,b\r\n"]
]

/** What a caller gets of each answer. */
const answers: ReadonlyArray<readonly [name: string, type: string, body: string, result: unknown]> = [
  ["a document of a known model", "application/json", JSON.stringify(jane), new User({ id: "U1", name: "Jane" })],
  ["a document of an unknown model", "application/json", "{\"_type\":\"Other\",\"a\":1}", { _type: "Other", a: 1 }],
  ["a document without a type", "application/json", "{\"id\":\"U1\",\"name\":\"Jane\"}", { id: "U1", name: "Jane" }],
  ["an OperationResult", "application/json", "{\"_type\":\"OperationResult\",\"result\":\"U1\"}", {
    _type: "OperationResult",
    result: "U1"
  }],
  ["an ErrorMessage", "application/json", "{\"_type\":\"ErrorMessage\",\"message\":\"no\"}", {
    _type: "ErrorMessage",
    message: "no"
  }],
  ["a collection", "application/json; charset=utf-8", JSON.stringify({ _items: [jane, { _type: "Other" }, 1] }), {
    _items: [new User({ id: "U1", name: "Jane" }), { _type: "Other" }, 1]
  }],
  ["JSON without a record", "application/json", "[1]", [1]],
  ["JSON of another type", "text/plain", "{\"a\":1}", { a: 1 }],
  ["JSON of a further media type", "application/hal+json", "7", 7],
  ["a text", "text/plain", "fine", { result: "fine" }],
  ["a text of digits", "text/plain", "7", { result: "7" }],
  ["JSON that is not", "application/json", "{oops", { result: "{oops" }],
  ["nothing", "text/plain", "", { result: "" }]
]

describe("The payload of a call", () => {
  it.live("is sent as JSON if it is an instance or a record, and anything else as it is", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url)
      for (const method of ["post", "put", "patch", "delete"] as const) {
        for (const [name, payload, type, body] of payloads) {
          yield* proxy.wrap("things")[method]({ payload })
          const arrived = service.requests.at(-1)
          assert.deepStrictEqual(
            [arrived?.method, arrived?.headers["content-type"], arrived?.body],
            [method.toUpperCase(), type, body],
            `${method}: ${name}`
          )
        }
      }
    }).pipe(withModels))

  it.live("is multipart if it is a form with files", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const payload = new FormData()
      payload.set("title", "Grüezi")
      payload.set("file", new File([bytes], "a.txt", { type: "text/plain" }))
      yield* Effect.flatMap(HttpClientFactory.get(service.url), (proxy) => proxy.wrap("things").post({ payload }))
      const [{ body, headers } = { body: "", headers: {} }] = service.requests
      const form = yield* Effect.promise(() =>
        new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData()
      )
      assert.strictEqual(form.get("title"), "Grüezi")
      assert.instanceOf(form.get("file"), File)
    }).pipe(withModels))

  it.live("may be a stream of the platform, which can be read once", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url)
      yield* proxy.wrap("things").post({ payload: new Blob([bytes]).stream() })
      const [arrived] = service.requests
      assert.deepStrictEqual([arrived?.headers["content-type"], arrived?.body], ["application/octet-stream", "hällo"])
    }).pipe(withModels))

  it.live("fails the call, and not the service, if it is a stream that fails", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url, { circuitBreaker: { failureThreshold: 1 } })
      const gone = Object.assign(new Error("gone"), { code: "ENOENT" })
      const failing: { readonly [name: string]: () => unknown } = {
        "a stream": () => Stream.concat(Stream.make(bytes), Stream.fail(gone)),
        "a body": () => HttpBody.stream(Stream.concat(Stream.make(bytes), Stream.die(gone))),
        "a ReadableStream": () => {
          let isFirst = true
          return new ReadableStream<Uint8Array>({
            pull: (controller) => {
              if (!isFirst) return controller.error(gone)
              isFirst = false
              controller.enqueue(bytes)
            }
          })
        },
        "a stream of Node": () =>
          HttpBody.raw(Readable.from((async function*() {
            yield bytes
            yield await Promise.reject(gone)
          })())),
        "a generator": () =>
          HttpBody.raw((function*() {
            yield bytes
            JSON.parse("gone")
          })()),
        "an asynchronous generator": () =>
          HttpBody.raw((async function*() {
            yield bytes
            yield await Promise.reject(gone)
          })())
      }
      for (const [name, payload] of Object.entries(failing)) {
        const call = Effect.suspend(() => Effect.flip(proxy.wrap("things").post({ payload: payload() })))
        for (const failure of yield* Effect.all(Array.from({ length: 20 }, () => call), { concurrency: 20 })) {
          assert.deepInclude(
            { ...failure },
            { _tag: "RequestHandlingException", reason: { _tag: "InvalidRequest" } },
            name
          )
          assert.include(failure.message, "did not get the whole payload", name)
        }
      }
      assert.deepStrictEqual(yield* proxy.wrap("things").post({ payload: "fine" }), [200, {}])
    }).pipe(withModels))

  it.live("may be a stream of Node, any other async iterable, or an open file", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url)
      const file = yield* Effect.acquireRelease(
        Effect.promise(() => open(import.meta.filename)),
        (file) => Effect.promise(() => file.close())
      )
      const iterable = async function*() {
        yield* [bytes.subarray(0, 2), bytes.subarray(2)]
      }
      for (const payload of [Readable.from([bytes]), iterable(), file]) yield* proxy.wrap("things").post({ payload })
      const [stream, iterated, opened] = service.requests
      for (const request of [stream, iterated, opened]) {
        assert.strictEqual(request?.headers["content-type"], "application/octet-stream")
      }
      assert.deepStrictEqual([stream?.body, iterated?.body], ["hällo", "hällo"])
      assert.include(opened?.body, "any other async iterable, or an open file")
    }).pipe(withModels))

  it.live("is what another service of ours takes, also as a list", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("meetings").register(Meeting, { methods: ["GET", "POST"] })
      const { baseUrl, repositories: { meetings } } = yield* engine.test()
      const sent = yield* Effect.forEach(["2026-01-31", "2024-02-29"], (day) =>
        Model.finalise(Meeting, { day: DateTime.makeUnsafe(day), at: DateTime.makeUnsafe(day), room: " A " }))
      const proxy = yield* HttpClientFactory.get<"meetings">(baseUrl)
      const [status] = yield* proxy.meetings.post({ payload: sent })
      assert.strictEqual(status, 201)
      assert.sameDeepMembers([...yield* meetings.find()], sent)
    }).pipe(withModels))

  for (const [name, schema] of Object.entries({ ...fields, ...kindSchemas })) {
    class Holder extends Model.Class<Holder>()("Holder", {
      // Every kind of field.
      value: schema as typeof Schema.Unknown,
      pin: Schema.String.pipe(Model.omitted)
    }) {}
    const values = Arbitrary.schema(Schema.toType(Holder.store.fields.value))
    it.effect.prop(
      `has an instance in the same form at any depth as alone: ${name}`,
      [values, Schema.Array(Schema.Literals(["list", "record"])).check(Schema.isMaxLength(4))],
      ([value, depths]) =>
        Effect.gen(function*() {
          const instance = new Holder({ value, pin: "secret" }, { disableChecks: true })
          const nested = depths.reduce<unknown>((inner, kind) => kind === "list" ? [inner] : { inner, a: 1 }, instance)
          const body = yield* requestBodyOf(nested)
          const text = body._tag === "Raw" ? String(body.body) : ""
          const alone = yield* Model.dumps(instance, { validate: false })
          let part: unknown = JSON.parse(text)
          for (const kind of depths.toReversed()) part = Reflect.get(Object(part), kind === "list" ? "0" : "inner")
          assert.deepStrictEqual(part, JSON.parse(alone))
          assert.notInclude(text, "secret")
        }),
      { arbitrary: { runs: 10 } }
    )
  }

  it.live("is rejected before a connection is made if it has no JSON", () =>
    Effect.gen(function*() {
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url)
      const circular: Record<string, unknown> = {}
      circular["self"] = circular
      for (const payload of [circular, { big: 1n }, [10n], () => 1, Symbol("s"), new Map([[1, 2]]), new Set([1])]) {
        const failure = yield* Effect.flip(proxy.wrap("things").post({ payload }))
        assert.deepInclude(failure, {
          _tag: "RequestHandlingException",
          reason: { _tag: "InvalidRequest" },
          statusCode: 500
        })
      }
      assert.strictEqual(service.connections(), 0)
    }).pipe(withModels))
})

describe("The answer to a call", () => {
  it.live("is an instance of the model that it names, also in a collection, and otherwise plain", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url = "" }, response) => {
        const [, type = "", body = ""] = answers[Number(url.slice(1))] ?? []
        response.writeHead(200, { "content-type": type }).end(body)
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      for (const [index, [name, , , expected]] of answers.entries()) {
        const [status, body] = yield* proxy.wrap(String(index)).get()
        assert.deepStrictEqual([status, body], [200, expected], name)
      }
      const [, { _items: [first] }] = yield* proxy.wrap("5").get({
        as: Schema.Struct({ _items: Schema.Array(Schema.Unknown) })
      })
      assert.deepStrictEqual(first, jane)
    }).pipe(withModels))

  it.live("has the type that is asked for, whether or not the service knows models, or is invalid", () =>
    Effect.gen(function*() {
      const plain = {
        address: { city: "Bern" },
        lines: [{ city: "Basel" }, { _type: "Address", city: "Chur" }],
        since: "2024-02-29"
      }
      const orders: { readonly [url: string]: unknown } = {
        "/one": { id: "U1", name: "Jane" },
        "/plain": { id: "O1", ...plain },
        "/strange": { id: "O1", ...plain, address: { _type: "User", city: "Bern" } }
      }
      const service = yield* upstream(({ url }) => orders[url ?? ""] ?? { id: "U1" })
      const proxy = yield* HttpClientFactory.get(service.url)
      const [, order] = yield* proxy.wrap("plain").get({ as: Order })
      assert.instanceOf(order.address, Address)
      assert.deepStrictEqual(order.lines?.map((line) => [line instanceof Address, line.city]), [[true, "Basel"], [
        true,
        "Chur"
      ]])
      assert.strictEqual(order.since.epochMilliseconds, Date.UTC(2024, 1, 29))
      assert.strictEqual(
        (yield* Effect.flip(proxy.wrap("strange").get({ as: Order })))._tag,
        "RequestHandlingException"
      )
      const [, user] = yield* proxy.wrap("one").get({ as: User })
      assert.deepStrictEqual(user, new User({ id: "U1", name: "Jane" }))
      const [, { name }] = yield* proxy.wrap("one").get({ as: Schema.Struct({ name: Schema.String }) })
      assert.strictEqual(name, "Jane")
      const failure = yield* Effect.flip(proxy.wrap("other").get({ as: User }))
      assert.deepInclude(failure, {
        _tag: "RequestHandlingException",
        reason: { _tag: "InvalidAnswer" },
        statusCode: 500
      })
    }).pipe(withModels))
})

describe("HttpClientFactory.layerWith", () => {
  it.live("calls through a dispatcher of one's own, which it does not close", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }) => ({ url }))
      const dispatched: Array<string> = []
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent()),
        (agent) => Effect.promise(() => agent.close())
      )
      const dispatcher = agent.compose((dispatch) => (options, handler) => {
        dispatched.push(options.path)
        return dispatch(options, handler)
      })
      const call = Effect.flatMap(HttpClientFactory.get(service.url), (proxy) => proxy.wrap("things").get())
      const answered = yield* Effect.provide(call, HttpClientFactory.layerWith({ dispatcher }))
      assert.deepStrictEqual(answered, [200, { url: "/things" }])
      assert.deepStrictEqual(dispatched, ["/things"])
      assert.isFalse(agent.closed)
    }))
})
