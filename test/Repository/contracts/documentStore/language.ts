import { assert } from "@effect/vitest"
import { Binary, Decimal128, Long, ObjectId, Timestamp } from "bson"
import { Effect, Result, Stream } from "effect"
import type { Document, Filter, Update } from "../../../../src/Repository/DocumentStore.ts"
import { collectionOf, type Tests } from "./collection.ts"

/** An expression and its value for {@link document}, or `rejected`. */
type Case = readonly [expression: unknown, expected: unknown]

const rejected = Symbol("rejected")
const missing = Symbol("missing")

/** What MongoDB's documentation says of expressions. `errs` says where a server is known to answer otherwise. */
export const languageContract = (it: Tests, errs: (expression: string) => boolean = () => false) => {
  const cases = (group: string, list: ReadonlyArray<Case>) =>
    it.effect.each(list.map(([expression, expected]) => [JSON.stringify(expression), expression, expected] as const))(
      `${group}: %s`,
      ([name, expression, expected]) =>
        Effect.gen(function*() {
          if (errs(name)) return
          const { name: things, store } = yield* collectionOf([document])
          const answer = yield* Effect.result(
            Stream.runCollect(store.aggregate(things, [{ $project: { _id: 0, r: expression } }]))
          )
          if (Result.isFailure(answer)) {
            assert.strictEqual(answer.failure._tag, "QueryRejected", String(answer.failure.message))
            assert.strictEqual(expected, rejected, String(answer.failure.message))
          } else assert.deepStrictEqual(plain(answer.success), plain([expected === missing ? {} : { r: expected }]))
        })
    )

  cases("the parts of dates", [
    ...["$year", "$month", "$dayOfMonth", "$hour", "$minute", "$second", "$millisecond", "$week", "$isoWeek"].flatMap(
      (part): ReadonlyArray<Case> => [[{ [part]: "$none" }, null], [{ [part]: { date: null, timezone: "UTC" } }, null]]
    ),
    [{ $year: "$id" }, 2023],
    [{ $year: ["$t"] }, 2024],
    [{ $hour: { date: "$t", timezone: "UTC" } }, 23],
    [{ $hour: { date: "$t", timezone: "GMT" } }, 23],
    [{ $hour: { date: "$t", timezone: "Europe/Berlin" } }, 0],
    [{ $hour: { date: "$t", timezone: "+05:30" } }, 5],
    [{ $hour: { date: "$t", timezone: "$none" } }, null],
    [{ $hour: { date: "$t", timezone: "Mars/Olympus" } }, rejected],
    [{ $year: "$s" }, rejected],
    [{ $year: { date: "$t", zone: "UTC" } }, rejected],
    [{ $week: "$t" }, 4],
    [{ $week: day("2024-01-07") }, 1],
    [{ $isoWeekYear: day("2024-12-30") }, 2025],
    [{ $isoWeek: day("2024-12-30") }, 1],
    [{ $dayOfWeek: "$t" }, 4],
    [{ $isoDayOfWeek: "$t" }, 3],
    [{ $dayOfYear: day("2024-12-31") }, 366],
    [{ $dateToParts: { date: "$none" } }, null],
    [{ $dateToParts: { date: day("2024-12-30"), iso8601: true } }, {
      isoWeekYear: 2025,
      isoWeek: 1,
      isoDayOfWeek: 1,
      hour: 0,
      minute: 0,
      second: 0,
      millisecond: 0
    }]
  ])

  cases("moved dates", [
    [{ $dateTrunc: { date: "$t", unit: "day", timezone: "Europe/Berlin" } }, at("2024-01-31T23:00:00Z")],
    [{ $dateTrunc: { date: "$t", unit: "month", timezone: "Europe/Berlin" } }, at("2024-01-31T23:00:00Z")],
    [{ $dateTrunc: { date: "$t", unit: "hour", timezone: "+05:30" } }, at("2024-01-31T23:30:00Z")],
    [{ $dateTrunc: { date: "$t", unit: "week" } }, day("2024-01-28")],
    [{ $dateTrunc: { date: "$t", unit: "week", startOfWeek: "monday" } }, day("2024-01-29")],
    [{ $dateTrunc: { date: "$t", unit: "quarter" } }, day("2024-01-01")],
    [{ $dateTrunc: { date: "$t", unit: "month", binSize: 5 } }, day("2023-10-01")],
    [{ $dateTrunc: { date: "$none", unit: "day" } }, null],
    [{ $dateTrunc: { date: "$t", unit: "century" } }, rejected],
    [{ $dateAdd: { startDate: "$t", unit: "month", amount: 1 } }, at("2024-02-29T23:30:05.678Z")],
    [{ $dateAdd: { startDate: day("2024-11-30"), unit: "quarter", amount: 1 } }, day("2025-02-28")],
    [{ $dateAdd: { startDate: day("2024-02-29"), unit: "year", amount: 1 } }, day("2025-02-28")],
    [{ $dateSubtract: { startDate: day("2024-03-31"), unit: "month", amount: 1 } }, day("2024-02-29")],
    [
      { $dateAdd: { startDate: at("2024-03-30T12:00:00Z"), unit: "day", amount: 1, timezone: "Europe/Berlin" } },
      at("2024-03-31T11:00:00Z")
    ],
    [
      { $dateAdd: { startDate: at("2024-03-30T12:00:00Z"), unit: "hour", amount: 24, timezone: "Europe/Berlin" } },
      at("2024-03-31T12:00:00Z")
    ],
    [{ $dateAdd: { startDate: "$none", unit: "day", amount: 1 } }, null],
    [{ $dateAdd: { startDate: "$t", unit: "day", amount: "$none" } }, null],
    [{ $dateAdd: { startDate: "$t", unit: "day", amount: 1.5 } }, rejected],
    [{
      $dateDiff: { startDate: at("2024-01-31T00:00:00.900Z"), endDate: at("2024-01-31T00:00:01.100Z"), unit: "second" }
    }, 1],
    [{ $dateDiff: { startDate: "$none", endDate: "$t", unit: "day" } }, null],
    [{ $dateDiff: { startDate: day("2023-12-31"), endDate: "$t", unit: "year" } }, 1],
    [{ $dateDiff: { startDate: day("2024-01-27"), endDate: day("2024-01-28"), unit: "week" } }, 1],
    [{
      $dateDiff: { startDate: day("2024-03-30"), endDate: day("2024-04-01"), unit: "hour", timezone: "Europe/Berlin" }
    }, 48],
    [{ $dateDiff: { startDate: at("2024-01-31T22:00:00Z"), endDate: "$t", unit: "day", timezone: "Europe/Berlin" } }, 1]
  ])

  cases("made dates", [
    [{ $dateFromParts: { year: 2024, month: 6 } }, day("2024-06-01")],
    [{ $dateFromParts: { year: 2024 } }, day("2024-01-01")],
    [{ $dateFromParts: { year: 2024, month: 14, day: 0 } }, day("2025-01-31")],
    [{ $dateFromParts: { isoWeekYear: 2025, isoWeek: 1, isoDayOfWeek: 1 } }, day("2024-12-30")],
    [{ $dateFromParts: { year: "$none" } }, null],
    [{ $dateFromParts: { year: 2024, month: 7, timezone: "Europe/Berlin" } }, at("2024-06-30T22:00:00Z")],
    [{ $dateFromParts: { month: 7 } }, rejected],
    [{ $dateFromString: { dateString: "2024-01-31T10:00:00+02:00" } }, at("2024-01-31T08:00:00Z")],
    [{ $dateFromString: { dateString: "2024-01-31 10:20:30" } }, at("2024-01-31T10:20:30Z")],
    [{ $dateFromString: { dateString: "2024-07-31T10:00:00", timezone: "Europe/Berlin" } }, at("2024-07-31T08:00:00Z")],
    [{ $dateFromString: { dateString: "2024-02-30" } }, rejected],
    [{ $dateFromString: { dateString: "no date" } }, rejected],
    [{ $dateFromString: { dateString: "no date", onError: "bad" } }, "bad"],
    [{ $dateFromString: { dateString: "$none", onNull: "none" } }, "none"],
    [{ $dateFromString: { dateString: "$none" } }, null],
    [{ $dateFromString: { dateString: "31.01.2024", format: "%d.%m.%Y" } }, day("2024-01-31")],
    [{ $dateFromString: { dateString: "2024-01-31", format: "%Q" } }, rejected],
    [{ $dateToString: { date: "$t" } }, "2024-01-31T23:30:05.678Z"],
    [{ $dateToString: { date: "$t", format: "%U %w %%" } }, "04 4 %"],
    [{ $dateToString: { date: day("2024-12-30"), format: "%G-W%V-%u" } }, "2025-W01-1"],
    [{ $dateToString: { date: "$t", format: "%H:%M %z %Z", timezone: "-03:30" } }, "20:00 -0330 -210"],
    [{ $dateToString: { date: "$t", format: "%Q" } }, rejected],
    [{ $dateToString: { date: "$none", onNull: "none" } }, "none"],
    [{ $toDate: "$id" }, at("2023-11-14T22:13:20Z")],
    [{ $toDate: "2024-01-31" }, day("2024-01-31")],
    [{ $add: ["$t", 1000] }, at("2024-01-31T23:30:06.678Z")],
    [{ $subtract: ["$t", day("2024-01-31")] }, 84_605_678],
    [{ $add: ["$t", "$t"] }, rejected]
  ])

  cases("numbers", [
    [{ $round: "$x" }, 2],
    [{ $trunc: "$x" }, 2],
    [{ $round: [3.5] }, 4],
    [{ $round: [1234.5678, -2] }, 1200],
    [{ $round: [2.675, 2] }, 2.67],
    [{ $round: [decimal("2.675"), 2] }, decimal("2.68")],
    [{ $trunc: [-7.89, 1] }, -7.8],
    [{ $abs: ["$x"] }, 2.5],
    [{ $ceil: ["$x"] }, 3],
    [{ $mod: ["$none", 2] }, null],
    [{ $mod: [-7, 3] }, -1],
    [{ $mod: [7, 0] }, rejected],
    [{ $mod: ["$long", 10] }, 3],
    [{ $divide: [1, 0] }, rejected],
    [{ $divide: [decimal("1"), 3] }, decimal("0.3333333333333333333333333333333333")],
    [{ $add: ["$long", 1] }, long("9007199254740994")],
    [{ $add: [decimal("0.1"), decimal("0.2")] }, decimal("0.3")],
    [{ $add: "$x" }, 2.5],
    [{ $add: ["$x", "$s"] }, rejected],
    [{ $subtract: ["$long", 3] }, 9007199254740990],
    [{ $multiply: [2147483647, 2147483647] }, long("4611686014132420609")],
    [{ $multiply: ["$long", 2] }, long("18014398509481986")],
    [{ $add: [long("9223372036854775807"), 1] }, 2 ** 63],
    [{ $abs: "$long" }, long("9007199254740993")],
    [{ $ceil: decimal("1.2") }, decimal("2")],
    [{ $ln: 0 }, rejected],
    [{ $log: [8, 1] }, rejected],
    [{ $log: [8, 2] }, 3],
    [{ $sqrt: -1 }, rejected],
    [{ $bitOr: [long("9007199254740992"), 1] }, long("9007199254740993")],
    [{ $sum: "$none" }, 0],
    [{ $sum: "$x" }, 2.5],
    [{ $sum: ["$list"] }, 6],
    [{ $sum: ["$list", 2] }, 2],
    [{ $sum: [decimal("0.1"), decimal("0.2")] }, decimal("0.3")],
    [{ $avg: "$none" }, null],
    [{ $avg: "$list" }, 2],
    [{ $min: "$x" }, 2.5],
    [{ $max: "$none" }, null],
    [{ $stdDevPop: "$none" }, null],
    [{ $stdDevSamp: "$x" }, null],
    [{ $stdDevPop: [1, 3] }, 1],
    [{ $type: 1e300 }, "double"],
    [{ $type: ["$x"] }, "double"],
    [{ $type: "$none" }, "missing"],
    [{ $isNumber: ["$x"] }, true],
    [{ $cond: [NaN, 1, 2] }, 1]
  ])

  cases("conversions", [
    [{ $toString: "$id" }, "6553f1000000000000000000"],
    [{ $toString: "$decimal" }, "1.50"],
    [{ $toString: "$long" }, "9007199254740993"],
    [{ $toString: "$t" }, "2024-01-31T23:30:05.678Z"],
    [{ $convert: { input: "$id", to: "string" } }, "6553f1000000000000000000"],
    [{ $convert: { input: "6553f1000000000000000000", to: "objectId" } }, id],
    [{ $convert: { input: "x", to: "int", onError: "bad" } }, "bad"],
    [{ $convert: { input: "$none", to: "int", onNull: 0 } }, 0],
    [{ $convert: { input: 1, to: "nothing" } }, rejected],
    [{ $toObjectId: "6553f1000000000000000000" }, id],
    [{ $toObjectId: "6553f1" }, rejected],
    [{ $toInt: "12" }, 12],
    ...["", " 1", "0x10", "1.5"].map((text): Case => [{ $toInt: text }, rejected]),
    [{ $toInt: "$t" }, rejected],
    [{ $toInt: 2147483648 }, rejected],
    [{ $toInt: -2.9 }, -2],
    [{ $toLong: "9007199254740993" }, long("9007199254740993")],
    [{ $toLong: "$t" }, 1706743805678],
    [{ $toDouble: "1e3" }, 1000],
    [{ $toDecimal: "1.50" }, decimal("1.50")],
    [{ $toBool: "$s" }, true],
    [{ $toBool: 0 }, false],
    [{ $bsonSize: { a: 1 } }, 12],
    [{ $binarySize: new Binary(new Uint8Array(3)) }, 3],
    [{ $tsSecond: new Timestamp({ t: 5, i: 2 }) }, 5]
  ])

  cases("texts", [
    [{ $toUpper: null }, ""],
    [{ $toLower: "$none" }, ""],
    [{ $strcasecmp: ["$none", ""] }, 0],
    [{ $strcasecmp: ["ABC", "abd"] }, -1],
    [{ $substr: ["$s", 0, -1] }, "héllo😀"],
    [{ $substr: ["$x", 0, 2] }, "2."],
    [{ $substrCP: ["$t", 0, 4] }, "2024"],
    [{ $substrBytes: ["abc", 1, 9] }, "bc"],
    [{ $substrBytes: ["$s", 2, 1] }, rejected],
    [{ $substrCP: ["$s", -1, 1] }, rejected],
    [{ $substrCP: ["$s", 0, -1] }, rejected],
    [{ $indexOfCP: ["$s", "l"] }, 2],
    [{ $indexOfCP: ["$s", "😀"] }, 5],
    [{ $indexOfCP: ["$s", "l", 4] }, -1],
    [{ $indexOfBytes: ["$s", "l"] }, 3],
    [{ $indexOfBytes: ["$none", "l"] }, null],
    [{ $concat: "$s" }, "héllo😀"],
    [{ $concat: ["$s", 1] }, rejected],
    [{ $split: ["a-b", ""] }, rejected],
    [{ $split: ["$none", "-"] }, null]
  ])

  cases("arrays, documents and choices", [
    [{ $size: "$none" }, rejected],
    [{ $size: ["$list"] }, 3],
    [{ $first: ["$list"] }, 1],
    [{ $first: [[7, 8]] }, 7],
    [{ $and: "$x" }, true],
    [{ $mergeObjects: "$o" }, { a: 1 }],
    [{ $mergeObjects: ["$o", 1] }, rejected],
    [{ $objectToArray: ["$o"] }, [{ k: "a", v: 1 }]],
    [{ $indexOfArray: [[3, 1, 2], 2, 1, 2] }, -1],
    [{ $indexOfArray: [[3, 1, 2], 2, 1] }, 2],
    [{ $switch: { branches: [{ case: false, then: 1 }] } }, rejected],
    [{ $switch: { branches: [{ case: false, then: 1 }], default: 2 } }, 2],
    [{ $getField: { field: "a", input: "$none" } }, missing],
    [{ $getField: { field: "a", input: "$o" } }, 1],
    [{ $setEquals: [null, [1]] }, rejected],
    [{ $setIsSubset: [[1], null] }, rejected],
    [{ $setUnion: [null, [1]] }, null],
    [{ $add: [1], $subtract: [1, 1] }, rejected]
  ])
}

/** What MongoDB's documentation says of updates, projections and stages. */
export const changesContract = (it: Tests) => {
  it.effect.each<[name: string, before: Document, filter: Filter, update: Update, after: Document | undefined]>([
    ["sets two fields of the matched item", { c: [{ k: 1, n: 1 }] }, { "c.k": 1 }, {
      $set: { "c.$.a": 1, "c.$.b": 2 }
    }, { c: [{ k: 1, n: 1, a: 1, b: 2 }] }],
    ["sets and increments", { c: [{ k: 0 }, { k: 1, n: 1 }] }, { "c.k": 1 }, {
      $set: { "c.$.a": 1 },
      $inc: { "c.$.n": 2 }
    }, { c: [{ k: 0 }, { k: 1, n: 3, a: 1 }] }],
    ["sets and unsets", { c: [{ k: 1, n: 1 }] }, { "c.k": 1 }, { $set: { "c.$.a": 1 }, $unset: { "c.$.n": "" } }, {
      c: [{ k: 1, a: 1 }]
    }],
    ["increments and takes the greater", { c: [{ k: 1, n: 1, m: 1 }] }, { "c.k": 1 }, {
      $inc: { "c.$.n": 1 },
      $max: { "c.$.m": "x" }
    }, { c: [{ k: 1, n: 2, m: "x" }] }],
    ["pushes onto a list of the matched item", { c: [{ k: 1, l: [1] }] }, { "c.k": 1 }, { $push: { "c.$.l": 2 } }, {
      c: [{ k: 1, l: [1, 2] }]
    }],
    [
      "prefers the item of an $elemMatch",
      { c: [{ k: 1 }, { k: 2 }] },
      {
        "c.k": { $gte: 1 },
        c: { $elemMatch: { k: 2 } }
      },
      { $set: { "c.$.x": 1 } },
      { c: [{ k: 1 }, { k: 2, x: 1 }] }
    ],
    ["replaces the matched value", { l: [5, 8, 9] }, { l: { $gt: 6 } }, { $set: { "l.$": 0 } }, { l: [5, 0, 9] }],
    ["changes items of items", { c: [{ k: 1, l: [1, 2] }] }, { "c.k": 1 }, { $inc: { "c.$.l.$[]": 1 } }, {
      c: [{ k: 1, l: [2, 3] }]
    }],
    ["computes decimals of the matched item", { c: [{ k: 1, n: decimal("0.1") }] }, { "c.k": 1 }, {
      $inc: { "c.$.n": decimal("0.2") }
    }, { c: [{ k: 1, n: decimal("0.3") }] }],
    ["refuses to increment a text", { c: [{ k: 1, n: "x" }] }, { "c.k": 1 }, { $inc: { "c.$.n": 1 } }, undefined],
    ["refuses a $ that nothing matched", { c: [{ k: 1 }], d: 1 }, { d: 1 }, { $set: { "c.$.n": 1 } }, undefined],
    ["subtracts from a long exactly", { n: long("9007199254740993") }, {}, { $inc: { n: -3 } }, {
      n: 9007199254740990
    }],
    ["multiplies integers exactly", { n: 2147483647 }, {}, { $mul: { n: 2147483647 } }, {
      n: long("4611686014132420609")
    }],
    ["changes the bits of a long", { n: 4294967296 }, {}, { $bit: { n: { or: 1 } } }, { n: 4294967297 }],
    ["changes bits several times", { n: 6 }, {}, { $bit: { n: { and: 4, or: 8 } } }, { n: 12 }],
    ["refuses other bits", { n: 6 }, {}, { $bit: { n: { not: 1 } } }, undefined],
    ["sorts by whole lists", { l: [{ x: [1, 9] }, { x: [0, 10] }] }, {}, {
      $push: { l: { $each: [], $sort: { x: -1 } } }
    }, {
      l: [{ x: [1, 9] }, { x: [0, 10] }]
    }]
  ])("an update %s", ([, before, filter, update, after]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, ...before }])
      const done = yield* Effect.result(store.updateOne(name, filter, update))
      if (Result.isFailure(done)) assert.strictEqual(done.failure._tag, "QueryRejected")
      assert.strictEqual(Result.isFailure(done), after === undefined)
      assert.deepStrictEqual(plain(yield* all), plain([{ _id: 1, ...after ?? before }]))
    }))

  it.effect.each<[filter: Filter, inserted: Document | undefined]>([
    [{ _id: { $in: [7] }, n: { $in: [77] } }, { _id: 7, n: 77, b: 1, c: 1 }],
    [{ _id: 7, n: { $all: [77] } }, { _id: 7, n: 77, b: 1, c: 1 }],
    [{ _id: 7, n: { $in: [77, 78] } }, { _id: 7, b: 1, c: 1 }],
    [{ $and: [{ n: 1 }, { n: 1 }] }, undefined]
  ])("an upsert by %j", ([filter, inserted]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const done = yield* Effect.result(store.updateOne(name, filter, { $set: { c: 1, b: 1 } }, { upsert: true }))
      assert.strictEqual(Result.isFailure(done), inserted === undefined)
      // As texts: new fields are in the order of their names.
      assert.strictEqual(JSON.stringify(yield* all), JSON.stringify(inserted === undefined ? [] : [inserted]))
    }))

  it.effect.each<[projection: Document, expected: Document | undefined, filter?: Filter]>([
    [{ b: { $slice: 1 } }, { _id: 1, n: 1, b: [1], nested: [{ k: [1, 2] }, { k: [3] }] }],
    [{ b: { $slice: -1 }, n: 0, nested: 0 }, { _id: 1, b: [3] }],
    [{ b: { $slice: [1, 1] }, n: 1 }, { _id: 1, n: 1, b: [2] }],
    [{ "nested.k": { $slice: 1 }, b: 0, n: 0 }, { _id: 1, nested: [{ k: [1] }, { k: [3] }] }],
    [{ b: { $elemMatch: { $gte: 2 } } }, { _id: 1, b: [2] }],
    [{ b: { $elemMatch: { $gte: 9 } } }, { _id: 1 }],
    [{ "b.$": 1 }, { _id: 1, b: [2] }, { b: { $gte: 2 } }],
    [{ "b.$": 1 }, undefined, { n: 1 }],
    [{ n: 1, b: 0 }, undefined],
    [{ b: { $slice: "x" } }, undefined]
  ])("a find projects %j", ([projection, expected, filter = {}]) =>
    Effect.gen(function*() {
      const { find } = yield* collectionOf([{ _id: 1, n: 1, b: [1, 2, 3], nested: [{ k: [1, 2] }, { k: [3] }] }])
      const found = yield* Effect.result(find({ filter, projection }))
      assert.deepStrictEqual(Result.getOrUndefined(found), expected === undefined ? undefined : [expected])
    }))

  it.effect.each<[stages: ReadonlyArray<Document>, expected: ReadonlyArray<Document> | undefined]>([
    [[{ $group: { _id: null, all: { $push: "$none" }, each: { $addToSet: "$none" } } }], [{
      _id: null,
      all: [],
      each: []
    }]],
    [[{ $group: { _id: null, pop: { $stdDevPop: "$none" }, samp: { $stdDevSamp: "$none" } } }], [
      { _id: null, pop: null, samp: null }
    ]],
    [[{ $match: { _id: 1 } }, { $group: { _id: null, samp: { $stdDevSamp: "$n" } } }], [{ _id: null, samp: null }]],
    [[{ $group: { _id: null, sum: { $sum: "$d" } } }], [{ _id: null, sum: decimal("0.3") }]],
    [
      [{ $match: { _id: 1 } }, { $project: { n: 1 } }, {
        $densify: { field: "n", range: { step: 1, bounds: [3, 8] } }
      }],
      [
        { n: 3 },
        { n: 4 },
        { _id: 1, n: 5 },
        { n: 6 },
        { n: 7 }
      ]
    ],
    [[{ $fill: { sortBy: { _id: 1 }, output: { m: { method: "linear" }, l: { method: "locf" } } } }, {
      $project: { m: 1, l: 1 }
    }], [{ _id: 1, m: 1, l: "a" }, { _id: 2, m: 2, l: "a" }, { _id: 3, m: 3, l: "c" }]],
    [[{ $addFields: { "items.x": 1, o: { b: 2 } } }, { $match: { _id: 1 } }, { $project: { items: 1, o: 1 } }], [
      { _id: 1, items: [{ k: 1, x: 1 }, { k: 2, x: 1 }], o: { a: 1, b: 2 } }
    ]],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, 6] } }], undefined],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, 6], default: 3 } }], undefined],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, "x"] } }], undefined],
    [[{ $bucket: { groupBy: "$n", boundaries: [0, 6], default: "other" } }], [
      { _id: 0, count: 1 },
      { _id: "other", count: 2 }
    ]],
    [[{ $facet: { a: [{ $facet: { b: [] } }] } }], undefined],
    [[{ $unset: [] }], undefined],
    [[{ $sortByCount: "x" }], undefined],
    [[{ $match: { $expr: { $eq: [{ $year: "$none" }, null] } } }, { $count: "n" }], [{ n: 3 }]]
  ])("a pipeline %j", ([stages, expected]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([
        { _id: 1, n: 5, d: decimal("0.1"), m: 1, l: "a", items: [{ k: 1 }, { k: 2 }], o: { a: 1 } },
        { _id: 2, n: 7, d: decimal("0.2"), m: null },
        { _id: 3, n: 9, m: 3, l: "c" }
      ])
      const made = yield* Effect.result(Stream.runCollect(store.aggregate(name, [{ $sort: { _id: 1 } }, ...stages])))
      if (Result.isFailure(made)) assert.strictEqual(made.failure._tag, "QueryRejected")
      assert.deepStrictEqual(plain(Result.getOrUndefined(made)), plain(expected))
    }))
}

// internal

const at = (text: string): Date => new Date(text)
const day = (text: string): Date => at(`${text}T00:00:00Z`)
const decimal = (text: string): Decimal128 => Decimal128.fromString(text)
const long = (text: string): Long => Long.fromString(text)

const id = ObjectId.createFromHexString("6553f1000000000000000000")

const document: Document = {
  _id: 1,
  t: at("2024-01-31T23:30:05.678Z"),
  id,
  x: 2.5,
  s: "héllo😀",
  list: [1, 2, 3],
  o: { a: 1 },
  long: long("9007199254740993"),
  decimal: decimal("1.50")
}

/** Values of `bson`'s classes as their texts with their types, so that they compare whatever build they are of. */
const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : value instanceof Date || typeof value !== "object" || value === null
    ? value
    : "_bsontype" in value
    ? `${String(value._bsontype)} ${String(value)}`
    : Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]))
