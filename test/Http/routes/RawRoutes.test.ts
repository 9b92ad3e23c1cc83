/** Routes that an application adds with `engine.use`. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { EmbeddedStore, HttpError, KernelEngine, Model, Repository } from "../../../src/index.ts"
import { refused, send, serving } from "../../support/rest.ts"

class Note extends Model.Class<Note>()("Note", { id: Schema.String, text: Schema.String }) {}

const body = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.text)

const engine = KernelEngine.make("raw")
  .register(Note, { methods: ["GET"] })
  .use(HttpRouter.add(
    "GET",
    "/raw/:id",
    Effect.gen(function*() {
      const { id = "" } = yield* HttpRouter.params
      const notes = yield* Repository.for(Note)
      return HttpServerResponse.text((yield* notes.findById(id)).text)
    })
  ))
  .use(HttpRouter.add("GET", "/taken", Effect.fail(new HttpError.Conflict({ message: "It is taken" }))))
  .use(HttpRouter.add("GET", "/odd", Effect.fail("a secret")))
  .use(HttpRouter.add("POST", "/length", Effect.map(body, ({ length }) => HttpServerResponse.text(String(length)))))
  .use(HttpRouter.add(
    "POST",
    "/parts",
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const parts = yield* request.multipart
      return HttpServerResponse.text(Object.keys(parts).join())
    })
  ))

const multipart = (text: string) =>
  `--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--x--\r\n`

describe("Routes of engine.use", () => {
  it.layer(Layer.provide(serving(engine, EmbeddedStore.layerMemory), NodeServices.layer))((it) => {
    it.effect("have the engine's errors by class, and no trace of any other", () =>
      Effect.gen(function*() {
        refused(404, yield* send("GET", "/raw/nothing"))
        assert.strictEqual(refused(409, yield* send("GET", "/taken")).body.message, "It is taken")
        const { text } = refused(500, yield* send("GET", "/odd"))
        assert.notInclude(text, "secret")
        assert.notInclude(text, ".ts:")
      }))

    it.effect("limit the bodies that they read", () =>
      Effect.gen(function*() {
        const type = { "content-type": "text/plain" }
        assert.strictEqual((yield* send("POST", "/length", "x".repeat(1_048_576), type)).text, "1048576")
        refused(413, yield* send("POST", "/length", "x".repeat(1_048_577), type))
        const parts = { "content-type": "multipart/form-data; boundary=x" }
        assert.strictEqual((yield* send("POST", "/parts", multipart("x"), parts)).text, "file")
        refused(413, yield* send("POST", "/parts", multipart("x".repeat(1_048_577)), parts))
        refused(400, yield* send("POST", "/parts", "no parts", parts))
      }))
  })
})
