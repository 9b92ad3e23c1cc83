import { assert } from "@effect/vitest"
import { Decimal128, Long } from "bson"
import { Effect, Result, Stream } from "effect"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, day, plain, type Tests } from "./collection.ts"

/** A `$setWindowFields` over {@link points}, and the values of the field `v` in the order of `_id`; or `rejected`. */
type Case = readonly [stage: Document, expected: ReadonlyArray<unknown> | typeof rejected, difference?: Difference]

const rejected = Symbol("rejected")

/** What MongoDB's documentation says of `$setWindowFields`. */
export const windowContract = (it: Tests, differs: Differs) => {
  const cases = (group: string, documents: ReadonlyArray<Document>, list: ReadonlyArray<Case>) =>
    it.effect(group, () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(documents)
        for (const [stage, expected, difference] of list) {
          if (difference !== undefined && differs(difference)) continue
          const answer = yield* Effect.result(
            Stream.runCollect(store.aggregate(name, [{ $setWindowFields: stage }, { $sort: { _id: 1 } }]))
          )
          if (Result.isFailure(answer)) assert.strictEqual(answer.failure._tag, "QueryRejected", answer.failure.message)
          const values = Result.isFailure(answer) ? answer.failure.message : answer.success.map(({ v }) => v)
          if (typeof values === "string" && expected === rejected) continue
          assert.deepStrictEqual(plain(values), plain(expected), JSON.stringify(stage))
        }
      }))

  /** A window function over all points in the order of `x`. */
  const ofAll = (v: Document): Document => ({ sortBy: { x: 1 }, output: { v } })
  const inDocuments = (operator: Document, ...documents: ReadonlyArray<unknown>): Document =>
    ofAll({ ...operator, window: { documents } })
  const inRange = (...range: ReadonlyArray<unknown>): Document => ofAll({ $push: "$x", window: { range } })

  cases("a window of documents", points, [
    [ofAll({ $sum: "$n" }), [10, 10, 10, 10]],
    [{ output: { v: { $sum: "$n" } } }, [10, 10, 10, 10]],
    [{ partitionBy: "$g", sortBy: { x: 1 }, output: { v: { $sum: "$n", window: {} } } }, [3, 3, 7, 7]],
    [inDocuments({ $sum: "$n" }, "unbounded", "current"), [1, 3, 6, 10]],
    [inDocuments({ $sum: "$n" }, "current", "unbounded"), [10, 9, 7, 4]],
    [inDocuments({ $sum: "$n" }, -1, 1), [3, 6, 9, 7]],
    [inDocuments({ $sum: "$n" }, { $add: [1, 0] }, 2), [5, 7, 4, 0], "lackingWindows"],
    [inDocuments({ $avg: "$n" }, -1, 0), [1, 1.5, 2.5, 3.5]],
    [inDocuments({ $avg: "$n" }, 2, 3), [3.5, 4, null, null]],
    [inDocuments({ $min: "$n" }, -1, 1), [1, 1, 2, 3]],
    [inDocuments({ $max: "$n" }, -3, -1), [null, 1, 2, 3]],
    [inDocuments({ $count: {} }, -1, 1), [2, 3, 3, 2]],
    [inDocuments({ $push: "$n" }, -1, 0), [[1], [1, 2], [2, 3], [3, 4]]],
    [inDocuments({ $push: "$none" }, -1, 0), [[], [], [], []]],
    [inDocuments({ $addToSet: "$g" }, -1, -1), [[], ["a"], ["a"], ["b"]]],
    [inDocuments({ $first: "$n" }, -1, 1), [1, 1, 2, 3]],
    [inDocuments({ $last: "$n" }, 1, 1), [2, 3, 4, null]],
    [inDocuments({ $firstN: { input: "$n", n: 2 } }, -2, 0), [[1], [1, 2], [1, 2], [2, 3]]],
    [inDocuments({ $lastN: { input: "$n", n: 2 } }, -2, 0), [[1], [1, 2], [2, 3], [3, 4]]],
    [inDocuments({ $minN: { input: "$n", n: 2 } }, 0, 2), [[1, 2], [2, 3], [3, 4], [4]]],
    [inDocuments({ $maxN: { input: "$n", n: { $add: [1, 1] } } }, 0, 2), [[3, 2], [4, 3], [4, 3], [4]]],
    [inDocuments({ $top: { output: "$_id", sortBy: { n: -1 } } }, -1, 0), [1, 2, 3, 4]],
    [inDocuments({ $bottom: { output: "$_id", sortBy: { n: -1 } } }, -1, 0), [1, 1, 2, 3]],
    [inDocuments({ $topN: { output: "$n", sortBy: { n: -1 }, n: 2 } }, -2, 0), [[1], [2, 1], [3, 2], [4, 3]]],
    [inDocuments({ $bottomN: { output: "$n", sortBy: { n: -1 }, n: 2 } }, -2, 0), [[1], [2, 1], [2, 1], [3, 2]]],
    [inDocuments({ $stdDevPop: "$n" }, -1, 0), [0, 0.5, 0.5, 0.5]],
    [inDocuments({ $stdDevSamp: "$n" }, -2, 0), [null, Math.SQRT1_2, 1, 1]],
    [inDocuments({ $median: { input: "$n", method: "approximate" } }, -2, 0), [1, 1, 2, 3]],
    [inDocuments({ $percentile: { input: "$n", p: [0.1, 0.9], method: "approximate" } }, -1, 1), [
      [1, 2],
      [1, 3],
      [2, 4],
      [3, 4]
    ]],
    [inDocuments({ $sum: "$n" }, 1, -1), rejected, "laxWindows"],
    [inDocuments({ $sum: "$n" }, "current", -1), rejected, "laxWindows"],
    [inDocuments({ $sum: "$n" }, 0, 1.5), rejected],
    [inDocuments({ $sum: "$n" }, 0, "$n"), rejected],
    [inDocuments({ $sum: "$n" }, 0, "next"), rejected],
    [inDocuments({ $sum: "$n" }, 0), rejected],
    [{ output: { v: { $sum: "$n", window: { documents: ["unbounded", "unbounded"] } } } }, [10, 10, 10, 10]],
    [{ output: { v: { $sum: "$n", window: { documents: ["unbounded", "current"] } } } }, rejected, "laxWindows"],
    [ofAll({ $sum: "$n", window: { documents: [0, 0], unit: "day" } }), rejected, "laxWindows"],
    [ofAll({ $sum: "$n", $avg: "$n" }), rejected],
    [ofAll({ $sum: "$n", range: [0, 0] }), rejected, "laxWindows"],
    [ofAll({ $accumulator: "$n" }), rejected],
    [ofAll({ sum: "$n" }), rejected],
    [ofAll({}), rejected],
    [{ sortBy: { x: 1 }, output: { v: { $sum: "$n" }, "v.a": { $sum: "$n" } } }, rejected, "laxWindows"],
    [{ partitionBy: ["$g"], output: { v: { $sum: "$n" } } }, rejected, "laxWindows"],
    [{ partitions: "$g", output: { v: { $sum: "$n" } } }, rejected],
    [{ sortBy: { x: 1 } }, rejected]
  ])

  cases("a window in the order of lists", [
    { _id: 1, g: "a", l: [3, 9] },
    { _id: 2, g: "b", l: [{ x: 4 }, { x: 5 }] },
    { _id: 3, g: "a", l: 5 },
    { _id: 4, g: "a", l: [1, 7] },
    { _id: 5, g: "a" }
  ], [
    [{ sortBy: { l: 1 }, output: { v: { $documentNumber: {} } } }, [3, 5, 4, 2, 1], "lackingWindows"],
    [{ partitionBy: "$g", sortBy: { l: -1 }, output: { v: { $documentNumber: {} } } }, [1, 1, 3, 2, 4]],
    [{ partitionBy: "$g", sortBy: { "l.x": -1, _id: 1 }, output: { v: { $push: "$_id" } } }, [
      [1, 3, 4, 5],
      [2],
      [1, 3, 4, 5],
      [1, 3, 4, 5],
      [1, 3, 4, 5]
    ]]
  ])

  cases("a window of a range", points, [
    [inRange(-1, 0), [[0], [0, 1], [1, 1.5], [100]]],
    [inRange("unbounded", 0), [[0], [0, 1], [0, 1, 1.5], [0, 1, 1.5, 100]]],
    [inRange("current", "unbounded"), [[0, 1, 1.5, 100], [1, 1.5, 100], [1.5, 100], [100]]],
    [inRange(1, 1), [[1], [], [], []]],
    [inRange(99, "unbounded"), [[100], [100], [], []]],
    [inRange(decimal("-0.5"), Long.fromNumber(0)), [[0], [1], [1, 1.5], [100]], "lackingWindows"],
    [inRange(1, 0), rejected, "laxWindows"],
    [inRange("$x", 0), rejected],
    [ofAll({ $push: "$x", window: { range: [-1, 0], unit: "day" } }), rejected],
    [ofAll({ $push: "$x", window: { range: [-1, 0], documents: [-1, 0] } }), rejected, "laxWindows"],
    [{ output: { v: { $push: "$x", window: { range: [-1, 0] } } } }, rejected],
    [{ sortBy: { x: -1 }, output: { v: { $push: "$x", window: { range: [-1, 0] } } } }, rejected],
    [{ sortBy: { x: 1, n: 1 }, output: { v: { $push: "$x", window: { range: [-1, 0] } } } }, rejected],
    [{ sortBy: { g: 1 }, output: { v: { $push: "$x", window: { range: [-1, 0] } } } }, rejected],
    [{ sortBy: { none: 1 }, output: { v: { $push: "$x", window: { range: ["unbounded", "unbounded"] } } } }, rejected],
    [{ sortBy: { t: 1 }, output: { v: { $push: "$n", window: { range: [-1, 0] } } } }, rejected],
    [{ sortBy: { t: 1 }, output: { v: { $push: "$n", window: { range: [-1, 0], unit: "month" } } } }, [
      [1],
      [1, 2],
      [3],
      [4]
    ], "lackingWindows"],
    [{ sortBy: { t: 1 }, output: { v: { $push: "$n", window: { range: [-31, 1], unit: "day" } } } }, [
      [1],
      [1, 2],
      [2, 3],
      [4]
    ]],
    [
      { sortBy: { t: 1 }, output: { v: { $push: "$n", window: { range: [-1.5, 0], unit: "day" } } } },
      rejected,
      "laxWindows"
    ],
    [{ sortBy: { t: 1 }, output: { v: { $push: "$n", window: { range: [-1, 0], unit: "aeon" } } } }, rejected]
  ])

  cases("values that are alike", [{ _id: 1, x: 1 }, { _id: 2, x: 2 }, { _id: 3, x: 2 }, { _id: 4, x: 3 }], [
    [{ sortBy: { x: 1, _id: 1 }, output: { v: { $count: {}, window: { documents: ["unbounded", "current"] } } } }, [
      1,
      2,
      3,
      4
    ]],
    [ofAll({ $count: {}, window: { range: ["unbounded", 0] } }), [1, 3, 3, 4]],
    [ofAll({ $count: {}, window: { range: [0, 0] } }), [1, 2, 2, 1]],
    [ofAll({ $count: {}, window: { range: ["current", "current"] } }), [1, 1, 1, 1], "lackingWindows"],
    [ofAll({ $rank: {} }), [1, 2, 2, 4]],
    [ofAll({ $denseRank: {} }), [1, 2, 2, 3]],
    [{ sortBy: { x: -1 }, output: { v: { $rank: {} } } }, [4, 2, 2, 1]],
    [ofAll({ $linearFill: "$none" }), rejected, "laxWindows"]
  ])

  cases("the order", points, [
    [ofAll({ $documentNumber: {} }), [1, 2, 3, 4]],
    [{ partitionBy: "$g", sortBy: { x: -1 }, output: { v: { $documentNumber: {} } } }, [2, 1, 2, 1]],
    [{ sortBy: { none: 1 }, output: { v: { $rank: {} } } }, [1, 1, 1, 1]],
    [ofAll({ $rank: {}, window: { documents: [0, 0] } }), rejected],
    [ofAll({ $rank: "$x" }), rejected],
    [{ sortBy: { x: 1, n: 1 }, output: { v: { $rank: {} } } }, rejected, "laxWindows"],
    [{ output: { v: { $documentNumber: {} } } }, rejected, "laxWindows"],
    [ofAll({ $shift: { output: "$n", by: 1 } }), [2, 3, 4, null]],
    [ofAll({ $shift: { output: "$n", by: -2, default: "none" } }), ["none", "none", 1, 2]],
    [ofAll({ $shift: { output: "$n", by: "$n" } }), rejected],
    [ofAll({ $shift: { output: "$n", by: 1, default: "$n" } }), rejected, "laxWindows"],
    [ofAll({ $shift: { output: "$n" } }), rejected],
    [{ output: { v: { $shift: { output: "$n", by: 1 } } } }, rejected],
    [ofAll({ $locf: "$gap" }), [null, 10, 10, 30]],
    [ofAll({ $linearFill: { $ifNull: ["$gap", { $cond: [{ $eq: ["$x", 0] }, 0, null] }] } }), [
      0,
      10,
      10 + 0.5 * (20 / 99),
      30
    ]],
    [ofAll({ $linearFill: "$gap" }), [null, 10, 10 + 0.5 * (20 / 99), 30]],
    [{ sortBy: { t: 1 }, output: { v: { $linearFill: "$gap" } } }, [null, 10, 19.6875, 30], "lackingWindows"],
    [ofAll({ $linearFill: "$g" }), rejected],
    [{ sortBy: { g: 1 }, output: { v: { $linearFill: "$gap" } } }, rejected],
    [{ output: { v: { $linearFill: "$gap" } } }, rejected],
    [ofAll({ $linearFill: "$gap", window: { documents: [0, 0] } }), rejected],
    [ofAll({ $expMovingAvg: { input: "$n", N: 3 } }), [1, 1.5, 2.25, 3.125]],
    [ofAll({ $expMovingAvg: { input: "$n", alpha: 0.1 } }), [1, 1.1, 1.29, 1.561]],
    [ofAll({ $expMovingAvg: { input: "$gap", alpha: 0.5 } }), [null, 10, 10, 20], "lackingWindows"],
    [ofAll({ $expMovingAvg: { input: "$g", alpha: 0.5 } }), [null, null, null, null], "lackingWindows"],
    [
      ofAll({ $expMovingAvg: { input: "$d", alpha: 0.5 } }),
      ["0.1", "0.15", "0.225", "0.3125"].map(decimal),
      "lackingWindows"
    ],
    [ofAll({ $expMovingAvg: { input: "$n", alpha: 1 } }), rejected],
    [ofAll({ $expMovingAvg: { input: "$n", N: 0.5 } }), rejected],
    [ofAll({ $expMovingAvg: { input: "$n", N: 2, alpha: 0.5 } }), rejected],
    [{ output: { v: { $expMovingAvg: { input: "$n", N: 2 } } } }, rejected]
  ])

  cases("rates", points, [
    [inDocuments({ $derivative: { input: "$n" } }, -1, 0), [null, 1, 2, 1 / 98.5]],
    [inDocuments({ $derivative: { input: "$n" } }, 1, 1), [null, null, null, null]],
    [{
      sortBy: { t: 1 },
      output: { v: { $derivative: { input: "$n", unit: "day" }, window: { documents: [-1, 0] } } }
    }, [null, 1 / 31, 1 / 31, 1 / 33]],
    [ofAll({ $derivative: { input: "$n" } }), rejected, "laxWindows"],
    [inDocuments({ $derivative: { input: "$gap" } }, -1, 0), rejected],
    [inDocuments({ $derivative: { input: "$n", unit: "day" } }, -1, 0), rejected],
    [inDocuments({ $derivative: { input: "$n", unit: "month" } }, -1, 0), rejected],
    [{ sortBy: { t: 1 }, output: { v: { $derivative: { input: "$n" }, window: { documents: [-1, 0] } } } }, rejected],
    [inDocuments({ $integral: { input: "$n" } }, "unbounded", "current"), [0, 1.5, 2.75, 347.5]],
    [inDocuments({ $integral: { input: "$n" } }, -1, 0), [0, 1.5, 1.25, 344.75]],
    [
      inDocuments({ $integral: { input: "$d" } }, -1, 0),
      [0, ...["0.15", "0.125", "34.475"].map(decimal)],
      "lackingWindows"
    ],
    [{
      sortBy: { t: 1 },
      output: { v: { $integral: { input: "$n", unit: "day" }, window: { documents: [-1, 0] } } }
    }, [0, 46.5, 77.5, 115.5]],
    [inDocuments({ $integral: { input: "$gap" } }, -1, 0), rejected],
    [{ output: { v: { $integral: { input: "$n" } } } }, rejected],
    [ofAll({ $covariancePop: ["$n", "$_id"] }), [1.25, 1.25, 1.25, 1.25], "lackingWindows"],
    [inDocuments({ $covarianceSamp: ["$n", "$x"] }, -1, 0), [null, 0.5, 0.25, 49.25], "lackingWindows"],
    [inDocuments({ $covariancePop: ["$n", "$g"] }, -1, 0), [null, null, null, null], "lackingWindows"],
    [
      inDocuments({ $covariancePop: ["$n", "$d"] }, -1, 0),
      [0, ...["0.025", "0.025", "0.025"].map(decimal)],
      "lackingWindows"
    ],
    [ofAll({ $minMaxScaler: "$n" }), [0, 1 / 3, 2 / 3, 1], "lackingWindows"],
    [inDocuments({ $minMaxScaler: { input: "$n", min: 0, max: 100 } }, -1, 1), [0, 50, 50, 100], "lackingWindows"],
    [inDocuments({ $minMaxScaler: { input: "$n" } }, 0, 0), [0, 0, 0, 0], "lackingWindows"],
    [inDocuments({ $minMaxScaler: { input: "$n" } }, 1, 2), rejected],
    [ofAll({ $minMaxScaler: { input: "$n", min: 10, max: 10 } }), rejected],
    [ofAll({ $minMaxScaler: "$gap" }), rejected]
  ])

  cases("the types of numbers", points, [
    [inDocuments({ $sum: "$d" }, -1, 0), ["0.1", "0.3", "0.5", "0.7"].map(decimal)],
    [inDocuments({ $avg: "$d" }, -1, 0), ["0.1", "0.15", "0.25", "0.35"].map(decimal)],
    [inDocuments({ $sum: "$l" }, -1, 0), [1, 2, 2, 2].map((n) => Long.fromString("9007199254740993").mul(n))],
    [inDocuments({ $sum: "$g" }, -1, 0), [0, 0, 0, 0]],
    [inDocuments({ $max: "$d" }, -1, 0), ["0.1", "0.2", "0.3", "0.4"].map(decimal)],
    [ofAll({ $sum: 0.1 }), [0.4, 0.4, 0.4, 0.4]]
  ])

  // MongoDB holds the values of a window that documents leave in order. Of any other window it retains what $group does.
  const one = decimal("1")
  cases("equal numbers", [{ _id: 1, x: 1, n: 1 }, { _id: 2, x: 2, n: one }, { _id: 3, x: 3, n: 0 }], [
    [inDocuments({ $addToSet: "$n" }, -1, 0), [[1], [1], [one, 0]], "lackingWindows"],
    [inDocuments({ $min: "$n" }, -1, 0), [1, 1, 0], "lackingWindows"],
    [inDocuments({ $max: "$n" }, -1, 0), [1, one, one], "lackingWindows"],
    [inDocuments({ $max: "$n" }, "unbounded", 0), [1, 1, 1], "lackingWindows"],
    [inDocuments({ $maxN: { input: "$n", n: 2 } }, -2, 0), [[1], [one, 1], [one, 1]], "lackingWindows"],
    [inDocuments({ $maxN: { input: "$n", n: 1 } }, -1, 0), [[1], [one], [one]], "lackingWindows"],
    [inDocuments({ $maxN: { input: "$n", n: 1 } }, "unbounded", 0), [[1], [1], [1]], "lackingWindows"],
    [inDocuments({ $minN: { input: "$n", n: 2 } }, -2, 0), [[1], [1, one], [0, 1]], "lackingWindows"],
    [inDocuments({ $bottom: { output: "$_id", sortBy: { n: 1 } } }, -1, 0), [1, 2, 2], "lackingWindows"],
    [inDocuments({ $bottom: { output: "$_id", sortBy: { n: 1 } } }, "unbounded", 0), [1, 1, 1], "lackingWindows"],
    [inDocuments({ $topN: { output: "$_id", sortBy: { n: 1 }, n: 2 } }, -2, 0), [[1], [1, 2], [3, 1]], "lackingWindows"]
  ])

  it.effect.skipIf(differs("lackingWindows"))(
    "$group and expressions retain the first of equal numbers",
    () =>
      Effect.gen(function*() {
        const documents = [1, one, 0, Long.fromNumber(1)].map((n, _id) => ({ _id, n }))
        const { name, store } = yield* collectionOf(documents)
        const [group] = yield* Stream.runCollect(store.aggregate(name, [
          { $sort: { _id: 1 } },
          {
            $group: {
              _id: null,
              all: { $push: "$n" },
              two: { $maxN: { input: "$n", n: 2 } },
              least: { $minN: { input: "$n", n: 2 } },
              last: { $bottomN: { output: "$_id", sortBy: { n: 1 }, n: 2 } },
              bottom: { $bottom: { output: "$_id", sortBy: { n: 1 } } }
            }
          },
          { $set: { all: { $maxN: { input: "$all", n: 2 } } } }
        ]))
        const expected = { _id: null, all: [one, 1], two: [one, 1], least: [0, 1], last: [0, 1], bottom: 0 }
        assert.deepStrictEqual(plain(group), plain(expected))
      })
  )

  cases("covariances of numbers that are not finite", [
    { _id: 1, x: 1, a: 1, b: 2 },
    { _id: 2, x: 2, a: Infinity, b: -2 },
    { _id: 3, x: 3, a: 2, b: -Infinity },
    { _id: 4, x: 4, a: 3, b: NaN },
    { _id: 5, x: 5, a: 3, b: 4 }
  ], [
    [inDocuments({ $covariancePop: ["$a", "$b"] }, -1, 0), [0, Infinity, NaN, NaN, NaN], "lackingWindows"],
    [inDocuments({ $covarianceSamp: ["$a", "$b"] }, 0, 0), [null, Infinity, -Infinity, NaN, null], "lackingWindows"]
  ])

  it.effect.skipIf(differs("lackingWindows"))(
    "a window sets nested fields, and those that are there already",
    () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf([{ _id: 1, n: 1, a: { b: 1, c: 2 } }, { _id: 2, n: 2 }])
        const stage = { sortBy: { _id: 1 }, output: { n: { $sum: "$n" }, "a.b": { $sum: "$n" } } }
        assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(name, [{ $setWindowFields: stage }])), [
          { _id: 1, n: 3, a: { b: 3, c: 2 } },
          { _id: 2, n: 3, a: { b: 3 } }
        ])
      })
  )
}

// internal

const decimal = (text: string): Decimal128 => Decimal128.fromString(text)

const points: ReadonlyArray<Document> = [
  { _id: 1, g: "a", x: 0, n: 1, d: decimal("0.1"), l: Long.fromString("9007199254740993"), t: day(1), gap: null },
  { _id: 2, g: "a", x: 1, n: 2, d: decimal("0.2"), l: Long.fromString("9007199254740993"), t: day(32), gap: 10 },
  { _id: 3, g: "b", x: 1.5, n: 3, d: decimal("0.3"), l: Long.fromString("9007199254740993"), t: day(63), gap: null },
  { _id: 4, g: "b", x: 100, n: 4, d: decimal("0.4"), l: Long.fromString("9007199254740993"), t: day(96), gap: 30 }
]
