import { Long } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, date, each, pagesOf, rejected } from "./expressionsPage.ts"

const sales = [
  { _id: 1, item: "abc", price: 10, fee: 2, discount: 5, quantity: 2, date: date("2014-03-01T08:00:00Z") },
  { _id: 2, item: "jkl", price: 20, fee: 1, discount: 2, quantity: 1, date: date("2014-03-01T09:00:00Z") },
  { _id: 3, item: "xyz", price: 5, fee: 0, discount: 0, quantity: 10, date: date("2014-03-15T09:00:00Z") }
]

const samples = [19.25, 28.73, 34.32, -45.39].map((value, index) => ({ _id: index + 1, value }))
const planning = [{ _id: 1, hours: 80, tasks: 7 }, { _id: 2, hours: 40, tasks: 4 }]
const switches = [{ _id: 0, a: 0, b: 127 }, { _id: 1, a: 2, b: 3 }, { _id: 2, a: 3, b: 5 }]

/** The manual's pages of arithmetic and bitwise operators. */
export const arithmeticPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$abs",
    constants([[{ $abs: -1 }, 1], [{ $abs: 1 }, 1], [{ $abs: null }, null]]),
    each([
      { _id: 1, startTemp: 50, endTemp: 80 },
      { _id: 2, startTemp: 40, endTemp: 40 },
      { _id: 3, startTemp: 90, endTemp: 70 },
      { _id: 4, startTemp: 60, endTemp: 70 }
    ], [[{ $abs: { $subtract: ["$startTemp", "$endTemp"] } }, [30, 0, 20, 10]]])
  )

  page(
    "$add",
    each(sales, [
      [{ $add: ["$price", "$fee"] }, [12, 21, 5]],
      [{ $add: ["$date", 3 * 24 * 60 * 60000] }, [
        date("2014-03-04T08:00:00Z"),
        date("2014-03-04T09:00:00Z"),
        date("2014-03-18T09:00:00Z")
      ]],
      [{ $add: [1.5, 1.6, "$date", 1.5, 1.5] }, [
        date("2014-03-01T08:00:00.007Z"),
        date("2014-03-01T09:00:00.007Z"),
        date("2014-03-15T09:00:00.007Z")
      ], "partsOfMilliseconds"]
    ])
  )

  page(
    "$subtract",
    each(sales, [
      [{ $subtract: [{ $add: ["$price", "$fee"] }, "$discount"] }, [7, 19, 5]],
      [{ $subtract: [new Date(date("2014-03-01T08:00:00Z").getTime() + 186136746187), "$date"] }, [
        186136746187,
        186133146187,
        184923546187
      ]],
      [{ $subtract: ["$date", 5 * 60 * 1000] }, [
        date("2014-03-01T07:55:00Z"),
        date("2014-03-01T08:55:00Z"),
        date("2014-03-15T08:55:00Z")
      ]]
    ])
  )

  page("$multiply", each(sales, [[{ $multiply: ["$price", "$quantity"] }, [20, 20, 50]]]))
  page("$divide", each(planning, [[{ $divide: ["$hours", 8] }, [10, 5]]]))
  page(
    "$mod",
    each(planning, [[{ $mod: ["$hours", "$tasks"] }, [3, 0]]]),
    each([{ _id: 1, dividend: -13, divisor: 9 }], [[{ $mod: ["$dividend", "$divisor"] }, [-4]]])
  )

  page(
    "$ceil",
    constants([[{ $ceil: 1 }, 1], [{ $ceil: 7.8 }, 8], [{ $ceil: -2.8 }, -2]]),
    each([{ _id: 1, value: 9.25 }, { _id: 2, value: 8.73 }, { _id: 3, value: 4.32 }, { _id: 4, value: -5.34 }], [
      [{ $ceil: "$value" }, [10, 9, 5, -5]],
      [{ $floor: "$value" }, [9, 8, 4, -6]]
    ])
  )
  page("$floor", constants([[{ $floor: 1 }, 1], [{ $floor: 7.8 }, 7], [{ $floor: -2.8 }, -3]]))

  page(
    "$exp",
    constants([[{ $exp: 0 }, 1], [{ $exp: 2 }, 7.38905609893065], [{ $exp: -2 }, 0.1353352832366127]]),
    each([{ _id: 1, rate: 0.08 }, { _id: 2, rate: 0.0825 }, { _id: 3, rate: 0.0425 }], [
      [{ $subtract: [{ $exp: "$rate" }, 1] }, [0.08328706767495864, 0.08599867343905654, 0.04341605637367807]]
    ])
  )

  page(
    "$ln",
    constants([[{ $ln: 1 }, 0], [{ $ln: Math.E }, 1], [{ $ln: 10 }, Math.LN10]]),
    each([{ _id: 1, sales: 8700000 }, { _id: 2, sales: 5000000 }, { _id: 3, sales: 6250000 }], [
      [{ $ln: "$sales" }, [15.978833583624812, 15.424948470398375, 15.648092021712584]]
    ])
  )

  page(
    "$log",
    constants([[{ $log: [100, 10] }, 2], [{ $log: [100, Math.E] }, 4.605170185988092]]),
    each([{ _id: 1, int: 5 }, { _id: 2, int: 2 }, { _id: 3, int: 23 }, { _id: 4, int: 10 }], [
      [{ $floor: { $add: [1, { $log: ["$int", 2] }] } }, [3, 2, 5, 4]]
    ])
  )

  page(
    "$log10",
    constants([1, 10, 100, 1000].map((number, power) => [{ $log10: number }, power])),
    each([{ _id: 1, H3O: 0.0025 }, { _id: 2, H3O: 0.001 }, { _id: 3, H3O: 0.02 }], [
      [{ $multiply: [-1, { $log10: "$H3O" }] }, [2.6020599913279625, 3, 1.6989700043360187]]
    ])
  )

  const quizzes = [
    { _id: 1, scores: [{ name: "dave123", score: 85 }, { name: "dave2", score: 90 }, { name: "ahn", score: 71 }] },
    { _id: 2, scores: [{ name: "li", quiz: 2, score: 96 }, { name: "annT", score: 77 }, { name: "ty", score: 82 }] }
  ]

  page(
    "$pow",
    constants([[{ $pow: [5, 0] }, 1], [{ $pow: [5, 2] }, 25], [{ $pow: [5, -2] }, 0.04], [{ $pow: [-5, 0.5] }, NaN]]),
    each(quizzes, [[
      { $pow: [{ $stdDevPop: "$scores.score" }, 2] },
      [64.66666666666667, 64.66666666666667],
      "pathsOfSums"
    ]])
  )

  page(
    "$sqrt",
    constants([
      [{ $sqrt: 25 }, 5],
      [{ $sqrt: 30 }, 5.477225575051661],
      [{ $sqrt: null }, null],
      [{ $sqrt: -1 }, rejected]
    ]),
    each([
      { _id: 1, p1: { x: 5, y: 8 }, p2: { x: 0, y: 5 } },
      { _id: 2, p1: { x: -2, y: 1 }, p2: { x: 1, y: 5 } },
      { _id: 3, p1: { x: 4, y: 4 }, p2: { x: 4, y: 0 } }
    ], [[
      {
        $sqrt: {
          $add: [
            { $pow: [{ $subtract: ["$p2.y", "$p1.y"] }, 2] },
            { $pow: [{ $subtract: ["$p2.x", "$p1.x"] }, 2] }
          ]
        }
      },
      [5.830951894845301, 5, 4]
    ]])
  )

  // The page has 10 for 19.25 rounded to tens, and 1234 for 1234.5678 in one of its versions: the servers round.
  page(
    "$round",
    constants([
      [{ $round: [1234.5678, 2] }, 1234.57],
      [{ $round: [1234.5678, -2] }, 1200],
      [{ $round: [1234.5678, -4] }, 0],
      [{ $round: [1234.5678, 0] }, 1235],
      ...[[10.5, 10], [11.5, 12], [12.5, 12], [13.5, 14]].map(([value, rounded]) =>
        [{ $round: [value, 0] }, rounded] as const
      ),
      [{ $round: [0.05, 1] }, 0.1],
      [{ $round: [NaN, 1] }, NaN],
      [{ $round: [null, 1] }, null],
      [{ $round: [Infinity, 1] }, Infinity],
      [{ $round: [-Infinity, 1] }, -Infinity]
    ]),
    each(samples, [
      [{ $round: ["$value", 1] }, [19.2, 28.7, 34.3, -45.4]],
      [{ $round: ["$value", -1] }, [20, 30, 30, -50]],
      [{ $round: ["$value", 0] }, [19, 29, 34, -45]]
    ])
  )

  page(
    "$trunc",
    constants([
      [{ $trunc: [1234.5678, 2] }, 1234.56],
      [{ $trunc: [1234.5678, -2] }, 1200],
      [{ $trunc: [1234.5678, -5] }, 0],
      [{ $trunc: [1234.5678, 0] }, 1234],
      [{ $trunc: 7.8 }, 7],
      [{ $trunc: -2.3 }, -2],
      [{ $trunc: [NaN, 1] }, NaN],
      [{ $trunc: [null, 1] }, null],
      [{ $trunc: [Infinity, 1] }, Infinity],
      [{ $trunc: [-Infinity, 1] }, -Infinity]
    ]),
    each([...samples.slice(0, 3), { _id: 4, value: -45.34 }], [
      [{ $trunc: ["$value", 1] }, [19.2, 28.7, 34.3, -45.3]],
      [{ $trunc: ["$value", -1] }, [10, 20, 30, -40]],
      [{ $trunc: ["$value", 0] }, [19, 28, 34, -45]]
    ])
  )

  page(
    "$sigmoid",
    constants([[{ $sigmoid: 0 }, 0.5, "newOperators"], [{ $sigmoid: null }, null, "newOperators"]])
  )

  // The page's table of $bitOr with a long repeats that of $bitAnd: all bits of 63 stay.
  page(
    "$bitAnd, $bitOr, $bitXor and $bitNot",
    constants([[{ $bitAnd: [] }, -1], [{ $bitOr: [] }, 0], [{ $bitXor: [] }, 0], [{ $bitAnd: [null, 1] }, null]]),
    each(switches, [
      [{ $bitAnd: ["$a", "$b"] }, [0, 2, 1]],
      [{ $bitAnd: ["$a", Long.fromString("63")] }, [0, 2, 3]],
      [{ $bitOr: ["$a", "$b"] }, [127, 3, 7]],
      [{ $bitOr: ["$a", Long.fromString("63")] }, [63, 63, 63]],
      [{ $bitXor: ["$a", "$b"] }, [127, 1, 6]],
      [{ $bitNot: "$a" }, [-1, -3, -4]]
    ])
  )
}
