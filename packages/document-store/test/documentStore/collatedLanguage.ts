import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Collation, Document, Filter } from "../../src/DocumentStore.ts"
import { collectionOf, type Tests } from "./collection.ts"

const ignoresCase: Collation = { locale: "en", strength: 2 }

/** How pipelines and updates compare texts by the rules of a language. */
export const collatedLanguageContract = (it: Tests) => {
  it.effect.each<[string, ReadonlyArray<Document>, ReadonlyArray<Document>]>([
    [
      "groups",
      [{ $group: { _id: "$t", n: { $sum: 1 } } }, { $sort: { n: -1 } }],
      [{ _id: "a", n: 3 }, { _id: "b", n: 1 }]
    ],
    [
      "groups by several values",
      [{ $group: { _id: { t: "$t", l: "$l" } } }, { $count: "groups" }],
      [{ groups: 3 }]
    ],
    ["counts", [{ $sortByCount: "$t" }], [{ _id: "a", count: 3 }, { _id: "b", count: 1 }]],
    [
      "buckets",
      [{ $bucket: { groupBy: "$t", boundaries: ["A", "B", "C"] } }],
      [{ _id: "A", count: 3 }, { _id: "B", count: 1 }]
    ],
    [
      "accumulators",
      [
        {
          $group: {
            _id: null,
            least: { $min: "$t" },
            most: { $max: "$t" },
            set: { $addToSet: "$t" },
            top: { $topN: { n: 2, sortBy: { t: -1, _id: 1 }, output: "$t" } },
            few: { $maxN: { input: "$t", n: 1 } }
          }
        },
        { $project: { _id: 0, least: 1, most: 1, set: { $size: "$set" }, top: 1, few: 1 } }
      ],
      [{ least: "a", most: "b", set: 2, top: ["b", "a"], few: ["b"] }]
    ],
    [
      "expressions",
      [
        { $match: { _id: 0 } },
        {
          $project: {
            _id: 0,
            cmp: { $cmp: ["$t", "B"] },
            in: { $in: ["$t", ["A"]] },
            at: { $indexOfArray: ["$l", "y"] },
            union: { $setUnion: [["a", "A"], ["a"]] },
            both: { $setIntersection: [["X"], "$l"] },
            rest: { $setDifference: ["$l", ["X"]] },
            equal: { $setEquals: ["$l", ["Y", "X"]] },
            part: { $setIsSubset: [["Y"], "$l"] },
            least: { $min: ["b", "B", "A"] },
            sorted: { $sortArray: { input: ["b", "A", "a", "B"], sortBy: 1 } },
            by: { $sortArray: { input: [{ x: "b" }, { x: "A" }], sortBy: { x: 1 } } },
            binary: { $strcasecmp: ["$t", "A"] },
            place: { $indexOfCP: ["$t", "A"] }
          }
        }
      ],
      [{
        cmp: -1,
        in: true,
        at: 1,
        union: ["a"],
        both: ["X"],
        rest: ["Y"],
        equal: true,
        part: true,
        least: "A",
        sorted: ["A", "a", "b", "B"],
        by: [{ x: "A" }, { x: "b" }],
        binary: 0,
        place: -1
      }]
    ],
    [
      "windows",
      [
        {
          $setWindowFields: {
            partitionBy: "$t",
            sortBy: { _id: 1 },
            output: {
              n: { $count: {} },
              set: { $addToSet: "$t" },
              most: { $max: "$u" },
              few: { $minN: { input: "$t", n: 1 } }
            }
          }
        },
        { $match: { _id: { $in: [1, 3] } } },
        { $project: { n: 1, set: 1, most: 1, few: 1 } },
        { $sort: { _id: 1 } }
      ],
      [{ _id: 1, n: 3, set: ["a"], most: "c", few: ["a"] }, { _id: 3, n: 1, set: ["b"], most: "A", few: ["b"] }]
    ],
    [
      "lookups",
      [
        { $match: { _id: 1 } },
        { $lookup: { from: "SELF", localField: "t", foreignField: "t", as: "others" } },
        { $project: { n: { $size: "$others" } } }
      ],
      [{ _id: 1, n: 3 }]
    ],
    [
      "graphs",
      [
        { $match: { _id: 3 } },
        { $graphLookup: { from: "SELF", startWith: "$t", connectFromField: "u", connectToField: "t", as: "all" } },
        { $project: { n: { $size: "$all" } } }
      ],
      [{ _id: 3, n: 4 }]
    ]
  ])("applies to pipelines: %s", ([, pipeline, expected]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([
        { _id: 0, t: "a", l: ["X", "Y"], u: "B" },
        { _id: 1, t: "A", l: ["x", "y"], u: "c" },
        { _id: 2, t: "a", l: [] },
        { _id: 3, t: "b", l: [], u: "A" }
      ])
      const here = JSON.parse(JSON.stringify(pipeline).replaceAll("SELF", name)) as ReadonlyArray<Document>
      const found = yield* Stream.runCollect(store.aggregate(name, here, { collation: ignoresCase }))
      assert.deepStrictEqual([...found], [...expected])
    }))

  it.effect("does not apply to patterns and replacements, as on the manual's pages of them", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([
        { _id: 1, category: "café", status: "cafe" },
        { _id: 2, category: "cafe", status: "Cafe" },
        { _id: 3, category: "cafE", status: "café" }
      ])
      const finds = { input: "$category", regex: /cafe/ }
      const replaces = { input: "$status", find: "Cafe", replacement: "CAFE" }
      const computed = {
        found: { $regexFind: finds },
        all: { $size: { $regexFindAll: finds } },
        matches: { $regexMatch: finds },
        one: { $replaceOne: replaces },
        every: { $replaceAll: replaces }
      }
      const found = yield* Stream.runCollect(
        store.aggregate(name, [{ $project: computed }], { collation: { locale: "fr", strength: 1 } })
      )
      const nothing = { found: null, all: 0, matches: false }
      assert.deepStrictEqual([...found], [
        { _id: 1, ...nothing, one: "cafe", every: "cafe" },
        { _id: 2, found: { match: "cafe", idx: 0, captures: [] }, all: 1, matches: true, one: "CAFE", every: "CAFE" },
        { _id: 3, ...nothing, one: "café", every: "café" }
      ])
    }))

  it.effect.each<[string, Document, Document, Filter?]>([
    ["$addToSet", { $addToSet: { l: "A" } }, { l: ["a", "b"] }],
    ["$addToSet of several", { $addToSet: { l: { $each: ["C", "c"] } } }, { l: ["a", "b", "C"] }],
    ["$pull", { $pull: { l: "A" } }, { l: ["b"] }],
    ["$pull by a condition", { $pull: { l: { $gte: "B" } } }, { l: ["a"] }],
    ["$pullAll", { $pullAll: { l: ["B"] } }, { l: ["a"] }],
    ["$push with a sort", { $push: { l: { $each: ["A", "C"], $sort: -1 } } }, { l: ["C", "b", "a", "A"] }],
    ["$min", { $min: { t: "M" } }, { t: "m" }],
    ["$max", { $max: { t: "N" } }, { t: "N" }],
    ["$", { $set: { "l.$": "x" } }, { l: ["a", "x"] }, { l: "B" }],
    ["array filters", { $set: { "l.$[i]": "x" } }, { l: ["a", "x"] }]
  ])("applies to updates: %s", ([, update, expected, filter = {}]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, l: ["a", "b"], t: "m" }])
      const arrayFilters = JSON.stringify(update).includes("[i]") ? { arrayFilters: [{ i: "B" }] } : {}
      yield* store.updateOne(name, filter, update, { collation: ignoresCase, ...arrayFilters })
      assert.deepStrictEqual(yield* all, [{ _id: 1, l: ["a", "b"], t: "m", ...expected }])
    }))
}
