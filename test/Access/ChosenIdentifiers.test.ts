import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { CurrentSubject, type DocumentStore, KernelEngine, Model, Resource, Role } from "../../src/index.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), owner: Schema.String }) {}

const engine = KernelEngine.make("notes")
  .register(
    Resource.make(Note, { methods: ["GET", "POST"] })
      .grant(Role("writer"), { rows: (me) => ($) => $.owner.equals(me.subject) })
      .grant(Role("editor"), {})
  )
  .enableSecurity()

class Page extends Model.Class<Page>()("Page", { id: Model.id(), text: Schema.String }) {}

const pages = Resource.make(Page, { methods: ["GET", "POST", "PUT"] })

/** What a writer may replace is about the identifier, or nothing. */
const replaced = {
  "the own document": pages.grant(CurrentSubject, { methods: ["GET", "PUT"] }),
  "one of an id": pages.grant(CurrentSubject, { methods: ["GET"] })
    .grant(Role("writer"), { methods: ["PUT"], rows: (me) => ($) => $.id.equals(me.subject) }),
  "none, without the claim": pages.grant(CurrentSubject, { methods: ["GET"] })
    .grant(Role("writer"), { methods: ["PUT"], rows: (me) => ($) => $.text.equals(Object(me.claims)["team"]) })
}

const contractOfIds = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.effect.each(Object.entries(replaced))(
    `nor who may replace %s, unless the inserted one is that as well / ${name}`,
    ([, resource]) =>
      Effect.gen(function*() {
        const engine = KernelEngine.make("pages")
          .register(resource.grant(Role("writer"), { methods: ["POST"] }).grant(Role("editor"), {}))
          .enableSecurity()
        const { as } = yield* engine.test({ store })
        const ann = yield* as({ subject: "ann", roles: ["writer"] })
        const editor = yield* as({ subject: "eve", roles: ["editor"] })
        yield* editor.pages.create({ payload: { id: "known", text: "hers" } })
        for (const payload of [{ id: "known", text: "mine" }, { id: "unknown", text: "mine" }]) {
          const one = yield* Effect.flip(ann.pages.create({ payload }))
          const many = yield* Effect.flip(ann.pages.create({ payload: [payload] }))
          assert.deepStrictEqual([one._tag, many._tag], ["Forbidden", "Forbidden"])
        }
        assert.strictEqual((yield* editor.pages.get({ params: { id: "known" } })).text, "hers")
        yield* ann.pages.create({ payload: { text: "mine" } })
        const own = yield* KernelEngine.make("own")
          .register(pages.grant(CurrentSubject, {}))
          .enableSecurity()
          .test({ store })
        const bob = yield* own.as({ subject: "bob" })
        for (const text of ["first", "second"]) {
          assert.strictEqual((yield* bob.pages.create({ payload: { id: "bob", text } })).result, "bob")
        }
        assert.strictEqual(
          (yield* Effect.flip(bob.pages.create({ payload: { id: "known", text: "" } })))._tag,
          "Forbidden"
        )
      })
  )

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

const contractOfCreation = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.effect(`a POST that only creates tells nobody of documents that they do not reach / ${name}`, () =>
    Effect.gen(function*() {
      const resource = Resource.make(Note, { methods: ["GET", "POST"] })
        .grant(Role("writer"), { rows: (me) => ($) => $.owner.equals(me.subject) })
        .grant(Role("editor"), {})
      const { as } = yield* KernelEngine.make("notes")
        .register(resource, { onKnownId: "error" })
        .enableSecurity()
        .test({ store })
      const ann = yield* as({ subject: "ann", roles: ["writer"] })
      const editor = yield* as({ subject: "eve", roles: ["editor"] })
      yield* editor.notes.create({ payload: { id: "theirs", owner: "bob" } })
      const { result: mine } = yield* ann.notes.create({ payload: { owner: "ann" } })
      const sent = (client: typeof ann, id: string, owner: string) =>
        Effect.map(Effect.flip(client.notes.create({ payload: { id, owner } })), ({ _tag }) => _tag)
      for (const id of ["theirs", "unknown"]) assert.strictEqual(yield* sent(ann, id, "ann"), "Forbidden")
      assert.strictEqual(yield* sent(ann, mine, "ann"), "Conflict")
      assert.strictEqual(yield* sent(editor, mine, "eve"), "Conflict")
      assert.strictEqual((yield* editor.notes.get({ params: { id: mine } })).owner, "ann")
    }))

for (const test of [contract, contractOfIds, contractOfCreation]) {
  storeMatrix(test)
}
