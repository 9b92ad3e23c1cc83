/** Three releases of a model on one store: what the newest one keeps for itself stays through the work of those between. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { DocumentStore, Model, Repository, Upgrade } from "../../src/index.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { atOnce, sayUnderstood } from "../support/upgrades.ts"

class First extends Model.Class<First>()("Author", {
  id: Model.id(),
  mail: Schema.String,
  full: Schema.String,
  ...Model.historied
}) {}

class Second extends Model.Class<Second>()("Author", {
  id: Model.id(),
  email: Schema.String,
  full: Schema.String,
  ...Model.historied
}, { versions: [Model.was.renamed("mail", "email")] }) {}

/** The first form for callers of the second release. */
const FirstOfSecond = Model.form(
  Second,
  1,
  class extends Model.Class<First>()("Author", {
    id: Model.id(),
    mail: Schema.String,
    full: Schema.String,
    ...Model.historied
  }) {}
)

class Third extends Model.Class<Third>()("Author", {
  id: Model.id(),
  email: Schema.String,
  first: Schema.String,
  last: Schema.String,
  ...Model.historied
}, {
  versions: [
    Model.was.renamed("mail", "email"),
    Model.was.replaced(["first", "last"], { full: Schema.String }, {
      up: ({ full }) => ({ first: full.split(" ")[0] ?? "", last: full.split(" ").slice(1).join(" ") }),
      down: ({ first, last }) => ({ full: `${first} ${last}` })
    })
  ]
}) {}

const names = ({ email, first, last }: Third) => [email, first, last]

/** Has the releases on one store, an author of the third one, and what of the author that one reads. */
const releases = Effect.gen(function*() {
  const [first, second, third] = [
    yield* Repository.make(First),
    yield* Repository.make(Second),
    yield* Repository.make(Third)
  ]
  yield* first.insert(new First({ id: "old", mail: "o@x", full: "O Ld", revision: 0 }))
  yield* third.insert(new Third({ id: "a", email: "a@x", first: "Ada Maria", last: "Byron", revision: 0 }))
  return { first, second, third, read: Effect.map(third.findById("a"), names) }
})

const finishSecond = Effect.andThen(
  sayUnderstood("Author", 2),
  Effect.suspend(() => Stream.runDrain(Upgrade.upgrade(Second)))
)

storeMatrix((name, layer) =>
  describe(`three releases of a model / ${name}`, () => {
    for (const isFinished of [false, true]) {
      const state = isFinished ? "after" : "before"
      it.live(`keep what the third one wrote when the second one writes, ${state} it is finished`, () =>
        atOnce(Effect.gen(function*() {
          yield* Effect.flatMap(Repository.make(First), (first) =>
            first.insert(new First({ id: "early", mail: "e@x", full: "E Arly", revision: 0 })))
          if (isFinished) {
            yield* finishSecond
          }
          const { first, read, second, third } = yield* releases
          yield* second.patch("a", { email: "b@x" })
          assert.deepStrictEqual(yield* read, ["b@x", "Ada Maria", "Byron"])
          yield* second.updateOne(($) =>
            $.email.equals("b@x"), ($) => [$.email.set("c@x")])
          yield* second.updateMany(($) => $.email.equals("c@x"), ($) => [$.email.set("d@x")])
          assert.deepStrictEqual(yield* read, ["d@x", "Ada Maria", "Byron"])
          yield* (yield* Repository.make(FirstOfSecond)).patch("a", { mail: "e@x" })
          assert.deepStrictEqual(yield* read, ["e@x", "Ada Maria", "Byron"])
          if (!isFinished) {
            yield* first.patch("a", { mail: "f@x" })
            assert.deepStrictEqual(yield* read, ["f@x", "Ada Maria", "Byron"])
          }
          const states = yield* Effect.forEach(yield* third.history("a"), ({ instance }) => Effect.map(instance, names))
          for (const [, ...kept] of states) assert.deepStrictEqual(kept, ["Ada Maria", "Byron"])
          // A write of the second one to what the third one has split counts.
          yield* second.patch("a", { full: "Bo Li" })
          assert.deepStrictEqual((yield* read).slice(1), ["Bo", "Li"])
        })).pipe(Effect.provide(layer), Effect.scoped))
    }

    it.live("keep what the third one wrote when documents are upgraded to the second form", () =>
      atOnce(Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const { read, third } = yield* releases
        yield* finishSecond
        assert.deepStrictEqual(yield* read, ["a@x", "Ada Maria", "Byron"])
        assert.isTrue((yield* Upgrade.storedForms(Second)).isComplete)
        yield* third.insert(new Third({ id: "b", email: "b@x", first: "Anna Maria", last: "Lee", revision: 0 }))
        const stored = yield* store.find("Author", { sort: { _id: 1 } })
        yield* Stream.runDrain(Upgrade.upgrade(Second))
        assert.deepStrictEqual(yield* store.find("Author", { sort: { _id: 1 } }), stored)
        assert.isTrue((yield* Upgrade.storedForms(Second)).isComplete)
        yield* sayUnderstood("Author", 3)
        yield* Stream.runDrain(Upgrade.upgrade(Third))
        assert.deepStrictEqual((yield* third.find(undefined, { sort: "id" })).map(names), [
          ["a@x", "Ada Maria", "Byron"],
          ["b@x", "Anna Maria", "Lee"],
          ["o@x", "O", "Ld"]
        ])
        for (const one of yield* store.find("Author", {})) assert.isUndefined(one["_ahead"])
        assert.isTrue((yield* Upgrade.storedForms(Third)).isComplete)
      })).pipe(Effect.provide(layer), Effect.scoped))
  })
)
