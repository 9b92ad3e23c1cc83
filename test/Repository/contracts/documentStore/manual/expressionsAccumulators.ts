import type { Document } from "../../../../../src/Repository/DocumentStore.ts"
import type { Differs } from "../../../../support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { date, each, pagesOf, type Run, runs } from "./expressionsPage.ts"

const sales = [
  { _id: 1, item: "abc", price: 10, quantity: 2, date: date("2014-01-01T08:00:00Z") },
  { _id: 2, item: "jkl", price: 20, quantity: 1, date: date("2014-02-03T09:00:00Z") },
  { _id: 3, item: "xyz", price: 5, quantity: 5, date: date("2014-02-03T09:05:00Z") },
  { _id: 4, item: "abc", price: 10, quantity: 10, date: date("2014-02-15T08:00:00Z") },
  { _id: 5, item: "xyz", price: 5, quantity: 10, date: date("2014-02-15T09:12:00Z") }
]

const students = [
  { _id: 1, quizzes: [10, 6, 7], labs: [5, 8], final: 80, midterm: 75 },
  { _id: 2, quizzes: [9, 10], labs: [8, 8], final: 95, midterm: 80 },
  { _id: 3, quizzes: [4, 5, 5], labs: [6, 5], final: 78, midterm: 70 }
]

const game = (_id: number, gameId: string, playerId: string, score?: unknown) => ({
  _id,
  gameId,
  playerId,
  ...(score === undefined ? {} : { score })
})
const gamescores = [
  game(1, "G1", "PlayerA", 31),
  game(2, "G1", "PlayerB", 33),
  game(3, "G1", "PlayerC", 99),
  game(4, "G1", "PlayerD", 1),
  game(5, "G2", "PlayerA", 10),
  game(6, "G2", "PlayerB", 14),
  game(7, "G2", "PlayerC", 66),
  game(8, "G2", "PlayerD", 80)
]
const unscored = [
  game(1, "G1", "PlayerA", 1),
  game(2, "G1", "PlayerB", 2),
  game(3, "G1", "PlayerC", 3),
  game(4, "G1", "PlayerD"),
  game(5, "G1", "PlayerE", null)
]

/** The value of an accumulator for each group, in the order of the groups. */
const grouped = (
  key: unknown,
  accumulator: Document,
  values: ReadonlyArray<readonly [key: unknown, value: unknown]>
): Run => [
  [{ $sort: { _id: 1 } }, { $group: { _id: key, value: accumulator } }, { $sort: { _id: 1 } }],
  values.map(([_id, value]) => ({ _id, value }))
]

const output = ["$playerId", "$score"]
const one = { $cond: { if: { $eq: ["$gameId", "G2"] }, then: 1, else: 3 } }

/** The manual's pages of accumulators. */
export const accumulatorPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)
  const amount = { $multiply: ["$price", "$quantity"] }

  /** A summary's page: the groups of the sales, and the lists of the students. */
  const summary = (
    operator: string,
    amounts: ReadonlyArray<number>,
    quantities: ReadonlyArray<number>,
    ofLists: ReadonlyArray<ReadonlyArray<number>>
  ) => {
    const items = ["abc", "jkl", "xyz"]
    page(
      operator,
      runs(sales, [
        grouped("$item", { [operator]: amount }, items.map((item, index) => [item, amounts[index]])),
        grouped("$item", { [operator]: "$quantity" }, items.map((item, index) => [item, quantities[index]]))
      ]),
      each(students, [
        [{ [operator]: "$quizzes" }, ofLists[0] ?? []],
        [{ [operator]: "$labs" }, ofLists[1] ?? []],
        [{ [operator]: ["$final", "$midterm"] }, ofLists[2] ?? []]
      ])
    )
  }

  summary("$avg", [60, 20, 37.5], [6, 1, 7.5], [[7.666666666666667, 9.5, 4.666666666666667], [6.5, 8, 5.5], [
    77.5,
    87.5,
    74
  ]])
  summary("$max", [100, 20, 50], [10, 1, 10], [[10, 10, 5], [8, 8, 6], [80, 95, 78]])
  summary("$min", [20, 20, 25], [2, 1, 5], [[6, 9, 4], [5, 8, 5], [75, 80, 70]])
  summary("$sum", [120, 20, 75], [12, 1, 15], [[23, 19, 14], [13, 16, 11], [155, 175, 148]])

  page(
    "$count of groups",
    runs(sales, [
      grouped("$item", { $count: {} }, [["abc", 2], ["jkl", 1], ["xyz", 2]]),
      grouped("$item", { $sum: 1 }, [["abc", 2], ["jkl", 1], ["xyz", 2]])
    ])
  )

  page(
    "$addToSet and $push",
    runs([
      { _id: 1, type: "phone", price: 389.99 },
      { _id: 2, type: "phone", price: 376.99 },
      { _id: 3, type: "phone", price: 389.99 },
      { _id: 4, type: "chair", price: 59.99 }
    ], [[
      [
        { $group: { _id: "$type", price: { $addToSet: "$price" } } },
        { $project: { price: { $sortArray: { input: "$price", sortBy: 1 } } } }
      ],
      [{ _id: "chair", price: [59.99] }, { _id: "phone", price: [376.99, 389.99] }]
    ]]),
    runs([
      { _id: 1, user: "Jan", age: 25, score: 80 },
      { _id: 2, user: "Mel", age: 35, score: 70 },
      { _id: 3, user: "Ty", age: 20, score: 102 },
      { _id: 4, user: "Lee", age: 25, score: 45 }
    ], [
      grouped("$age", { $push: "$user" }, [[20, ["Ty"]], [25, ["Jan", "Lee"]], [35, ["Mel"]]]),
      grouped("$age", { $push: { userid: "$user", score: "$score" } }, [
        [20, [{ userid: "Ty", score: 102 }]],
        [25, [{ userid: "Jan", score: 80 }, { userid: "Lee", score: 45 }]],
        [35, [{ userid: "Mel", score: 70 }]]
      ])
    ])
  )

  page(
    "$first and $last of groups",
    runs(sales, [
      grouped("$item", { $first: "$date" }, [
        ["abc", sales[0]?.date],
        ["jkl", sales[1]?.date],
        ["xyz", sales[2]?.date]
      ]),
      grouped("$item", { $last: "$date" }, [
        ["abc", sales[3]?.date],
        ["jkl", sales[1]?.date],
        ["xyz", sales[4]?.date]
      ])
    ]),
    runs(
      [{ _id: 1, item: "abc", price: 10 }, { _id: 2, price: 3, quantity: 5 }, { _id: 3, item: "abc", quantity: 7 }],
      [
        grouped("$item", { $first: "$quantity" }, [[null, 5], ["abc", null]]),
        grouped("$item", { $last: "$quantity" }, [[null, 5], ["abc", 7]])
      ]
    )
  )

  page(
    "$firstN and $lastN of groups",
    runs(unscored, [
      grouped("$gameId", { $firstN: { input: "$score", n: 5 } }, [["G1", [1, 2, 3, null, null]]]),
      grouped("$gameId", { $lastN: { input: "$score", n: 5 } }, [["G1", [1, 2, 3, null, null]]])
    ]),
    runs(gamescores, [
      grouped("$gameId", { $firstN: { input: output, n: 3 } }, [
        ["G1", [["PlayerA", 31], ["PlayerB", 33], ["PlayerC", 99]]],
        ["G2", [["PlayerA", 10], ["PlayerB", 14], ["PlayerC", 66]]]
      ]),
      grouped("$gameId", { $lastN: { input: output, n: 3 } }, [
        ["G1", [["PlayerB", 33], ["PlayerC", 99], ["PlayerD", 1]]],
        ["G2", [["PlayerB", 14], ["PlayerC", 66], ["PlayerD", 80]]]
      ]),
      grouped({ gameId: "$gameId" }, { $firstN: { input: "$score", n: one } }, [
        [{ gameId: "G1" }, [31, 33, 99]],
        [{ gameId: "G2" }, [10]]
      ]),
      grouped({ gameId: "$gameId" }, { $lastN: { input: "$score", n: one } }, [
        [{ gameId: "G1" }, [33, 99, 1]],
        [{ gameId: "G2" }, [80]]
      ]),
      [
        [{ $sort: { score: -1 } }, { $group: { _id: "$gameId", value: { $firstN: { input: output, n: 3 } } } }, {
          $sort: { _id: 1 }
        }],
        [
          { _id: "G1", value: [["PlayerC", 99], ["PlayerB", 33], ["PlayerA", 31]] },
          { _id: "G2", value: [["PlayerD", 80], ["PlayerC", 66], ["PlayerB", 14]] }
        ]
      ]
    ])
  )

  page(
    "$maxN and $minN of groups",
    runs(unscored, [
      grouped("$gameId", { $maxN: { input: "$score", n: 4 } }, [["G1", [3, 2, 1]]]),
      grouped("$gameId", { $minN: { input: "$score", n: 4 } }, [["G1", [1, 2, 3]]])
    ]),
    runs(gamescores, [
      grouped("$gameId", { $maxN: { input: ["$score", "$playerId"], n: 3 } }, [
        ["G1", [[99, "PlayerC"], [33, "PlayerB"], [31, "PlayerA"]]],
        ["G2", [[80, "PlayerD"], [66, "PlayerC"], [14, "PlayerB"]]]
      ]),
      grouped("$gameId", { $minN: { input: ["$score", "$playerId"], n: 3 } }, [
        ["G1", [[1, "PlayerD"], [31, "PlayerA"], [33, "PlayerB"]]],
        ["G2", [[10, "PlayerA"], [14, "PlayerB"], [66, "PlayerC"]]]
      ]),
      grouped({ gameId: "$gameId" }, { $maxN: { input: ["$score", "$playerId"], n: one } }, [
        [{ gameId: "G1" }, [[99, "PlayerC"], [33, "PlayerB"], [31, "PlayerA"]]],
        [{ gameId: "G2" }, [[80, "PlayerD"]]]
      ])
    ])
  )

  const [downwards, upwards] = [{ score: -1 }, { score: 1 }]

  page(
    "$top, $topN, $bottom and $bottomN",
    runs(unscored, [
      grouped("$gameId", { $top: { output, sortBy: upwards } }, [["G1", ["PlayerD", null]]]),
      grouped("$gameId", { $topN: { output, sortBy: upwards, n: 3 } }, [
        ["G1", [["PlayerD", null], ["PlayerE", null], ["PlayerA", 1]]]
      ]),
      grouped("$gameId", { $bottomN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerA", 1], ["PlayerD", null], ["PlayerE", null]]]
      ])
    ]),
    runs([game(1, "G1", "PlayerA", 1), game(2, "G1", "PlayerB", "2"), game(3, "G1", "PlayerC", "")], [
      grouped("$gameId", { $topN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerB", "2"], ["PlayerC", ""], ["PlayerA", 1]]]
      ]),
      grouped("$gameId", { $bottomN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerB", "2"], ["PlayerC", ""], ["PlayerA", 1]]]
      ])
    ]),
    runs(gamescores, [
      grouped("$gameId", { $top: { output, sortBy: downwards } }, [["G1", ["PlayerC", 99]], ["G2", ["PlayerD", 80]]]),
      grouped("$gameId", { $bottom: { output, sortBy: downwards } }, [["G1", ["PlayerD", 1]], ["G2", ["PlayerA", 10]]]),
      grouped("$gameId", { $topN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerC", 99], ["PlayerB", 33], ["PlayerA", 31]]],
        ["G2", [["PlayerD", 80], ["PlayerC", 66], ["PlayerB", 14]]]
      ]),
      grouped("$gameId", { $bottomN: { output, sortBy: downwards, n: 3 } }, [
        ["G1", [["PlayerB", 33], ["PlayerA", 31], ["PlayerD", 1]]],
        ["G2", [["PlayerC", 66], ["PlayerB", 14], ["PlayerA", 10]]]
      ]),
      grouped({ gameId: "$gameId" }, { $topN: { output: "$score", sortBy: downwards, n: one } }, [
        [{ gameId: "G1" }, [99, 33, 31]],
        [{ gameId: "G2" }, [80]]
      ])
    ])
  )

  const quizzes = [[1, 85], [1, 90], [1, 71], [2, 96], [2, 77], [2, 82]].map(([quiz, score], index) => ({
    _id: index + 1,
    quiz,
    score
  }))

  page(
    "$stdDevPop and $stdDevSamp",
    runs(quizzes, [
      grouped("$quiz", { $stdDevPop: "$score" }, [[1, 8.04155872120988], [2, 8.04155872120988]]),
      grouped("$quiz", { $stdDevSamp: "$score" }, [[1, 9.848857801796104], [2, 9.848857801796104]])
    ]),
    each([
      { _id: 1, scores: [{ score: 85 }, { score: 90 }, { score: 71 }] },
      { _id: 2, scores: [{ score: 96 }, { score: 77 }, { score: 82 }] }
    ], [[{ $stdDevPop: "$scores.score" }, [8.04155872120988, 8.04155872120988], "pathsOfSums"]])
  )

  const scores = [
    { _id: 2345, test01: 62, test02: 81, test03: 80 },
    { _id: 2356, test01: 60, test02: 83, test03: 79 },
    { _id: 2358, test01: 67, test02: 82, test03: 78 },
    { _id: 2367, test01: 64, test02: 72, test03: 77 },
    { _id: 2369, test01: 60, test02: 53, test03: 72 }
  ]
  const tests = ["$test01", "$test02", "$test03"]
  const approximate = { method: "approximate" }

  page(
    "$median and $percentile",
    runs(scores, [
      grouped(null, { $median: { input: "$test01", ...approximate } }, [[null, 62]]),
      grouped(null, { $percentile: { input: "$test01", p: [0.95], ...approximate } }, [[null, [67]]]),
      grouped(null, { $percentile: { input: "$test01", p: [0.5, 0.75, 0.9, 0.95], ...approximate } }, [
        [null, [62, 64, 67, 67]]
      ])
    ]),
    each(scores, [
      [{ $median: { input: tests, ...approximate } }, [80, 79, 78, 72, 60]],
      [{ $percentile: { input: tests, p: [0.5, 0.95], ...approximate } }, [
        [80, 81],
        [79, 83],
        [78, 82],
        [72, 77],
        [60, 72]
      ]]
    ])
  )
}
