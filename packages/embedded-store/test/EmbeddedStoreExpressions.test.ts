import { type Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

it.layer(EmbeddedStore.layerMemory)("EmbeddedStore and expressions", (it) => {
  const results = (stages: ReadonlyArray<Document>) =>
    Effect.gen(function*() {
      const store = yield* DocumentStore
      if ((yield* store.count("things", {})) === 0) yield* store.insertMany("things", things)
      return yield* Stream.runCollect(store.aggregate("things", [{ $sort: { _id: 1 } }, ...stages]))
    })

  it.effect("names the operators and variables that it does not support", () =>
    Effect.gen(function*() {
      const input = "hn3uUsMxSE6S0cVkebjmfg=="
      const operators = [
        { $toHashedIndexKey: "$t" },
        { $hash: { input, algorithm: "md5" } },
        { $hexHash: { input, algorithm: "xxh64" } },
        { $convert: { input, to: "int", byteOrder: "big" } },
        { $encStrContains: { input: "$t", substring: "a" } }
      ]
      const expressions = [...operators, "$$CLUSTER_TIME", "$$SEARCH_META.count", "$$USER_ROLES"]
      for (const expression of expressions) {
        const error = yield* Effect.flip(results([{ $project: { r: expression } }]))
        assert.strictEqual(error._tag, "Unsupported", JSON.stringify(expression))
      }
    }))

  it.effect.each([
    { hour: 32_768 },
    { minute: -32_769 },
    { day: 32_768 },
    { second: 1e15 },
    { millisecond: 0.5 }
  ])("rejects the parts of a date that MongoDB does: %o", (parts) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(results([{ $project: { r: { $dateFromParts: { year: 2017, ...parts } } } }]))
      assert.strictEqual(error._tag, "QueryRejected")
    }))

  it.effect.each<[string, unknown, unknown]>([
    ["$dateFromParts of many seconds", { $dateFromParts: { year: 1970, second: 1e9 } }, new Date(1e12)],
    ["$dateFromParts of many hours", { $dateFromParts: { year: 1970, hour: 32_767 } }, new Date(32_767 * 3_600_000)],
    ["$concatArrays", { $concatArrays: ["$a", [9], "$b"] }, [3, 1, 2, 3, 9, 2, 4]],
    ["$concatArrays of nothing", { $concatArrays: ["$a", "$none"] }, null],
    ["$concat", { $concat: ["$t", "-", "$t"] }, "a,b,,c-a,b,,c"],
    ["$map", { $map: { input: "$l", as: "x", in: { $ifNull: ["$$x.v", 0] } } }, [1, 2, 0]],
    ["$map in $map", { $map: { input: "$a", in: { $map: { input: "$b", as: "o", in: "$$o" } } } }, [
      [2, 4],
      [2, 4],
      [2, 4],
      [2, 4]
    ]],
    ["$filter", { $filter: { input: "$a", cond: { $gt: ["$$this", 1] }, limit: 2 } }, [3, 2]],
    ["$reduce", { $reduce: { input: "$nn", initialValue: [], in: { $concatArrays: ["$$value", "$$this"] } } }, [
      1,
      2,
      3
    ]],
    ["$reduce of documents", {
      $reduce: { input: "$l", initialValue: "", in: { $concat: ["$$value", { $ifNull: ["$$this.w", "?"] }] } }
    }, "x?z"],
    ["$let", { $let: { vars: { x: "$n", y: [1] }, in: { $concatArrays: ["$$y", ["$$x"]] } } }, [1, 5]],
    ["$zip", { $zip: { inputs: [["a", "b"], [1, 2, 3]] } }, [["a", 1], ["b", 2]]],
    ["$zip with defaults", {
      $zip: { inputs: [["a"], [1, 2]], useLongestLength: true, defaults: ["z", 0] }
    }, [["a", 1], ["z", 2]]],
    ["$range", { $range: [0, 10, 3] }, [0, 3, 6, 9]],
    ["$range downwards", { $range: [5, 0, -2] }, [5, 3, 1]],
    ["$in", { $in: [2, "$a"] }, true],
    ["$indexOfArray", { $indexOfArray: ["$nn", [3]] }, 1],
    ["$slice from the end", { $slice: ["$a", -2] }, [2, 3]],
    ["$slice from a place", { $slice: ["$a", 1, 2] }, [1, 2]],
    ["$reverseArray", { $reverseArray: "$a" }, [3, 2, 1, 3]],
    ["$first", { $first: "$nn" }, [1, 2]],
    ["$last", { $last: "$nn" }, [3]],
    ["$firstN", { $firstN: { input: "$a", n: 2 } }, [3, 1]],
    ["$lastN", { $lastN: { input: "$a", n: 2 } }, [2, 3]],
    ["$maxN", { $maxN: { input: "$a", n: 2 } }, [3, 3]],
    ["$minN", { $minN: { input: "$a", n: 2 } }, [1, 2]],
    ["$sortArray", { $sortArray: { input: "$a", sortBy: -1 } }, [3, 3, 2, 1]],
    ["$sortArray of documents", { $sortArray: { input: "$l", sortBy: { v: -1 } } }, [
      { v: 2 },
      { v: 1, w: "x" },
      { w: "z" }
    ]],
    ["$setUnion", { $setUnion: ["$a", "$b"] }, [3, 1, 2, 4]],
    ["$setIntersection", { $setIntersection: ["$a", "$b"] }, [2]],
    ["$setDifference", { $setDifference: ["$a", "$b"] }, [3, 1]],
    ["$setEquals", { $setEquals: ["$a", [1, 2, 3]] }, true],
    ["$setIsSubset", { $setIsSubset: ["$b", "$a"] }, false],
    ["$allElementsTrue", { $allElementsTrue: ["$b"] }, true],
    ["$anyElementTrue", { $anyElementTrue: [[0, false]] }, false],
    ["$median", { $median: { input: [10, 9, 100], method: "approximate" } }, 10],
    ["$percentile", { $percentile: { input: [1, 3, 2, 5], p: [0, 0.5, 1], method: "approximate" } }, [1, 2, 5]],
    ["$mergeObjects", { $mergeObjects: ["$o", { z: "$n" }, null] }, { p: 1, q: { r: [1, 2] }, z: 5 }],
    ["$objectToArray", { $objectToArray: "$o" }, [{ k: "p", v: 1 }, { k: "q", v: { r: [1, 2] } }]],
    ["$arrayToObject of pairs", { $arrayToObject: [[["a", [1, 2]], ["b", "$n"]]] }, { a: [1, 2], b: 5 }],
    ["$arrayToObject of documents", { $arrayToObject: { $objectToArray: "$o" } }, { p: 1, q: { r: [1, 2] } }],
    ["$setField", { $setField: { input: "$o", field: "p", value: 9 } }, { p: 9, q: { r: [1, 2] } }],
    ["$unsetField", { $unsetField: { input: "$o", field: "q" } }, { p: 1 }],
    ["$split", { $split: ["$t", ","] }, ["a", "b", "", "c"]],
    ["$replaceAll", { $replaceAll: { input: "$t", find: ",", replacement: "--" } }, "a--b----c"],
    ["$replaceOne", { $replaceOne: { input: "$t", find: ",", replacement: "--" } }, "a--b,,c"],
    ["$indexOfBytes", { $indexOfBytes: ["$t", "b"] }, 2],
    ["$strLenCP", { $strLenCP: "$s" }, 9],
    ["$strLenBytes", { $strLenBytes: "$s" }, 13],
    ["$substrCP", { $substrCP: ["$s", 1, 7] }, "héllo 😀"],
    ["$substrBytes", { $substrBytes: ["$s", 1, 3] }, "hé"],
    ["$trim", { $trim: { input: "$s" } }, "héllo 😀"],
    ["$ltrim", { $ltrim: { input: "$t", chars: "a," } }, "b,,c"],
    ["$rtrim", { $rtrim: { input: "$t", chars: "c," } }, "a,b"],
    ["$toUpper", { $toUpper: ["$t"] }, "A,B,,C"],
    ["$strcasecmp", { $strcasecmp: ["$t", "B"] }, -1],
    ["$toInt", { $toInt: "12" }, 12],
    ["$regexFindAll", { $regexFindAll: { input: "$s", regex: "\\pL+|\\pS" } }, [
      { match: "héllo", idx: 1, captures: [] },
      { match: "😀", idx: 7, captures: [] }
    ]],
    ["$regexFind", { $regexFind: { input: "$t", regex: "(b),(z)?" } }, { match: "b,", idx: 2, captures: ["b", null] }],
    ["$regexMatch", { $regexMatch: { input: "$t", regex: "^B", options: "im" } }, false],
    ["$eq of documents", { $eq: ["$o", { p: 1, q: { r: [1, 2] } }] }, true],
    ["a path through a list", "$l.v", [1, 2]],
    ["a path from a variable", { $let: { vars: { x: "$o" }, in: "$$x.q.r" } }, [1, 2]],
    ["a path from the whole document", "$$ROOT.o.q.r", [1, 2]],
    ["documents and lists of paths", { x: "$l.v", y: ["$o.p", "$n"] }, { x: [1, 2], y: [1, 5] }]
  ])("evaluates %s", ([, expression, expected]) =>
    Effect.gen(function*() {
      const project = yield* results([{ $limit: 1 }, { $project: { _id: 0, r: expression } }])
      assert.deepStrictEqual(project, [{ r: expected }])
      const [added] = yield* results([{ $limit: 1 }, { $addFields: { r: expression } }])
      assert.deepStrictEqual(added?.["r"], expected)
      const store = yield* DocumentStore
      assert.strictEqual(
        yield* store.count("things", { _id: 1, $expr: { $eq: [expression, { $literal: expected }] } }),
        1
      )
    }))

  it.effect.each<[string, Document, Document]>([
    ["$sum", { $sum: "$n" }, { x: 5, y: 7 }],
    ["$sum of the same", { $sum: 0.5 }, { x: 1, y: 0.5 }],
    ["$avg", { $avg: "$n" }, { x: 5, y: 7 }],
    ["$min", { $min: "$_id" }, { x: 1, y: 2 }],
    ["$max", { $max: "$_id" }, { x: 3, y: 2 }],
    ["$count", { $count: {} }, { x: 2, y: 1 }],
    ["$first", { $first: "$n" }, { x: 5, y: 7 }],
    ["$last", { $last: "$n" }, { x: null, y: 7 }],
    ["$push", { $push: { id: "$_id", none: "$none" } }, { x: [{ id: 1 }, { id: 3 }], y: [{ id: 2 }] }],
    ["$push of a path", { $push: "$l.v" }, { x: [[1, 2], [10]], y: [[]] }],
    ["$addToSet", { $addToSet: "$k" }, { x: ["x"], y: ["y"] }],
    ["$mergeObjects", { $mergeObjects: "$o" }, { x: { p: 2, q: { r: [1, 2] } }, y: { q: 2 } }],
    ["$stdDevPop", { $stdDevPop: "$_id" }, { x: 1, y: 0 }],
    ["$median", { $median: { input: "$_id", method: "approximate" } }, { x: 1, y: 2 }],
    ["$percentile", { $percentile: { input: "$_id", p: [0.5, 1], method: "approximate" } }, { x: [1, 3], y: [2, 2] }],
    ["$firstN", { $firstN: { input: "$_id", n: 1 } }, { x: [1], y: [2] }],
    ["$lastN", { $lastN: { input: "$_id", n: 1 } }, { x: [3], y: [2] }],
    ["$maxN", { $maxN: { input: "$n", n: 2 } }, { x: [5], y: [7] }],
    ["$minN", { $minN: { input: "$_id", n: 1 } }, { x: [1], y: [2] }],
    ["$top", { $top: { sortBy: { _id: -1 }, output: "$_id" } }, { x: 3, y: 2 }],
    ["$topN", { $topN: { n: 2, sortBy: { _id: -1 }, output: "$_id" } }, { x: [3, 1], y: [2] }],
    ["$bottom", { $bottom: { sortBy: { _id: -1 }, output: ["$_id", "$n"] } }, { x: [1, 5], y: [2, 7] }],
    ["$bottomN", { $bottomN: { n: 1, sortBy: { _id: -1 }, output: "$_id" } }, { x: [1], y: [2] }]
  ])("accumulates %s", ([, accumulator, expected]) =>
    Effect.gen(function*() {
      const groups = yield* results([{ $group: { _id: "$k", r: accumulator } }])
      assert.deepStrictEqual(Object.fromEntries(groups.map(({ _id, r }) => [_id, r])), expected)
    }))

  it.effect("plans a query with many values like one with few", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore
      yield* store.insertMany("many", Array.from({ length: 5_000 }, (_, _id) => ({ _id, n: (_id * 7) % 5_000 })))
      const [chosen] = yield* Stream.runCollect(store.aggregate("many", [
        {
          $group: {
            _id: null,
            firstN: { $firstN: { input: "$_id", n: 2 } },
            lastN: { $lastN: { input: "$_id", n: 2 } },
            maxN: { $maxN: { input: "$n", n: 2 } },
            minN: { $minN: { input: "$n", n: 2 } },
            topN: { $topN: { n: 2, sortBy: { n: 1 }, output: "$n" } },
            bottomN: { $bottomN: { n: 2, sortBy: { n: 1 }, output: "$n" } }
          }
        }
      ]))
      assert.deepStrictEqual(chosen, {
        _id: null,
        firstN: [0, 1],
        lastN: [4_998, 4_999],
        maxN: [4_999, 4_998],
        minN: [0, 1],
        topN: [0, 1],
        bottomN: [4_998, 4_999]
      })
    }))

  it.effect.each<[string, ReadonlyArray<Document>, ReadonlyArray<Document>]>([
    ["$bucketAuto", [{ $bucketAuto: { groupBy: "$_id", buckets: 2 } }], [
      { _id: { min: 1, max: 3 }, count: 2 },
      { _id: { min: 3, max: 3 }, count: 1 }
    ]],
    ["$bucketAuto with the same key", [
      { $bucketAuto: { groupBy: "$k", buckets: 3, output: { ids: { $push: "$_id" } } } }
    ], [{ _id: { min: "x", max: "y" }, ids: [1, 3] }, { _id: { min: "y", max: "y" }, ids: [2] }]],
    ["$bucketAuto of nothing", [{ $match: { _id: 0 } }, { $bucketAuto: { groupBy: "$_id", buckets: 2 } }], []],
    ["$project of what is in lists, beside what is computed", [
      { $limit: 1 },
      { $project: { "l.v": 1, o: { z: "$n" }, x: { $add: [1, 2] } } }
    ], [{ _id: 1, l: [{ v: 1 }, { v: 2 }, {}], o: { z: 5 }, x: 3 }]],
    ["$project of nothing but what is computed", [{ $limit: 1 }, { $project: { _id: 0, x: "$none", y: ["$n"] } }], [
      { y: [5] }
    ]],
    ["$addFields in documents", [
      { $limit: 1 },
      { $addFields: { "o.z": "$n", "o.q": "$$REMOVE" } },
      { $project: { o: 1 } }
    ], [{ _id: 1, o: { p: 1, z: 5 } }]],
    ["$unset in documents", [{ $limit: 1 }, { $unset: ["o.q", "l", "s", "t", "a", "b", "nn", "k", "n", "next"] }], [
      { _id: 1, o: { p: 1 } }
    ]],
    ["$redact", [{ $redact: { $cond: [{ $eq: ["$k", "y"] }, "$$KEEP", "$$PRUNE"] } }, { $project: { _id: 1 } }], [
      { _id: 2 }
    ]],
    ["$lookup by the items of a list", [
      { $limit: 1 },
      { $lookup: { from: "things", localField: "a", foreignField: "_id", as: "found.things" } },
      { $project: { ids: "$found.things._id" } }
    ], [{ _id: 1, ids: [1, 2, 3] }]],
    ["$graphLookup", [
      { $limit: 1 },
      {
        $graphLookup: {
          from: "things",
          startWith: "$_id",
          connectFromField: "next",
          connectToField: "_id",
          as: "way",
          depthField: "steps"
        }
      },
      { $project: { way: { $map: { input: "$way", in: ["$$this._id", "$$this.steps"] } } } }
    ], [{ _id: 1, way: [[1, 0], [2, 1], [3, 2]] }]],
    ["$densify", [
      { $match: { _id: { $ne: 2 } } },
      { $project: { _id: 1 } },
      { $densify: { field: "_id", range: { step: 1, bounds: "full" } } }
    ], [{ _id: 1 }, { _id: 2 }, { _id: 3 }]],
    ["deeply nested documents without their fields", [
      { $limit: 1 },
      { $project: { _id: 0, x: { y: { z: ["$none", { w: "$none" }] } } } }
    ], [{ x: { y: { z: [null, {}] } } }]]
  ])("runs %s", ([, stages, expected]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* results(stages), expected)
    }))
})

// internal

const things: ReadonlyArray<Document> = [
  {
    _id: 1,
    k: "x",
    n: 5,
    next: 2,
    s: " héllo 😀 ",
    t: "a,b,,c",
    a: [3, 1, 2, 3],
    b: [2, 4],
    o: { p: 1, q: { r: [1, 2] } },
    l: [{ v: 1, w: "x" }, { v: 2 }, { w: "z" }],
    nn: [[1, 2], [3]]
  },
  { _id: 2, k: "y", n: 7, next: 3, o: { q: 2 }, l: [] },
  { _id: 3, k: "x", n: null, next: 1, o: { p: 2 }, l: [{ v: 10 }] }
]
