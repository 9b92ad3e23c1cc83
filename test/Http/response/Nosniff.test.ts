/** A browser takes every answer as what its content type says. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { EmbeddedStore, KernelEngine } from "../../../src/index.ts"
import { newUser, User } from "../../support/models.ts"
import { type Method, send, sendBytes, serving } from "../../support/rest.ts"

const raw = (path: `/${string}`, response: HttpServerResponse.HttpServerResponse) =>
  HttpRouter.add("GET", path, Effect.succeed(response))

const engine = KernelEngine.make("nosniff")
  .register(User, { methods: ["GET", "POST"] })
  .enableOpenApi({ title: "Nosniff", version: "1" })
  .use(raw("/raw", HttpServerResponse.raw("<script>", { headers: { "content-type": "text/plain" } })))
  .use(raw("/own", HttpServerResponse.text("own", { headers: { "x-content-type-options": "NOSNIFF" } })))
  .use(HttpRouter.add("GET", "/defect", Effect.die("defect")))

describe("X-Content-Type-Options", () => {
  it.layer(serving(engine, EmbeddedStore.layerMemory), { excludeTestServices: true })((it) => {
    it.effect("is nosniff on every answer", () =>
      Effect.gen(function*() {
        const { body, headers } = yield* send("POST", "/users", newUser({}))
        assert.strictEqual(headers["x-content-type-options"], "nosniff")
        const document = `/users/${body.result}`
        const { headers: { etag } } = yield* send("GET", document)
        const expected: ReadonlyArray<[number, Method, string, { readonly [name: string]: string }?]> = [
          [200, "GET", "/users"],
          [200, "HEAD", document],
          [304, "GET", document, { "if-none-match": String(etag) }],
          [204, "OPTIONS", document],
          [400, "GET", "/users?unknown=1"],
          [404, "GET", "/none"],
          [405, "DELETE", "/users"],
          [406, "GET", document, { accept: "text/html" }],
          [500, "GET", "/defect"],
          [200, "GET", "/raw"],
          [200, "GET", "/openapi.json"],
          [200, "GET", "/docs"],
          [200, "GET", "/redoc"]
        ]
        for (const [status, method, path, own] of expected) {
          const answer = yield* send(method, path, undefined, own)
          assert.deepStrictEqual(
            [answer.status, answer.headers["x-content-type-options"]],
            [status, "nosniff"],
            `${method} ${path}`
          )
        }
        assert.strictEqual((yield* send("GET", "/own")).headers["x-content-type-options"], "NOSNIFF")
      }))

    it.effect("is nosniff on the answers to what is not valid HTTP", () =>
      Effect.gen(function*() {
        for (
          const bytes of ["NONSENSE\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"]
        ) {
          assert.match(yield* sendBytes(bytes), /^HTTP\/1.1 400 [^]*\r\nx-content-type-options: nosniff\r\n/iu)
        }
      }))
  })
})
