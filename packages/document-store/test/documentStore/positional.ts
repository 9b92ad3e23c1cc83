import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter, Update } from "../../src/DocumentStore.ts"
import { collectionOf, type Tests } from "./collection.ts"

const gone = Symbol("gone")
const refused = Symbol("refused")

/** What an operator makes of a value that it can change, of a missing one, and of one of another type. */
type Row = readonly [
  operator: string,
  operand: unknown,
  present: readonly [before: unknown, after: unknown],
  missing: unknown,
  wrong: readonly [before: unknown, after: unknown]
]

const rows: ReadonlyArray<Row> = [
  ["$set", 9, [5, 9], 9, ["x", 9]],
  ["$set", { n: 1 }, [{ m: 1 }, { n: 1 }], { n: 1 }, [null, { n: 1 }]],
  ["$setOnInsert", 9, [5, 5], gone, ["x", "x"]],
  ["$unset", "", [5, gone], gone, [[1], gone]],
  ["$inc", 2, [5, 7], 2, ["x", refused]],
  ["$inc", 0.5, [5, 5.5], 0.5, [null, refused]],
  ["$mul", 2, [5, 10], 0, [[5], refused]],
  ["$min", 3, [5, 3], 3, ["x", 3]],
  ["$max", 9, [5, 9], 9, ["x", "x"]],
  ["$bit", { or: 8 }, [5, 13], 8, [1.5, refused]],
  ["$bit", { and: 4 }, [5, 4], 0, ["x", refused]],
  ["$bit", { xor: 1 }, [5, 4], 1, [null, refused]],
  ["$currentDate", true, [5, "date"], "date", ["x", "date"]],
  ["$currentDate", { $type: "timestamp" }, [5, "timestamp"], "timestamp", [[1], "timestamp"]],
  ["$push", 2, [[1], [1, 2]], [2], [5, refused]],
  ["$push", [2], [[1], [1, [2]]], [[2]], [null, refused]],
  ["$push", { $each: [2, 3] }, [[1], [1, 2, 3]], [2, 3], ["x", refused]],
  ["$push", { $each: [2, 3], $position: 0 }, [[1], [2, 3, 1]], [2, 3], [{ n: 1 }, refused]],
  ["$push", { $each: [2], $position: -1 }, [[1, 3], [1, 2, 3]], [2], [5, refused]],
  ["$push", { $each: [3, 2], $slice: 2 }, [[1], [1, 3]], [3, 2], [5, refused]],
  ["$push", { $each: [3, 2], $slice: -2 }, [[1], [3, 2]], [3, 2], [5, refused]],
  ["$push", { $each: [3, 2], $sort: -1 }, [[1], [3, 2, 1]], [3, 2], [5, refused]],
  ["$push", { $each: [{ n: 1 }], $sort: { n: 1 }, $slice: 1 }, [[{ n: 2 }], [{ n: 1 }]], [{ n: 1 }], [5, refused]],
  ["$addToSet", 2, [[1], [1, 2]], [2], [5, refused]],
  ["$addToSet", 1, [[1], [1]], [1], ["x", refused]],
  ["$addToSet", { $each: [1, 2, 2] }, [[1], [1, 2]], [1, 2], [null, refused]],
  ["$pop", 1, [[1, 2], [1]], gone, [5, refused]],
  ["$pop", -1, [[1, 2], [2]], gone, ["x", refused]],
  ["$pull", 1, [[1, 2, 1], [2]], gone, [5, refused]],
  ["$pull", { $gt: 1 }, [[1, 2], [1]], gone, ["x", refused]],
  ["$pullAll", [1, 3], [[1, 2, 3], [2]], gone, [5, refused]]
]

/** A way to the items that an update changes, and a document with an item in these places, beside others. */
interface Way {
  readonly path: string
  readonly filter?: Filter
  readonly arrayFilters?: ReadonlyArray<Filter>
  readonly document: (item: unknown) => Document
}

const other = { k: 0, v: "other" }

/** Ways to a field of an item whose `k` is 1. */
const ways: ReadonlyArray<Way> = [
  { path: "l.$.v", filter: { "l.k": 1 }, document: (item) => ({ l: [other, item] }) },
  { path: "l.$.v", filter: { l: { $elemMatch: { k: 1 } } }, document: (item) => ({ l: [other, item, other] }) },
  { path: "n.l.$.v", filter: { "n.l.k": { $gt: 0 } }, document: (item) => ({ n: { l: [other, item] } }) },
  { path: "l.$[].v", document: (item) => ({ l: [item, item] }) },
  { path: "l.$[i].v", arrayFilters: [{ "i.k": 1 }], document: (item) => ({ l: [item, other, item] }) },
  {
    path: "l.$.m.$[].v",
    filter: { "l.n": 1 },
    document: (item) => ({ l: [{ m: [other] }, { n: 1, m: [item, item] }] })
  },
  {
    path: "l.$.m.$[j].v",
    filter: { "l.n": 1 },
    arrayFilters: [{ "j.k": 1 }],
    document: (item) => ({ l: [{ m: [other] }, { n: 1, m: [item, other] }] })
  },
  { path: "l.$[].m.$[].v", document: (item) => ({ l: [{ m: [item] }, { m: [] }, { m: [item, item] }] }) },
  {
    path: "l.$[i].m.$[j].v",
    arrayFilters: [{ "i.n": 1 }, { "j.k": 1 }],
    document: (item) => ({ l: [{ n: 1, m: [other, item] }, { n: 0, m: [{ ...other, k: 1 }] }] })
  },
  { path: "l.$[].$[j].v", arrayFilters: [{ "j.k": 1 }], document: (item) => ({ l: [[item, other], [], [item]] }) },
  { path: "l.$[].0.v", document: (item) => ({ l: [[item], [item, other]] }) },
  { path: "l.1.$[].v", document: (item) => ({ l: [[other], [item]] }) }
]

/** Ways to an item itself, which is not "other". */
const itemWays: ReadonlyArray<Way> = [
  { path: "l.$", filter: { l: { $elemMatch: { $ne: "other" } } }, document: (item) => ({ l: ["other", item] }) },
  { path: "l.$[]", document: (item) => ({ l: [item, item] }) },
  { path: "l.$[i]", arrayFilters: [{ i: { $ne: "other" } }], document: (item) => ({ l: [item, "other", item] }) },
  {
    path: "l.$[].$[j]",
    arrayFilters: [{ j: { $ne: "other" } }],
    document: (item) => ({ l: [["other", item], [item]] })
  }
]

/** The states of a value before an update, and after it. */
const statesOf = ([, , present, missing, wrong]: Row): ReadonlyArray<readonly [before: unknown, after: unknown]> => [
  present,
  [gone, missing],
  wrong
]

const withField = (value: unknown) => ({ k: 1, ...value === gone ? {} : { v: value } })

const shown = (value: unknown): unknown =>
  value instanceof Date
    ? "date"
    : typeof value === "object" && value !== null && "_bsontype" in value && value._bsontype === "Timestamp"
    ? "timestamp"
    : Array.isArray(value)
    ? value.map(shown)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shown(field)]))
    : value

/** The whole table of positional updates: each operator by each path on each kind of value. */
export const positionalContract = (it: Tests, differs: Differs) => {
  const check = (way: Way, itemOf: (value: unknown) => unknown, isUsed: (value: unknown) => boolean) =>
    Effect.gen(function*() {
      const cases = rows.flatMap((row) =>
        statesOf(row).filter(([before]) => isUsed(before)).map(([before, after]) => ({ row, before, after }))
      ).map((one, _id) => ({ ...one, document: { _id, ...way.document(itemOf(one.before)) } }))
      const { all, name, store } = yield* collectionOf(cases.map(({ document }) => document))
      for (const row of rows) {
        const [operator, operand] = row
        const change = (cases: ReadonlyArray<{ readonly document: Document }>) => {
          const filter = { _id: { $in: cases.map(({ document }) => document["_id"]) }, ...way.filter }
          const update: Update = { [operator]: { [way.path]: operand } }
          return store.updateMany(name, filter, update, { arrayFilters: way.arrayFilters ?? [] })
        }
        const own = cases.filter((one) => one.row === row)
        yield* change(own.filter(({ after }) => after !== refused))
        for (const one of own.filter(({ after }) => after === refused)) {
          assert.strictEqual((yield* Effect.flip(change([one])))._tag, "QueryRejected", JSON.stringify(row))
        }
      }
      const found = yield* all
      for (const [_id, { after, document, row }] of cases.entries()) {
        const expected = after === refused ? document : { _id, ...way.document(itemOf(after)) }
        assert.deepStrictEqual(shown(found[_id]), expected, JSON.stringify(row))
      }
    })

  it.effect.each(ways.filter(({ path }) => path !== "n.l.$.v" || !differs("nestedMatches")))(
    "changes the fields of items by the path $path",
    (way) => check(way, withField, () => true)
  )

  it.effect.each(itemWays)("changes items by the path $path", (way) =>
    // An item that is unset becomes null.
    check(way, (value) => value === gone ? null : value, (value) => value !== gone))
}
