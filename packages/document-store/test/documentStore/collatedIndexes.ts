import { assert } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { either, oneOf } from "../../../../test/support/choices.ts"
import { anyCollation, type Pair, text } from "../../../../test/support/collations.ts"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Collation, IndexDescription } from "../../src/DocumentStore.ts"
import { DuplicateKey } from "../../src/StoreError.ts"
import { collectionOf, factsOf, idsOf, type Tests } from "./collection.ts"

const ignoresCase: Collation = { locale: "en", strength: 2 }
const ignoresAccents: Collation = { locale: "en", strength: 1 }

const named = (...names: ReadonlyArray<unknown>) => collectionOf(names.map((name, _id) => ({ _id, name })))

/** Indexes whose texts compare by the rules of a language. */
export const collatedIndexContract = (it: Tests, differs: Differs) => {
  it.effect("refuses texts that are equal in a unique index", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, mail: "jan@x.org" }, { _id: 2, mail: "Ida@x.org" }])
      const index: IndexDescription = { name: "mail", key: { mail: 1 }, unique: true, collation: ignoresCase }
      yield* store.createIndexes(name, [index])
      assert.deepStrictEqual(yield* store.listIndexes(name), [index])
      const refused = yield* Effect.flip(store.insertOne(name, { _id: 3, mail: "JAN@x.org" }))
      const duplicate = new DuplicateKey({ collection: name, index: "mail", fields: ["mail"] })
      assert.deepStrictEqual(factsOf(refused), factsOf(duplicate))
      yield* store.insertOne(name, { _id: 4, mail: "ján@x.org" })
      yield* Effect.flip(store.updateOne(name, { _id: 2 }, { $set: { mail: "JÁN@X.ORG" } }))
      yield* store.updateOne(name, { _id: 1 }, { $set: { mail: "JAN@X.ORG" } })
      const { failures } = yield* store.insertMany(
        name,
        [{ _id: 5, mail: "ü" }, { _id: 6, mail: "Ü" }, { _id: 7, mail: "u" }],
        { ordered: false }
      )
      assert.deepStrictEqual(failures.map(({ index }) => index), [1])
      assert.deepStrictEqual(idsOf(yield* all), [1, 2, 4, 5, 7])
      const lists: IndexDescription = {
        name: "lists",
        key: { n: -1, l: 1 },
        unique: true,
        sparse: true,
        collation: ignoresAccents
      }
      yield* store.createIndexes(name, [lists])
      yield* store.insertOne(name, { _id: 8, mail: 1, n: 1, l: ["a", "ä", 1] })
      yield* Effect.flip(store.insertOne(name, { _id: 9, mail: 2, n: 1, l: ["b", "Â"] }))
      yield* store.insertOne(name, { _id: 9, mail: 2, n: 2, l: ["b", "Â"] })
    }))

  it.effect("does not build a unique index over texts that are equal", () =>
    Effect.gen(function*() {
      const { name, store } = yield* named("a", "b", "A")
      const key = { name: 1 } as const
      const error = yield* Effect.flip(
        store.createIndexes(name, [{ name: "by name", key, unique: true, collation: ignoresCase }])
      )
      assert.strictEqual(error._tag, "DuplicateKey")
      yield* store.createIndexes(name, [{ name: "by name", key, unique: true, collation: { locale: "en" } }])
    }))

  it.effect("refuses equal texts of writers at the same time", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      yield* store.createIndexes(name, [{ name: "n", key: { name: 1 }, unique: true, collation: ignoresCase }])
      const results = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, i) => i),
        (_id) =>
          Effect.exit(store.insertOne(name, { _id, name: _id % 2 === 0 ? `n${_id % 10}` : `N${(_id + 1) % 10}` })),
        { concurrency: 40 }
      )
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 5)
      assert.strictEqual((yield* all).length, 5)
    }))

  it.effect("takes indexes for the same if their collations mean the same, and for others if not", () =>
    Effect.gen(function*() {
      const { name, store } = yield* named("a")
      const index = (collation: Collation | undefined, name = "by name"): IndexDescription => ({
        name,
        key: { name: 1 },
        collation
      })
      yield* store.createIndexes(name, [index({ locale: "en" })])
      yield* store.createIndexes(name, [index({ locale: "en", strength: 3, caseFirst: "off", caseLevel: undefined })])
      const none = { created: [], rebuilt: [], dropped: [] }
      assert.deepStrictEqual(yield* store.syncIndexes(name, [index({ locale: "en", numericOrdering: false })]), none)
      const conflict = yield* Effect.flip(store.createIndexes(name, [index({ locale: "en", strength: 1 })]))
      assert.strictEqual(conflict._tag, "QueryRejected")
      yield* store.createIndexes(name, [index({ locale: "de" }, "German"), index({ locale: "simple" }, "simple")])
      assert.strictEqual((yield* store.listIndexes(name)).length, 3)
      const changes = yield* store.syncIndexes(name, [index({ locale: "da" })])
      assert.deepStrictEqual(changes, { created: [], rebuilt: ["by name"], dropped: ["German", "simple"] })
      assert.deepStrictEqual(yield* store.syncIndexes(name, [index({ locale: "da", caseFirst: "upper" })]), none)
    }))

  if (differs("collation")) return

  it.effect.prop(
    "returns the same with indexes of any collation as without",
    {
      values: Arbitrary.array(value, { minLength: 4, maxLength: 10 }),
      queries: Arbitrary.array(query, { minLength: 8, maxLength: 12 })
    },
    ({ queries, values }) =>
      Effect.gen(function*() {
        const stored = values.map((v, _id) => ({ _id, v, w: _id % 3 }))
        const plain = yield* collectionOf(stored)
        const indexed = yield* collectionOf([])
        const { store } = plain
        yield* store.createIndexes(indexed.name, indexes.slice(0, 2))
        yield* store.insertMany(indexed.name, stored)
        yield* store.createIndexes(indexed.name, indexes)
        for (const { collation, filter, sort } of queries) {
          const options = { filter, sort: { ...sort, _id: 1 }, collation: collation?.mongo } as const
          assert.deepStrictEqual(yield* indexed.find(options), yield* plain.find(options))
          assert.strictEqual(
            yield* store.count(indexed.name, filter, options),
            yield* store.count(plain.name, filter, options)
          )
        }
      }),
    { arbitrary: { runs: 40 } }
  )
}

const value = either<unknown>(
  text,
  text,
  text,
  oneOf<unknown>(1, null, 2.5, [], true),
  Arbitrary.array(text, { maxLength: 3 }),
  Arbitrary.map(text, (x): unknown => ({ x }))
)

const query = Arbitrary.map(
  Arbitrary.all([
    oneOf("$eq", "$gt", "$gte", "$lt", "$lte", "$ne"),
    value,
    Arbitrary.array(value, { maxLength: 3 }),
    oneOf<"one" | "some" | "both">("one", "one", "some", "both"),
    either(anyCollation, oneOf<Pair | undefined>(undefined)),
    oneOf<{ readonly [path: string]: 1 | -1 }>({}, { v: 1 }, { v: -1 }, { w: 1, v: -1 })
  ]),
  ([operator, operand, others, kind, collation, sort]) => ({
    filter: kind === "one"
      ? { v: { [operator]: operand } }
      : kind === "some"
      ? { v: { $in: others } }
      : { v: { [operator]: operand }, w: { $gte: 1 } },
    collation,
    sort
  })
)

const indexes: ReadonlyArray<IndexDescription> = [
  { name: "accents", key: { v: 1 }, collation: { locale: "en", strength: 2 } },
  { name: "Swedish", key: { w: 1, v: -1 }, collation: { locale: "sv", strength: 1 } },
  { name: "simple", key: { v: -1 } },
  { name: "phonebook", key: { v: -1, w: 1 }, collation: { locale: "de@collation=phonebook", numericOrdering: true } },
  {
    name: "some",
    key: { v: 1, w: -1 },
    collation: { locale: "en" },
    partialFilterExpression: { v: { $gte: "B" } }
  },
  { name: "every one", key: { v: 1, _id: 1 }, unique: true, collation: { locale: "en" } }
]
