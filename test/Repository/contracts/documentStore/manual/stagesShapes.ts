import { Decimal128 } from "bson"
import type { Differs } from "../../../../support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { date, rejected, runs, stagePagesOf } from "./stagesPage.ts"

const decimal = (text: string) => Decimal128.fromString(text)

const vehicles = [
  { _id: 1, type: "car", specs: { doors: 4, wheels: 4 } },
  { _id: 2, type: "motorcycle", specs: { doors: 0, wheels: 2 } },
  { _id: 3, type: "jet ski" }
]

const sizes = [
  { _id: 1, item: "ABC", price: decimal("80"), sizes: ["S", "M", "L"] },
  { _id: 2, item: "EFG", price: decimal("120"), sizes: [] },
  { _id: 3, item: "IJK", price: decimal("160"), sizes: "M" },
  { _id: 4, item: "LMN", price: decimal("10") },
  { _id: 5, item: "XYZ", price: decimal("5.75"), sizes: null }
]
const size = (size: string, more = {}) => ({ _id: 1, item: "ABC", price: decimal("80"), sizes: size, ...more })

const books = [
  { _id: 8751, title: "The Banquet", author: "Dante", copies: 2 },
  { _id: 8752, title: "Divine Comedy", author: "Dante", copies: 1 },
  { _id: 8645, title: "Eclogues", author: "Dante", copies: 2 },
  { _id: 7000, title: "The Odyssey", author: "Homer", copies: 10 },
  { _id: 7020, title: "Iliad", author: "Homer", copies: 10 }
]
const byDante = books.filter(({ author }) => author === "Dante")
const byHomer = books.filter(({ author }) => author === "Homer")

const sold = (_id: number, item: string, price: number, quantity: number, day: string) => ({
  _id,
  item,
  price,
  quantity,
  date: date(day)
})

const section = (subtitle: string, tags: ReadonlyArray<string>, content: unknown) => ({ subtitle, tags, content })
const overview = section("Section 1: Overview", ["SI", "G"], "Section 1")
const analysis = section("Section 2: Analysis", ["STLW"], "Section 2")
const budgeting = section("Section 3: Budgeting", ["TK"], { text: "Section 3", tags: ["HCS"] })
const report = { _id: 1, title: "123 Department Report", tags: ["G", "STLW"], year: 2014 }

const bean = (_id: number, altitude: number, variety: string, score: number) => ({ _id, altitude, variety, score })
const beans = [
  bean(1, 600, "Arabica Typica", 68.3),
  bean(2, 750, "Arabica Typica", 69.5),
  bean(3, 950, "Arabica Typica", 70.5),
  bean(4, 1250, "Gesha", 88.15),
  bean(5, 1700, "Gesha", 95.5)
]
const grown = (variety: string, ...altitudes: ReadonlyArray<number>) =>
  altitudes.map((altitude) => ({ variety, altitude }))

/** The manual's pages of stages that shape and group documents. */
export const shapePages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$addFields",
    runs(vehicles, [[{ $addFields: { "specs.fuel_type": "unleaded" } }], [
      { _id: 1, type: "car", specs: { doors: 4, wheels: 4, fuel_type: "unleaded" } },
      { _id: 2, type: "motorcycle", specs: { doors: 0, wheels: 2, fuel_type: "unleaded" } },
      { _id: 3, type: "jet ski", specs: { fuel_type: "unleaded" } }
    ]]),
    runs([{ _id: 1, dogs: 10, cats: 15 }], [[{ $addFields: { cats: 20 } }], [{ _id: 1, dogs: 10, cats: 20 }]]),
    runs([{ _id: 1, item: "tangerine", type: "citrus" }, { _id: 2, item: "lemon", type: "citrus" }], [
      [{ $addFields: { _id: "$item", item: "fruit" } }],
      [{ _id: "tangerine", item: "fruit", type: "citrus" }, { _id: "lemon", item: "fruit", type: "citrus" }]
    ]),
    runs(
      [{ _id: 1, homework: [10, 5, 10], quiz: [10, 8], extraCredit: 0 }],
      [[
        { $addFields: { totalHomework: { $sum: "$homework" }, totalQuiz: { $sum: "$quiz" } } },
        { $addFields: { totalScore: { $add: ["$totalHomework", "$totalQuiz", "$extraCredit"] } } },
        { $unset: ["homework", "quiz"] }
      ], [{ _id: 1, extraCredit: 0, totalHomework: 25, totalQuiz: 18, totalScore: 43 }]],
      [[{ $addFields: { homework: { $concatArrays: ["$homework", [7]] } } }, { $project: { homework: 1 } }], [
        { _id: 1, homework: [10, 5, 10, 7] }
      ]]
    ),
    runs(
      [{ _id: 1, date: date("2024-10-09"), temperature: 80 }, { _id: 2, date: null, temperature: 83 }],
      [[{ $addFields: { date: "$$REMOVE" } }], [{ _id: 1, temperature: 80 }, { _id: 2, temperature: 83 }]],
      [[{ $addFields: { date: { $ifNull: ["$date", "$$REMOVE"] } } }], [
        { _id: 1, date: date("2024-10-09"), temperature: 80 },
        { _id: 2, temperature: 83 }
      ]]
    )
  )

  page(
    "$unwind",
    runs(
      sizes,
      [[{ $unwind: "$sizes" }], [size("S"), size("M"), size("L"), sizes[2]!]],
      [[{ $unwind: { path: "$sizes", includeArrayIndex: "arrayIndex" } }], [
        size("S", { arrayIndex: 0 }),
        size("M", { arrayIndex: 1 }),
        size("L", { arrayIndex: 2 }),
        { ...sizes[2], arrayIndex: null }
      ]],
      [
        [
          { $unwind: { path: "$sizes", includeArrayIndex: "arrayIndex" } },
          { $group: { _id: { $type: "$arrayIndex" } } }
        ],
        [{ _id: "long" }, { _id: "null" }],
        "placesAsInts"
      ],
      [[{ $unwind: { path: "$sizes", preserveNullAndEmptyArrays: true } }], [
        size("S"),
        size("M"),
        size("L"),
        { _id: 2, item: "EFG", price: decimal("120") },
        ...sizes.slice(2)
      ]],
      [[
        { $unwind: { path: "$sizes", preserveNullAndEmptyArrays: true } },
        { $group: { _id: "$sizes", averagePrice: { $avg: "$price" } } },
        { $sort: { averagePrice: -1, _id: 1 } }
      ], [
        { _id: "M", averagePrice: decimal("120") },
        { _id: "L", averagePrice: decimal("80") },
        { _id: "S", averagePrice: decimal("80") },
        { _id: null, averagePrice: decimal("45.25") }
      ]]
    )
  )

  page(
    "$group",
    runs(
      [
        sold(1, "abc", 10, 2, "2014-03-01T08:00:00Z"),
        sold(2, "jkl", 20, 1, "2014-03-01T09:00:00Z"),
        sold(3, "xyz", 5, 10, "2014-03-15T09:00:00Z"),
        sold(4, "xyz", 5, 20, "2014-04-04T11:21:39.736Z"),
        sold(5, "abc", 10, 10, "2014-04-04T21:23:13.331Z")
      ],
      [[{
        $group: {
          _id: { month: { $month: "$date" }, day: { $dayOfMonth: "$date" }, year: { $year: "$date" } },
          totalPrice: { $sum: { $multiply: ["$price", "$quantity"] } },
          averageQuantity: { $avg: "$quantity" },
          count: { $sum: 1 }
        }
      }], [
        { _id: { month: 3, day: 15, year: 2014 }, totalPrice: 50, averageQuantity: 10, count: 1 },
        { _id: { month: 4, day: 4, year: 2014 }, totalPrice: 200, averageQuantity: 15, count: 2 },
        { _id: { month: 3, day: 1, year: 2014 }, totalPrice: 40, averageQuantity: 1.5, count: 2 }
      ]],
      [[{ $group: { _id: null, averageQuantity: { $avg: "$quantity" }, count: { $count: {} } } }], [
        { _id: null, averageQuantity: 8.6, count: 5 }
      ]],
      [[{ $group: { _id: "$item" } }], [{ _id: "abc" }, { _id: "jkl" }, { _id: "xyz" }]],
      [[{ $sortByCount: "$item" }, { $match: { count: 1 } }], [{ _id: "jkl", count: 1 }]],
      [[{ $match: { quantity: { $gt: 5 } } }, { $count: "large" }], [{ large: 3 }]]
    ),
    runs(
      books,
      [[{ $sort: { _id: -1 } }, { $group: { _id: "$author", books: { $push: "$title" } } }], [
        { _id: "Homer", books: ["Iliad", "The Odyssey"] },
        { _id: "Dante", books: ["Divine Comedy", "The Banquet", "Eclogues"] }
      ]],
      [[{ $group: { _id: "$author", books: { $push: "$$ROOT" } } }], [
        { _id: "Homer", books: byHomer },
        { _id: "Dante", books: byDante }
      ]]
    )
  )

  page(
    "$replaceRoot",
    runs(
      [
        { _id: 1, name: "Arlene", age: 34, pets: { dogs: 2, cats: 1 } },
        { _id: 2, name: "Sam", age: 41, pets: { cats: 1, fish: 3 } },
        { _id: 3, name: "Maria", age: 25 }
      ],
      [[{ $replaceRoot: { newRoot: "$pets" } }], rejected],
      [[{ $match: { pets: { $exists: true } } }, { $replaceRoot: { newRoot: "$pets" } }], [
        { dogs: 2, cats: 1 },
        { cats: 1, fish: 3 }
      ]],
      [[{ $replaceWith: { $mergeObjects: [{ dogs: 0, cats: 0, birds: 0, fish: 0 }, "$pets"] } }], [
        { dogs: 2, cats: 1, birds: 0, fish: 0 },
        { dogs: 0, cats: 1, birds: 0, fish: 3 },
        { dogs: 0, cats: 0, birds: 0, fish: 0 }
      ]]
    )
  )

  page(
    "$redact",
    runs([{ ...report, subsections: [overview, analysis, budgeting] }], [[{
      $redact: {
        $cond: {
          if: { $gt: [{ $size: { $setIntersection: ["$tags", ["STLW", "G"]] } }, 0] },
          then: "$$DESCEND",
          else: "$$PRUNE"
        }
      }
    }], [{ ...report, subsections: [overview, analysis] }]]),
    runs([{ _id: 1, level: 1, cc: { level: 5, billing: { level: 5 }, shipping: [{ level: 3 }] }, status: "A" }], [
      [{ $redact: { $cond: { if: { $eq: ["$level", 5] }, then: "$$PRUNE", else: "$$DESCEND" } } }],
      [{ _id: 1, level: 1, status: "A" }]
    ])
  )

  page(
    "$densify",
    runs(
      beans,
      [
        [{ $densify: { field: "altitude", partitionByFields: ["variety"], range: { bounds: "full", step: 200 } } }],
        [
          ...beans,
          ...grown("Arabica Typica", 800, 1000, 1200, 1400, 1600),
          ...grown("Gesha", 600, 800, 1000, 1200, 1400, 1600)
        ],
        "fullRanges"
      ],
      [
        [{
          $densify: { field: "altitude", partitionByFields: ["variety"], range: { bounds: "partition", step: 200 } }
        }],
        [...beans, ...grown("Arabica Typica", 800), ...grown("Gesha", 1450, 1650)]
      ]
    )
  )

  page(
    "$fill",
    runs(
      [{ _id: 0, value: 0 }, { _id: 1, value: null }, { _id: 2 }, { _id: 3, value: null }, { _id: 4, value: 10 }],
      [[{ $fill: { sortBy: { _id: 1 }, output: { value: { method: "linear" } } } }], [
        { _id: 0, value: 0 },
        { _id: 1, value: 2.5 },
        { _id: 2, value: 5 },
        { _id: 3, value: 7.5 },
        { _id: 4, value: 10 }
      ]],
      [[{ $fill: { output: { value: { value: 1 } } } }], [
        { _id: 0, value: 0 },
        { _id: 1, value: 1 },
        { _id: 2, value: 1 },
        { _id: 3, value: 1 },
        { _id: 4, value: 10 }
      ]]
    )
  )
}
