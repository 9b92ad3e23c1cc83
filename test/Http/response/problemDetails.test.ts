/** Errors as problem details (RFC 9457), over a socket, in OpenAPI, and in a typed client. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { EmbeddedStore, KernelClient, KernelEngine, OpenApi, Service, ServiceError } from "../../../src/index.ts"
import { Note } from "../../support/models.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { type Answer, send, serving } from "../../support/rest.ts"

class TooLittle extends ServiceError<TooLittle>()("TooLittle", {
  status: 409,
  message: "There is too little",
  fields: { left: Schema.Int }
}) {}

const engine = KernelEngine.make("problems")
  .register(Note, { methods: ["GET", "POST"] })
  .register(
    Service.make("StockService").operation(
      "take",
      { method: "POST", success: Schema.String, error: TooLittle },
      () => Effect.fail(new TooLittle({ left: 3 }))
    )
  )

const parsed = Effect.map((
  { headers, status, text }: Answer
) => ({
  status,
  type: headers["content-type"],
  vary: headers["vary"],
  body: JSON.parse(text)
}))

const served = (env: { readonly [name: string]: string }) =>
  Layer.provideMerge(serving(engine, EmbeddedStore.layerMemory), ConfigProvider.layer(ConfigProvider.fromEnv({ env })))

describe("problem details", () => {
  it.effect("are what a client gets that names them, and no other", () =>
    Effect.gen(function*() {
      const accept = { accept: "application/json, application/problem+json" }
      assert.deepStrictEqual(yield* parsed(send("GET", "/notes/N1", undefined, accept)), {
        status: 404,
        type: "application/problem+json",
        vary: "Accept",
        body: {
          type: "about:blank",
          title: "Not found",
          status: 404,
          detail: "Note N1 does not exist",
          _type: "ErrorMessage",
          code: 404,
          message: "Note N1 does not exist"
        }
      })
      for (const other of ["*/*", "application/json", "application/json, application/problem+json;q=0"]) {
        for (const path of ["/notes/N1", "/nowhere"]) {
          const { body, type, vary } = yield* parsed(send("GET", path, undefined, { accept: other }))
          assert.deepStrictEqual([type, vary], ["application/json", "Accept"])
          assert.deepStrictEqual(Object.keys(body), ["_type", "code", "message"])
        }
      }
      const invalid = yield* parsed(send("POST", "/notes", {}, accept))
      assert.strictEqual(invalid.type, "application/problem+json")
      assert.deepInclude(invalid.body, { title: "Bad request", status: 400 })
      assert.strictEqual(invalid.body.errors[0].field, "text")
      const unrouted = yield* parsed(send("PUT", "/notes", {}, accept))
      assert.deepInclude(unrouted.body, { title: "Method not allowed", status: 405 })
    }).pipe(Effect.provide(served({}))))

  it.effect("are all errors if that is configured, and typed clients read them", () =>
    Effect.gen(function*() {
      const { body, type } = yield* parsed(send("POST", "/stocks/take"))
      assert.strictEqual(type, "application/problem+json")
      assert.deepStrictEqual(body, {
        type: "https://shop.example/errors#toolittle",
        title: "Too little",
        status: 409,
        detail: "There is too little",
        _type: "ErrorMessage",
        code: 409,
        error: "TooLittle",
        message: "There is too little",
        left: 3
      })
      const baseUrl = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
      const client = yield* KernelClient.make(engine, { baseUrl })
      const missing = yield* Effect.flip(client.notes.get({ params: { id: "N1" } }))
      assert.strictEqual(missing._tag, "NotFound")
      const own = yield* Effect.flip(client.stocks.take())
      assert.deepInclude(own, { _tag: "TooLittle", left: 3 })
    }).pipe(Effect.provide([
      FetchHttpClient.layer,
      served({
        APPKERNEL_ERRORS_FORMAT: "problem",
        APPKERNEL_ERRORS_DOCUMENTATION: "https://shop.example/errors"
      })
    ])))

  it("are a content type of each error in the OpenAPI document", () => {
    const { components, paths } = resolvedDocument(OpenApi.make(engine, { title: "Notes", version: "1" }))
    const operation = JSON.stringify(paths["/notes/{id}"]?.["get"])
    const { responses } = JSON.parse(operation)
    assert.deepStrictEqual(Object.keys(responses[200].content), ["application/json"])
    for (const status of ["404", "503"]) {
      assert.deepStrictEqual(responses[status].content["application/problem+json"].schema, {
        $ref: "#/components/schemas/ProblemDetails"
      })
    }
    assert.deepInclude(components.schemas["ProblemDetails"], {
      required: ["type", "title", "status", "detail", "code", "message"]
    })
  })
})
