import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, EmbeddedStore, Index, Model, Repository, Upgrade } from "../../src/index.ts"
import * as Inspection from "../../src/Repository/Inspection.ts"

class Person extends Model.Class<Person>()("Person", {
  id: Model.id(),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  city: Schema.String.pipe(Model.indexed(Index.plain)),
  ...Model.historied
}, { versions: [Model.was.renamed("mail", "email")] }) {}

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  title: Schema.String.pipe(Model.indexed(Index.unique))
}) {}

/** The model by the name of the index that is there. */
class NamedNote extends Model.Class<NamedNote>()("Note", {
  id: Model.id(),
  title: Schema.String.pipe(Model.indexed({ ...Index.unique, name: "title_idx" }))
}) {}

describe("An inspection", () => {
  it.effect("tells indexes apart, and installs those that need not wait for an upgrade", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertMany("Person", [{ _id: "a", mail: "a@example.com", city: "Ulm" }, {
        _id: "b",
        mail: "b@example.com",
        city: "Rom"
      }])
      yield* store.createIndexes("Person", [
        { name: "city_1", key: { city: -1 } },
        { name: "own", key: { own: 1 } },
        // Processes of the earlier form need it.
        { name: "mail_1", key: { mail: 1 }, unique: true }
      ])
      const differences = Inspection.indexDifferences(Person)
      const history = { collection: "Person.history", missing: ["document_id_1_revision_-1"], different: [], extra: [] }
      const person = { collection: "Person", missing: [], different: [], extra: ["own"] }
      // By them, writes find the same address in both forms until the upgrade.
      const lookups = ["mail__form_1", "email__form_1"]
      assert.deepStrictEqual(yield* differences, [{ ...person, missing: lookups, different: ["city_1"] }, history])
      yield* Inspection.applyIndexes(Person, false)
      assert.deepStrictEqual(yield* differences, [person, { ...history, missing: [] }])
      yield* Inspection.applyIndexes(Person, true)
      assert.deepStrictEqual(yield* differences, [{ ...person, extra: [] }, { ...history, missing: [] }])
      assert.include((yield* store.listIndexes("Person")).map(({ name }) => name), "mail_1")

      // The unique index waits for the last document that has no email.
      const upgrade = yield* Effect.forkChild(
        Effect.andThen(Upgrade.finish(Person), Stream.runDrain(Upgrade.upgrade(Person)))
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(upgrade)
      assert.sameMembers((yield* store.listIndexes("Person")).map(({ name }) => name), ["city_1", "email_1"])
      assert.deepStrictEqual(yield* differences, [{ ...person, extra: [] }, { ...history, missing: [] }])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("installs the index of a model where a database has it under another name", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.createIndexes("Note", [
        { name: "title_idx", key: { title: 1 }, unique: true },
        { name: "own", key: { own: 1 } }
      ])
      const conflict = yield* Effect.flip(Repository.make(Note))
      assert.include(conflict.message, "title_idx")
      yield* Repository.make(NamedNote)
      yield* Inspection.applyIndexes(Note, false)
      yield* Repository.make(Note)
      assert.sameMembers((yield* store.listIndexes("Note")).map(({ name }) => name), ["title_1", "own"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("names documents that do not fit, of a sample or of all", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertMany("Person", [
        { _id: "a", mail: "a@example.com", city: "Ulm", revision: 1 },
        { _id: "b", mail: 5, city: "Rom", revision: 1 },
        { _id: "c", mail: "c@example.com", revision: 1 }
      ])
      const found = yield* Inspection.documentsOf(Person, { ids: 1 })
      assert.deepStrictEqual([found.documents, found.unfit], [3, 2])
      assert.deepStrictEqual(found.examples.map(({ form, id }) => [id, form]), [["b", 1]])
      assert.deepInclude(found.fields, { city: 1 })
      const sample = yield* Inspection.documentsOf(Person, { ids: 1, sample: 1 })
      assert.deepStrictEqual([sample.documents, sample.unfit], [1, 0])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
