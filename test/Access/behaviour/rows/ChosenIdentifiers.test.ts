import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { type DocumentStore, EmbeddedStore, KernelEngine, Model, Resource, Role } from "../../../../src/index.ts"
import { freshFolder } from "../../../support/folders.ts"
import { onMongo } from "../../../support/mongo.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), owner: Schema.String }) {}

const engine = KernelEngine.make("notes")
  .register(
    Resource.make(Note, { methods: ["GET", "POST"] })
      .grant(Role("writer"), { rows: (me) => ($) => $.owner.equals(me.subject) })
      .grant(Role("editor"), {})
  )
  .enableSecurity()

const contract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.effect(`an identifier is not for a caller to choose who does not reach all documents / ${name}`, () =>
    Effect.gen(function*() {
      const { as } = yield* engine.test({ store })
      const ann = yield* as({ subject: "ann", roles: ["writer"] })
      const bob = yield* as({ subject: "bob", roles: ["writer"] })
      const editor = yield* as({ subject: "eve", roles: ["editor"] })
      const { result: theirs } = yield* bob.notes.create({ payload: { owner: "bob" } })
      const { result: mine } = yield* ann.notes.create({ payload: { owner: "ann" } })
      // The answer is the same whether the document exists or not.
      for (const id of [theirs, "unknown"]) {
        for (const owner of ["ann", "bob"]) {
          const error = yield* Effect.flip(ann.notes.create({ payload: { id, owner } }))
          assert.strictEqual(error._tag, "Forbidden")
          const ofMany = yield* Effect.flip(ann.notes.create({ payload: [{ owner: "ann" }, { id, owner }] }))
          assert.strictEqual(ofMany._tag, "Forbidden")
        }
      }
      assert.strictEqual((yield* ann.notes.create({ payload: { id: mine, owner: "ann" } })).result, mine)
      const denied = yield* Effect.flip(ann.notes.create({ payload: [{ owner: "ann" }, { owner: "bob" }] }))
      assert.deepStrictEqual([denied._tag, denied.message], ["Forbidden", "Item 2: You are not allowed to do this"])
      yield* ann.notes.create({ payload: [{ owner: "ann" }, { owner: "ann" }] })
      assert.strictEqual((yield* ann.notes.list())._items.length, 3)
      assert.strictEqual((yield* editor.notes.create({ payload: { id: "chosen", owner: "eve" } })).result, "chosen")
      assert.strictEqual((yield* editor.notes.create({ payload: { id: theirs, owner: "bob" } })).result, theirs)
    }))

contract("memory", EmbeddedStore.layerMemory)
contract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => contract("mongodb", layer))
