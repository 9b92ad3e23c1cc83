/** Typed clients of services over the factory's connections, and what handlers tell their callers of failed calls. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Redacted, Schema, Tracer } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { connect } from "node:net"
import {
  ClientError,
  Credentials,
  EmbeddedStore,
  HttpClientFactory,
  KernelClient,
  KernelEngine,
  Model,
  Resource,
  Service,
  ServiceError,
  UpstreamError
} from "../../../src/index.ts"
import { refused, send, sendTo, serving } from "../../support/rest.ts"
import { nobody, upstream } from "../support/upstream.ts"

class User extends Model.Class<User>()("User", { id: Model.id({ prefix: "U" }), name: Schema.String }) {}

class Asleep extends ServiceError<Asleep>()("Asleep", { status: 409, fields: { until: Schema.Int } }) {}

/** The service that is called. */
const users = KernelEngine.make("users")
  .register(
    Resource.make(User, { methods: ["GET", "POST", "DELETE"] })
      .action("wake", { method: "POST", error: Asleep }, () => Effect.fail(new Asleep({ until: 7 })))
      .action("bank", { error: UpstreamError.of(422) }, () =>
        Effect.fail(
          new ClientError.RequestHandlingException({
            message: "no money",
            upstreamService: "bank",
            reason: { _tag: "Status", statusCode: 422, body: { _type: "ErrorMessage", message: "no money" } }
          })
        )),
    { urlBase: "/api/v1" }
  )
  .register(Service.make("SecretService").operation("tell", { success: Schema.String }, () => Effect.succeed("it")))

const layer = HttpClientFactory.layerWith({ circuitBreaker: { failureThreshold: 3 } })

describe("A typed client of another service", () => {
  it.live("has its endpoints, and fails with its errors, by its classes", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* users.test()
      const client = yield* HttpClientFactory.typed(users, baseUrl)
      assert.strictEqual(yield* HttpClientFactory.typed(users, baseUrl), client)
      const { result: id } = yield* client.users.create({ payload: { name: "Ann" } })
      assert.strictEqual((yield* client.users.get({ params: { id } })).name, "Ann")
      const [page, response] = yield* client.users.list({ responseMode: "decoded-and-response" })
      assert.deepStrictEqual([page._items.length, response.headers["x-total-count"]], [1, "1"])
      assert.strictEqual((yield* client.secrets.tell()).result, "it")
      const missing = yield* Effect.flip(client.users.get({ params: { id: "U-none" } }))
      assert.deepStrictEqual([missing._tag, missing.message], ["NotFound", "User U-none does not exist"])
      const asleep = yield* Effect.flip(client.users.wake({ params: { id } }))
      assert.isTrue(asleep instanceof Asleep && asleep.until === 7)
      const bank = yield* Effect.flip(client.users.bank({ params: { id } }))
      assert.isTrue(bank instanceof UpstreamError && bank.code === 422 && bank.upstream_service === "bank")
    }).pipe(Effect.provide(layer)))

  it.live("fails where a parameter is no segment of a path, and passes that on", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* users.test()
      const client = yield* HttpClientFactory.typed(users, baseUrl)
      const direct = yield* KernelClient.make(users, { baseUrl })
      const passing = yield* KernelEngine.make("names").register(
        Service.make("NameService").operation("of", { path: "./{user}", success: Schema.String }, ({ params }) =>
          Effect.map(KernelClient.passOn(client.users.get({ params: { id: params.user } })), ({ name }) =>
            name))
      ).test()
      for (const id of ["", ".", "..", "\ud800"]) {
        const failure = yield* Effect.flip(client.users.get({ params: { id } }))
        assert.isTrue(
          failure instanceof ClientError.RequestHandlingException && failure.reason._tag === "InvalidRequest",
          id
        )
        assert.strictEqual((yield* Effect.flip(direct.users.get({ params: { id } })))._tag, "HttpClientError")
      }
      const { status, text } = yield* sendTo(passing.baseUrl, "GET", "/names/%2e%2e")
      assert.strictEqual(status, 500)
      assert.include(text, "\"upstream_service\":\"users\"")
    }).pipe(Effect.provide(Layer.merge(layer, FetchHttpClient.layer))))

  it.live("reads its own answers where its headers come of another typed call, in the same fiber", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* users.test()
      yield* repositories.users.insert(new User({ id: "U1", name: "Ann" }))
      const inner = yield* HttpClientFactory.typed(users, baseUrl)
      const getHeaders = Effect.gen(function*() {
        const missing = yield* Effect.flip(inner.users.get({ params: { id: "U-none" } }))
        const { result } = yield* Effect.orDie(inner.secrets.tell())
        return { "x-told": `${missing._tag} ${result}` }
      }).pipe(Effect.orDie)
      const outer = yield* HttpClientFactory.typed(users, baseUrl, { getHeaders })
      assert.strictEqual((yield* outer.users.get({ params: { id: "U1" } })).name, "Ann")
      assert.strictEqual(
        (yield* Effect.flip(outer.users.get({ params: { id: "U2" } }))).message,
        "User U2 does not exist"
      )
      const away = yield* HttpClientFactory.typed(users, yield* nobody, { getHeaders })
      const failure = yield* Effect.flip(away.users.get({ params: { id: "U1" } }))
      assert.deepInclude({ ...failure }, { reason: { _tag: "Refused" }, statusCode: 500 })
    }).pipe(Effect.provide(layer)))

  it.live("fails as proxies do with what the service does not declare, and shares their breaker", () =>
    Effect.gen(function*() {
      const { url } = yield* upstream(({ url }, response) => {
        if (url?.endsWith("/U1") === true) return 7
        response.statusCode = 418
        return { _type: "ErrorMessage", code: 418, message: "a teapot", upstream_service: "pot" }
      })
      const client = yield* HttpClientFactory.typed(users, url)
      const teapot = yield* Effect.flip(client.users.get({ params: { id: "U2" } }))
      assert.strictEqual(teapot._tag, "RequestHandlingException")
      assert.deepInclude(teapot, { statusCode: 418, message: "a teapot", upstreamService: "pot" })
      const other = yield* Effect.flip(client.users.get({ params: { id: "U1" } }))
      assert.deepInclude(other, { statusCode: 500, upstreamService: "users", reason: { _tag: "InvalidAnswer" } })
      const invalid = yield* Effect.flip(client.users.create({ payload: { name: 1 as never } }))
      assert.deepInclude(invalid, { reason: { _tag: "InvalidRequest" } })

      const gone = yield* nobody
      const proxy = yield* HttpClientFactory.get(gone)
      const away = yield* HttpClientFactory.typed(users, gone)
      const reasons = [
        yield* Effect.flip(proxy.at("users").get()),
        yield* Effect.flip(away.users.get({ params: { id: "U1" } })),
        yield* Effect.flip(proxy.at("users").get())
      ].map((error) => "reason" in error ? error.reason._tag : error._tag)
      assert.deepStrictEqual(reasons, ["Refused", "Refused", "Refused"])
      const refused = yield* Effect.flip(away.users.get({ params: { id: "U1" } }))
      assert.deepInclude(refused, { _tag: "CircuitOpenError", upstreamService: "users" })
    }).pipe(Effect.provide(layer)))

  it.live("sends its own credentials", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* upstream(() => ({ _type: "OperationResult", result: "it" }))
      const credentials = Credentials.bearer(Redacted.make("a token"))
      const client = yield* HttpClientFactory.typed(users, url, { credentials })
      assert.strictEqual((yield* client.secrets.tell()).result, "it")
      assert.strictEqual(
        (yield* Effect.flatMap(HttpClientFactory.typed(users, url), ({ secrets }) => secrets.tell())).result,
        "it"
      )
      assert.deepStrictEqual(requests.map(({ headers }) => headers.authorization), ["Bearer a token", undefined])
    }).pipe(Effect.provide(layer)))
})

// A service whose handlers call others.

let root = ""

const front = KernelEngine.make("front").register(
  Service.make("FrontService")
    .operation("name", { path: "./name/{id}", success: Schema.String }, ({ params }) =>
      Effect.gen(function*() {
        const client = yield* HttpClientFactory.typed(users, root)
        return (yield* client.users.get({ params }).pipe(KernelClient.passOn)).name
      }))
    .operation(
      "asleep",
      { path: "./asleep/{id}", success: Schema.Void, error: Asleep },
      ({ params }) =>
        Effect.gen(function*() {
          const client = yield* HttpClientFactory.typed(users, root)
          yield* client.users.wake({ params }).pipe(KernelClient.passOn)
        })
    )
    .operation("bank", { path: "./bank/{id}", success: Schema.Void }, ({ params }) =>
      Effect.gen(function*() {
        const client = yield* HttpClientFactory.typed(users, root)
        yield* client.users.bank({ params }).pipe(KernelClient.passOn)
      }))
    .operation("plain", { path: "./plain/{path}", success: Schema.Unknown }, ({ params }) =>
      Effect.gen(function*() {
        const proxy = yield* HttpClientFactory.get(root)
        const [, body] = yield* proxy.wrap(params.path).get({ timeout: "30 seconds" })
        return body
      }))
)

const served = Layer.provideMerge(serving(front, EmbeddedStore.layerMemory), layer)

describe("A service whose handlers call another one", () => {
  it.live("answers with the failures of a typed client, the other service's name and its own errors included", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* users.test()
      root = baseUrl
      const { id } = yield* repositories.users.insert(new User({ id: "U1", name: "Ann" }))
      assert.strictEqual((yield* send("GET", `/fronts/name/${id}`)).body.result, "Ann")
      assert.deepStrictEqual(refused(404, yield* send("GET", "/fronts/name/U-none")).body, {
        _type: "ErrorMessage",
        code: 404,
        message: "User U-none does not exist",
        upstream_service: "users"
      })
      assert.deepInclude(refused(409, yield* send("GET", `/fronts/asleep/${id}`)).body, { error: "Asleep", until: 7 })
      assert.deepInclude(refused(422, yield* send("GET", `/fronts/bank/${id}`)).body, {
        message: "no money",
        upstream_service: "bank"
      })
      root = yield* nobody
      assert.deepInclude(refused(500, yield* send("GET", `/fronts/name/${id}`)).body, {
        message: "The service users does not answer",
        upstream_service: "users"
      })
    }).pipe(Effect.provide(served)))

  it.live("says nothing of what a service that it calls says to nobody else", () =>
    Effect.gen(function*() {
      const { url } = yield* upstream((request, response) => {
        response.statusCode = Number(request.url?.slice(1))
        response.setHeader("x-secret", "confidential")
        return {
          _type: "ErrorMessage",
          code: 1,
          message: "confidential",
          upstream_service: "bank",
          key: "confidential"
        }
      })
      root = url
      for (const status of [401, 403, 407, 302]) {
        const answer = refused(502, yield* send("GET", `/fronts/plain/${status}`))
        assert.notInclude(JSON.stringify([answer.text, answer.headers]), "confidential")
      }
      const { url: foreign } = yield* upstream((_, response) => {
        response.statusCode = 500
        return { error: "confidential", stack: "at confidential.js:1" }
      })
      root = foreign
      const answer = refused(500, yield* send("GET", "/fronts/plain/thing"))
      assert.notInclude(JSON.stringify([answer.text, answer.headers]), "confidential")
      assert.strictEqual(answer.body.upstream_service, "thing")
    }).pipe(Effect.provide(served)))

  it.live("ends its calls when its caller leaves", () =>
    Effect.gen(function*() {
      const [begun, ended] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
      const { url } = yield* upstream((request) => {
        request.socket.on("close", () => Deferred.doneUnsafe(ended, Effect.void))
        Deferred.doneUnsafe(begun, Effect.void)
      })
      root = url
      const { address } = yield* HttpServer.HttpServer
      const socket = connect("port" in address ? address.port : 0, "127.0.0.1", () => {
        socket.write("GET /fronts/plain/slow HTTP/1.1\r\nHost: x\r\n\r\n")
      })
      yield* Deferred.await(begun)
      socket.destroy()
      yield* Deferred.await(ended)
    }).pipe(Effect.provide(served)))

  it.live("passes the trace of its request on, with the call as the parent of what the other service does", () => {
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return Effect.gen(function*() {
      const { requests, url } = yield* upstream(() => ({}))
      root = url
      const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
      const traceparent = `00-${trace}-00f067aa0ba902b7-01`
      const answers = yield* Effect.forEach(
        [1, 2, 3],
        (i) => send("GET", `/fronts/plain/${i}`, undefined, { traceparent })
      )
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 200])
      for (const { headers } of requests) {
        const [, traceId, parent] = String(headers["traceparent"]).split("-")
        assert.strictEqual(traceId, trace)
        const chain: Array<Tracer.AnySpan> = []
        let span: Tracer.AnySpan | undefined = spans.find(({ spanId }) => spanId === parent)
        while (span !== undefined) {
          chain.push(span)
          span = span._tag === "Span" && span.parent._tag === "Some" ? span.parent.value : undefined
        }
        assert.deepStrictEqual(
          chain.map((span) => span._tag === "Span" ? span.kind : span.spanId),
          ["client", "server", "00f067aa0ba902b7"]
        )
      }
    }).pipe(Effect.provide(served), Effect.withTracer(tracer))
  })
})
