/** Stored documents whose bytes have changed. */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Layer, Logger, Schema } from "effect"
import { EmbeddedStore, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { change } from "../../support/damage.ts"
import { freshDirectory } from "../../support/folders.ts"
import { send, serving } from "../../support/rest.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const engine = KernelEngine.make("notes").register(Resource.make(Note, { methods: ["GET", "POST", "PATCH", "DELETE"] }))

const logged: Array<string> = []

const logger = Logger.make(({ cause, message }) => {
  logged.push(`${String(message)}: ${Cause.pretty(cause)}`)
})

const damaged = Layer.unwrap(Effect.gen(function*() {
  const path = yield* freshDirectory
  yield* Effect.scoped(Effect.gen(function*() {
    const store = yield* EmbeddedStore.make({ path })
    yield* store.insertMany("Note", ["a", "b", "c"].map((id) => ({ _id: id, text: `this is ${id}` })))
  }))
  change(path, "this is b", "that is b")
  return EmbeddedStore.layerWith({ path })
}))

it.layer(serving(engine, damaged).pipe(Layer.provideMerge(Logger.layer([logger]))))(
  "Damaged documents / embedded",
  (it) => {
    it.effect("are a 500 for themselves alone, and the log names them", () =>
      Effect.gen(function*() {
        for (const id of ["a", "c"]) assert.strictEqual((yield* send("GET", `/notes/${id}`)).body.text, `this is ${id}`)
        assert.strictEqual((yield* send("POST", "/notes", { text: "new" })).status, 201)
        const before = logged.length
        assert.strictEqual((yield* send("GET", "/notes/b")).status, 500)
        assert.match(
          logged.slice(before).join(),
          /could not be handled: DataDamaged: The stored document b in Note is damaged/u
        )
        for (const method of ["PATCH", "DELETE"] as const) {
          assert.strictEqual((yield* send(method, "/notes/b", {})).status, 500)
        }
      }))
  }
)
