import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { Model, Update } from "../../../src/index.ts"

class Page extends Model.Class<Page>()("Page", {
  id: Model.id(),
  title: Schema.String,
  ...Model.softDeleted,
  ...Model.historied
}) {}

it.effect("neither shows nor accepts the deletion time and the revision", () =>
  Effect.gen(function*() {
    for (const variant of [Page.wire, Page.create, Page.patch]) {
      assert.notInclude(Object.keys(variant.fields), "deleted")
      assert.notInclude(Object.keys(variant.fields), "revision")
    }
    const page = new Page({ id: "P", title: "a", deleted: DateTime.makeUnsafe(0), revision: 3 })
    assert.strictEqual(yield* Model.dumps(page), `{"_type":"Page","id":"P","title":"a"}`)
    assert.deepStrictEqual(Object.keys(Model.metadata(Page)), ["id", "title"])
    assert.deepStrictEqual(Object.keys(Object(Model.jsonSchema(Page)["properties"])).toSorted(), [
      "_type",
      "id",
      "title"
    ])
  }))

it.effect("stores both", () =>
  Effect.gen(function*() {
    const page = new Page({ id: "P", title: "a", deleted: DateTime.makeUnsafe(0), revision: 3 })
    assert.deepStrictEqual(yield* Model.toRecord(page), { id: "P", title: "a", deleted: new Date(0), revision: 3 })
    const schema = Model.jsonSchema(Page, { mongoCompatibility: true })
    assert.includeMembers(Object.keys(Object(schema["properties"])), ["deleted", "revision"])
  }))

it.effect("reads documents that were stored before the traits were added", () =>
  Effect.gen(function*() {
    const page = yield* Model.fromRecord(Page, { id: "P", title: "a" })
    assert.deepStrictEqual([page.deleted, page.revision], [undefined, 0])
  }))

it.effect("lets no typed update set the fields that the framework manages", () =>
  Effect.gen(function*() {
    for (const field of ["deleted", "revision"]) {
      const error = yield* Effect.flip(Update.toUpdate(Page, ($) => [Object($)[field].set(9)]))
      assert.include(error.message, "kept up to date by the framework")
    }
  }))
