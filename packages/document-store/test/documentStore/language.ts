import { assert } from "@effect/vitest"
import { Binary, Decimal128, Long, ObjectId, Timestamp } from "bson"
import { Effect, Result, Stream } from "effect"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, plain, type Tests } from "./collection.ts"

/** An expression and its value for {@link document}, or `rejected`. */
type Case = readonly [expression: unknown, expected: unknown, difference?: Difference]

const rejected = Symbol("rejected")
const missing = Symbol("missing")

/** What MongoDB's documentation says of expressions. */
export const languageContract = (it: Tests, differs: Differs) => {
  const cases = (group: string, list: ReadonlyArray<Case>) =>
    it.effect.each(
      list
        .filter(([, , difference]) => difference === undefined || !differs(difference))
        .map(([expression, expected]) => [JSON.stringify(expression), expression, expected] as const)
    )(
      `${group}: %s`,
      ([, expression, expected]) =>
        Effect.gen(function*() {
          const { name: things, store } = yield* collectionOf([document])
          const answer = yield* Effect.result(
            Stream.runCollect(store.aggregate(things, [{ $project: { _id: 0, r: expression } }]))
          )
          if (Result.isFailure(answer)) {
            assert.strictEqual(answer.failure._tag, "QueryRejected", answer.failure.message)
            assert.strictEqual(expected, rejected, answer.failure.message)
          } else assert.deepStrictEqual(plain(answer.success), plain([expected === missing ? {} : { r: expected }]))
        })
    )

  cases("the parts of dates", [
    ...dateParts.flatMap(([part, value]): ReadonlyArray<Case> => [
      [{ [part]: "$none" }, null],
      [{ [part]: { date: null, timezone: "UTC" } }, null],
      [{ [part]: "$id" }, value]
    ]),
    [{ $year: ["$t"] }, 2024],
    [{ $hour: { date: "$t", timezone: "UTC" } }, 23],
    [{ $hour: { date: "$t", timezone: "GMT" } }, 23],
    [{ $hour: { date: "$t", timezone: "Europe/Berlin" } }, 0],
    [{ $hour: { date: "$t", timezone: "Etc/UTC" } }, 23],
    [{ $hour: { date: "$t", timezone: "+05:30" } }, 5],
    [{ $hour: { date: "$t", timezone: "$none" } }, null, "timeZoneExpression"],
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
    [{ $dateAdd: { startDate: "$t", unit: "century", amount: 1 } }, rejected],
    [{ $dateSubtract: { startDate: "$none", unit: "day", amount: 1 } }, null],
    [{ $dateSubtract: { startDate: "$t", unit: "day", amount: "$none" } }, null],
    [
      { $dateSubtract: { startDate: at("2024-03-31T12:00:00Z"), unit: "day", amount: 1, timezone: "Europe/Berlin" } },
      at("2024-03-30T13:00:00Z")
    ],
    [{
      $dateDiff: { startDate: at("2024-01-31T00:00:00.900Z"), endDate: at("2024-01-31T00:00:01.100Z"), unit: "second" }
    }, 1],
    [{ $dateDiff: { startDate: "$none", endDate: "$t", unit: "day" } }, null],
    [{ $dateDiff: { startDate: "$t", endDate: "$none", unit: "day" } }, null],
    [{ $dateDiff: { startDate: "$t", endDate: "$t", unit: "century" } }, rejected],
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
    [{ $dateToString: { date: day("2024-01-07"), format: "%U %w" } }, "01 1"],
    [{ $dateToString: { date: day("2024-12-30"), format: "%G-W%V-%u" } }, "2025-W01-1"],
    [{ $dateToString: { date: "$t", format: "%H:%M %z %Z", timezone: "-03:30" } }, "20:00 -0330 -210"],
    [{ $dateToString: { date: "$t", format: "%Q" } }, rejected],
    [{ $dateToString: { date: "$none", onNull: "none" } }, "none", "dateToStringOnNull"],
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
    [{ $sqrt: decimal("2") }, decimal("1.414213562373095048801688724209698"), "decimalMath"],
    [{ $sqrt: decimal("6.25") }, decimal("2.5")],
    [{ $exp: decimal("1") }, decimal("2.718281828459045235360287471352662"), "decimalMath"],
    [{ $ln: decimal("10") }, decimal("2.302585092994045684017991454684364"), "decimalMath"],
    [{ $ln: decimal("1E-400") }, decimal("-921.0340371976182736071965818737457"), "decimalMath"],
    [{ $log10: decimal("1000") }, decimal("3"), "decimalMath"],
    [{ $log: [decimal("2"), 10] }, decimal("0.3010299956639811952137388947244930"), "decimalMath"],
    [{ $pow: [decimal("1.1"), 2] }, decimal("1.21"), "decimalMath"],
    [{ $pow: [decimal("2"), decimal("0.5")] }, decimal("1.414213562373095048801688724209698"), "decimalMath"],
    [{ $pow: [decimal("-2"), 3] }, decimal("-8"), "decimalMath"],
    [{ $pow: [decimal("-2"), 0.5] }, decimal("NaN"), "decimalMath"],
    [{ $pow: [decimal("1"), decimal("1E+60")] }, decimal("1"), "decimalMath"],
    [{ $pow: [decimal("-1"), decimal("9007199254740993")] }, decimal("-1"), "decimalMath"],
    [{ $pow: [decimal("-2"), decimal("1E+20")] }, decimal("Infinity"), "decimalMath"],
    [
      { $pow: [decimal("1.000000000000000000000000000000001"), decimal("1E+33")] },
      decimal("2.718281828459045235360287471352661"),
      "decimalMath"
    ],
    [
      { $ln: decimal("1.000000000000000000000000000000001") },
      decimal("9.999999999999999999999999999999995E-34"),
      "decimalMath"
    ],
    [{ $pow: [decimal("10"), -6176] }, decimal("1E-6176"), "decimalMath"],
    [{ $pow: [decimal("10"), -6200] }, decimal("0E-6176"), "decimalMath"],
    [{ $pow: [1, Infinity] }, 1, "decimalMath"],
    [{ $pow: [-1, -Infinity] }, 1, "decimalMath"],
    [{ $pow: [1, NaN] }, 1, "decimalMath"],
    [
      { $add: [decimal("1E+6111"), decimal("1E-6176")] },
      decimal("1.000000000000000000000000000000000E+6111"),
      "decimalMath"
    ],
    [{ $multiply: [decimal("1E+6000"), decimal("-1E+6000")] }, decimal("-Infinity"), "decimalMath"],
    [{ $multiply: [Infinity, decimal("1E-400")] }, decimal("Infinity"), "decimalMath"],
    [{ $multiply: [decimal("-Infinity"), decimal("0")] }, decimal("NaN"), "decimalMath"],
    [{ $add: [decimal("-Infinity"), decimal("1E+400")] }, decimal("-Infinity"), "decimalMath"],
    [{ $divide: [decimal("Infinity"), decimal("-1E+400")] }, decimal("-Infinity"), "decimalMath"],
    [
      { $mod: [decimal("1.000000000000000000001"), decimal("Infinity")] },
      decimal("1.000000000000000000001"),
      "decimalMath"
    ],
    [{ $sin: decimal("1E+400") }, decimal("-0.9985382319830977229161592806918982"), "decimalMath"],
    [{ $cos: decimal("0") }, decimal("1"), "decimalMath"],
    [{ $asin: decimal("1.0000000000000000000000001") }, rejected, "decimalMath"],
    [{ $acosh: decimal("0.9999999999999999999999999") }, rejected, "decimalMath"],
    [{ $atanh: decimal("-1") }, decimal("-Infinity"), "decimalMath"],
    [{ $atan2: [decimal("0"), -1] }, decimal("3.141592653589793238462643383279503"), "decimalMath"],
    [{ $sigmoid: decimal("1") }, decimal("0.7310585786300048792511592418218362"), "newOperators"],
    [{ $multiply: [decimal("1E-6000"), decimal("1E-6000")] }, decimal("0E-6176"), "decimalMath"],
    [{ $multiply: [decimal("123456E-6176"), decimal("0.0001")] }, decimal("12E-6176"), "decimalMath"],
    [{ $divide: [decimal("1E-300"), decimal("1E-400")] }, decimal("1E+100"), "decimalMath"],
    [{ $mod: [decimal("5E-400"), decimal("3E-400")] }, decimal("2E-400"), "decimalMath"],
    [{ $cond: [decimal("1E-400"), "yes", "no"] }, "yes", "decimalMath"],
    [{ $ln: decimal("0") }, rejected],
    [{ $sqrt: decimal("-1E-400") }, rejected, "decimalMath"],
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
    ...["$avg", "$min", "$max"].flatMap((name): ReadonlyArray<Case> => [
      [{ [name]: "$none" }, null],
      [{ [name]: "$x" }, 2.5]
    ]),
    [{ $avg: "$list" }, 2],
    [{ $stdDevPop: "$none" }, null],
    [{ $stdDevPop: "$x" }, 0],
    [{ $stdDevSamp: "$none" }, null],
    [{ $stdDevSamp: "$x" }, null],
    [{ $stdDevPop: [1, 3] }, 1],
    [{ $type: 1e300 }, "double"],
    [{ $type: NaN }, "double"],
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
    [{ $convert: { input: "$decimal", to: "string" } }, "1.50"],
    [{ $convert: { input: "$long", to: "string", onError: "bad" } }, "9007199254740993"],
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
    ...["$toUpper", "$toLower"].flatMap((name): ReadonlyArray<Case> => [
      [{ [name]: null }, ""],
      [{ [name]: "$none" }, ""]
    ]),
    [{ $strcasecmp: ["$none", ""] }, 0],
    [{ $strcasecmp: ["a", null] }, 1],
    [{ $strcasecmp: ["ABC", "abd"] }, -1],
    [{ $substr: ["$s", 0, -1] }, "héllo😀"],
    [{ $substr: ["$x", 0, 2] }, "2."],
    [{ $substr: ["$t", 0, 4] }, "2024"],
    [{ $substrCP: ["$t", 0, 4] }, "2024"],
    [{ $substrCP: ["$x", 0, 9] }, "2.5"],
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
    ["$list.0", [], "numberedItems"],
    [{ $arrayElemAt: ["$list", 0] }, 1],
    ["$docs.k", [1, 2], "numberedItems"],
    ["$docs.0", ["zero"], "numberedItems"],
    ["$docs.0.k", [], "numberedItems"],
    [{ $size: "$none" }, rejected],
    [{ $size: null }, rejected],
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
    [{ $setIntersection: ["$s", "$none"] }, rejected],
    [{ $setUnion: ["$none", "$s"] }, null],
    [{ $divide: [1, Decimal128.fromString("Infinity")] }, Decimal128.fromString("0E-6176")],
    [{ $setIsSubset: [[1], null] }, rejected],
    [{ $setIsSubset: ["$none", [1]] }, rejected],
    [{ $setUnion: [null, [1]] }, null],
    [{ $add: [1], $subtract: [1, 1] }, rejected, "severalOperators"]
  ])
}

// internal

const at = (text: string): Date => new Date(text)
const day = (text: string): Date => at(`${text}T00:00:00Z`)
const decimal = (text: string): Decimal128 => Decimal128.fromString(text)
const long = (text: string): Long => Long.fromString(text)

/** The parts of 2023-11-14T22:13:20Z, a Tuesday. */
const dateParts = Object.entries({
  $year: 2023,
  $month: 11,
  $dayOfMonth: 14,
  $hour: 22,
  $minute: 13,
  $second: 20,
  $millisecond: 0,
  $dayOfWeek: 3,
  $dayOfYear: 318,
  $week: 46,
  $isoDayOfWeek: 2,
  $isoWeek: 46,
  $isoWeekYear: 2023
})

const id = ObjectId.createFromHexString("6553f1000000000000000000")

const document: Document = {
  _id: 1,
  t: at("2024-01-31T23:30:05.678Z"),
  id,
  x: 2.5,
  s: "héllo😀",
  list: [1, 2, 3],
  docs: [{ k: 1 }, [{ k: 3 }], 5, { k: 2, 0: "zero" }],
  o: { a: 1 },
  long: long("9007199254740993"),
  decimal: decimal("1.50")
}
