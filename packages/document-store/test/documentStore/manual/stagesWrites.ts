import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { date, indexed, into, joins, rejected, stagePagesOf } from "./stagesPage.ts"

const salary = (_id: number, employee: string, dept: string, salary: number, fiscal_year: number) => ({
  _id,
  employee,
  dept,
  salary,
  fiscal_year
})
const salaries = [
  salary(1, "Ant", "A", 100000, 2017),
  salary(2, "Bee", "A", 120000, 2017),
  salary(3, "Cat", "Z", 115000, 2017),
  salary(4, "Ant", "A", 115000, 2018),
  salary(5, "Bee", "Z", 145000, 2018),
  salary(6, "Cat", "Z", 135000, 2018),
  salary(7, "Gecko", "A", 100000, 2018),
  salary(8, "Ant", "A", 125000, 2019),
  salary(9, "Bee", "Z", 160000, 2019),
  salary(10, "Cat", "Z", 150000, 2019)
]
const laterSalaries = [
  ...salaries,
  salary(11, "Wren", "Z", 100000, 2019),
  salary(12, "Zebra", "A", 150000, 2019),
  salary(13, "headcount1", "Z", 120000, 2020),
  salary(14, "headcount2", "Z", 120000, 2020)
]

const budget = (fiscal_year: number, dept: string, salaries: number) => ({ _id: { fiscal_year, dept }, salaries })
const budgets2018 = [
  budget(2017, "A", 220000),
  budget(2017, "Z", 115000),
  budget(2018, "A", 215000),
  budget(2018, "Z", 280000)
]
const budgets2019 = [...budgets2018, budget(2019, "A", 125000), budget(2019, "Z", 310000)]

// The pages name the database beside the collection, which the embedded store does not support.
const mergeBudgets = (budgets: string | undefined): ReadonlyArray<Document> => [
  { $group: { _id: { fiscal_year: "$fiscal_year", dept: "$dept" }, salaries: { $sum: "$salary" } } },
  { $merge: { into: budgets, on: "_id", whenMatched: "replace", whenNotMatched: "insert" } }
]

const archived = (fiscal_year: number, dept: string, ...employees: ReadonlyArray<string>) => ({
  employees,
  dept,
  fiscal_year
})
const archive = [
  archived(2018, "A", "Ant", "Gecko"),
  archived(2017, "A", "Ant", "Bee"),
  archived(2018, "Z", "Bee", "Cat"),
  archived(2017, "Z", "Cat")
].map((entry, _id) => ({ _id, ...entry }))
const mergeArchive = (orgArchive: string | undefined, whenMatched: string): ReadonlyArray<Document> => [
  { $match: { fiscal_year: 2019 } },
  { $group: { _id: { fiscal_year: "$fiscal_year", dept: "$dept" }, employees: { $push: "$employee" } } },
  { $project: { _id: 0, dept: "$_id.dept", fiscal_year: "$_id.fiscal_year", employees: 1 } },
  { $merge: { into: orgArchive, on: ["dept", "fiscal_year"], whenMatched } }
]
// The page shows the documents with other names than those that it inserts.
const archive2019 = [
  archived(2017, "A", "Ant", "Bee"),
  archived(2018, "A", "Ant", "Gecko"),
  archived(2019, "A", "Ant", "Zebra"),
  archived(2017, "Z", "Cat"),
  archived(2018, "Z", "Bee", "Cat"),
  archived(2019, "Z", "Bee", "Cat", "Wren")
]
const byDept = { sort: { dept: 1, fiscal_year: 1 }, projection: { _id: 0 } } as const

const reported = (_id: number, quarter: string, region: string, qty: number, day: string) => ({
  _id,
  quarter,
  region,
  qty,
  reportDate: date(day)
})
const purchaseOrders = [
  reported(1, "2019Q1", "A", 200, "2019-04-01"),
  reported(2, "2019Q1", "B", 300, "2019-04-01"),
  reported(3, "2019Q1", "C", 700, "2019-04-01"),
  reported(4, "2019Q2", "B", 300, "2019-07-01"),
  reported(5, "2019Q2", "C", 1000, "2019-07-01"),
  reported(6, "2019Q2", "A", 400, "2019-07-01")
]
const reportedSales = [
  reported(1, "2019Q1", "A", 400, "2019-04-02"),
  reported(2, "2019Q1", "B", 550, "2019-04-02"),
  reported(3, "2019Q1", "C", 1000, "2019-04-05"),
  reported(4, "2019Q2", "B", 500, "2019-07-02")
]

const votes = [[1, 1], [3, 1], [1, 1], [2, 2], [6, 10], [13, 16], [14, 10]].map(([thumbsup, thumbsdown], i) => ({
  _id: i,
  date: date(`2019-05-0${i + 1}`),
  thumbsup,
  thumbsdown
}))

const cake = { _id: 1, flavor: "chocolate", salesTotal: 1580, salesTrend: "up" }

const books = [
  { _id: 8751, title: "The Banquet", author: "Dante", copies: 2 },
  { _id: 8752, title: "Divine Comedy", author: "Dante", copies: 1 },
  { _id: 8645, title: "Eclogues", author: "Dante", copies: 2 },
  { _id: 7000, title: "The Odyssey", author: "Homer", copies: 10 },
  { _id: 7020, title: "Iliad", author: "Homer", copies: 10 }
]

/** The manual's pages of stages that write. */
export const writingPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$merge",
    joins([{ _id: 1, b: 5, z: 1 }], { output: [{ _id: 1, a: 1, b: 1 }] }, [
      ({ output }) => [{ $merge: output }],
      into("output", [{ _id: 1, a: 1, b: 5, z: 1 }])
    ]),
    // The page has no documents for these two.
    joins(
      [
        { _id: 1, date: date("2019-05-01"), quantity: 10 },
        { _id: 2, date: date("2019-05-01"), quantity: 5 },
        { _id: 3, date: date("2019-05-02"), quantity: 7 },
        { _id: 4, date: date("2019-06-01"), quantity: 1 }
      ],
      { newCollection: [] },
      [
        ({ newCollection }) => [{ $project: { _id: 0 } }, { $merge: { into: newCollection } }],
        into("newCollection", [
          { date: date("2019-05-01"), quantity: 10 },
          { date: date("2019-05-01"), quantity: 5 },
          { date: date("2019-05-02"), quantity: 7 },
          { date: date("2019-06-01"), quantity: 1 }
        ], { sort: { date: 1, quantity: -1 }, projection: { _id: 0 } })
      ],
      [({ newCollection }) => [{ $merge: { into: newCollection, on: "salesDate" } }], rejected, "pipelineWrites"]
    ),
    indexed(
      { newDailySales: [{ name: "salesDate", key: { salesDate: 1 }, unique: true }] },
      joins(
        [
          { _id: 1, date: date("2019-05-01"), quantity: 10 },
          { _id: 2, date: date("2019-05-01"), quantity: 5 },
          { _id: 3, date: date("2019-05-02"), quantity: 7 },
          { _id: 4, date: date("2019-06-01"), quantity: 1 }
        ],
        { newDailySales: [] },
        [
          ({ newDailySales }) => [
            { $match: { date: { $gte: date("2019-05-01"), $lt: date("2019-06-01") } } },
            {
              $group: {
                _id: { $dateToString: { format: "%Y-%m-%d", date: "$date" } },
                totalqty: { $sum: "$quantity" }
              }
            },
            { $project: { _id: 0, salesDate: { $toDate: "$_id" }, totalqty: 1 } },
            { $merge: { into: newDailySales, on: "salesDate" } }
          ],
          into("newDailySales", [
            { totalqty: 15, salesDate: date("2019-05-01") },
            { totalqty: 7, salesDate: date("2019-05-02") }
          ], { sort: { salesDate: 1 }, projection: { _id: 0 } })
        ]
      )
    ),
    joins(salaries, { budgets: [] }, [({ budgets }) => mergeBudgets(budgets), into("budgets", budgets2019)]),
    joins(laterSalaries, { budgets: budgets2019 }, [
      ({ budgets }) => [{ $match: { fiscal_year: { $gte: 2019 } } }, ...mergeBudgets(budgets)],
      into("budgets", [...budgets2018, budget(2019, "A", 275000), budget(2019, "Z", 410000), budget(2020, "Z", 240000)])
    ]),
    indexed(
      { orgArchive: [{ name: "year", key: { fiscal_year: 1, dept: 1 }, unique: true }] },
      joins(
        laterSalaries,
        { orgArchive: archive },
        [({ orgArchive }) => mergeArchive(orgArchive, "fail"), into("orgArchive", archive2019, byDept)],
        [({ orgArchive }) => mergeArchive(orgArchive, "fail"), rejected, "pipelineWrites"],
        [({ orgArchive }) => mergeArchive(orgArchive, "keepExisting"), into("orgArchive", archive2019, byDept)],
        [({ orgArchive }) => mergeArchive(orgArchive, "replace"), into("orgArchive", archive2019, byDept)]
      )
    ),
    // The page shows sales after the first step, which it has not merged yet.
    joins(
      purchaseOrders,
      { quarterlyreport: [], reportedSales },
      [
        ({ quarterlyreport }) => [
          { $group: { _id: "$quarter", purchased: { $sum: "$qty" } } },
          { $merge: { into: quarterlyreport, on: "_id", whenMatched: "merge", whenNotMatched: "insert" } }
        ],
        into("quarterlyreport", [{ _id: "2019Q1", purchased: 1200 }, { _id: "2019Q2", purchased: 1700 }])
      ]
    ),
    joins(reportedSales, {
      quarterlyreport: [{ _id: "2019Q1", purchased: 1200 }, { _id: "2019Q2", purchased: 1700 }]
    }, [
      ({ quarterlyreport }) => [
        { $group: { _id: "$quarter", sales: { $sum: "$qty" } } },
        { $merge: { into: quarterlyreport, on: "_id", whenMatched: "merge", whenNotMatched: "insert" } }
      ],
      into("quarterlyreport", [
        { _id: "2019Q1", sales: 1950, purchased: 1200 },
        { _id: "2019Q2", sales: 500, purchased: 1700 }
      ])
    ]),
    joins(votes, { monthlytotals: [{ _id: "2019-05", thumbsup: 26, thumbsdown: 31 }] }, [
      ({ monthlytotals }) => [
        { $match: { date: { $gte: date("2019-05-07"), $lt: date("2019-05-08") } } },
        {
          $project: { _id: { $dateToString: { format: "%Y-%m", date: "$date" } }, thumbsup: 1, thumbsdown: 1 }
        },
        {
          $merge: {
            into: monthlytotals,
            on: "_id",
            whenMatched: [{
              $addFields: {
                thumbsup: { $add: ["$thumbsup", "$$new.thumbsup"] },
                thumbsdown: { $add: ["$thumbsdown", "$$new.thumbsdown"] }
              }
            }],
            whenNotMatched: "insert"
          }
        }
      ],
      into("monthlytotals", [{ _id: "2019-05", thumbsup: 40, thumbsdown: 41 }])
    ]),
    joins([cake], {}, [
      ({ self }) => [
        { $merge: { into: self, let: { year: "2020" }, whenMatched: [{ $addFields: { salesYear: "$$year" } }] } }
      ],
      into("self", [{ ...cake, salesYear: "2020" }])
    ])
  )

  page(
    "$out",
    joins(books, { authors: [{ _id: "Virgil", books: ["Aeneid"] }] }, [
      ({ authors }) => [{ $group: { _id: "$author", books: { $push: "$title" } } }, { $out: authors }],
      into("authors", [
        { _id: "Dante", books: ["The Banquet", "Divine Comedy", "Eclogues"] },
        { _id: "Homer", books: ["The Odyssey", "Iliad"] }
      ])
    ])
  )
}
