import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, idsOf, type Tests } from "./collection.ts"

/** A local document, the two fields, and the identifiers of the foreign documents that it matches. */
type Case = readonly [local: Document, localField: string, foreignField: string, ids: ReadonlyArray<number>]

/** Joins by fields match what `{ foreignField: { $in: [the values of localField] } }` matches. */
export const joinContract = (it: Tests, differs: Differs) => {
  if (differs("joinedPaths")) return

  it.effect.each<readonly [name: string, foreign: ReadonlyArray<Document>, cases: ReadonlyArray<Case>]>([
    ["through lists in lists", [
      { _id: 1, a: [{ b: [{ c: 1 }] }] },
      { _id: 2, a: { b: [{ c: 2 }, { c: [1, 3] }] } },
      { _id: 3, a: [{ b: { c: 2 } }, { b: [{ d: 1 }] }] },
      { _id: 4, a: [[{ b: { c: 1 } }]] }
    ], [
      [{ x: 1 }, "x", "a.b.c", [1, 2]],
      [{ x: [3, 2] }, "x", "a.b.c", [2, 3]],
      [{ x: [{ y: [{ z: 3 }, { z: 9 }] }, { y: { z: [8] } }] }, "x.y.z", "a.b.c", [2]],
      [{ x: [[{ y: 1 }]] }, "x.y", "a.b.c", [3]],
      [{ x: null }, "x", "a.b.c", [3]],
      [{}, "x", "a.b.c", [3]],
      [{ x: [] }, "x", "a.b.c", [3]]
    ]],
    ["at places of lists", [
      { _id: 1, a: [{ b: 1 }, { b: 2 }] },
      { _id: 2, a: [[1, 2], 3] },
      { _id: 3, a: { 0: { b: 1 } } }
    ], [
      [{ x: 1 }, "x", "a.0.b", [1, 3]],
      [{ x: 2 }, "x", "a.0.b", []],
      [{ x: 3 }, "x", "a.1", [2]],
      [{ x: [[5, 6], 3] }, "x.1", "a.1", [2]]
    ]],
    ["with null and missing values", [
      { _id: 1, c: [{ x: 5 }, { z: 1 }] },
      { _id: 2, c: { x: 5 } },
      { _id: 3, c: 7 },
      { _id: 4 },
      { _id: 5, c: { x: [null] } },
      { _id: 6, c: [{ x: 5 }, { x: null }] }
    ], [
      [{ a: null }, "a", "c.x", [1, 3, 4, 5, 6]],
      [{ a: [5, null] }, "a", "c.x", [1, 2, 3, 4, 5, 6]],
      [{ a: 5 }, "a", "c.x", [1, 2, 6]],
      [{ a: [{ b: 5 }, {}] }, "a.b", "c.x", [1, 2, 6]]
    ]],
    ["with lists as values", [
      { _id: 1, a: [1, 2] },
      { _id: 2, a: [[1, 2], 3] },
      { _id: 3, a: [] },
      { _id: 4, a: [[]] },
      { _id: 5, a: 1 }
    ], [
      [{ x: [[1, 2]] }, "x", "a", [1, 2]],
      [{ x: [[]] }, "x", "a", [3, 4]],
      [{ x: [1, 2] }, "x", "a", [1, 5]],
      [{ x: { y: [[1, 2], 1] } }, "x.y", "a", [1, 2, 5]]
    ]]
  ])("joins by fields %s", ([, foreign, cases]) =>
    Effect.gen(function*() {
      const { ids, name: from, store } = yield* collectionOf(foreign)
      for (const [local, localField, foreignField, expected] of cases) {
        const { name } = yield* collectionOf([{ _id: 1, ...local }])
        const [found] = yield* Stream.runCollect(store.aggregate(name, [
          { $lookup: { from, localField, foreignField, as: "found" } },
          { $set: { found: { $sortArray: { input: "$found", sortBy: { _id: 1 } } } } }
        ]))
        const shown = JSON.stringify([local, localField, foreignField])
        assert.deepStrictEqual(idsOf(found?.["found"] as ReadonlyArray<Document>), [...expected], shown)
        // A join of one value is a filter for it.
        const [value, ...others] = Object.values(local)
        if (others.length === 0 && value !== undefined && !localField.includes(".") && !Array.isArray(value)) {
          assert.deepStrictEqual(yield* ids({ [foreignField]: { $in: [value] } }), [...expected], shown)
        }
      }
    }))

  it.effect.each<readonly [name: string, stage: Document, found: ReadonlyArray<number>]>([
    ["through lists in lists", { startWith: 1, connectFromField: "to.n", connectToField: "a.b.c" }, [1, 2, 3]],
    ["from nothing to nothing", { startWith: "$none", connectFromField: "none", connectToField: "a.b.c" }, []],
    ["from null to what has a value there", { startWith: null, connectFromField: "none", connectToField: "n.x" }, [
      2,
      3
    ]],
    ["from the items of a list", { startWith: [9, 1], connectFromField: "none", connectToField: "a.b.c" }, [1]]
  ])("follows connections %s", ([, stage, expected]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([
        { _id: 1, a: [{ b: [{ c: 1 }] }], to: [{ n: [2] }] },
        { _id: 2, a: { b: [{ c: 5 }, { c: [2] }] }, to: { n: 3 }, n: { x: null } },
        { _id: 3, a: { b: { c: 3 } }, n: [{ x: 1 }, { y: 1 }] }
      ])
      const [found] = yield* Stream.runCollect(store.aggregate(name, [
        { $match: { _id: 1 } },
        { $graphLookup: { from: name, ...stage, as: "found" } },
        { $set: { found: { $sortArray: { input: "$found", sortBy: { _id: 1 } } } } }
      ]))
      assert.deepStrictEqual(idsOf(found?.["found"] as ReadonlyArray<Document>), [...expected])
    }))
}
