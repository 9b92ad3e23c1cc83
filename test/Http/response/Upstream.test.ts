/** What callers are told when a service needs another one, which fails. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Logger, References, Schema, Struct } from "effect"
import {
  ClientError,
  DocumentStore,
  EmbeddedStore,
  KernelEngine,
  Model,
  Resource,
  Service,
  UpstreamError
} from "../../../src/index.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { refused, send, serving } from "../../support/rest.ts"

class Thing extends Model.Class<Thing>()("Thing", { id: Model.id(), name: Schema.String }) {}

const failure = (
  statusCode: number,
  { message = `bank answered with status ${statusCode}`, upstreamService = "bank", ...more }:
    & Partial<ClientError.RequestHandlingException>
    & Partial<typeof ClientError.Reason.cases.Status.Type> = {}
) =>
  new ClientError.RequestHandlingException({
    message,
    upstreamService,
    reason: { _tag: "Status", statusCode, ...more }
  })

const { Status: _, ...withoutAnswer } = ClientError.Reason.cases
const unanswered = Struct.keys(withoutAnswer)

const silent = (_tag: typeof unanswered[number]) =>
  new ClientError.RequestHandlingException({
    message: "connect ECONNREFUSED 10.1.2.3:8080",
    upstreamService: "bank",
    reason: { _tag }
  })

/** An answer with a message for the bank's callers, and more that is for nobody else. */
const told = (statusCode: number) =>
  failure(statusCode, {
    message: "for the callers",
    body: { _type: "ErrorMessage", code: statusCode, message: "for the callers", secret: "confidential" }
  })

const params = { status: Schema.FiniteFromString }

/** The header that a status requires (RFC 9110). */
const requires: { readonly [status: number]: string } = {
  401: "www-authenticate",
  405: "allow",
  407: "proxy-authenticate",
  426: "upgrade"
}

const status = { params, path: "./x/{status}" }

const Calls = Service.make("CallService")
  .operation("fails", { ...status, path: "./fails/{status}" }, ({ params }) => Effect.fail(failure(params.status)))
  .operation("tells", { ...status, path: "./tells/{status}" }, ({ params }) => Effect.fail(told(params.status)))
  .operation(
    "declares",
    { ...status, path: "./declares/{status}", error: UpstreamError.of(401, 403, 503) },
    ({ params }) => Effect.fail(told(params.status))
  )
  .operation(
    "asks",
    { path: "./asks/{status}", params, error: UpstreamError.of(401, 407, 426) },
    ({ params }) =>
      Effect.fail(failure(params.status, { headers: { [requires[params.status] ?? ""]: "as the bank says" } }))
  )
  .operation(
    "lacks",
    { path: "./lacks/{status}", params, error: UpstreamError.of(401, 407, 426) },
    ({ params }) => Effect.fail(failure(params.status, { upstreamService: "the \"bank\"\r\nx: y" }))
  )
  .operation(
    "reason",
    { params: { reason: Schema.Literals(unanswered) }, path: "./reason/{reason}" },
    ({ params: { reason } }) => Effect.fail(silent(reason))
  )
  .operation(
    "silent",
    { error: UpstreamError.of(500, 503) },
    () => Effect.fail(silent("Refused"))
  )
  .operation("waits", {}, () => Effect.fail(failure(429, { retryAfter: Duration.millis(1_500) })))
  .operation(
    "open",
    {},
    () =>
      Effect.fail(new ClientError.CircuitOpenError({ upstreamService: "bank", retryAfter: Duration.millis(12_300) }))
  )
  .operation(
    "further",
    { ...status, path: "./further/{status}" },
    ({ params }) => Effect.fail(new UpstreamError({ code: params.status, message: "for us", upstream_service: "mint" }))
  )

const Things = Resource.make(Thing, { methods: ["GET", "POST", "PUT"] })
  .beforePost(({ name }) => Effect.fail(told(Number(name))), { error: UpstreamError.of(401) })
  .beforePut(() => Effect.fail(told(401)))

const engine = KernelEngine.make("calls").register(Calls).register(Things).enableOpenApi({
  title: "Calls",
  version: "1"
})

const serves = Effect.provide(serving(engine, EmbeddedStore.layerMemory))

const answered = (path: string, headers?: { readonly [name: string]: string }) =>
  Effect.map(send("GET", path, undefined, headers), (answer) => {
    assert.notInclude(answer.text, "confidential")
    assert.notInclude(answer.text, "10.1.2.3")
    return { ...refused(answer.status, answer), retryAfter: answer.headers["retry-after"] }
  })

describe("The answer to a request whose call to another service failed", () => {
  it.effect("has the status of that call and names the service; what is about our own credentials is 502", () =>
    serves(Effect.gen(function*() {
      const rows = [[404, 404], [422, 422], [503, 503], [401, 502], [403, 502], [407, 502], [426, 502], [304, 502]]
      for (const [from, to] of rows) {
        const { body, status } = yield* answered(`/calls/fails/${from}`)
        assert.deepStrictEqual([status, body], [to, {
          _type: "ErrorMessage",
          code: to,
          message: "The service bank failed",
          upstream_service: "bank"
        }])
      }
    })))
  it.effect("has the upstream's message for callers, and nothing else of its answer", () =>
    serves(Effect.gen(function*() {
      for (const status of [404, 409, 500]) {
        const { body } = yield* answered(`/calls/tells/${status}`)
        assert.deepStrictEqual([body.code, body.message], [status, "for the callers"])
      }
      for (const status of [401, 403, 407]) {
        const { body } = yield* answered(`/calls/tells/${status}`)
        assert.deepStrictEqual([body.code, body.message], [502, "The service bank failed"])
      }
    })))

  it.effect("passes on 401 and 403 where the operation, or the hook of a method, declares them", () =>
    serves(Effect.gen(function*() {
      for (const [from, to] of [[401, 401], [403, 403], [407, 502], [404, 404]]) {
        assert.strictEqual((yield* answered(`/calls/declares/${from}`)).status, to)
      }
      assert.strictEqual((yield* answered("/calls/declares/401")).body.message, "for the callers")
      assert.strictEqual(refused(401, yield* send("POST", "/things", { name: "401" })).body.upstream_service, "bank")
      assert.strictEqual(refused(502, yield* send("POST", "/things", { name: "403" })).body.upstream_service, "bank")
      yield* Effect.flatMap(DocumentStore.DocumentStore, ({ insertOne }) => insertOne("Thing", { _id: "T", name: "x" }))
      refused(502, yield* send("PUT", "/things/T", { name: "y" }))
    })))

  it.effect("has the header that its status requires, from the upstream or else of its own", () =>
    serves(Effect.gen(function*() {
      const headersOf = (path: string) =>
        Effect.map(send("GET", `/calls/${path}`), ({ headers, status }) => [
          status,
          ...Object.values(requires).map((name) => headers[name])
        ])
      const said = "as the bank says"
      const none = undefined
      assert.deepStrictEqual(yield* headersOf("asks/401"), [401, said, none, none, none])
      assert.deepStrictEqual(yield* headersOf("asks/405"), [405, none, said, none, none])
      assert.deepStrictEqual(yield* headersOf("asks/407"), [407, none, none, said, none])
      assert.deepStrictEqual(yield* headersOf("asks/426"), [426, none, none, none, said])
      assert.deepStrictEqual(yield* headersOf("asks/403"), [502, none, none, none, none])
      const challenge = "Upstream realm=\"the _bank___x: y\""
      assert.deepStrictEqual(yield* headersOf("lacks/401"), [401, challenge, none, none, none])
      assert.deepStrictEqual(yield* headersOf("lacks/405"), [405, none, "", none, none])
      assert.deepStrictEqual(yield* headersOf("lacks/407"), [407, none, none, challenge, none])
      assert.deepStrictEqual(yield* headersOf("lacks/426"), [502, none, none, none, none])
    })))

  it.effect("is 500 without an answer, and says of the network only that there was none", () =>
    serves(Effect.gen(function*() {
      for (const reason of unanswered) {
        const { body, status } = yield* answered(`/calls/reason/${reason}`)
        assert.deepStrictEqual([status, body.upstream_service], [500, "bank"])
        assert.match(body.message, /^The service bank (failed|does not answer)$/u)
      }
      assert.strictEqual((yield* answered("/calls/reason/Dns")).body.message, "The service bank does not answer")
    })))

  it.effect("is logged with its reason where there is none, whatever the operation declares", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ fiber, message }) =>
        logged.push([message, fiber.getRef(References.CurrentLogAnnotations)])
      )
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* answered("/calls/declares/503")).status, 503)
        assert.strictEqual((yield* answered("/calls/silent")).body.message, "The service bank does not answer")
      }).pipe(serves, Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(logged, [[["A call to bank failed: connect ECONNREFUSED 10.1.2.3:8080"], {
        upstream_service: "bank",
        status: 500,
        reason: "Refused"
      }]])
    }))

  it.effect("says when to try again: after the upstream's own time, or when its breaker lets a call through", () =>
    serves(Effect.gen(function*() {
      const waits = yield* answered("/calls/waits")
      assert.deepStrictEqual([waits.status, waits.retryAfter, waits.body.retry_after], [429, "2", 2])
      const open = yield* answered("/calls/open")
      assert.deepStrictEqual([open.status, open.retryAfter], [503, "13"])
      assert.deepStrictEqual(open.body, {
        _type: "ErrorMessage",
        code: 503,
        message: "The service bank is unavailable, try again in 13 s",
        upstream_service: "bank",
        retry_after: 13
      })
    })))

  it.effect("names the service at the end of a chain", () =>
    serves(Effect.gen(function*() {
      const { body } = yield* answered("/calls/further/404")
      assert.deepStrictEqual([body.code, body.message, body.upstream_service], [404, "for us", "mint"])
      const hidden = yield* answered("/calls/further/403")
      assert.deepStrictEqual([hidden.status, hidden.body.message], [502, "The service mint failed"])
    })))

  it.effect("is a 502 for any status from any service that is no error of a caller, and the status itself otherwise", () =>
    serves(
      Effect.forEach(
        Array.from({ length: 500 }, (_, i) => i + 100),
        (from) =>
          Effect.map(answered(`/calls/fails/${from}`), ({ body, status }) => {
            const isPassedOn = from >= 400 && ![401, 403, 407, 426].includes(from)
            assert.deepStrictEqual([status, body.code], isPassedOn ? [from, from] : [502, 502])
          }),
        { concurrency: 50 }
      )
    ))
})

describe("A declared status of failed calls", () => {
  it.effect("is in the OpenAPI document of its operation, with the service", () =>
    serves(Effect.gen(function*() {
      const { components, paths } = resolvedDocument((yield* send("GET", "/openapi.json")).body)
      const { responses } = paths["/calls/declares/{status}"].get
      assert.deepStrictEqual(responses["401"].content["application/json"].schema, {
        $ref: "#/components/schemas/UpstreamError"
      })
      assert.containsAllKeys(responses, ["401", "403", "503"])
      assert.notProperty(paths["/calls/fails/{status}"].get.responses, "401")
      assert.property(paths["/things"].post.responses, "401")
      assert.deepInclude(components.schemas.UpstreamError.allOf[1], { required: ["code", "upstream_service"] })
    })))

  it.effect("is an UpstreamError in typed clients, among other errors of the same status", () =>
    Effect.gen(function*() {
      const { client } = yield* engine.test()
      const error = yield* Effect.flip(client.calls.declares({ params: { status: 503 } }))
      assert.strictEqual(error._tag, "UpstreamError")
      if (error._tag !== "UpstreamError") return
      assert.deepStrictEqual(
        [error.code, error.message, error.upstream_service, error.retry_after],
        [503, "for the callers", "bank", undefined]
      )
      assert.isTrue(error instanceof UpstreamError)
      const undeclared = yield* Effect.flip(client.calls.tells({ params: { status: 404 } }))
      assert.strictEqual(undeclared._tag, "NotFound")
    }))
})
