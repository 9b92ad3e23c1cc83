/**
 * Models that change while their documents stay: two versions of a model, each with its own repository on one store.
 */
import { assert, describe, it } from "@effect/vitest"
import { EJSON } from "bson"
import { Cause, DateTime, Effect, Exit, Option, Schema, Stream } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DocumentStore, EmbeddedStore, Generator, Index, Model, Query, Repository, Upgrade } from "../../src/index.ts"
import { documentOperationsOf } from "../../src/Repository/internal.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { atOnce, sayUnderstood } from "../support/upgrades.ts"

/** The model in its first year. */
class Before extends Model.Class<Before>()("Person", {
  id: Model.id(),
  name: Schema.String,
  age: Schema.String,
  mail: Schema.String.pipe(Model.optional),
  city: Schema.String
}) {}

const splitName = (name: string) => {
  const at = name.lastIndexOf(" ")
  return { first: name.slice(0, Math.max(at, 0)), last: name.slice(at + 1) }
}

/** The same model in its second year: a name was split, an age retyped, a mail renamed, a field added. */
class After extends Model.Class<After>()("Person", {
  id: Model.id(),
  first: Schema.String,
  last: Schema.String,
  age: Schema.Int,
  email: Schema.String.pipe(Model.optional),
  city: Schema.String,
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["new"]))
}, {
  versions: [
    Model.was.replaced(["first", "last"], { name: Schema.String }, {
      up: ({ name }) => splitName(name),
      down: ({ first, last }: { readonly first: string; readonly last: string }) => ({
        name: `${first} ${last}`.trim()
      })
    }),
    Model.was.retyped("age", Schema.String, { up: Number, down: String }),
    Model.was.renamed("mail", "email"),
    Model.was.added("tags")
  ]
}) {}

/** Two years later, mails are unique under their new name. */
class Unique extends Model.Class<Unique>()("Person", {
  id: Model.id(),
  name: Schema.String,
  age: Schema.String,
  email: Schema.String.pipe(Model.optional, Model.indexed(Index.unique)),
  city: Schema.String
}, { versions: [Model.was.renamed("mail", "email")] }) {}

/** A model with a unique index of a field that has another name later. */
class Tenant extends Model.Class<Tenant>()("Tenant", { id: Model.id(), at: Schema.String, mail: Schema.String }, {
  indexes: [Index.compound({ at: 1, mail: 1 }, { unique: true })]
}) {}

class RenamedTenant
  extends Model.Class<RenamedTenant>()("Tenant", { id: Model.id(), at: Schema.String, email: Schema.String }, {
    indexes: [Index.compound({ at: 1, email: 1 }, { unique: true })],
    versions: [Model.was.renamed("mail", "email")]
  })
{}

/** All traits were added later. */
class Traits extends Model.Class<Traits>()("Person", {
  id: Model.id(),
  name: Schema.String,
  age: Schema.String,
  city: Schema.String,
  ...Model.versioned,
  ...Model.audited,
  ...Model.softDeleted,
  ...Model.historied
}) {}

/** The same, and a name has changed. */
class RenamedTraits extends Model.Class<RenamedTraits>()("Person", {
  id: Model.id(),
  called: Schema.String,
  age: Schema.String,
  city: Schema.String,
  code: Schema.String.pipe(Model.generated(Generator.uuid())),
  ...Model.versioned,
  ...Model.audited,
  ...Model.softDeleted,
  ...Model.historied
}, { versions: [Model.was.renamed("name", "called"), Model.was.added("code"), Model.was.added("version")] }) {}

const seed = Effect.gen(function*() {
  const before = yield* Repository.make(Before)
  yield* before.bulkInsert(
    Array.from({ length: 40 }, (_, i) =>
      new Before({
        id: `P${String(i).padStart(2, "0")}`,
        name: `${i % 2 === 0 ? "Ada" : "Alan"} ${["Lovelace", "Turing", "Hopper"][i % 3]}`,
        age: String(20 + i % 7),
        city: ["Berlin", "Paris"][i % 2]!,
        ...(i % 4 === 0 ? { mail: `p${i}@example.com` } : {})
      }))
  )
  return before
})

/** A model with a unique value that is computed from what it was. */
class Member extends Model.Class<Member>()("Member", {
  id: Model.id(),
  mail: Schema.String.pipe(Model.indexed(Index.unique))
}, {
  versions: [
    Model.was.retyped("mail", Schema.Struct({ user: Schema.String, host: Schema.String }), {
      up: ({ host, user }) => `${user}@${host}`.toLowerCase(),
      down: (mail) => ({ user: mail.split("@")[0] ?? "", host: mail.split("@")[1] ?? "" })
    })
  ]
}) {}

const Address = Model.Class<unknown>()("Address", { city: Schema.String, zip: Schema.String.pipe(Model.optional) })

/** A model for collections that Beanie and mongoose have written: the name is split, the tags and a country are new. */
class Customer extends Model.Class<Customer>()("Customer", {
  id: Model.ObjectId.pipe(Model.generated(Generator.objectId)),
  first: Schema.String,
  last: Schema.String,
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  state: Schema.Literals(["active", "gone"]),
  years: Schema.Int.pipe(Model.optional),
  balance: Schema.BigDecimal.pipe(Model.optional),
  address: Address,
  tags: Schema.Array(Schema.String),
  country: Schema.String.pipe(Model.withDefault(() => "unknown"))
}, {
  versions: [
    Model.was.renamed("age", "years"),
    Model.was.replaced(["first", "last"], { name: Schema.String }, { up: ({ name }) => splitName(name) }),
    Model.was.added("country")
  ]
}) {}

const adopted = (file: "beanie" | "mongoose"): ReadonlyArray<DocumentStore.Document> =>
  EJSON.parse(readFileSync(join(import.meta.dirname, `../support/adopted/${file}.json`), "utf8"), { relaxed: true })

storeMatrix((name, layer) => {
  describe(`versions of a model / ${name}`, () => {
    it.live("reads documents of an earlier form in the newest one, in every way of reading", () =>
      Effect.gen(function*() {
        const before = yield* seed
        const after = yield* Repository.make(After)
        const one = yield* after.findById("P04")
        assert.deepStrictEqual({ ...one }, {
          id: "P04",
          first: "Ada",
          last: "Turing",
          age: 24,
          email: "p4@example.com",
          city: "Berlin",
          tags: ["new"]
        })
        assert.lengthOf(yield* after.find(($) => $.first.equals("Ada")), 20)
        assert.lengthOf(yield* after.find(($) => $.age.greaterThanOrEqualTo(25)), 10)
        assert.strictEqual(yield* after.count(($) => $.last.equals("Hopper")), 13)
        assert.strictEqual(yield* after.count(($) => $.tags.contains("new")), 40)
        const sorted = yield* after.find(undefined, { sort: ["-age", "last"], page: 1, pageSize: 3 })
        assert.deepStrictEqual(sorted.map(({ age, last }) => [age, last]), [[26, "Hopper"], [26, "Lovelace"], [
          26,
          "Lovelace"
        ]])
        const page = yield* after.findPage(($) => $.city.equals("Berlin"), { sort: "last", pageSize: 15 })
        const rest = yield* after.findPage(($) => $.city.equals("Berlin"), {
          sort: "last",
          pageSize: 15,
          cursor: Option.getOrThrow(page.next)
        })
        assert.lengthOf(new Set([...page.items, ...rest.items].map(({ id }) => id)), 20)
        assert.sameMembers([...yield* after.distinct("first")], ["Ada", "Alan"])
        assert.deepStrictEqual(
          yield* Stream.runCollect(after.aggregate([
            { $match: { age: { $gte: 25 } } },
            { $group: { _id: "$first", n: { $sum: 1 } } },
            { $sort: { _id: 1 } }
          ])),
          [{ _id: "Ada", n: 5 }, { _id: "Alan", n: 5 }]
        )
        assert.lengthOf(yield* Stream.runCollect(after.stream(($) => $.email.isMissing().not())), 10)
        const [selected] = yield* after.find(($) => $.id.equals("P04"), { select: ["first", "city"] })
        assert.deepStrictEqual(selected, { first: "Ada", city: "Berlin" })
        // The older process still finds all of it.
        assert.strictEqual(yield* before.count(($) => $.name.equals("Ada Turing")), 6)
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("lets two versions write at once, without a lost write", () =>
      Effect.gen(function*() {
        const before = yield* seed
        const after = yield* Repository.make(After)
        // What the earlier form can't hold is kept.
        const inserted = new After({
          id: "N1",
          first: "Anna Maria",
          last: "von Berg",
          age: 30,
          city: "Rome",
          tags: ["a"]
        })
        yield* after.insert(inserted)
        assert.deepStrictEqual({ ...yield* after.findById("N1") }, { ...inserted })
        assert.strictEqual((yield* before.findById("N1")).name, "Anna Maria von Berg")
        // A write of the older process counts, and the rest is kept.
        yield* before.patch("N1", { age: "31" })
        assert.deepStrictEqual({ ...yield* after.findById("N1") }, { ...inserted, age: 31 })
        yield* before.patch("N1", { name: "Bo Li" })
        assert.deepStrictEqual({ ...yield* after.findById("N1") }, { ...inserted, age: 31, first: "Bo", last: "Li" })
        // An update of a changed field is computed from the newest form.
        yield* after.updateOne(($) => $.id.equals("N1"), ($) => [$.age.increment(2), $.first.set("Boris")])
        assert.strictEqual((yield* before.findById("N1")).age, "33")
        assert.strictEqual((yield* before.findById("N1")).name, "Boris Li")
        // Many writers of both versions.
        yield* Effect.all([
          ...Array.from({ length: 8 }, () => after.updateOne(($) => $.id.equals("P01"), ($) => [$.age.increment(1)])),
          ...Array.from({ length: 8 }, (_, i) => before.patch("P01", { city: `C${i}` }))
        ], { concurrency: "unbounded" })
        assert.strictEqual((yield* before.findById("P01")).age, "29")
        const many = yield* after.updateMany(($) => $.last.equals("Turing"), ($) => [$.last.set("T.")])
        assert.strictEqual(many.matchedCount, 13)
        assert.strictEqual(yield* before.count(($) => $.name.equals("Ada T.")), 6)
        assert.strictEqual(yield* after.deleteMany(($) => $.last.equals("T.")), 13)
        assert.strictEqual(yield* before.count(), 28)
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("upgrades documents while both versions serve, and answers as an upgraded copy would", () =>
      atOnce(Effect.gen(function*() {
        yield* seed
        const after = yield* Repository.make(After)
        const forms = yield* Upgrade.storedForms(After)
        assert.deepStrictEqual(forms, {
          model: "Person",
          collection: "Person",
          newest: 5,
          written: 1,
          isComplete: false,
          stored: [{ form: 1, documents: 40 }]
        })
        const answers = Effect.gen(function*() {
          return {
            ada: yield* after.count(($) => $.first.equals("Ada")),
            old: yield* Effect.map(
              after.find(($) => $.age.greaterThan(24), { sort: "-age" }),
              (all) => all.map(({ age }) => age)
            ),
            all: yield* Effect.map(Stream.runCollect(after.stream()), (all) => all.map((one) => ({ ...one })))
          }
        })
        const first = yield* answers
        yield* raiseUnderstood
        const [progress, during] = yield* Effect.all([
          Stream.runLast(Upgrade.upgrade(After, { batch: 7 })),
          Effect.forEach(Array.from({ length: 20 }), () => answers)
        ], { concurrency: 2 })
        for (const answer of during) assert.deepStrictEqual(answer, first)
        assert.strictEqual(Option.getOrThrow(progress).upgraded, 40)
        const now = yield* Upgrade.storedForms(After)
        assert.isTrue(now.isComplete)
        assert.deepStrictEqual(now.stored, [{ form: 5, documents: 40 }])
        assert.deepStrictEqual(yield* answers, first)
        assert.deepStrictEqual(yield* (yield* Repository.make(After)).findById("P04"), yield* after.findById("P04"))
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("installs a validator that admits the earlier forms until all documents are upgraded", () =>
      atOnce(Effect.gen(function*() {
        const before = yield* seed
        const after = yield* Repository.make(After)
        const store = yield* DocumentStore.DocumentStore
        yield* after.installValidator()
        yield* before.patch("P01", { city: "Rome" })
        yield* after.patch("P02", { first: "Augusta Ada", tags: ["a"] })
        yield* before.insert(new Before({ id: "N1", name: "Bo Li", age: "30", city: "Oslo" }))
        yield* after.insert(new After({ id: "N2", first: "Cy", last: "Day", age: 30, city: "Oslo" }))
        const rejection = (document: DocumentStore.Document) =>
          Effect.map(Effect.flip(store.insertOne("Person", document)), ({ _tag }) => _tag)
        assert.strictEqual(yield* rejection({ _id: "X1", name: 5, age: "1", city: "Rome" }), "QueryRejected")
        assert.strictEqual(
          yield* rejection({ _id: "X2", _form: 5, name: "A B", age: "1", city: "Rome" }),
          "QueryRejected"
        )
        yield* raiseUnderstood
        yield* Stream.runDrain(Upgrade.upgrade(After))
        assert.isTrue((yield* Upgrade.storedForms(After)).isComplete)
        yield* after.installValidator()
        assert.strictEqual(yield* rejection({ _id: "X3", name: "A B", age: "1", city: "Rome" }), "QueryRejected")
        yield* after.insert(new After({ id: "N3", first: "Cy", last: "Day", age: 30, city: "Oslo" }))
        yield* store.setValidator("Person", undefined)
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("keeps a value unique whose index has to wait for the upgrade", () =>
      atOnce(Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* seed
        const unique = yield* Repository.make(Unique)
        const person = (id: string, email: string) => new Unique({ id, name: "n", age: "1", city: "Rome", email })
        assert.strictEqual((yield* Effect.flip(unique.insert(person("U1", "p4@example.com"))))._tag, "DuplicateKey")
        const results = yield* Effect.all(
          Array.from({ length: 6 }, (_, i) => Effect.exit(unique.insert(person(`V${i}`, "same@example.com")))),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(results.filter(({ _tag }) => _tag === "Success"), 1)
        const patched = yield* Effect.flip(unique.patch("P00", { email: "p8@example.com" }))
        assert.strictEqual(patched._tag, "DuplicateKey")
        // The store has two of one value, which no version of the model has written.
        yield* store.insertMany(
          "Person",
          ["D1", "D2"].map((_id) => ({ _id, name: "n", age: "1", city: "x", mail: "d" }))
        )
        yield* raiseUnderstood
        const error = yield* Effect.flip(Stream.runDrain(Upgrade.upgrade(Unique)))
        assert.strictEqual(error._tag, "DuplicateKey")
        assert.isFalse((yield* Upgrade.storedForms(Unique)).isComplete)
        yield* store.deleteOne("Person", { _id: "D2" })
        yield* Stream.runDrain(Upgrade.upgrade(Unique))
        assert.isTrue((yield* Upgrade.storedForms(Unique)).isComplete)
        assert.deepStrictEqual((yield* store.listIndexes("Person")).map(({ name }) => name), ["email_1"])
        assert.strictEqual((yield* Effect.flip(unique.insert(person("U1", "p4@example.com"))))._tag, "DuplicateKey")
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("synchronises indexes with those that both versions need", () =>
      atOnce(Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const before = yield* Repository.make(Tenant)
        const after = yield* Repository.make(RenamedTenant)
        const names = Effect.map(store.listIndexes("Tenant"), (all) => all.map(({ name }) => name).toSorted())
        const installed = yield* names
        assert.includeMembers(installed, ["at_1_mail_1"])
        yield* store.createIndexes("Tenant", [{ name: "old_1", key: { old: 1 }, unique: false }])
        assert.deepStrictEqual((yield* after.syncIndexes).dropped, ["old_1"])
        assert.deepStrictEqual(yield* names, installed)
        // Documents of the earlier form are equal in the unique index of the newest one.
        yield* before.insert(new Tenant({ id: "T1", at: "a", mail: "1" }))
        yield* before.insert(new Tenant({ id: "T2", at: "a", mail: "2" }))
        yield* raiseUnderstoodOf("Tenant")
        yield* after.syncIndexes
        assert.notInclude(yield* names, "at_1_mail_1")
        yield* Stream.runDrain(Upgrade.upgrade(RenamedTenant))
        yield* after.syncIndexes
        assert.deepStrictEqual(yield* names, ["at_1_email_1"])
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("keeps a value unique that a way up computes", () =>
      atOnce(Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.insertMany(
          "Member",
          Array.from({ length: 30 }, (_, i) => ({ _id: `M${i}`, mail: { user: `U${i}`, host: "Example.com" } }))
        )
        const members = yield* Repository.make(Member)
        const insert = (id: string, mail: string) => members.insert(new Member({ id, mail }))
        assert.strictEqual((yield* Effect.flip(insert("N1", "u7@example.com")))._tag, "DuplicateKey")
        assert.strictEqual((yield* Effect.flip(members.patch("M1", { mail: "u2@example.com" })))._tag, "DuplicateKey")
        yield* insert("N1", "new@example.com")
        assert.strictEqual((yield* Effect.flip(insert("N2", "new@example.com")))._tag, "DuplicateKey")
        yield* store.updateOne("appkernel.forms", { _id: "Member" }, { $set: { understood: 2 } }, { upsert: true })
        yield* Stream.runDrain(Upgrade.upgrade(Member))
        assert.deepStrictEqual((yield* store.listIndexes("Member")).map(({ name }) => name), ["mail_1"])
        assert.strictEqual((yield* Effect.flip(insert("N2", "u7@example.com")))._tag, "DuplicateKey")
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("reads a few documents for a unique value, also where the earlier form has an index of its own", () =>
      atOnce(Effect.gen(function*() {
        const base = yield* DocumentStore.DocumentStore
        let read = 0
        const store: DocumentStore.DocumentStore["Service"] = {
          ...base,
          stream: (collection, options) =>
            Stream.tap(base.stream(collection, options), () =>
              Effect.sync(() => {
                read += 1
              }))
        }
        yield* Effect.gen(function*() {
          const before = yield* Repository.make(Tenant)
          yield* before.bulkInsert(
            Array.from({ length: 30 }, (_, i) => new Tenant({ id: `T${i}`, at: "a", mail: `${i}` }))
          )
          const after = yield* Repository.make(RenamedTenant)
          const insert = (id: string, email: string, at = "a") => after.insert(new RenamedTenant({ id, at, email }))
          const isTaken = <A, E extends { readonly _tag: string }>(write: Effect.Effect<A, E>) =>
            Effect.map(Effect.flip(write), ({ _tag }) => assert.strictEqual(_tag, "DuplicateKey"))
          yield* insert("N1", "new")
          yield* isTaken(insert("N2", "7"))
          yield* raiseUnderstoodOf("Tenant")
          // A start takes the index of the earlier form away, in which all documents of the newest one would be equal.
          yield* Repository.make(RenamedTenant)
          yield* insert("N3", "newest", "b")
          yield* insert("N4", "another")
          yield* after.patch("T1", { email: "1b" })
          yield* isTaken(insert("N5", "7"))
          yield* isTaken(insert("N5", "new"))
          yield* isTaken(insert("N5", "another"))
          yield* isTaken(after.patch("T2", { email: "3" }))
          yield* insert("N6", "7", "b")
          // A field that has not changed is part of the same index.
          yield* isTaken(after.patch("N6", { at: "a" }))
          yield* isTaken(after.updateMany(($) => $.id.equals("N6"), ($) => [$.at.set("a")]))
          assert.isAtMost(read, 20)
          yield* Stream.runDrain(Upgrade.upgrade(RenamedTenant))
          yield* isTaken(insert("N7", "7"))
          assert.deepStrictEqual((yield* store.listIndexes("Tenant")).map(({ name }) => name), ["at_1_email_1"])
          const marks = yield* store.find("appkernel.forms", {})
          assert.deepStrictEqual(marks.map(({ _id }) => _id), ["Tenant"])
        }).pipe(Effect.provideService(DocumentStore.DocumentStore, store))
      })).pipe(Effect.provide(layer), Effect.scoped))

    for (const [kind, model] of [["", Traits], [" and versions", RenamedTraits]] as const) {
      it.live(`reads documents from before their model had traits${kind}`, () =>
        Effect.gen(function*() {
          const before = yield* seed
          const people: Repository.Repository<typeof Traits> = yield* Repository.make(
            // The tests use what both models have.
            model as unknown as typeof Traits
          )
          const one = yield* people.findById("P04")
          assert.deepStrictEqual([one.version, one.revision, one.inserted.epochMilliseconds], [0, 0, 0])
          assert.isUndefined(one.created_by)
          const early = DateTime.makeUnsafe("1999-01-01T00:00:00Z")
          assert.strictEqual(yield* people.count(($) => $.version.equals(0)), 40)
          assert.strictEqual(yield* people.count(($) => $.version.lessThan(1)), 40)
          assert.strictEqual(yield* people.count(($) => $.version.notEquals(0)), 0)
          assert.strictEqual(yield* people.count(($) => $.inserted.lessThan(early)), 40)
          assert.strictEqual(yield* people.count(($) => $.updated.greaterThan(early)), 0)
          const patched = yield* people.patch("P04", { city: "Rome", version: 0 })
          assert.deepStrictEqual([patched.version, patched.revision, patched.inserted.epochMilliseconds], [1, 1, 0])
          assert.isAbove(patched.updated.epochMilliseconds, 0)
          const conflict = yield* Effect.flip(people.patch("P04", { city: "x", version: 0 }))
          assert.strictEqual(conflict._tag, "VersionConflict")
          const read = yield* people.findById("P05")
          const replaced = yield* Effect.forEach(["Oslo", "Bern", "Wien"], (city) =>
            Effect.exit(people.replace(Object.assign(Object.create(Object.getPrototypeOf(read)), read, { city }))), {
            concurrency: "unbounded"
          })
          assert.lengthOf(
            replaced.filter(({ _tag }) =>
              _tag === "Success"
            ),
            1
          )
          assert.strictEqual((yield* people.findById("P05")).version, 1)
          yield* people.updateOne(($) =>
            $.id.equals("P07"), ($) => [$.city.set("Rome")])
          assert.strictEqual((yield* people.findById("P07")).version, 1)
          // Those that nobody has written since come first.
          const paged: Array<string> = []
          let page = yield* people.findPage(undefined, { sort: ["version", "inserted"], pageSize: 15 })
          while (Option.isSome(page.next)) {
            paged.push(...page.items.map(({ id }) => id))
            page = yield* people.findPage(undefined, {
              sort: ["version", "inserted"],
              pageSize: 15,
              cursor: page.next.value
            })
          }
          paged.push(...page.items.map(({ id }) => id))
          assert.deepStrictEqual([new Set(paged).size, paged.slice(-3)], [40, ["P04", "P05", "P07"]])
          assert.strictEqual((yield* Effect.flip(people.deleteById("P06", { version: 1 })))._tag, "VersionConflict")
          yield* people.deleteById("P06", { version: 0 })
          assert.strictEqual(yield* people.count(), 39)
          const history = yield* people.history("P04")
          assert.deepStrictEqual(history.map(({ change, revision }) => [change, revision]), [["patch", 1], [
            "baseline",
            0
          ]])
          assert.strictEqual((yield* history[1]!.instance).city, "Berlin")
          assert.strictEqual((yield* before.findById("P04")).city, "Rome")
        }).pipe(Effect.provide(layer), Effect.scoped))
    }

    it.live("gives a document what a generator makes, the same each time and in every process", () =>
      Effect.gen(function*() {
        yield* seed
        const people = yield* Repository.make(RenamedTraits)
        const codes = Effect.map(people.find(undefined, { sort: "id" }), (all) => all.map(({ code }) => code))
        const first = yield* codes
        assert.lengthOf(new Set(first), 40)
        assert.match(first[0]!, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u)
        assert.strictEqual((yield* people.findById("P03")).code, first[3])
        assert.deepStrictEqual((yield* people.find(($) => $.code.equals(first[3]!))).map(({ id }) => id), ["P03"])
        yield* people.patch("P03", { city: "Rome" })
        const [other, again] = [yield* Repository.make(RenamedTraits), yield* codes]
        assert.deepStrictEqual(again, first)
        assert.strictEqual((yield* other.findById("P03")).code, first[3])
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("reads a history in the newest form", () =>
      Effect.gen(function*() {
        class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String, ...Model.historied }) {}
        class Memo extends Model.Class<Memo>()("Note", { id: Model.id(), body: Schema.String, ...Model.historied }, {
          versions: [Model.was.renamed("text", "body")]
        }) {}
        const notes = yield* Repository.make(Note)
        yield* notes.insert(new Note({ id: "N", text: "a", revision: 0 }))
        yield* notes.patch("N", { text: "b" })
        const memos = yield* Repository.make(Memo)
        yield* memos.patch("N", { body: "c" })
        const texts = yield* Effect.forEach(yield* memos.history("N"), ({ instance }) =>
          Effect.map(instance, ({ body }) => body))
        assert.deepStrictEqual(texts, ["c", "b", "a"])
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("records in a history what is stored of what a caller of an earlier form writes", () =>
      Effect.gen(function*() {
        class PassV1 extends Model.Class<PassV1>()("Pass", {
          id: Model.id(),
          name: Schema.String,
          ...Model.historied
        }) {}
        class Pass extends Model.Class<Pass>()("Pass", {
          id: Model.id(),
          first: Schema.String,
          last: Schema.String,
          code: Schema.String.pipe(Model.generated(Generator.uuid())),
          ...Model.historied
        }, {
          versions: [
            Model.was.added("code"),
            Model.was.replaced(["first", "last"], { name: Schema.String }, {
              up: ({ name }) => ({ first: name.slice(0, name.indexOf(" ")), last: name.slice(name.indexOf(" ") + 1) }),
              down: ({ first, last }) => ({ name: `${first} ${last}` })
            })
          ]
        }) {}
        const passes = yield* Repository.make(Pass)
        const earlier = yield* Repository.make(Model.form(Pass, 1, PassV1))
        const named = (id: string) => new PassV1({ id, name: "Bo Li", revision: 0 })
        const compared = Effect.fnUntraced(function*(id: string) {
          const [latest] = yield* passes.history(id)
          const now = yield* passes.findById(id)
          assert.deepStrictEqual(yield* latest!.instance, now)
          return now
        })
        yield* passes.insert(Pass.make({ id: "1", first: "Anna Maria", last: "Lee" }))
        const { code } = yield* passes.findById("1")
        yield* earlier.replace(yield* earlier.findById("1"))
        assert.deepInclude(yield* compared("1"), { first: "Anna Maria", last: "Lee", code, revision: 2 })
        yield* earlier.insert(named("2"))
        yield* earlier.save(named("3"))
        yield* earlier.bulkInsert([named("4"), named("5")])
        const codes = yield* Effect.forEach(["2", "3", "4", "5"], (id) => Effect.map(compared(id), ({ code }) => code))
        assert.lengthOf(new Set(codes), 4)
      }).pipe(Effect.provide(layer), Effect.scoped))

    for (const library of ["beanie", "mongoose"] as const) {
      it.live(`adopts a collection that ${library} has written`, () =>
        atOnce(Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const documents = adopted(library)
          yield* store.insertMany("Customer", documents)
          const customers = yield* Repository.make(Customer)
          const [ada, bob] = yield* customers.find(undefined, { sort: "-last" })
          assert.deepInclude({ ...ada }, {
            first: "Ada",
            last: "Lovelace",
            years: 36,
            state: "active",
            country: "unknown"
          })
          assert.strictEqual(String(ada?.balance), "BigDecimal(12.5)")
          assert.deepInclude({ ...bob }, { first: "", last: "Bob", years: 40, state: "gone" })
          assert.strictEqual(yield* customers.count(($) => $.years.greaterThan(38)), 1)
          yield* customers.patch(ada!.id, { years: 37 })
          assert.lengthOf(yield* Stream.runCollect(Upgrade.misfits(Customer)), 0)
          yield* store.updateOne("appkernel.forms", { _id: "Customer" }, { $max: { understood: 4 } }, { upsert: true })
          yield* Stream.runDrain(Upgrade.upgrade(Customer))
          assert.isTrue((yield* Upgrade.storedForms(Customer)).isComplete)
          assert.strictEqual(yield* customers.count(($) => $.last.equals("Lovelace")), 1)
          // What the model does not name stays as it is.
          const [raw] = yield* store.find("Customer", { filter: { first: "Ada" } })
          assert.deepStrictEqual(raw?.["revision_id"] ?? raw?.["__v"], documents[0]?.["revision_id"] ?? 0)
        })).pipe(Effect.provide(layer), Effect.scoped))
    }

    it.live("names a document that has no way up, and keeps it as it is", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* seed
        yield* store.insertOne("Person", { _id: "bad", name: 5, age: "1", city: "Rome" })
        const after = yield* Repository.make(After)
        const error = yield* Effect.flip(after.findById("bad"))
        assert.include(error.message, "_form is 1, and can't be brought to 2; name must be a text")
        const misfits = yield* Stream.runCollect(Upgrade.misfits(After))
        assert.deepStrictEqual(misfits.map(({ form, id }) => [id, form]), [["bad", 1]])
        assert.strictEqual((yield* Effect.flip(after.find()))._tag, "DocumentInvalid")
      }).pipe(Effect.provide(layer), Effect.scoped))
  })
})

const raiseUnderstoodOf = (collection: string) => sayUnderstood(collection, 5)

const raiseUnderstood = raiseUnderstoodOf("Person")

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id(),
  body: Schema.String.pipe(Model.indexed(Index.text())),
  place: Schema.String
}, {
  versions: [Model.was.renamed("text", "body")]
}) {}

const Point = Schema.Struct({ type: Schema.Literal("Point"), coordinates: Schema.Array(Schema.Finite) })

class Place extends Model.Class<Place>()("Place", { id: Model.id(), title: Schema.String, at: Point, seat: Point }, {
  versions: [Model.was.renamed("name", "title"), Model.was.renamed("pos", "at")],
  indexes: [Index.compound({ at: "2dsphere" }), Index.compound({ seat: "2dsphere" })]
}) {}

interface TreeStored {
  readonly _type?: "Tree"
  readonly id: string
  readonly title: string
  readonly parts: ReadonlyArray<TreeStored>
}

class Tree extends Model.Class<Tree>()("Tree", {
  id: Model.id(),
  title: Schema.String,
  parts: Schema.Array(Schema.suspend((): Schema.Codec<Tree, TreeStored> => Tree))
}, { versions: [Model.was.renamed("name", "title")] }) {}

class Envelope extends Model.Class<Envelope>()("Envelope", { id: Model.id(), letter: Letter }) {}

describe("versions / what they refuse", () => {
  it.live("a text search of changed fields, with the command that ends it", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertOne("Letter", { _id: "L", text: "warm words", place: "Rome" })
      const letters = yield* Repository.make(Letter)
      const search = () => Query.text("warm")
      const sentence =
        "changed fields can't be searched by $text while Letter is stored in earlier forms: run `appkernel upgrade"
      assert.include((yield* Effect.flip(letters.find(search))).message, sentence)
      assert.include((yield* Effect.flip(letters.count(search))).message, sentence)
      assert.lengthOf(yield* letters.find(($) => $.place.equals("Rome")), 1)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.live("a search by distance that the store can't make, with the command that ends it", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const point = { type: "Point" as const, coordinates: [1, 0] }
      yield* store.insertOne("Place", { _id: "P", name: "Inn", pos: point, seat: point })
      const places = yield* Repository.make(Place)
      const near = { at: { $near: { $geometry: point } }, title: "Inn" }
      const sentence = "at can't be searched by distance while Place is stored in earlier forms: run `appkernel upgrade"
      assert.include((yield* Effect.flip(documentOperationsOf(places).find({ filter: near }))).message, sentence)
      const geoNear = { $geoNear: { near: point, distanceField: "d", key: "seat", spherical: true } }
      assert.include(
        (yield* Effect.flip(Stream.runCollect(places.aggregate([geoNear])))).message,
        "$geoNear needs documents of one form while Place is stored in earlier forms: run `appkernel upgrade"
      )
      yield* sayUnderstood("Place", 3)
      yield* Stream.runDrain(Upgrade.upgrade(Place))
      const now = yield* Repository.make(Place)
      assert.lengthOf(yield* documentOperationsOf(now).find({ filter: near }), 1)
      assert.lengthOf(yield* Stream.runCollect(now.aggregate([geoNear])), 1)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.live("a model with versions in a field of another one", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Repository.make(Envelope))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "Envelope has Letter in a field")
      const nested = yield* Effect.exit(Repository.make(Tree))
      assert.include(Exit.isFailure(nested) ? Cause.pretty(nested.cause) : "", "Tree has Tree in a field")
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
