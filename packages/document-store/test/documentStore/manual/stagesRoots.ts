import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { date, rejected, runs, stagePagesOf } from "./stagesPage.ts"

const backus = { first: "John", last: "Backus" }
const mccarthy = { first: "John", last: "McCarthy" }
const hopper = { first: "Grace", last: "Hopper" }
const isDocument = { $exists: true, $not: { $type: "array" }, $type: "object" }
const named = { name: isDocument }
const graded = (test: number, grade: number, mean: number, std: number) => ({ test, grade, mean, std })
const reported = [["2019Q1", 400, 550, 1000], ["2019Q2", 660, 500, 1200]] as const

const section = (subtitle: string, tags: ReadonlyArray<string>, content: unknown) => ({ subtitle, tags, content })
const overview = section("Section 1: Overview", ["SI", "G"], "Section 1: This is the content of section 1.")
const analysis = section("Section 2: Analysis", ["STLW"], "Section 2: This is the content of section 2.")
const budgeting = section("Section 3: Budgeting", ["TK"], {
  text: "Section 3: This is the content of section 3.",
  tags: ["HCS"]
})
const forecast = { _id: 1, title: "123 Department Report", tags: ["G", "STLW"], year: 2014 }
const account = { _id: 1, level: 1, acct_id: "xyz123", status: "A" }
const creditCard = {
  level: 5,
  type: "yy",
  num: 0,
  exp_date: date("2015-11-01T00:00:00.000Z"),
  billing_addr: { level: 5, addr1: "123 ABC Street", city: "Some City" },
  shipping_addr: [
    { level: 3, addr1: "987 XYZ Ave", city: "Some City" },
    { level: 3, addr1: "PO Box 0123", city: "Some City" }
  ]
}

/** The manual's pages of stages that replace documents or leave parts of them out. */
export const rootPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  for (
    const [stage, replacing] of [
      ["$replaceRoot", (newRoot: unknown) => ({ $replaceRoot: { newRoot } })],
      ["$replaceWith", (newRoot: unknown) => ({ $replaceWith: newRoot })]
    ] as const
  ) {
    page(
      stage,
      runs(
        [
          { _id: 1, name: backus },
          { _id: 2, name: mccarthy },
          { _id: 3, name: hopper },
          { _id: 4, firstname: "Ole-Johan", lastname: "Dahl" }
        ],
        [[replacing("$name")], rejected],
        [[replacing({ $mergeObjects: [{ _id: "$_id", first: "", last: "" }, "$name"] })], [
          { _id: 1, ...backus },
          { _id: 2, ...mccarthy },
          { _id: 3, ...hopper },
          { _id: 4, first: "", last: "" }
        ]],
        [[{ $match: named }, replacing("$name")], [backus, mccarthy, hopper]],
        [[replacing({ $ifNull: ["$name", { _id: "$_id", missingName: true }] })], [
          backus,
          mccarthy,
          hopper,
          { _id: 4, missingName: true }
        ]]
      ),
      runs(
        [
          { _id: 1, name: "Arlene", age: 34, pets: { dogs: 2, cats: 1 } },
          { _id: 2, name: "Sam", age: 41, pets: { cats: 1, fish: 3 } },
          { _id: 3, name: "Maria", age: 25 }
        ],
        [[{ $match: { pets: isDocument } }, replacing("$pets")], [{ dogs: 2, cats: 1 }, { cats: 1, fish: 3 }]],
        [[replacing({ $mergeObjects: [{ dogs: 0, cats: 0, birds: 0, fish: 0 }, "$pets"] })], [
          { dogs: 2, cats: 1, birds: 0, fish: 0 },
          { dogs: 0, cats: 1, birds: 0, fish: 3 },
          { dogs: 0, cats: 0, birds: 0, fish: 0 }
        ]]
      ),
      runs(
        [
          { _id: 1, grades: [graded(1, 80, 75, 6), graded(2, 85, 90, 4), graded(3, 95, 85, 6)] },
          { _id: 2, grades: [graded(1, 90, 75, 6), graded(2, 87, 90, 3), graded(3, 91, 85, 4)] }
        ],
        [
          [{ $unwind: "$grades" }, { $match: { "grades.grade": { $gte: 90 } } }, replacing("$grades")],
          [graded(3, 95, 85, 6), graded(1, 90, 75, 6), graded(3, 91, 85, 4)]
        ]
      ),
      runs(
        [
          { _id: 1, first_name: "Gary", last_name: "Sheffield", city: "New York" },
          { _id: 2, first_name: "Nancy", last_name: "Walker", city: "Anaheim" },
          { _id: 3, first_name: "Peter", last_name: "Sumner", city: "Toledo" }
        ],
        [
          [replacing({ full_name: { $concat: ["$first_name", " ", "$last_name"] } })],
          [{ full_name: "Gary Sheffield" }, { full_name: "Nancy Walker" }, { full_name: "Peter Sumner" }]
        ]
      ),
      runs(
        [
          { _id: 1, name: "Fred", email: "fred@example.net" },
          { _id: 2, name: "Frank N. Stine", cell: "012-345-9999" },
          { _id: 3, name: "Gren Dell", home: "987-654-3210", email: "beo@example.net" }
        ],
        [[replacing({ $mergeObjects: [{ _id: "", name: "", email: "", cell: "", home: "" }, "$$ROOT"] })], [
          { _id: 1, name: "Fred", email: "fred@example.net", cell: "", home: "" },
          { _id: 2, name: "Frank N. Stine", email: "", cell: "012-345-9999", home: "" },
          { _id: 3, name: "Gren Dell", email: "beo@example.net", cell: "", home: "987-654-3210" }
        ]]
      ),
      runs(
        [
          { _id: 1, item: "butter", price: 10, quantity: 2, status: "C" },
          { _id: 2, item: "cream", price: 20, quantity: 1, status: "A" },
          { _id: 3, item: "jam", price: 5, quantity: 10, status: "C" },
          { _id: 4, item: "muffins", price: 5, quantity: 10, status: "C" }
        ],
        [
          [
            { $match: { status: "C" } },
            replacing({
              _id: "$_id",
              item: "$item",
              amount: { $multiply: ["$price", "$quantity"] },
              status: "Complete",
              asofDate: "$$NOW"
            }),
            { $set: { asofDate: { $type: "$asofDate" } } }
          ],
          ([[1, "butter", 20], [3, "jam", 50], [4, "muffins", 50]] as const).map(([_id, item, amount]) => ({
            _id,
            item,
            amount,
            status: "Complete",
            asofDate: "date"
          }))
        ]
      ),
      runs(
        reported.flatMap(([quarter, ...quantities]) =>
          quantities.map((qty, i) => ({ _id: `${quarter}${i}`, quarter, region: "ABC"[i], qty }))
        ),
        [
          [
            { $addFields: { obj: { k: "$region", v: "$qty" } } },
            { $group: { _id: "$quarter", items: { $push: "$obj" } } },
            { $project: { items2: { $concatArrays: [[{ k: "_id", v: "$_id" }], "$items"] } } },
            replacing({ $arrayToObject: "$items2" })
          ],
          reported.map(([_id, A, B, C]) => ({ _id, A, B, C }))
        ]
      )
    )
  }

  page(
    "$redact",
    runs([{ ...forecast, subsections: [overview, analysis, budgeting] }], [
      [
        { $match: { year: 2014 } },
        {
          $redact: {
            $cond: {
              if: { $gt: [{ $size: { $setIntersection: ["$tags", ["STLW", "G"]] } }, 0] },
              then: "$$DESCEND",
              else: "$$PRUNE"
            }
          }
        }
      ],
      [{ ...forecast, subsections: [overview, analysis] }]
    ]),
    runs([{ ...account, cc: creditCard }], [
      [
        { $match: { status: "A" } },
        { $redact: { $cond: { if: { $eq: ["$level", 5] }, then: "$$PRUNE", else: "$$DESCEND" } } }
      ],
      [account]
    ])
  )
}
