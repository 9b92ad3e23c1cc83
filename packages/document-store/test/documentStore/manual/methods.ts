import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import { collectionOf, idsOf, type Tests } from "../collection.ts"

const restaurants = [
  { _id: 1, name: "Central Perk Cafe", Borough: "Manhattan", violations: 3 },
  { _id: 2, name: "Rock A Feller Bar and Grill", Borough: "Queens", violations: 2 },
  { _id: 3, name: "Empire State Pub", Borough: "Brooklyn", violations: 0 }
]

const graded = (_id: number, name: string, assignment: number, points: number) => ({ _id, name, assignment, points })
const grades = [
  graded(6305, "A. MacDyver", 5, 24),
  graded(6308, "B. Batlock", 3, 22),
  graded(6312, "M. Tagnum", 5, 30),
  graded(6319, "R. Stiles", 2, 12),
  graded(6322, "A. MacDyver", 2, 14)
]

const cafes = [
  { _id: 1, category: "café", status: "A" },
  { _id: 2, category: "cafe", status: "a" },
  { _id: 3, category: "cafE", status: "a" }
]
const french = { collation: { locale: "fr", strength: 1 } } as const

/** The manual's pages of methods, collations and indexes. */
export const methodPages = (it: Tests, differs: Differs) => {
  it.effect("writes as the manual's examples of updateOne and replaceOne", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf(restaurants)
      const perk = { name: "Central Perk Cafe" }
      const pizzeria = { name: "Pizza Rat's Pizzaria" }
      assert.deepStrictEqual(yield* store.updateOne(name, perk, { $set: { violations: 4 } }), {
        matchedCount: 1,
        modifiedCount: 1
      })
      assert.deepStrictEqual(yield* store.updateOne(name, { name: "none" }, { $set: { violations: 3 } }), {
        matchedCount: 0,
        modifiedCount: 0
      })
      const set = { $set: { _id: 4, violations: 7, borough: "Manhattan" } }
      assert.deepStrictEqual(yield* store.updateOne(name, pizzeria, set, { upsert: true }), {
        matchedCount: 0,
        modifiedCount: 0,
        upsertedId: 4
      })
      const replacement = { name: "Central Pork Cafe", Borough: "Manhattan" }
      yield* store.replaceOne(name, perk, replacement)
      const dill = { _id: 5, name: "Dill", Borough: "Queens", violations: 8 }
      assert.strictEqual((yield* store.replaceOne(name, { name: "Dill" }, dill, { upsert: true })).upsertedId, 5)
      assert.deepStrictEqual(yield* all, [
        { _id: 1, ...replacement },
        ...restaurants.slice(1),
        { _id: 4, ...pizzeria, borough: "Manhattan", violations: 7 },
        dill
      ])
      const closed = yield* store.updateOne(name, { violations: { $gt: 10 } }, { $set: { Closed: true } }, {
        upsert: true
      })
      assert.deepStrictEqual(yield* store.findById(name, closed.upsertedId), { _id: closed.upsertedId, Closed: true })
    }))

  it.effect("updates as the manual's examples of findOneAndUpdate", () =>
    Effect.gen(function*() {
      const { find, name, store } = yield* collectionOf(grades)
      const more = { $inc: { points: 5 } }
      const [, , , stiles, macDyver] = grades
      assert.deepStrictEqual(yield* store.findOneAndUpdate(name, { name: "R. Stiles" }, more), stiles)
      const byPoints = { sort: { points: 1 } } as const
      assert.deepStrictEqual(yield* store.findOneAndUpdate(name, { name: "A. MacDyver" }, more, byPoints), macDyver)
      assert.deepStrictEqual(
        yield* store.findOneAndUpdate(name, { name: "A. MacDyver" }, more, {
          ...byPoints,
          projection: { assignment: 1, points: 1 }
        }),
        { _id: 6322, assignment: 2, points: 19 }
      )
      const upserted = yield* store.findOneAndUpdate(
        name,
        { name: "A.B. Abracus" },
        { $set: { name: "A.B. Abracus", assignment: 5 }, ...more },
        { ...byPoints, upsert: true, returnDocument: "after" }
      )
      assert.deepStrictEqual({ ...upserted, _id: 0 }, { _id: 0, name: "A.B. Abracus", assignment: 5, points: 5 })
      assert.strictEqual((yield* find({ filter: { name: "A.B. Abracus" } })).length, 1)
      const lists = yield* collectionOf([
        { _id: 1, grades: [95, 92, 90] },
        { _id: 2, grades: [98, 100, 102] },
        { _id: 3, grades: [95, 110, 100] }
      ])
      const hundreds = { $set: { "grades.$[element]": 100 } }
      const arrayFilters = [{ element: { $gte: 100 } }]
      yield* lists.store.findOneAndUpdate(lists.name, { grades: { $gte: 100 } }, hundreds, { arrayFilters })
      assert.deepStrictEqual(yield* lists.all, [
        { _id: 1, grades: [95, 92, 90] },
        { _id: 2, grades: [98, 100, 100] },
        { _id: 3, grades: [95, 110, 100] }
      ])
    }))

  it.effect("writes one after the other as the manual's examples of bulkWrite", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, votes: [3, 5, 6, 7, 7, 8] }])
      yield* store.updateOne(name, { _id: 1 }, { $pull: { votes: { $gte: 6 } } })
      yield* store.updateOne(name, { _id: 1 }, { $pull: { votes: { $lte: 3 } } })
      assert.deepStrictEqual(yield* all, [{ _id: 1, votes: [5] }])
    }))

  it.effect.skipIf(differs("distinctInLists"))(
    "answers the manual's examples of distinct",
    () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf([
          { _id: 1, dept: "A", item: { sku: "111", color: "red" }, sizes: ["S", "M"] },
          { _id: 2, dept: "A", item: { sku: "111", color: "blue" }, sizes: ["M", "L"] },
          { _id: 3, dept: "B", item: { sku: "222", color: "blue" }, sizes: "S" },
          { _id: 4, dept: "A", item: { sku: "333", color: "black" }, sizes: ["S"] }
        ])
        assert.sameMembers([...yield* store.distinct(name, "dept", {})], ["A", "B"])
        assert.sameMembers([...yield* store.distinct(name, "item.sku", {})], ["111", "222", "333"])
        assert.sameMembers([...yield* store.distinct(name, "sizes", {})], ["M", "S", "L"])
        assert.sameMembers([...yield* store.distinct(name, "item.sku", { dept: "A" })], ["111", "333"])
      })
  )

  it.effect.skipIf(differs("collation"))("answers the manual's examples of collations", () =>
    Effect.gen(function*() {
      const { all, find, name, store } = yield* collectionOf(cafes)
      assert.deepStrictEqual([...yield* store.distinct(name, "category", {}, french)], ["café"])
      assert.deepStrictEqual(
        yield* store.findOneAndUpdate(name, { category: "cafe" }, { $set: { status: "Updated" } }, french),
        cafes[0]
      )
      yield* store.replaceOne(name, { category: "cafe", status: "a" }, { category: "cafÉ", status: "Replaced" }, french)
      assert.deepStrictEqual(yield* all, [
        { _id: 1, category: "café", status: "Updated" },
        { _id: 2, category: "cafÉ", status: "Replaced" },
        { _id: 3, category: "cafE", status: "a" }
      ])
      assert.deepStrictEqual(idsOf(yield* find({ filter: { category: "cafe" }, ...french, sort: { _id: 1 } })), [
        1,
        2,
        3
      ])
      const numbers = ["1", "2", "2.1", "-2.1", "2.2", "2.10", "2.20", "-10", "10", "20", "20.1"]
      const numbered = yield* collectionOf(numbers.map((_id) => ({ _id })))
      const sorted = yield* numbered.find({ sort: { _id: 1 }, collation: { locale: "en_US", numericOrdering: true } })
      assert.deepStrictEqual(idsOf(sorted), ["-2.1", "-10", "1", "2", "2.1", "2.2", "2.10", "2.20", "10", "20", "20.1"])
    }))

  it.effect.skipIf(differs("partialIndexes"))(
    "answers the manual's examples of partial and unique indexes",
    () =>
      Effect.gen(function*() {
        const ned = { name: "Ned Stark", email: "sean_bean@gameofthron.es", password: "secret" }
        const { ids, name, store } = yield* collectionOf([{ _id: 1, ...ned }, { _id: 2, name: "Ned Stark" }, {
          _id: 3,
          name: "Ned Stark",
          email: null
        }])
        const partialFilterExpression = { password: { $exists: true } }
        yield* store.createIndexes(name, [
          { name: "name", key: { name: 1 }, partialFilterExpression },
          { name: "email", key: { email: 1 }, unique: true, partialFilterExpression }
        ])
        assert.deepStrictEqual(yield* ids({ name: "Ned Stark", password: { $exists: true } }), [1])
        assert.deepStrictEqual(yield* ids({ name: "Ned Stark", password: { $exists: false } }), [2, 3])
        assert.deepStrictEqual(yield* ids({ name: "Ned Stark" }), [1, 2, 3])
        assert.deepStrictEqual(yield* ids({ name: "Ned Stark", email: /bean/ }), [1])
        assert.deepStrictEqual(yield* ids({ name: "Ned Stark", email: null }), [2, 3])
        assert.strictEqual((yield* Effect.flip(store.insertOne(name, { _id: 4, ...ned })))._tag, "DuplicateKey")
        yield* store.insertOne(name, { _id: 5, email: ned.email })
        yield* store.insertOne(name, { _id: 6, email: ned.email })
        const members = yield* collectionOf([])
        yield* members.store.createIndexes(members.name, [{
          name: "unique",
          key: { groupNumber: 1, lastname: 1, firstname: 1 },
          unique: true
        }])
        yield* members.store.insertOne(members.name, { _id: 1, groupNumber: 1, lastname: "a" })
        yield* members.store.insertOne(members.name, { _id: 2, groupNumber: 1, firstname: "a" })
        for (const lastname of ["a", undefined]) {
          const same = { groupNumber: 1, ...lastname === undefined ? { firstname: "a" } : { lastname } }
          const duplicate = yield* Effect.flip(members.store.insertOne(members.name, { _id: 3, ...same }))
          assert.strictEqual(duplicate._tag, "DuplicateKey")
        }
        const everything = { name: "all", key: { "$**": 1 } } as const
        const wildcard = yield* Effect.result(members.store.createIndexes(members.name, [everything]))
        if (wildcard._tag === "Failure") assert.strictEqual(wildcard.failure._tag, "Unsupported")
      })
  )
}
