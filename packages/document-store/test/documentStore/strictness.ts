import { assert } from "@effect/vitest"
import { Double } from "bson"
import { Effect } from "effect"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, type Tests } from "./collection.ts"
import { type Constant, constants, date, pagesOf, rejected, runs } from "./manual/expressionsPage.ts"

const rejects = (difference: Difference, stages: ReadonlyArray<Document>) =>
  runs([{ _id: 1, n: 1, l: [1] }], stages.map((stage) => [[stage], rejected, difference]))

const rejectsValues = (expressions: ReadonlyArray<unknown>) =>
  constants(expressions.map((expression): Constant => [expression, rejected, "laxArguments"]))

/** What MongoDB's language rejects, and how it writes numbers and counts bins. */
export const strictnessContract = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  const densify = { field: "n", range: { step: 1, bounds: "full" } }
  const bucket = { groupBy: "$n", boundaries: [0, 5] }
  const graph = { from: "c", startWith: "$n", connectFromField: "n", connectToField: "n", as: "r" }
  const lookup = { from: "c", localField: "n", foreignField: "n", as: "r" }
  page(
    "stages with unknown arguments",
    rejects("laxStages", [
      { $unwind: { path: "$l", other: 1 } },
      { $bucket: { ...bucket, other: 1 } },
      { $bucketAuto: { groupBy: "$n", buckets: 2, other: 1 } },
      { $densify: { ...densify, other: 1 } },
      { $densify: { field: "n", range: { step: 1, bounds: "full", other: 1 } } },
      { $fill: { output: { n: { value: 1 } }, other: 1 } },
      { $graphLookup: { ...graph, other: 1 } },
      { $lookup: { ...lookup, other: 1 } },
      { $sample: { size: 1, other: 1 } },
      { $unionWith: { coll: "c", other: 1 } },
      { $replaceRoot: { newRoot: "$$ROOT", other: 1 } },
      { $setWindowFields: { output: {}, other: 1 } }
    ])
  )

  page(
    "stages with malformed arguments",
    rejects("laxStages", [
      { $unwind: { path: "$l", preserveNullAndEmptyArrays: 1 } },
      { $unwind: { path: "$l", includeArrayIndex: "" } },
      { $unwind: "$l." },
      { $unwind: "$$l" },
      { $bucket: { ...bucket, groupBy: "n" } },
      { $bucket: { ...bucket, groupBy: 1 } },
      { $bucket: { ...bucket, boundaries: ["$n", "$o"] } },
      { $bucket: { ...bucket, default: "$n" } },
      { $bucketAuto: { buckets: 2 } },
      { $bucketAuto: { groupBy: "n", buckets: 2 } },
      { $fill: { partitionBy: "$n", partitionByFields: ["n"], output: { n: { value: 1 } } } },
      { $fill: { partitionByFields: ["$n"], output: { n: { value: 1 } } } },
      { $densify: { ...densify, field: "n..x" } },
      { $densify: { ...densify, partitionByFields: ["$o"] } },
      { $lookup: { ...lookup, localField: "$n" } },
      { $lookup: { ...lookup, foreignField: "$n" } },
      { $lookup: { ...lookup, foreignField: "n." } },
      { $lookup: { ...lookup, as: "$j" } },
      { $lookup: { ...lookup, as: "j.$k" } },
      { $graphLookup: { ...graph, as: "$j" } },
      { $graphLookup: { ...graph, connectFromField: "$n" } },
      { $graphLookup: { ...graph, connectToField: "$n" } },
      { $graphLookup: { ...graph, depthField: "$n" } },
      { $graphLookup: { ...graph, restrictSearchWithMatch: "n" } },
      { $sort: { "a.$b": 1 } },
      { $sort: { "a..b": 1 } },
      { $sample: { size: 0 } },
      { $unset: ["n", "n"] },
      { $bucketAuto: { groupBy: "$n", buckets: 3_000_000_000 } },
      { $fill: { partitionBy: 1, output: { n: { value: 1 } } } },
      ...["$firstN", "$maxN"].map((name) => ({
        $group: { _id: null, r: { [name]: { input: "$n", n: 1, other: 1 } } }
      })),
      { $facet: { "a.b": [] } },
      { $facet: { $a: [] } },
      { $project: { n: {} } },
      { $project: { n: { o: {} } } },
      { $project: { r: "$n.$o" } },
      ...["$sum", "$avg", "$push", "$min", "$max", "$first", "$last", "$addToSet", "$stdDevPop", "$mergeObjects"]
        .flatMap((name) => [[], ["$n"], ["$n", 1]].map((list) => ({ $group: { _id: null, r: { [name]: list } } }))),
      { $bucketAuto: { groupBy: "$n", buckets: 1, output: { r: { $sum: ["$n"] } } } }
    ])
  )

  page(
    "operators with malformed arguments",
    rejectsValues([
      ...["$firstN", "$lastN", "$maxN", "$minN"].flatMap((name) =>
        [null, "$none", 1].map((input) => ({ [name]: { input, n: 1 } }))
      ),
      ...["$regexFind", "$regexFindAll", "$regexMatch"].flatMap((name) => [
        { [name]: { input: "a", regex: /a/i, options: "m" } },
        { [name]: { input: "a", regex: /a/i, options: "i" } },
        { [name]: { input: "a", regex: "a", options: 1 } },
        { [name]: { input: "a", regex: "a", other: 1 } },
        { [name]: { input: null, regex: "(" } }
      ])
    ])
  )

  const number = (value: number) => new Double(value)
  page(
    "doubles as texts",
    constants([
      [{ $toString: 1e-7 }, "1e-07", "doublesAsTexts"],
      [{ $toString: 0.00001 }, "1e-05", "doublesAsTexts"],
      [{ $toString: 0.0001 }, "0.0001"],
      [{ $toString: -2.5e-10 }, "-2.5e-10"],
      [{ $toString: 1e16 }, "1e+16", "doublesAsTexts"],
      [{ $toString: 123456789012345680 }, "1.2345678901234568e+17", "doublesAsTexts"],
      [{ $toString: 1e15 }, "1000000000000000", "doublesAsTexts"],
      [{ $toString: 1e21 }, "1e+21"],
      [{ $toString: 1.5e300 }, "1.5e+300"],
      [{ $toString: -0 }, "-0", "doublesAsTexts"],
      [{ $toString: number(2) }, "2", "doublesAsTexts"],
      [{ $toString: 0.1 }, "0.1"],
      [{ $toString: { $add: [0.1, 0.2] } }, "0.30000000000000004"],
      [{ $toString: -Infinity }, "-Infinity", "doublesAsTexts"],
      [{ $toString: NaN }, "NaN", "doublesAsTexts"],
      [{ $convert: { input: 1e-7, to: "string" } }, "1e-07", "doublesAsTexts"],
      [{ $convert: { input: -0, to: 2 } }, "-0", "doublesAsTexts"],
      [{ $toLower: 1e16 }, "1e+16", "doublesAsTexts"],
      [{ $toUpper: 1e-7 }, "1E-07", "doublesAsTexts"],
      [{ $toLower: -0 }, "-0", "doublesAsTexts"],
      [{ $toLower: 1234567.5 }, "1.23457e+06", "doublesAsTexts"],
      [{ $substrCP: [0.1234567, 0, 20] }, "0.123457", "doublesAsTexts"],
      [{ $substr: [100000.5, 0, -1] }, "100000", "doublesAsTexts"],
      [{ $toLower: 100001.5 }, "100002", "doublesAsTexts"],
      [{ $substrBytes: [1e100, 0, 3] }, "1e+", "doublesAsTexts"],
      [{ $strcasecmp: [1e16, "1E+16"] }, 0, "doublesAsTexts"],
      [{ $substrCP: [1234567, 0, 20] }, "1234567"],
      [{ $toLower: 2.5 }, "2.5"]
    ])
  )

  const trunc = (text: string, unit: string, binSize: number, timezone: string) => ({
    $dateTrunc: { date: date(text), unit, binSize, timezone }
  })
  page(
    "bins of dates under daylight saving",
    constants([
      [trunc("2024-07-15T12:30:00Z", "hour", 6, "Europe/Berlin"), date("2024-07-15T11:00:00Z"), "binsOfDates"],
      [trunc("2024-01-15T12:30:00Z", "hour", 6, "Europe/Berlin"), date("2024-01-15T11:00:00Z"), "binsOfDates"],
      [trunc("2024-07-15T12:30:00Z", "minute", 90, "Europe/Berlin"), date("2024-07-15T12:30:00Z"), "binsOfDates"],
      [trunc("2024-07-15T12:30:00Z", "hour", 1, "Asia/Kolkata"), date("2024-07-15T12:30:00Z"), "binsOfDates"],
      [trunc("2024-07-15T12:30:00Z", "day", 1, "Europe/Berlin"), date("2024-07-14T22:00:00Z"), "binsOfDates"],
      [trunc("1995-07-15T12:30:00Z", "hour", 24, "America/New_York"), date("1995-07-15T05:00:00Z"), "binsOfDates"]
    ])
  )

  it.effect.skipIf(differs("laxArguments"))(
    "rejects options of a pattern in both its places",
    () =>
      Effect.gen(function*() {
        const { ids } = yield* collectionOf([{ _id: 1, a: "A" }])
        const error = yield* Effect.flip(ids({ a: { $regex: /a/i, $options: "m" } }))
        assert.strictEqual(error._tag, "QueryRejected")
        assert.deepStrictEqual(yield* ids({ a: { $regex: /a/, $options: "i" } }), [1])
      })
  )

  it.effect.each(differs("laxArguments") ? [] : [{}, { "a..b": 1 }])(
    "rejects to push in the order %j",
    ($sort) =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf([{ _id: 1, l: [{ a: 1 }] }])
        const error = yield* Effect.flip(store.updateOne(name, {}, { $push: { l: { $each: [{ a: 2 }], $sort } } }))
        assert.strictEqual(error._tag, "QueryRejected")
      })
  )

  it.effect.skipIf(differs("projectedItems"))(
    "gives an item by $elemMatch after the other fields",
    () =>
      Effect.gen(function*() {
        const { find } = yield* collectionOf([{ _id: 1, l: [1, 2, 3], a: 1, m: [{ x: 1 }], z: 2 }])
        const projection = { l: { $elemMatch: { $gt: 1 } }, z: 1, a: 1, m: { $elemMatch: { x: 1 } } }
        const [found] = yield* find({ projection })
        assert.deepStrictEqual(Object.entries(found ?? {}), [["_id", 1], ["a", 1], ["z", 2], ["l", [2]], ["m", [{
          x: 1
        }]]])
        for (const projection of [{ l: {} }, { "m.x": { $elemMatch: { $gt: 1 } } }]) {
          assert.strictEqual((yield* Effect.flip(find({ projection })))._tag, "QueryRejected")
        }
      })
  )

  page(
    "matches of an empty pattern, and of none",
    constants([
      [{ $regexMatch: { input: "a", regex: null } }, false, "emptyMatches"],
      [{ $regexFind: { input: "a", regex: "$none" } }, null, "emptyMatches"],
      [
        { $map: { input: { $regexFindAll: { input: "abc", regex: "" } }, in: "$$this.idx" } },
        [0, 1, 2],
        "emptyMatches"
      ],
      [{ $map: { input: { $regexFindAll: { input: "", regex: "" } }, in: "$$this.idx" } }, [0], "emptyMatches"],
      [
        { $map: { input: { $regexFindAll: { input: "abc", regex: { $literal: "$" } } }, in: "$$this.idx" } },
        [3],
        "emptyMatches"
      ],
      [
        { $map: { input: { $regexFindAll: { input: "abc", regex: "c*" } }, in: "$$this.idx" } },
        [0, 1, 2],
        "emptyMatches"
      ]
    ])
  )
}
