/** Answers have the bytes of their texts, from whichever server, twice: the second time from what is kept. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpEffect, HttpRouter, type HttpServer, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { EmbeddedStore, KernelConfig, KernelEngine, KernelServer, Model } from "../../../src/index.ts"
import { send } from "../../support/rest.ts"

class Text extends Model.Class<Text>()("Text", {
  id: Model.id({ prefix: "T" }),
  name: Schema.String,
  ...Model.versioned
}) {}

const engine = KernelEngine.make("sent").register(Text, { methods: ["GET", "POST"] })

const limits = Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), maxBodySize: 2_000_000 })

const names = ["plain", "é", "日本", "𝄞", "\u0080", "x".repeat(1_100_000), "é".repeat(40_000), "é".repeat(700_000)]

const servers: { readonly [title: string]: Layer.Layer<HttpServer.HttpServer, unknown> } = {
  "the server of services": KernelServer.layerWith({ address: "127.0.0.1", port: 0 }),
  "another server": NodeHttpServer.layerTest
}

/** Middleware that makes another answer of each, as a web framework does. */
const renewed = HttpRouter.middleware(
  (handler) =>
    Effect.andThen(
      HttpEffect.appendPreResponseHandler((_, response) =>
        Effect.sync(() => HttpServerResponse.fromWeb(HttpServerResponse.toWeb(response)))
      ),
      handler
    ),
  { global: true }
)

it.live("a text of an answer is the same for who makes another answer of it", () =>
  Effect.gen(function*() {
    const { baseUrl, repositories } = yield* engine.use(renewed).test()
    yield* repositories.texts.insert(yield* Model.finalise(Text, { name: "é日" }))
    for (let i = 0; i < 20; i++) {
      const list: unknown = yield* Effect.promise(() => fetch(`${baseUrl}/texts`).then((response) => response.json()))
      const [{ id, name }] = Object(list)._items
      const one: unknown = yield* Effect.promise(() =>
        fetch(`${baseUrl}/texts/${id}`).then((response) => response.json())
      )
      assert.deepStrictEqual([name, Object(one).name], ["é日", "é日"])
    }
  }))

describe("a text of an answer", () => {
  for (const [title, server] of Object.entries(servers)) {
    const layer = engine.layerServe.pipe(Layer.provide([EmbeddedStore.layerMemory, limits]), Layer.provideMerge(server))
    it.layer(layer, { excludeTestServices: true })((it) => {
      it.effect(`is sent by ${title}`, () =>
        Effect.gen(function*() {
          for (const name of names) {
            const created = yield* send("POST", "/texts", { name })
            const id = String(created.body.result)
            const path = `/texts/${id}`
            const first = yield* send("GET", path)
            assert.deepStrictEqual([first.status, first.body.name], [200, name])
            const [length, etag] = [String(Buffer.byteLength(first.text)), `"${hash("sha1", first.text).slice(0, 16)}"`]
            for (const method of ["GET", "GET", "HEAD"] as const) {
              const { headers, text } = yield* send(method, path)
              assert.strictEqual(text, method === "GET" ? first.text : "")
              assert.deepStrictEqual([headers["content-length"], headers["etag"]], [length, etag])
            }
            const { body } = yield* send("GET", `/texts?id=${id}`)
            assert.deepStrictEqual(body._items, [first.body])
          }
        }))
    })
  }
})
