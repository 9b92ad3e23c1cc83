/** What no route answers, over a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { EmbeddedStore, KernelEngine, Model } from "../../../src/index.ts"
import { send, serving } from "../../support/rest.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }, { logged: true }) {}

const engine = KernelEngine.make("notes").register(Note, { methods: ["GET", "PATCH"] })

describe("requests without a route", () => {
  it.layer(serving(engine, EmbeddedStore.layerMemory), { excludeTestServices: true })((it) => {
    it.effect("are answered for the server as a whole: OPTIONS *", () =>
      Effect.gen(function*() {
        const { headers, status } = yield* send("OPTIONS", "*")
        assert.deepStrictEqual([status, headers["allow"]], [204, "GET, PATCH, POST, HEAD, QUERY, OPTIONS"])
        assert.strictEqual((yield* send("GET", "*")).status, 404)
        assert.strictEqual((yield* send("OPTIONS", "/none")).status, 404)
      }))

    it.effect("and changes in a mode whose type is not accepted are a 406 that names the type", () =>
      Effect.gen(function*() {
        const statusOf = (query: string, accept: string) =>
          Effect.map(
            send("GET", `/notes/changes?${query}`, undefined, { accept }),
            ({ body, status }) => status === 406 ? `406 ${body.message}` : String(status)
          )
        assert.strictEqual(
          yield* statusOf("offset=now", "text/event-stream"),
          "406 The answer is application/json, which the Accept header does not allow"
        )
        assert.match(yield* statusOf("live=long-poll&offset=now", "text/event-stream"), /^406/u)
        assert.match(yield* statusOf("live=sse&offset=now", "application/json"), /^406/u)
        assert.match(yield* statusOf("watch=notes", "text/html"), /^406/u)
        for (const accept of ["*/*", "application/json", "text/event-stream, application/json;q=0.1"]) {
          assert.strictEqual(yield* statusOf("offset=now", accept), "200")
        }
      }))
  })
})
