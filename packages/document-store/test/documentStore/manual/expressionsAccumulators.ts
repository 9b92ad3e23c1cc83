import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { date, each, grouped, pagesOf, rejected, runs } from "./expressionsPage.ts"

const sales = [
  { _id: 1, item: "abc", price: 10, quantity: 2, date: date("2014-01-01T08:00:00Z") },
  { _id: 2, item: "jkl", price: 20, quantity: 1, date: date("2014-02-03T09:00:00Z") },
  { _id: 3, item: "xyz", price: 5, quantity: 5, date: date("2014-02-03T09:05:00Z") },
  { _id: 4, item: "abc", price: 10, quantity: 10, date: date("2014-02-15T08:00:00Z") },
  { _id: 5, item: "xyz", price: 5, quantity: 10, date: date("2014-02-15T09:05:00Z") }
]
const moreSales = [
  ...sales,
  { _id: 6, item: "xyz", price: 5, quantity: 5, date: date("2014-02-15T12:05:10Z") },
  { _id: 7, item: "xyz", price: 5, quantity: 10, date: date("2014-02-15T14:12:12Z") }
]

const badData = [
  { _id: 1, price: 6, quantity: 6 },
  { _id: 2, item: "album", price: 5, quantity: 5 },
  { _id: 7, item: "tape", price: 6, quantity: 6 },
  { _id: 8, price: 5, quantity: 5 },
  { _id: 9, item: "album", price: 3, quantity: "" },
  { _id: 10, item: "tape", price: 3, quantity: 4 },
  { _id: 12, item: "cd", price: 7 }
]

const students = [
  { _id: 1, quizzes: [10, 6, 7], labs: [5, 8], final: 80, midterm: 75 },
  { _id: 2, quizzes: [9, 10], labs: [8, 8], final: 95, midterm: 80 },
  { _id: 3, quizzes: [4, 5, 5], labs: [6, 5], final: 78, midterm: 70 }
]

const inOrder = (input: string) => ({ $sortArray: { input, sortBy: 1 } })

/** The manual's pages of accumulators that have one value of each document. */
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

  const days = { day: { $dayOfYear: "$date" }, year: { $year: "$date" } }
  const inDays = (...values: ReadonlyArray<unknown>) =>
    [1, 34, 46].map((day, index) => [{ day, year: 2014 }, values[index]] as const)

  page(
    "$count of groups, and $sum of nothing",
    runs(sales, [
      grouped("$item", { $count: {} }, [["abc", 2], ["jkl", 1], ["xyz", 2]]),
      [[{ $group: { _id: "$item", n: { $count: 1 } } }], rejected, "laxCounts"],
      grouped("$item", { $sum: 1 }, [["abc", 2], ["jkl", 1], ["xyz", 2]]),
      grouped(days, { $sum: amount }, inDays(20, 45, 150)),
      grouped(days, { $sum: 1 }, inDays(1, 2, 2)),
      grouped(days, { $sum: "$qty" }, inDays(0, 0, 0))
    ]),
    each([{ _id: 1, a: [2, 2], b: [2, [3, 4]] }], [[{ $sum: "$a" }, [4]], [{ $sum: "$b" }, [2]]])
  )

  page(
    "$addToSet and $push",
    runs([
      { _id: 1, type: "phone", price: 389.99, stocked: 270000 },
      { _id: 2, type: "phone", price: 376.99, stocked: 97000 },
      { _id: 3, type: "phone", price: 389.99, stocked: 97000 },
      { _id: 4, type: "chair", price: 59.99, stocked: 108 }
    ], [[
      [
        { $group: { _id: "$type", price: { $addToSet: "$price" }, stocked: { $addToSet: "$stocked" } } },
        { $project: { price: inOrder("$price"), stocked: inOrder("$stocked") } }
      ],
      [
        { _id: "chair", price: [59.99], stocked: [108] },
        { _id: "phone", price: [376.99, 389.99], stocked: [97000, 270000] }
      ]
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

  const dates = (...ids: ReadonlyArray<number>) =>
    ["abc", "jkl", "xyz"].map((item, index) => [item, moreSales[(ids[index] ?? 0) - 1]?.date] as const)

  page(
    "$first and $last of groups",
    runs(moreSales, [
      grouped("$item", { $first: "$date" }, dates(1, 2, 3), { item: 1, date: 1 }),
      grouped("$item", { $last: "$date" }, dates(4, 2, 7), { item: 1, date: 1 })
    ]),
    runs(badData, [
      grouped("$item", { $first: "$quantity" }, [[null, 5], ["album", ""], ["cd", null], ["tape", 4]], {
        item: 1,
        price: 1
      }),
      grouped("$item", { $last: "$quantity" }, [[null, 6], ["album", 5], ["cd", null], ["tape", 6]], {
        item: 1,
        price: 1
      })
    ])
  )

  const review = (_id: number, title: string, data: Document) => ({ _id, title, data })
  const all = (rating: number, votes: number, tomatometer: number, audienceScore: number) => ({
    rating,
    votes,
    tomatometer,
    audienceScore
  })

  page(
    "$mergeObjects of groups",
    runs([
      review(1, "Galactic Odyssey", { rating: 8.1, votes: 1482903 }),
      review(2, "Galactic Odyssey", { tomatometer: 79, audienceScore: 85 }),
      review(3, "Neon Horizon", { rating: 7.4, votes: 983201 }),
      review(4, "Neon Horizon", { tomatometer: 68, audienceScore: 74 }),
      review(5, "The Last Protocol", { rating: 8.7, votes: 2104567 }),
      review(6, "The Last Protocol", { tomatometer: 91, audienceScore: 88 })
    ], [grouped("$title", { $mergeObjects: "$data" }, [
      ["Galactic Odyssey", all(8.1, 1482903, 79, 85)],
      ["Neon Horizon", all(7.4, 983201, 68, 74)],
      ["The Last Protocol", all(8.7, 2104567, 91, 88)]
    ])]),
    runs(
      [{ _id: 1, g: 1, o: null }, { _id: 2, g: 1 }, { _id: 3, g: 2, o: { a: 1 } }, { _id: 4, g: 2, o: { a: null } }],
      [
        grouped("$g", { $mergeObjects: "$o" }, [[1, {}], [2, { a: null }]])
      ]
    )
  )

  const movies = [
    { _id: 1, year: 1928, genres: ["Drama", "Romance"] },
    { _id: 2, year: 1928, genres: ["Comedy", "Drama"] },
    { _id: 3, year: 1929, genres: ["Musical"] },
    { _id: 4, year: 1929 }
  ]

  // An array of null is an error, as in MongoDB, although the text of its pages includes null.
  page(
    "$concatArrays and $setUnion of groups",
    runs(movies, [
      grouped(
        "$year",
        { $concatArrays: "$genres" },
        [
          [1928, ["Drama", "Romance", "Comedy", "Drama"]],
          [1929, ["Musical"]]
        ],
        undefined,
        "newAccumulators"
      ),
      [
        [
          { $group: { _id: "$year", count: { $sum: 1 }, genres: { $setUnion: "$genres" } } },
          { $set: { genres: inOrder("$genres") } },
          { $sort: { _id: 1 } }
        ],
        [{ _id: 1928, count: 2, genres: ["Comedy", "Drama", "Romance"] }, { _id: 1929, count: 2, genres: ["Musical"] }],
        "newAccumulators"
      ],
      [
        [{ $bucket: { groupBy: "$year", boundaries: [1928, 1930], output: { all: { $concatArrays: "$genres" } } } }],
        [{ _id: 1928, all: ["Drama", "Romance", "Comedy", "Drama", "Musical"] }],
        "newAccumulators"
      ],
      [[{ $group: { _id: null, r: { $concatArrays: "$year" } } }], rejected],
      [[{ $group: { _id: null, r: { $setUnion: { $ifNull: ["$genres", null] } } } }], rejected]
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
    ], [[{ $stdDevPop: "$scores.score" }, [8.04155872120988, 8.04155872120988], "pathsOfSums"]]),
    runs([{ _id: 0, age: 20 }, { _id: 1, age: 42 }, { _id: 2, age: 28 }], [[
      [{ $sample: { size: 100 } }, { $group: { _id: null, ageStdDev: { $stdDevSamp: "$age" } } }],
      [{ _id: null, ageStdDev: Math.sqrt(124) }]
    ]])
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
  const percentiles = (input: string, ...p: ReadonlyArray<number>) => ({ $percentile: { input, p, ...approximate } })
  const near = (value: Document) => [
    { $setWindowFields: { sortBy: { test01: 1 }, output: { value: { ...value, window: { range: [-3, 3] } } } } },
    { $project: { value: 1 } }
  ]

  page(
    "$median and $percentile",
    runs(scores, [
      grouped(null, { $median: { input: "$test01", ...approximate } }, [[null, 62]]),
      grouped(null, percentiles("$test01", 0.95), [[null, [67]]]),
      grouped(null, percentiles("$test01", 0.5, 0.75, 0.9, 0.95), [[null, [62, 64, 67, 67]]]),
      grouped(null, percentiles("$test02", 0.5, 0.75, 0.9, 0.95), [[null, [81, 82, 83, 83]]]),
      grouped(null, percentiles("$test03", 0.5, 0.75, 0.9, 0.95), [[null, [78, 79, 80, 80]]]),
      grouped(null, percentiles("$test03", 0.9, 0.5, 0.75, 0.95), [[null, [80, 78, 79, 80]]]),
      [near({ $median: { input: "$test01", ...approximate } }), [
        { _id: 2356, value: 60 },
        { _id: 2369, value: 60 },
        { _id: 2345, value: 60 },
        { _id: 2367, value: 64 },
        { _id: 2358, value: 64 }
      ]],
      [near(percentiles("$test01", 0.95)), [
        { _id: 2356, value: [62] },
        { _id: 2369, value: [62] },
        { _id: 2345, value: [64] },
        { _id: 2367, value: [67] },
        { _id: 2358, value: [67] }
      ]]
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
