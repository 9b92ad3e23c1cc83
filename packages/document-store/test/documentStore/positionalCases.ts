import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter, FindOneAndUpdateOptions, Update } from "../../src/DocumentStore.ts"
import { collectionOf, type Tests } from "./collection.ts"

/** A document, an update of it and the document then, or nothing if the update is refused. */
type Case = readonly [
  before: Document,
  filter: Filter,
  update: Update,
  after: Document | undefined,
  arrayFilters?: ReadonlyArray<Filter> | undefined,
  difference?: Difference
]

const set = (...paths: ReadonlyArray<string>): Update => ({
  $set: Object.fromEntries(paths.map((path, i) => [path, i + 1]))
})

/** Which items `$` stands for. */
const matches: ReadonlyArray<Case> = [
  [{ l: [5, 8] }, { l: 8 }, { $push: { "l.$": 1 } }, undefined],
  [{ l: [[1], [2]] }, { l: [2] }, { $push: { "l.$": 3 } }, { l: [[1], [2, 3]] }, [], "matchedLists"],
  [{ l: [5, 8] }, {}, set("l.$"), undefined],
  [{ l: [5, 8], n: 1 }, { n: 1 }, set("l.$"), undefined],
  [{ l: [5, 8] }, { l: { $ne: 1 } }, set("l.$"), undefined, [], "elementOfPositional"],
  [{ l: [5, 8] }, { l: { $not: { $lt: 5 } } }, set("l.$"), undefined, [], "elementOfPositional"],
  [{ l: [5, 8] }, { l: { $nin: [1] } }, set("l.$"), undefined, [], "elementOfPositional"],
  [{ l: [5, 8] }, { l: { $elemMatch: { $nin: [5] } } }, set("l.$"), { l: [5, 1] }],
  [{ l: [5, 8] }, { $or: [{ l: 8 }, { l: 9 }] }, set("l.$"), { l: [5, 1] }, [], "elementOfPositional"],
  [{ l: [5, 8] }, { $and: [{ l: 8 }] }, set("l.$"), { l: [5, 1] }, [], "elementOfPositional"],
  [{ l: [0] }, { "l.0": 0 }, set("l.$"), undefined],
  [{ l: [{ b: 0 }] }, { "l.0.b": 0 }, set("l.$.b"), undefined],
  [{ l: [[0]] }, { "l.0.0": 0 }, set("l.$.0"), undefined],
  [{ l: [{ b: [0] }] }, { "l.0.b.0": 0 }, set("l.$.b.0"), undefined],
  [{ l: [{ b: [0, 1] }] }, { "l.0.b": 1 }, set("l.0.b.$"), { l: [{ b: [0, 1] }] }, [], "nestedMatches"],
  [{ l: [{ b: [0, 1] }] }, { "l.b.1": 1 }, set("l.$.b.0"), { l: [{ b: [1, 1] }] }],
  [{ l: [0, 1], m: [0] }, { l: 1, "m.0": 0 }, set("l.$"), { l: [0, 1], m: [0] }],
  [{ l: [0, 7], m: [{ c: 0 }] }, { l: 7, "m.0.c": 0 }, set("l.$"), { l: [0, 1], m: [{ c: 0 }] }],
  [{ l: [0, 7], m: [{ c: [0] }] }, { l: 7, "m.0.c.0": 0 }, set("l.$"), { l: [0, 1], m: [{ c: [0] }] }],
  [{ l: [{ m: [1] }] }, { "l.m": 1 }, set("l.$.m.$"), undefined]
]

/** Which items `$[]` and `$[i]` stand for. */
const filtered: ReadonlyArray<Case> = [
  [{ l: [] }, {}, set("l.$[]"), { l: [] }],
  [{ l: [5] }, {}, set("l.$[i]"), { l: [5] }, [{ i: 9 }]],
  ...[{}, { l: null }, { l: 5 }, { l: {} }].flatMap((before) =>
    [set("l.$[]"), { $unset: { "l.$[].v": "" } }, { $pull: { "l.$[].v": 1 } }].map((update): Case => [
      before,
      {},
      update,
      undefined,
      [],
      "itemsOfNoList"
    ])
  ),
  [{ l: [{ m: [1] }, {}] }, {}, set("l.$[].m.$[]"), undefined, [], "itemsOfNoList"],
  [{ l: [{ v: 5 }, 6] }, {}, set("l.$[].v"), undefined, [], "itemsOfNoList"],
  [{ l: [{ v: 5 }, 6] }, {}, { $unset: { "l.$[].v": "" } }, { l: [{}, 6] }],
  [{ l: [{ v: [5] }, 6, {}] }, {}, { $pull: { "l.$[].v": 5 } }, { l: [{ v: [] }, 6, {}] }],
  [{ l: [[0], [1]] }, {}, { $addToSet: { "l.$[i]": 2 } }, { l: [[0, 2], [1]] }, [{ i: 0 }]],
  [{ l: [[0, 1], [1, 2]] }, {}, { $pop: { "l.$[i]": 1 } }, { l: [[0], [1, 2]] }, [{ i: 0 }]],
  [{ l: [[0, 1, 2, 3], [1, 2]] }, {}, { $pullAll: { "l.$[i]": [0, 2] } }, { l: [[1, 3], [1, 2]] }, [{ i: 0 }]],
  [{ l: [[0, 1], [1, 2]] }, {}, { $pull: { "l.$[i]": 1 } }, { l: [[0, 1], [2]] }, [{ i: 2 }]],
  [{ l: [[0, 1], [2, 3]] }, {}, { $push: { "l.$[i]": 4 } }, { l: [[0, 1, 4], [2, 3]] }, [{ i: 0 }]],
  [{ l: [[0], [0, 1]] }, {}, { $set: { "l.$[i]": 4 } }, { l: [[0], 4] }, [{ i: { $size: 2 } }]],
  [{ l: [0, 1, 3] }, {}, set("l.$[i]"), { l: [1, 1, 1] }, [{ $or: [{ i: 0 }, { i: 3 }] }]],
  [{ a: [0], b: [{ j: 0 }] }, {}, set("a.$[i.j]", "b.$[i]"), undefined, [{ "i.j": 0 }]],
  [{ l: [0] }, {}, set("l.$[I]"), undefined, [{ I: 0 }]],
  [{ l: [0] }, {}, set("l.$[i]"), undefined, [{ $expr: { $eq: ["$foo", "$bar"] } }]],
  [{ l: [0] }, {}, set("$[].l"), undefined, [], "itemsOfNoList"],
  [{ l: [0] }, {}, set("$.l"), undefined, [], "itemsOfNoList"]
]

const nested = { l: [{ x: 0, b: [{ y: 0, c: 0 }] }, { x: 1, b: [{ y: 0, c: 0 }, { y: 1, c: 0 }] }] }

/** Which changes conflict. */
const conflicts: ReadonlyArray<Case> = [
  [{ l: [5, 0] }, { l: 5 }, set("l.$[i]", "l.$"), undefined, [{ i: 0 }], "itemsTwice"],
  [{ l: [5, 0] }, {}, set("l.$[i]", "l.0"), undefined, [{ i: 0 }], "itemsTwice"],
  [{ l: [5, 0] }, {}, set("l.$[]", "l.9"), undefined, [], "itemsTwice"],
  [{ l: [0] }, {}, set("l.$[i]", "l.b"), undefined, [{ i: 9 }]],
  [{ l: [5, 0] }, { l: 0 }, set("l.$", "l.0"), { l: [2, 1] }],
  [{ l: [5, 0] }, { l: 0 }, set("l.$", "l.1"), undefined, [], "itemsTwice"],
  [{ l: [{ x: 0, b: [{ y: 0 }] }] }, {}, set("l.$[i].b.$[k].c", "l.$[j].b.$[k].d"), {
    l: [{ x: 0, b: [{ y: 0, c: 1, d: 2 }] }]
  }, [{ "i.x": 0 }, { "j.x": 0 }, { "k.y": 0 }]],
  [
    nested,
    {},
    set("l.$[i].b.$[k].c", "l.$[j].b.$[k].c"),
    undefined,
    [{ "i.x": 0 }, { "j.x": 0 }, { "k.y": 0 }],
    "itemsTwice"
  ],
  [nested, {}, set("l.$[i].b.$[k].c", "l.$[j].b.$[m].c"), {
    l: [nested.l[0], { x: 1, b: [{ y: 0, c: 1 }, { y: 1, c: 2 }] }]
  }, [{ "i.x": 1 }, { "j.x": 1 }, { "k.y": 0 }, { "m.y": 1 }]],
  [
    nested,
    {},
    set("l.$[i].b.$[k].c", "l.$[j].b.0.c"),
    undefined,
    [{ "i.x": 0 }, { "j.x": 0 }, { "k.y": 0 }],
    "itemsTwice"
  ]
]

/** Names are not changed by way of items. */
const renames: ReadonlyArray<Case> = [
  { "l.$.v": "w" },
  { "l.$[].v": "w" },
  { "l.$[i].v": "w" },
  { w: "l.$.v" },
  { w: "l.$[].v" },
  { w: "l.$[i].v" },
  { "l.0.v": "w" },
  { w: "l.0.w" }
].map((
  $rename
) => [
  { l: [{ k: 1, v: 1 }], w: 1 },
  { "l.k": 1 },
  { $rename },
  undefined,
  JSON.stringify($rename).includes("[i]") ? [{ "i.k": 1 }] : []
])

/** Upserts, and the document that they insert. */
const upserts: ReadonlyArray<
  readonly [Filter, Update, Document | undefined, (ReadonlyArray<Filter> | undefined)?, Difference?]
> = [
  [{ l: [5] }, set("l.$"), undefined],
  [{ l: 5 }, set("l.$"), undefined, [], "positionalUpserts"],
  [{ l: [5, 8] }, set("l.$[]"), { l: [1, 1] }],
  [{ l: [5, 8] }, set("l.$[i]"), { l: [1, 8] }, [{ i: 5 }]],
  [{ l: [5, 8] }, set("l.$[i]"), { l: [5, 8] }, [{ i: 9 }]],
  [{ l: [0] }, { $setOnInsert: { "l.$[i]": 1 } }, { l: [1] }, [{ i: 0 }]],
  [{ l: [0] }, { $setOnInsert: { "l.$[]": 1 } }, { l: [1] }],
  [{ l: [{ k: 1 }] }, { $inc: { "l.$[].v": 2 }, $push: { "l.$[].m": 1 } }, { l: [{ k: 1, v: 2, m: [1] }] }],
  [{ l: [{ m: [1, 2] }] }, { $pull: { "l.$[].m": 1 }, $unset: { "l.$[].v": "" } }, { l: [{ m: [2] }] }],
  [{ l: { $eq: [[1, 2]] } }, { $mul: { "l.$[].$[i]": 5 } }, { l: [[5, 2]] }, [{ i: 1 }]],
  [{ l: { $all: [[1]] } }, { $max: { "l.$[]": 5 } }, { l: [5] }],
  [{ l: { $in: [[1]] } }, { $bit: { "l.$[]": { or: 4 } } }, { l: [5] }],
  [{ l: { $size: 1 } }, set("l.$[]"), undefined, [], "itemsOfNoList"],
  [{ l: 5 }, set("l.$[]"), undefined, [], "itemsOfNoList"],
  [{ "l.k": 1 }, set("l.$[].v"), undefined, [], "itemsOfNoList"],
  [{}, set("l.$[i]"), undefined, [{ i: 9 }], "itemsOfNoList"]
]

const named = [{ name: "first", value: 1 }, { name: "second", value: 2 }, { name: "third", value: 3 }]

/** The documents that findOneAndUpdate returns of `{ a: [1, 2], b: named }`. */
const returned: ReadonlyArray<readonly [Filter, Update, FindOneAndUpdateOptions, Document | undefined]> = [
  [{ a: 2 }, { $set: { "c.kind": "x" } }, { projection: { "a.$": 1 } }, { _id: 1, a: [2] }],
  [{ "b.name": "third" }, { $set: { "b.$.kind": "x" } }, { projection: { "b.$": 1 } }, { _id: 1, b: [named[2]] }],
  [{ b: { $elemMatch: { name: "first", value: { $lt: 2 } } } }, { $set: { n: 1 } }, {
    projection: { _id: 0, "b.$": 1 }
  }, {
    b: [named[0]]
  }],
  [{}, { $set: { n: 1 } }, { projection: { b: { $elemMatch: { value: 2 } } } }, { _id: 1, b: [named[1]] }],
  [{}, { $pop: { b: -1 } }, { projection: { b: { $elemMatch: { value: { $gt: 0 } } } }, returnDocument: "after" }, {
    _id: 1,
    b: [named[1]]
  }],
  [{}, { $pop: { b: -1 } }, { projection: { _id: 0, b: { $slice: 1 }, a: 0 }, returnDocument: "after" }, {
    b: [named[1]]
  }],
  [{ a: 2 }, { $set: { "a.$": 3 } }, { projection: { "a.$": 1 }, returnDocument: "after" }, undefined],
  [{ "b.name": "third" }, { $set: { n: 1 } }, { projection: { "b.$": 1 }, returnDocument: "after" }, undefined]
]

/** What positional updates leave, and what they refuse: which items they change, conflicts, upserts and projections. */
export const positionalCasesContract = (it: Tests, differs: Differs) => {
  const cases = (title: string, table: ReadonlyArray<Case>) =>
    it.effect(`positional updates: ${title}`, () =>
      Effect.gen(function*() {
        const rows = table.filter(([, , , , , difference]) => difference === undefined || !differs(difference))
        const { name, store } = yield* collectionOf(rows.map(([before], _id) => ({ _id, ...before })))
        for (const [_id, [before, filter, update, after, arrayFilters = []]] of rows.entries()) {
          const done = yield* Effect.result(store.updateOne(name, { _id, ...filter }, update, { arrayFilters }))
          const label = JSON.stringify([before, filter, update, arrayFilters])
          assert.strictEqual(
            Result.isFailure(done) ? done.failure._tag : undefined,
            after ? undefined : "QueryRejected",
            label
          )
          assert.deepStrictEqual(yield* store.findById(name, _id), { _id, ...after ?? before }, label)
        }
      }))

  cases("which items $ stands for", matches)
  cases("which items $[] and $[i] stand for", filtered)
  cases("conflicts", conflicts)
  cases("no renames", renames)

  it.effect("positional updates: upserts", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const expected: Array<Document> = []
      for (const [_id, [filter, update, inserted, arrayFilters = [], difference]] of upserts.entries()) {
        if (difference !== undefined && differs(difference)) continue
        const done = yield* Effect.result(
          store.updateOne(name, { _id, ...filter }, update, { arrayFilters, upsert: true })
        )
        const label = JSON.stringify([filter, update, arrayFilters])
        assert.strictEqual(
          Result.isFailure(done) ? done.failure._tag : undefined,
          inserted ? undefined : "QueryRejected",
          label
        )
        if (inserted !== undefined) expected.push({ _id, ...inserted })
      }
      assert.deepStrictEqual(yield* all, expected)
    }))

  it.effect.skipIf(differs("positionalReturns"))(
    "findOneAndUpdate returns items of lists, but none of the updated document by $",
    () =>
      Effect.gen(function*() {
        for (const [filter, update, options, document] of returned) {
          const { all, name, store } = yield* collectionOf([{ _id: 1, a: [1, 2], b: named }])
          const done = yield* Effect.result(store.findOneAndUpdate(name, filter, update, options))
          assert.deepStrictEqual(Result.getOrUndefined(done), document, JSON.stringify([filter, options]))
          if (document === undefined) assert.deepStrictEqual(yield* all, [{ _id: 1, a: [1, 2], b: named }])
        }
      })
  )
}
