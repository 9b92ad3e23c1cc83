import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, Model, Repository, Validator } from "../../src/index.ts"
import { Address, Badge, newUser, Note, Reminder, User } from "../support/models.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

/** With fields that the server sets. */
class Claim extends Model.Class<Claim>()("Claim", {
  id: Model.id(),
  title: Schema.String,
  state: Schema.Literals(["new", "paid"]).pipe(Model.withDefault(() => "new" as const), Model.readOnly),
  reason: Schema.String.pipe(Model.optional, Model.readOnly),
  address: Address.pipe(Model.optional, Model.readOnly),
  ...Model.audited
}) {}

/** What a repository does, whichever store is under it. */
storeMatrix((name, store) =>
  it.layer(
    Layer.mergeAll(
      Repository.layer(User),
      Repository.layer(Note),
      Repository.layer(Reminder),
      Repository.layer(Badge),
      Repository.layer(Claim)
    ).pipe(Layer.provideMerge(store))
  )(
    `Repository / ${name}`,
    (it) => {
      const finalised = (email: string, more: Partial<typeof User.create.Type> = {}) =>
        Model.finalise(User, newUser({ email, ...more }))

      it.effect("finds saved documents as instances", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const jane = yield* users.save(
            yield* finalised("save@example.com", { age: 30, address: { street: "Main", city: "Bern" } })
          )
          const found = yield* users.findById(jane.id)
          assert.deepStrictEqual(found, jane)
          assert.instanceOf(found, User)
          assert.instanceOf(found.address, Address)
          assert.strictEqual(found.version, 1)
        }))

      it.effect("fails with DocumentNotFound for an unknown identifier", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const error = yield* Effect.flip(users.findById("U-none"))
          assert.strictEqual(error._tag, "DocumentNotFound")
          assert.strictEqual(error.message, "User U-none does not exist")
          assert.strictEqual((yield* Effect.flip(users.deleteById("U-none")))._tag, "DocumentNotFound")
          const patched = yield* Effect.flip(users.patch("U-none", { name: "x" }))
          assert.strictEqual(patched._tag, "DocumentNotFound")
        }))

      it.effect("removes the given version only, and reports the actual one on a conflict", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const { id } = yield* users.insert(yield* finalised("versions@example.com"))
          yield* users.patch(id, { name: "Joan" })
          const conflict = yield* Effect.flip(users.deleteById(id, { version: 1 }))
          assert.deepInclude(conflict, { _tag: "VersionConflict", id, expected: 1 })
          assert.strictEqual((yield* users.findById(id)).version, 2)
          yield* users.deleteById(id, { version: 2 })
          assert.strictEqual((yield* Effect.flip(users.findById(id)))._tag, "DocumentNotFound")
          const missing = yield* Effect.flip(users.deleteById(id, { version: 2 }))
          assert.strictEqual(missing._tag, "DocumentNotFound")
          // A version that no model has means nothing.
          const notes = yield* Repository.for(Note)
          const note = yield* notes.insert(yield* Model.finalise(Note, { text: "unversioned" }))
          yield* notes.deleteById(note.id, { version: 9 })
        }))

      it.effect("removes a version once under concurrent requests", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const { id } = yield* users.insert(yield* finalised("removed-once@example.com"))
          const outcomes = yield* Effect.forEach(
            [1, 2, 3, 4],
            () => Effect.result(users.deleteById(id, { version: 1 })),
            { concurrency: 4 }
          )
          assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, 1)
        }))

      it.effect("rejects a second document with a unique value, and names index and fields", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          yield* users.insert(yield* finalised("unique@example.com"))
          const error = yield* Effect.flip(users.insert(yield* finalised("unique@example.com")))
          assert.strictEqual(error._tag, "DuplicateKey")
          if (error._tag === "DuplicateKey") {
            assert.deepStrictEqual([error.collection, error.index, error.fields], ["User", "email_1", ["email"]])
          }
          assert.notInclude(error.message, "unique@example.com")
        }))

      it.effect("filters, sorts and pages", () =>
        Effect.gen(function*() {
          const notes = yield* Repository.for(Note)
          const all = yield* Effect.forEach(
            ["d", "a", "c", "b", "e"],
            (text, rank) => Model.finalise(Note, { text, rank: rank % 2 })
          )
          assert.strictEqual(yield* notes.bulkInsert(all), 5)
          const texts = (page: number, sort: "text" | "-text" = "text") =>
            Effect.map(
              notes.find(undefined, { sort, page, pageSize: 2 }),
              (found) => found.map(({ text }) => text)
            )
          assert.deepStrictEqual(yield* texts(1), ["a", "b"])
          assert.deepStrictEqual(yield* texts(3), ["e"])
          assert.deepStrictEqual(yield* texts(1, "-text"), ["e", "d"])
          const odd = yield* notes.find(($) => $.rank.equals(1), { sort: "text" })
          assert.deepStrictEqual(odd.map(({ text }) => text), ["a", "b"])
          assert.strictEqual(yield* notes.count(($) => $.rank.equals(0)), 3)
          assert.strictEqual(yield* notes.count(($) => $.rank.equals(0).and($.text.in(["d", "e", "b"]))), 2)
          assert.strictEqual(yield* notes.count(($) => $.text.equals("a").or($.text.equals("b"))), 2)
          assert.strictEqual(yield* notes.count(), 5)
          yield* Effect.forEach(all, ({ id }) => notes.deleteById(id))
          assert.strictEqual(yield* notes.count(), 0)
        }))

      it.effect("queries nested fields, lists, dates and identifiers by their decoded values", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const jane = yield* users.save(
            yield* finalised("query@example.com", { roles: ["user", "query"], address: { street: "S", city: "Chur" } })
          )
          const only = (found: ReadonlyArray<User>) => assert.deepStrictEqual(found, [jane])
          only(yield* users.find(($) => $.address.city.equals("Chur")))
          only(yield* users.find(($) => $.roles.contains("query")))
          only(yield* users.find(($) => $.created.equals(jane.created).and($.email.equals(jane.email))))
          only(yield* users.find(($) => $.id.equals(jane.id)))
        }))

      it.effect("increments the version of a document, and rejects a stale one", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const first = yield* users.save(yield* finalised("version@example.com"))
          const second = yield* users.save(new User({ ...first, name: "Second" }))
          assert.deepStrictEqual([first.version, second.version], [1, 2])
          const stale = yield* Effect.flip(users.save(new User({ ...first, name: "Stale" })))
          assert.strictEqual(stale._tag, "VersionConflict")
          assert.strictEqual((yield* Effect.flip(users.replace(first)))._tag, "VersionConflict")
          assert.strictEqual(
            (yield* Effect.flip(users.patch(first.id, { name: "Stale", version: 1 })))._tag,
            "VersionConflict"
          )
          assert.strictEqual((yield* users.findById(first.id)).name, "Second")
          assert.strictEqual((yield* users.patch(first.id, { name: "Third", version: 2 })).version, 3)
          assert.strictEqual((yield* users.patch(first.id, { age: 1 })).version, 4)
        }))

      it.effect("replaces existing documents only", () =>
        Effect.gen(function*() {
          const notes = yield* Repository.for(Note)
          const note = yield* Model.finalise(Note, { text: "new", rank: 1 })
          assert.strictEqual((yield* Effect.flip(notes.replace(note)))._tag, "DocumentNotFound")
          yield* notes.save(note)
          yield* notes.replace(new Note({ id: note.id, text: "replaced" }))
          assert.deepStrictEqual(yield* notes.findById(note.id), new Note({ id: note.id, text: "replaced" }))
          yield* notes.deleteById(note.id)
        }))

      it.effect("patches the named fields, merges nested models, and removes by null", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const jane = yield* users.save(
            yield* finalised("patch@example.com", { age: 3, address: { street: "Old", city: "Bern" } })
          )
          const patched = yield* users.patch(jane.id, { age: null, address: { city: "Thun" }, roles: ["a", "b"] })
          assert.isUndefined(patched.age)
          assert.deepStrictEqual(patched.address, new Address({ street: "Old", city: "Thun" }))
          assert.deepStrictEqual(patched.roles, ["a", "b"])
          assert.strictEqual(patched.name, jane.name)
          assert.deepStrictEqual(yield* users.findById(jane.id), patched)
        }))

      it.effect("sets by code the fields that callers can't send", () =>
        Effect.gen(function*() {
          const claims = yield* Repository.for(Claim)
          const { id } = yield* claims.insert(new Claim({ title: "Hail" }))
          const address = { street: "Main", city: "Bern" }
          const patched = yield* claims.patch(id, { title: "Storm", state: "paid", reason: "insured", address })
          assert.deepInclude(patched, {
            title: "Storm",
            state: "paid",
            reason: "insured",
            address: new Address(address)
          })
          assert.isUndefined((yield* claims.patch(id, { reason: null })).reason)
          yield* claims.updateOne(
            ($) => $.id.equals(id),
            ($) => [$.state.set("new"), $.reason.set("again"), $.address.city.set("Thun")]
          )
          const updated = yield* claims.findById(id)
          assert.deepInclude(updated, {
            state: "new",
            reason: "again",
            address: new Address({ ...address, city: "Thun" })
          })
          yield* claims.updateOne(($) => $.id.equals(id), ($) => [$.reason.unset()])
          assert.isUndefined((yield* claims.findById(id)).reason)
        }))

      it.effect("does not write a patch that makes the document invalid", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const jane = yield* users.save(yield* finalised("invalid@example.com"))
          const error = yield* Effect.flip(users.patch(jane.id, { name: "", address: { city: "Bern" } }))
          assert.isTrue(error._tag === "PropertyRequiredException")
          if (error._tag === "PropertyRequiredException") {
            assert.deepStrictEqual(error.problems.map(({ field, validator }) => `${field} ${validator}`), [
              "address.street Required",
              "name NotEmpty"
            ])
          }
          assert.deepStrictEqual(yield* users.findById(jane.id), jane)
        }))

      it.effect("stops a bulk insert at the first rejected instance", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const instances = yield* Effect.forEach(
            ["b1", "b2", "b1", "b3"],
            (name) => finalised(`${name}@bulk.example.com`)
          )
          const error = yield* Effect.flip(users.bulkInsert(instances))
          if (error._tag !== "BulkInsertFailed") return assert.fail(error._tag)
          assert.strictEqual(error.insertedCount, 2)
          assert.deepStrictEqual(error.failures.map(({ error, index }) => [index, error._tag]), [[2, "DuplicateKey"]])
          assert.notInclude(error.message, "bulk.example.com")
          const count = yield* users.count(($) => $.email.in(instances.map(({ email }) => email)))
          assert.strictEqual(count, 2)
        }))

      it.effect("an unordered bulk insert inserts all valid instances, and reports the position of each rejected one", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const instances = yield* Effect.forEach(
            ["u1", "u1", "u2", "u2", "u3"],
            (name) => finalised(`${name}@unordered.example.com`)
          )
          const error = yield* Effect.flip(users.bulkInsert(instances, { ordered: false }))
          if (error._tag !== "BulkInsertFailed") return assert.fail(error._tag)
          assert.strictEqual(error.insertedCount, 3)
          assert.deepStrictEqual(error.failures.map(({ index }) => index), [1, 3])
        }))

      it.effect("one of many concurrent inserts of a unique value succeeds", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          const tags = yield* Effect.forEach(
            Array.from({ length: 200 }, () => "race@example.com"),
            (email) =>
              Effect.matchEffect(Effect.flatMap(finalised(email), users.insert), {
                onFailure: (error) => Effect.succeed<string>(error._tag),
                onSuccess: () => Effect.succeed("inserted")
              }),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(tags.filter((tag) => tag === "inserted").length, 1)
          assert.deepStrictEqual(tags.filter((tag) => tag === "DuplicateKey").length, 199)
        }))

      it.effect("reads an old document without a defaulted field, and reports the errors of an invalid one", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const users = yield* Repository.for(User)
          const created = new Date(0)
          const old = {
            _id: "U-old",
            name: "Old",
            email: "old@example.com",
            password: "x",
            created,
            version: 1,
            age: null
          }
          yield* store.insertOne("User", old)
          const user = yield* users.findById("U-old")
          assert.deepStrictEqual([user.roles, user.active, user.previous], [["user"], true, []])
          assert.isUndefined(user.age)
          yield* store.insertOne("User", { ...old, _id: "U-broken", email: "broken@example.com", name: 7 })
          const error = yield* Effect.flip(users.findById("U-broken"))
          assert.strictEqual(error._tag, "DocumentInvalid")
          assert.include(error.message, "name")
        }))

      it.effect("keeps null where it is a value, and reads documents that break a validator", () =>
        Effect.gen(function*() {
          const reminders = yield* Repository.for(Reminder)
          const reminder = yield* Model.finalise(Reminder, { at: DateTime.makeUnsafe(1_000), done: null })
          yield* reminders.save(reminder)
          yield* TestClock.adjust("1 hour")
          assert.deepStrictEqual(yield* reminders.findById(reminder.id), reminder)
          assert.strictEqual((yield* Effect.flip(Model.finalise(Reminder, { ...reminder }))).problems[0]?.field, "at")
        }))

      it.effect("accepts any number of documents without an optional unique field", () =>
        Effect.gen(function*() {
          const badges = yield* Repository.for(Badge)
          for (const code of [undefined, undefined, "a"]) {
            yield* badges.insert(yield* Model.finalise(Badge, code === undefined ? {} : { code }))
          }
          const error = yield* Effect.flip(badges.insert(yield* Model.finalise(Badge, { code: "a" })))
          assert.strictEqual(error._tag, "DuplicateKey")
        }))

      it.effect("accepts any number of documents without the nested models that have a unique field", () =>
        Effect.gen(function*() {
          class Tag extends Model.Class<Tag>()("Tag", { code: Schema.String.pipe(Validator.unique) }) {}
          class Case extends Model.Class<Case>()("Case", {
            id: Model.id(),
            maybe: Tag.pipe(Model.optional),
            nullable: Schema.NullOr(Tag),
            list: Schema.Array(Tag)
          }) {}
          const cases = yield* Repository.make(Case)
          const none = { nullable: null, list: [] }
          for (let i = 0; i < 3; i++) yield* cases.insert(yield* Model.finalise(Case, none))
          const tag = new Tag({ code: "a" })
          for (const one of [{ ...none, maybe: tag }, { ...none, nullable: tag }, { ...none, list: [tag] }]) {
            yield* cases.insert(yield* Model.finalise(Case, one))
            const error = yield* Effect.flip(cases.insert(yield* Model.finalise(Case, one)))
            assert.strictEqual(error._tag, "DuplicateKey")
          }
        }))

      it.effect("merges records with any keys", () =>
        Effect.gen(function*() {
          const badges = yield* Repository.for(Badge)
          const badge = yield* badges.insert(yield* Model.finalise(Badge, { labels: { x: "1" } }))
          const named = { "a.b": "v", "": "w", y: "2" }
          const labels = { x: "1", ...named }
          assert.deepStrictEqual((yield* badges.patch(badge.id, { labels: named })).labels, labels)
          assert.deepStrictEqual((yield* badges.findById(badge.id)).labels, labels)
        }))

      it.effect("stores only validated combinations of concurrent patches of a model without a version", () =>
        Effect.gen(function*() {
          const badges = yield* Repository.for(Badge)
          const badge = yield* badges.insert(yield* Model.finalise(Badge, { place: { street: "S", city: "C" } }))
          yield* Effect.forEach(
            [null, { city: "X" }, { city: "Y" }, { street: "Z" }],
            (place) => Effect.ignore(badges.patch(badge.id, { place })),
            { concurrency: 4 }
          )
          const { place } = yield* badges.findById(badge.id)
          assert.isTrue(place === undefined || place.city !== "" && place.street !== "")
        }))

      it.effect("installs the indexes of the model", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const indexes = (yield* store.listIndexes("User")).map(({ name, unique }) => [name, unique === true])
          assert.sameDeepMembers(indexes, [["email_1", true], ["address.city_1", false], ["previous.city_1", false]])
        }))
    }
  )
)
