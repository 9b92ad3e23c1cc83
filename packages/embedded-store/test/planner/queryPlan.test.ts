import type { Filter, IndexDescription, Sort } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { parseFilter } from "../../../mql/src/filter/parseFilter.ts"
import { parseSort } from "../../../mql/src/projection/sortSpec.ts"
import { type Collection, makeCollection, makeIndex } from "../../src/catalog/collection.ts"
import { plansOf } from "../../src/planner/queryPlan.ts"

const collectionWith = (
  indexes: ReadonlyArray<IndexDescription>,
  traits = { multikey: false, inexact: false }
): Collection => ({
  ...makeCollection("things", 1),
  indexes: indexes.map((description, i) => ({ ...makeIndex(i, description), traits, isReady: true }))
})

// Where to look, in how many places, and whether what is found is in order.
const planned = (collection: Collection, filter: Filter, sort: Sort = {}) => {
  const [plan] = plansOf(
    collection,
    Result.getOrThrow(parseFilter(filter, { now: 0 })).constraints,
    Result.getOrThrow(parseSort(sort, undefined))
  )
  const places = plan.kind === "all" ? 1 : plan.kind === "scan" ? plan.ranges.length : plan.keys.length
  const where = plan.kind === "all" ? "all" : plan.index.description.name
  return [where, places, plan.isOrdered] as const
}

const indexes: ReadonlyArray<IndexDescription> = [
  { name: "email", key: { email: 1 }, unique: true },
  { name: "city and age", key: { city: 1, age: -1 } },
  { name: "created", key: { created: 1 } },
  { name: "maybe", key: { maybe: 1 }, sparse: true },
  { name: "first", key: { "list.0": 1 } },
  { name: "part", key: { part: 1 }, partialFilterExpression: { part: { $gt: 5 } } },
  { name: "words", key: { text: "text" } }
]

const many = Array.from({ length: 10_000 }, (_, i) => i)

describe("plan", () => {
  it.effect.each<[string, Filter, Sort, readonly [string, number, boolean]]>([
    ["everything", {}, {}, ["all", 1, true]],
    ["everything by identifier", {}, { _id: -1 }, ["_id_", 1, true]],
    ["an identifier", { _id: 1, city: "Bern" }, { city: 1 }, ["_id_", 1, true]],
    ["identifiers", { _id: { $in: [3, 1, 3] } }, { _id: -1 }, ["_id_", 2, true]],
    ["identifiers in another order", { _id: { $in: [3, 1] } }, { city: 1 }, ["_id_", 2, false]],
    ["a range of identifiers", { _id: { $gt: 1 } }, { _id: 1 }, ["_id_", 1, true]],
    ["a unique value", { email: "a", city: "Bern" }, {}, ["email", 1, true]],
    ["a value", { city: "Bern" }, {}, ["city and age", 1, true]],
    ["several values", { city: { $in: ["Bern", "Chur"] } }, {}, ["city and age", 2, true]],
    ["a value and a range", { $and: [{ city: "Bern" }, { age: { $gte: 18 } }] }, { age: -1 }, [
      "city and age",
      1,
      true
    ]],
    ["a page by an index", {}, { created: -1, _id: -1 }, ["created", 1, true]],
    ["a page by an index against its identifiers", {}, { created: -1, _id: 1 }, ["all", 1, false]],
    ["a page of a value", { city: "Bern" }, { city: 1, age: 1, _id: 1 }, ["city and age", 1, true]],
    ["a page of a value, turned", { city: "Bern" }, { city: 1, age: -1, _id: -1 }, ["city and age", 1, true]],
    ["a page of a value against its identifiers", { city: "Bern" }, { age: 1, _id: -1 }, ["city and age", 1, false]],
    ["a page of a value in no index's order", { city: "Bern" }, { created: 1 }, ["city and age", 1, false]],
    ["several values in the order of what follows", { city: { $in: ["Bern", "Chur"] } }, { age: -1 }, [
      "city and age",
      2,
      false
    ]],
    ["many identifiers", { _id: { $in: many } }, { _id: -1 }, ["_id_", 10_000, true]],
    ["many values", { city: { $in: many } }, {}, ["city and age", 10_000, true]],
    ["many values, and many of the next field", { city: { $in: many }, age: { $in: many } }, {}, [
      "city and age",
      100_000_000,
      true
    ]],
    ["what is missing", { city: null }, {}, ["city and age", 1, true]],
    ["only the second field of an index", { age: 3 }, {}, ["all", 1, true]],
    ["either of two", { $or: [{ city: "Bern" }, { email: "a" }] }, {}, ["all", 1, true]],
    ["a negation", { city: { $ne: "Bern" } }, {}, ["all", 1, true]],
    ["a pattern", { city: /er/ }, {}, ["all", 1, true]],
    ["a beginning, which may also be an expression itself", { city: /^B/ }, {}, ["city and age", 2, true]],
    ["a beginning in order", { city: /^B/ }, { city: -1, age: 1 }, ["city and age", 2, true]],
    ["a value and a beginning", { city: "Bern", age: { $regex: "^1" } }, { age: 1 }, ["city and age", 2, true]],
    ["a beginning in either case", { city: /^B/i }, {}, ["all", 1, true]],
    ["one of two beginnings", { city: /^B|^C/ }, {}, ["all", 1, true]],
    ["no beginning", { city: { $not: /^B/ } }, {}, ["all", 1, true]],
    ["a beginning in a sparse index", { maybe: /^B/ }, {}, ["maybe", 2, true]],
    ["what a partial index holds all of", { part: { $gt: 6 } }, { part: -1 }, ["part", 1, true]],
    ["what a partial index may not hold", { part: { $gt: 4 } }, { part: -1 }, ["all", 1, false]],
    ["everything, in the order of a partial index", {}, { part: 1 }, ["all", 1, false]],
    ["a text in an index of words", { text: "a" }, { text: 1 }, ["all", 1, false]],
    ["a value in a sparse index", { maybe: 1 }, {}, ["maybe", 1, true]],
    ["what exists, in the order of a sparse index", { maybe: { $exists: true } }, { maybe: 1 }, ["maybe", 1, true]],
    ["all, in the order of a sparse index", {}, { maybe: 1 }, ["all", 1, false]],
    ["what a sparse index leaves out", { maybe: null }, {}, ["all", 1, true]],
    ["a place in a list, which may be a name", { "list.0": 1 }, {}, ["all", 1, true]]
  ])(
    "looks for %s where it is",
    ([, filter, sort, expected]) =>
      Effect.sync(() => assert.deepStrictEqual(planned(collectionWith(indexes), filter, sort), expected))
  )

  it.effect("does not use an index with lists for a sort order", () =>
    Effect.sync(() => {
      const lists = collectionWith(indexes, { multikey: true, inexact: false })
      assert.deepStrictEqual(planned(lists, {}, { created: 1 }), ["all", 1, false])
      assert.deepStrictEqual(planned(lists, { created: 1 }, { created: 1 }), ["created", 1, false])
    }))

  it.effect("does not use an index with long values for a sort order", () =>
    Effect.sync(() => {
      const long = collectionWith(indexes, { multikey: false, inexact: true })
      assert.deepStrictEqual(planned(long, {}, { created: 1 }), ["all", 1, false])
      assert.deepStrictEqual(planned(long, { created: "x" }), ["created", 1, true])
    }))

  it.effect("does not use an index for the order of long identifiers", () =>
    Effect.sync(() => {
      const collection = collectionWith(indexes)
      const { identifiers } = makeCollection("things", 1, { multikey: false, inexact: true })
      const withLong = { ...collection, identifiers }
      assert.deepStrictEqual(planned(withLong, {}, { created: 1 }), ["created", 1, true])
      assert.deepStrictEqual(planned(withLong, {}, { created: 1, _id: 1 }), ["all", 1, false])
      assert.deepStrictEqual(planned(withLong, {}, { _id: 1 }), ["all", 1, false])
      assert.deepStrictEqual(planned(withLong, { _id: { $in: [1, 2] } }, { _id: 1 }), ["_id_", 2, false])
    }))

  it.effect("uses only the first of several index fields of one list's items", () =>
    Effect.sync(() => {
      const items = collectionWith(
        [{ name: "items", key: { "items.a": 1, "items.b": 1 } }],
        { multikey: true, inexact: false }
      )
      const rangesOf = (filter: Filter) => {
        const [plan] = plansOf(items, Result.getOrThrow(parseFilter(filter, { now: 0 })).constraints, [])
        return plan.kind === "scan" ? Array.from({ length: plan.ranges.length }, (_, i) => plan.ranges.at(i)) : []
      }
      const ranges = rangesOf({ "items.a": 1, "items.b": 2 })
      assert.strictEqual(ranges.length, 1)
      assert.deepStrictEqual(ranges, rangesOf({ "items.a": 1 }))
    }))

  it.effect("searches words by the text index, unless the identifier is given", () =>
    Effect.sync(() => {
      const texts = [{ path: ["text"], weight: 1 }]
      const filter = (more: Filter) =>
        Result.getOrThrow(parseFilter({ $text: { $search: "tea tea coffee -milk" }, ...more }, { now: 0, texts }))
      const plan = (more: Filter) => {
        const { constraints, search } = filter(more)
        return plansOf(collectionWith(indexes), constraints, [], search?.words)[0]
      }
      const byWords = plan({ city: "Bern" })
      assert.isTrue(byWords.kind === "scan" && byWords.index.description.name === "words")
      assert.strictEqual(byWords.kind === "scan" ? byWords.ranges.length : 0, 2)
      const byId = plan({ _id: 1 })
      assert.isTrue(byId.kind === "entries" && byId.index.description.name === "_id_")
    }))

  it.effect("does not read an index that is being built", () =>
    Effect.sync(() => {
      const collection = collectionWith(indexes)
      const making = { ...collection, indexes: collection.indexes.map((index) => ({ ...index, isReady: false })) }
      assert.deepStrictEqual(planned(making, { email: "a" }), ["all", 1, true])
    }))
})
