import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { constants, date, each, pagesOf, runs } from "./expressionsPage.ts"

const billing: ReadonlyArray<Document> = [
  { _id: 1, location: "America/New_York", login: date("2021-03-13T15:00:00Z"), later: date("2021-03-14T15:00:00Z") },
  { _id: 2, location: "America/Mexico_City", login: date("2021-03-13T10:00:00Z"), later: date("2021-03-14T15:00:00Z") }
]

const shown = (value: unknown, timezone?: string) => ({
  $dateToString: { format: "%Y-%m-%d %H:%M", date: value, ...(timezone === undefined ? {} : { timezone }) }
})

/** The manual's pages of date operators: sums, differences and bins. */
export const dateSumPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  const added = (startDate: string, unit: string, amount: number) => ({
    $dateAdd: { startDate, unit, amount, timezone: "$location" }
  })
  const taken = (startDate: string, unit: string, amount: number) => ({
    $dateSubtract: { startDate, unit, amount, timezone: "$location" }
  })

  page(
    "$dateAdd",
    constants([
      [
        { $dateAdd: { startDate: date("2020-10-31T12:10:05Z"), unit: "month", amount: 1 } },
        date("2020-11-30T12:10:05Z")
      ]
    ]),
    runs([
      { _id: 456, purchaseDate: date("2020-12-31"), deliveryDate: date("2021-01-10") },
      { _id: 457, purchaseDate: date("2021-02-28"), deliveryDate: date("2021-03-01") },
      { _id: 458, purchaseDate: date("2021-02-26"), deliveryDate: date("2021-03-02") }
    ], [
      [[{ $project: { expected: { $dateAdd: { startDate: "$purchaseDate", unit: "day", amount: 3 } } } }], [
        { _id: 456, expected: date("2021-01-03") },
        { _id: 457, expected: date("2021-03-03") },
        { _id: 458, expected: date("2021-03-01") }
      ]],
      [
        [
          {
            $match: {
              $expr: { $gt: ["$deliveryDate", { $dateAdd: { startDate: "$purchaseDate", unit: "day", amount: 5 } }] }
            }
          },
          { $project: { delivery: { $dateToString: { format: "%Y-%m-%d", date: "$deliveryDate" } } } }
        ],
        [{ _id: 456, delivery: "2021-01-10" }]
      ]
    ]),
    each(billing, [
      [shown("$login"), ["2021-03-13 15:00", "2021-03-13 10:00"]],
      [shown("$login", "$location"), ["2021-03-13 10:00", "2021-03-13 04:00"], "timeZoneExpression"],
      [shown(added("$login", "day", 1)), ["2021-03-14 14:00", "2021-03-14 10:00"], "timeZoneExpression"],
      [shown(added("$login", "day", 1), "$location"), ["2021-03-14 10:00", "2021-03-14 04:00"], "timeZoneExpression"],
      [shown(added("$login", "hour", 24)), ["2021-03-14 15:00", "2021-03-14 10:00"], "timeZoneExpression"],
      [shown(added("$login", "hour", 24), "$location"), ["2021-03-14 11:00", "2021-03-14 04:00"], "timeZoneExpression"]
    ])
  )

  page(
    "$dateSubtract",
    constants([
      [
        { $dateSubtract: { startDate: date("2021-03-31T12:10:05Z"), unit: "month", amount: 1 } },
        date("2021-02-28T12:10:05Z")
      ]
    ]),
    runs(
      ["2020-12-28T09:04Z", "2021-01-28T13:05Z", "2021-01-31T11:00Z", "2021-02-17T16:05Z"].map((logout, _id) => ({
        _id,
        logout: date(logout)
      })),
      [[
        [
          { $match: { $expr: { $and: [{ $eq: [{ $year: "$logout" }, 2021] }, { $eq: [{ $month: "$logout" }, 1] }] } } },
          { $project: { logout: { $dateSubtract: { startDate: "$logout", unit: "hour", amount: 3 } } } }
        ],
        [{ _id: 1, logout: date("2021-01-28T10:05:00Z") }, { _id: 2, logout: date("2021-01-31T08:00:00Z") }]
      ]]
    ),
    constants([
      [{ $gt: ["$$NOW", { $dateSubtract: { startDate: "$$NOW", unit: "week", amount: 1 } }] }, true]
    ]),
    // The page has 04:00 for the second document of this table's second row: Mexico City is 6 hours west.
    each(billing, [
      [shown("$later"), ["2021-03-14 15:00", "2021-03-14 15:00"]],
      [shown("$later", "$location"), ["2021-03-14 11:00", "2021-03-14 09:00"], "timeZoneExpression"],
      [shown(taken("$later", "day", 1)), ["2021-03-13 16:00", "2021-03-13 15:00"], "timeZoneExpression"],
      [shown(taken("$later", "day", 1), "$location"), ["2021-03-13 11:00", "2021-03-13 09:00"], "timeZoneExpression"],
      [shown(taken("$later", "hour", 24)), ["2021-03-13 15:00", "2021-03-13 15:00"], "timeZoneExpression"],
      [shown(taken("$later", "hour", 24), "$location"), ["2021-03-13 10:00", "2021-03-13 09:00"], "timeZoneExpression"]
    ])
  )

  const between = (unit: string, startOfWeek?: string) => ({
    $dateDiff: { startDate: "$start", endDate: "$end", unit, ...(startOfWeek === undefined ? {} : { startOfWeek }) }
  })

  page(
    "$dateDiff",
    runs([
      { _id: 1, start: date("2020-12-31"), end: date("2021-01-05") },
      { _id: 2, start: date("2021-02-28"), end: date("2021-03-07") },
      { _id: 3, start: date("2021-02-16"), end: date("2021-02-18") }
    ], [[
      [
        { $group: { _id: null, averageTime: { $avg: between("day") } } },
        { $project: { _id: 0, numDays: { $trunc: ["$averageTime", 1] } } }
      ],
      [{ numDays: 4.6 }]
    ]]),
    each([
      { _id: 1, start: date("2010-01-01"), end: date("2011-01-01") },
      { _id: 2, start: date("2010-01-01"), end: date("2011-07-01") },
      { _id: 3, start: date("2010-03-01"), end: date("2010-04-30") }
    ], [
      [between("year"), [1, 1, 0]],
      [between("month"), [12, 18, 1]],
      [between("day"), [365, 546, 60]]
    ]),
    each([
      { _id: 1, start: date("2021-01-01"), end: date("2021-01-31") },
      { _id: 2, start: date("2021-02-01"), end: date("2021-02-28") },
      { _id: 3, start: date("2021-03-01"), end: date("2021-03-31") }
    ], [
      [between("week"), [5, 4, 4]],
      [between("week", "Monday"), [4, 3, 4]],
      [between("week", "fri"), [4, 4, 4]]
    ])
  )

  const cakes = [
    { _id: 0, orderDate: date("2020-05-18T14:10:30Z"), quantity: 120 },
    { _id: 1, orderDate: date("2021-03-20T11:30:05Z"), quantity: 140 },
    { _id: 2, orderDate: date("2021-01-11T06:31:15Z"), quantity: 145 },
    { _id: 3, orderDate: date("2020-02-08T13:13:23Z"), quantity: 104 },
    { _id: 4, orderDate: date("2019-05-18T16:09:01Z"), quantity: 162 },
    { _id: 5, orderDate: date("2019-01-08T06:12:03Z"), quantity: 134 }
  ]
  const cut = { date: "$orderDate", unit: "week", binSize: 2, timezone: "America/Los_Angeles", startOfWeek: "Monday" }
  const march = date("2021-03-20T11:30:05Z")

  page(
    "$dateTrunc",
    constants([
      [{ $dateTrunc: { date: march, unit: "hour" } }, date("2021-03-20T11:00:00Z")],
      [{ $dateTrunc: { date: march, unit: "hour", binSize: 2 } }, date("2021-03-20T10:00:00Z")],
      [{ $dateTrunc: { date: march, unit: "year", binSize: 10 } }, date("2020-01-01T00:00:00Z")]
    ]),
    each(cakes, [[{ $dateTrunc: cut }, [
      date("2020-05-11T07:00:00Z"),
      date("2021-03-15T07:00:00Z"),
      date("2021-01-04T08:00:00Z"),
      date("2020-02-03T08:00:00Z"),
      date("2019-05-13T07:00:00Z"),
      date("2019-01-07T08:00:00Z")
    ]]]),
    runs(cakes, [[
      [{
        $group: {
          _id: { truncated: { $dateTrunc: { date: "$orderDate", unit: "month", binSize: 6 } } },
          sumQuantity: { $sum: "$quantity" }
        }
      }],
      [
        { _id: { truncated: date("2020-01-01") }, sumQuantity: 224 },
        { _id: { truncated: date("2021-01-01") }, sumQuantity: 285 },
        { _id: { truncated: date("2019-01-01") }, sumQuantity: 296 }
      ]
    ]])
  )
}
