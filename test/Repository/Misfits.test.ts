/** Stored documents of a model with versions that have no way up, and what they do to others: nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import { DocumentStore, Model, Repository } from "../../src/index.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Owner extends Model.Class<Owner>()("Owner", { id: Model.id() }) {}

const wasText = {
  up: (text: string) => Schema.decodeUnknownSync(Schema.NumberFromString.check(Schema.isInt()))(text),
  down: (n: number) => String(n)
}

const numbered = Model.was.retyped("n", Schema.String, wasText)

class Deleted extends Model.Class<Deleted>()("DeletedPet", {
  id: Model.id(),
  n: Schema.Int,
  owner: Model.reference(() => Owner, { onDelete: "cascade" })
}, { versions: [numbered, Model.was.renamed("keeper", "owner")] }) {}

class Cleared extends Model.Class<Cleared>()("ClearedPet", {
  id: Model.id(),
  n: Schema.Int,
  owner: Model.reference(() => Owner, { onDelete: "null" }).pipe(Model.optional)
}, { versions: [numbered, Model.was.renamed("keeper", "owner")] }) {}

class Kept extends Model.Class<Kept>()("KeptPet", {
  id: Model.id(),
  n: Schema.Int,
  owner: Model.reference(() => Owner, { onDelete: "restrict" })
}, { versions: [numbered, Model.was.renamed("keeper", "owner")] }) {}

class Member extends Model.Class<Member>()("Member", {
  id: Model.id(),
  n: Schema.Int,
  mail: Schema.String,
  city: Schema.String
}, { versions: [numbered, Model.was.renamed("email", "mail")] }) {}

/** What {@link Page} was. */
class OldPage extends Model.Class<OldPage>()("Page", {
  id: Model.id(),
  n: Schema.String,
  title: Schema.String,
  ...Model.historied
}) {}

class Page extends Model.Class<Page>()("Page", {
  id: Model.id(),
  n: Schema.Int,
  title: Schema.String,
  ...Model.historied
}, { versions: [Model.was.retyped("n", Schema.String, wasText)] }) {}

/** The first form of {@link Page}, for its callers. */
class FirstPage extends Model.Class<FirstPage>()("Page", {
  id: Model.id(),
  n: Schema.String,
  title: Schema.String,
  ...Model.historied
}) {}

const PageV1 = Model.form(Page, 1, FirstPage)

/** The member `bad` has no way up. */
const members = [
  { _id: "a", n: "1", email: "x", city: "Rome" },
  { _id: "bad", n: "none", email: "x", city: "Rome" },
  { _id: "c", n: "2", email: "x", city: "Rome" }
]

storeMatrix((name, layer) =>
  describe(`Documents without a way up / ${name}`, () => {
    for (const model of [Deleted, Cleared, Kept]) {
      it.live(`refuse the deletion of what they may refer to, and of nothing else: ${model.modelName}`, () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const owners = yield* Repository.make(Owner)
          yield* Repository.make(model as typeof Deleted)
          yield* owners.bulkInsert(["1", "2", "3"].map((id) => new Owner({ id })))
          const stored = [
            { _id: "a", n: "1", keeper: "1" },
            { _id: "bad", n: "none", keeper: "1" },
            { _id: "later", _form: 9, n: "none", owner: "1" },
            { _id: "b", n: "2", keeper: "2" }
          ]
          yield* store.insertMany(model.modelName, stored)
          yield* owners.deleteById("3")
          assert.sameDeepMembers([...yield* store.find(model.modelName, {})], stored)
          const deleted = yield* Effect.result(owners.deleteById("2"))
          assert.strictEqual(deleted._tag, model === Kept ? "Failure" : "Success")
          const found = yield* store.find(model.modelName, { filter: { _id: { $ne: "b" } } })
          assert.sameDeepMembers([...found], stored.slice(0, 3))
          // Nothing says whether these two refer to it.
          const refused = yield* Effect.flip(owners.deleteById("1"))
          assert.strictEqual(refused._tag, "DocumentReferenced")
          assert.deepInclude(refused, { model: "Owner", id: "1", by: model.modelName, field: "owner" })
          yield* store.deleteMany(model.modelName, { _id: { $ne: "bad" } })
          assert.strictEqual((yield* Effect.flip(owners.deleteById("1")))._tag, "DocumentReferenced")
          assert.deepStrictEqual(yield* store.find(model.modelName, {}), stored.slice(1, 2))
          yield* store.deleteOne(model.modelName, { _id: "bad" })
          yield* owners.deleteById("1")
        }).pipe(Effect.provide(layer), Effect.scoped))
    }

    it.live("match no condition on changed fields", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.insertMany("Member", members)
        const repository = yield* Repository.make(Member)
        assert.isFalse(yield* repository.exists(($) => $.mail.equals("nobody")))
        assert.strictEqual(yield* repository.count(($) => $.mail.equals("nobody")), 0)
        assert.strictEqual(yield* repository.count(($) => $.mail.notEquals("nobody")), 2)
        assert.isTrue(Option.isSome(yield* repository.findOne(($) => $.mail.equals("x"))))
        const found = yield* repository.find(($) => $.mail.equals("x").and($.city.equals("Rome")), { sort: "-n" })
        assert.deepStrictEqual(found.map(({ id }) => id), ["c", "a"])
        assert.lengthOf(yield* Stream.runCollect(repository.stream(($) => $.mail.equals("x"))), 2)
        const summed = repository.aggregate([{ $match: { mail: "x" } }, { $group: { _id: null, n: { $sum: "$n" } } }])
        assert.deepStrictEqual(yield* Stream.runCollect(summed), [{ _id: null, n: 3 }])
        // Whoever asks for one, or for all, learns of it.
        assert.strictEqual((yield* Effect.flip(repository.findById("bad")))._tag, "DocumentInvalid")
        assert.strictEqual((yield* Effect.flip(repository.find()))._tag, "DocumentInvalid")
        assert.strictEqual(yield* repository.count(($) => $.city.equals("Rome")), 3)
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("have no changed fields in pipelines and among distinct values", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.insertMany("Member", members)
        const repository = yield* Repository.make(Member)
        assert.deepStrictEqual(yield* repository.distinct("mail"), ["x"])
        assert.deepStrictEqual(yield* repository.distinct("city"), ["Rome"])
        const piped = (...stages: ReadonlyArray<DocumentStore.Document>) =>
          Stream.runCollect(repository.aggregate(stages))
        const grouped = { $group: { _id: "$city", count: { $sum: 1 }, n: { $sum: "$n" } } }
        assert.deepStrictEqual(yield* piped(grouped), [{ _id: "Rome", count: 3, n: 3 }])
        assert.deepStrictEqual(yield* piped({ $match: { city: "Rome" } }, { $sort: { mail: 1 } }, { $limit: 1 }), [
          { _id: "bad", city: "Rome" }
        ])
        assert.deepStrictEqual(yield* piped({ $match: { mail: { $exists: false } } }), [])
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("are not written with others, and stop no write of them half-way", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.insertMany("Member", members)
        const repository = yield* Repository.make(Member)
        // The update can't be computed for one of the matches.
        const error = yield* Effect.flip(repository.updateMany(($) => $.city.equals("Rome"), ($) => [$.n.set(7)]))
        assert.include(error.message, "Member bad is stored in form 1, and has no way up")
        assert.sameDeepMembers([...yield* store.find("Member", {})], members)
        const updated = yield* repository.updateMany(($) => $.mail.equals("x"), ($) => [$.n.set(7)])
        assert.strictEqual(updated.matchedCount, 2)
        const numbers = Effect.map(store.find("Member", { sort: { _id: 1 } }), (all) => all.map(({ n }) => n))
        assert.deepStrictEqual(yield* numbers, ["7", "none", "7"])
        assert.strictEqual(yield* repository.deleteMany(($) => $.mail.equals("x")), 2)
        assert.deepStrictEqual((yield* store.find("Member", {})).map(({ _id }) => _id), ["bad"])
        yield* repository.deleteById("bad")
        assert.deepStrictEqual(yield* store.find("Member", {}), [])
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("have their contents and their revisions in the history of what is written to them", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const old = yield* Repository.make(OldPage)
        yield* old.insert(new OldPage({ id: "bad", n: "none", title: "a", revision: 0 }))
        yield* old.insert(new OldPage({ id: "good", n: "1", title: "a", revision: 0 }))
        // Two were written before the model had a history.
        yield* store.insertOne("Page", { _id: "old", n: "none", title: "a" })
        yield* store.insertOne("Page", { _id: "last", n: "none", title: "a" })
        const pages = yield* Repository.make(Page)
        const earlier = yield* Repository.make(PageV1)
        yield* pages.updateMany(undefined, ($) => [$.title.set("b")])
        yield* pages.updateMany(undefined, ($) => [$.title.set("c")])
        yield* pages.updateOne(($) => $.id.equals("bad"), ($) => [$.title.set("d")])
        assert.strictEqual(yield* earlier.deleteMany(($) => $.id.equals("last")), 1)
        yield* pages.deleteById("bad")
        yield* pages.deleteAll
        assert.deepStrictEqual(yield* store.find("Page", {}), [])
        const entriesOf = Effect.fnUntraced(function*(id: string) {
          const found = yield* store.find("Page.history", { filter: { document_id: id }, sort: { revision: 1 } })
          return found.map(({ change, document, revision }) => [
            revision,
            change,
            Object(document).n,
            Object(document).title
          ])
        })
        assert.deepStrictEqual(yield* entriesOf("bad"), [
          [1, "insert", "none", "a"],
          [2, "update", "none", "b"],
          [3, "update", "none", "c"],
          [4, "update", "none", "d"],
          [5, "delete", "none", "d"]
        ])
        assert.deepStrictEqual(yield* entriesOf("old"), [
          [0, "baseline", "none", "a"],
          [1, "update", "none", "b"],
          [2, "update", "none", "c"],
          [3, "delete", "none", "c"]
        ])
        assert.deepStrictEqual((yield* entriesOf("last")).at(-1), [3, "delete", "none", "c"])
        // A process that can read the states has them as they were.
        const states = yield* (yield* Repository.make(OldPage)).history("bad")
        const texts = yield* Effect.forEach(states, ({ instance }) => Effect.map(instance, ({ n, title }) => n + title))
        assert.deepStrictEqual(texts, ["noned", "noned", "nonec", "noneb", "nonea"])
        const [latest] = yield* pages.history("bad")
        assert.strictEqual((yield* Effect.flip(latest!.instance))._tag, "DocumentInvalid")
      }).pipe(Effect.provide(layer), Effect.scoped))
  })
)
