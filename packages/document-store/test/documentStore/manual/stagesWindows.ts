import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { date, runs, stagePagesOf } from "./stagesPage.ts"

const cake = (
  _id: number,
  type: string,
  orderDate: string,
  state: string,
  price: number,
  quantity?: number | null
) => ({
  _id,
  type,
  orderDate: date(orderDate),
  state,
  price,
  ...(quantity === undefined ? {} : { quantity })
})

export const cakes = [
  cake(0, "chocolate", "2020-05-18T14:10:30Z", "CA", 13, 120),
  cake(1, "chocolate", "2021-03-20T11:30:05Z", "WA", 14, 140),
  cake(2, "vanilla", "2021-01-11T06:31:15Z", "CA", 12, 145),
  cake(3, "vanilla", "2020-02-08T13:13:23Z", "WA", 13, 104),
  cake(4, "strawberry", "2019-05-18T16:09:01Z", "CA", 41, 162),
  cake(5, "strawberry", "2019-01-08T06:12:03Z", "WA", 43, 134)
]

const duplicates = [
  ...cakes,
  cake(6, "strawberry", "2020-01-08T06:12:03Z", "WA", 41, 134),
  cake(7, "strawberry", "2020-01-01T06:12:03Z", "WA", 34, 134),
  cake(8, "strawberry", "2020-01-02T06:12:03Z", "WA", 40, 134),
  cake(9, "strawberry", "2020-05-11T16:09:01Z", "CA", 39, 162),
  cake(10, "strawberry", "2020-05-11T16:09:01Z", "CA", 39, null),
  cake(11, "strawberry", "2020-05-11T16:09:01Z", "CA", 39)
]

/** A window's field of each document, by identifiers. */
export const valued = (values: { readonly [id: number]: unknown }): ReadonlyArray<Document> =>
  Object.entries(values).map(([id, value]) => ({ _id: Number(id), value }))

export const window = (partitionBy: unknown, sortBy: Document, value: Document) => [
  { $setWindowFields: { partitionBy, sortBy, output: { value } } },
  { $project: { value: 1 } }
]

const year = { $year: "$orderDate" }
export const byDate = { orderDate: 1 }
export const toCurrent = { window: { documents: ["unbounded", "current"] } }
const orders = (...ids: ReadonlyArray<number>) => ids.map((id) => cakes[id]?.orderDate)

const at = (time: string) => date(`2020-05-18T${time}Z`)
const times = ["14:10:30", "14:11:00", "14:11:30", "14:12:00"].map(at)
const truck = (truckID: string, miles: ReadonlyArray<number>) =>
  miles.map((miles, index) => ({ _id: `${truckID}${index}`, truckID, timeStamp: times[index], miles }))
const meter = (meterID: string, kilowatts: ReadonlyArray<number>) =>
  kilowatts.map((kilowatts, index) => ({ _id: `${meterID}${index}`, meterID, timeStamp: times[index], kilowatts }))
const stock = (stock: string, prices: ReadonlyArray<number>) =>
  prices.map((price, index) => ({
    _id: `${stock}${index}`,
    stock,
    date: date(`2020-05-${18 + index}T20:00:00Z`),
    price
  }))

const priced = (_id: number, price?: number) => ({
  _id,
  time: date(`2021-03-08T${String(_id).padStart(2, "0")}:00:00Z`),
  ...(price === undefined ? {} : { price })
})

/** The manual's pages of windows. */
export const windowPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$setWindowFields",
    runs(
      cakes,
      [
        window("$state", byDate, { $sum: "$quantity", ...toCurrent }),
        valued({ 4: 162, 0: 282, 2: 427, 5: 134, 3: 238, 1: 378 })
      ],
      [
        window(year, byDate, { $sum: "$quantity", ...toCurrent }),
        valued({ 5: 134, 4: 296, 3: 104, 0: 224, 2: 145, 1: 285 })
      ],
      [
        window(year, byDate, { $avg: "$quantity", window: { documents: [-1, 0] } }),
        valued({ 5: 134, 4: 148, 3: 104, 0: 112, 2: 145, 1: 142.5 })
      ],
      [
        window(year, byDate, { $max: "$quantity", window: { documents: ["unbounded", "unbounded"] } }),
        valued({ 5: 162, 4: 162, 3: 120, 0: 120, 2: 145, 1: 145 })
      ],
      [
        window("$state", { price: 1 }, { $sum: "$quantity", window: { range: [-10, 10] } }),
        valued({ 2: 265, 0: 265, 4: 162, 3: 244, 1: 244, 5: 134 })
      ],
      [
        window("$state", byDate, { $push: "$orderDate", window: { range: ["unbounded", 10], unit: "month" } }),
        valued({
          4: orders(4),
          0: orders(4, 0, 2),
          2: orders(4, 0, 2),
          5: orders(5),
          3: orders(5, 3),
          1: orders(5, 3, 1)
        }),
        "lackingWindows"
      ],
      [
        window("$state", byDate, { $push: "$orderDate", window: { range: ["unbounded", -10], unit: "month" } }),
        valued({ 4: [], 0: orders(4), 2: orders(4), 5: [], 3: orders(5), 1: orders(5, 3) }),
        "lackingWindows"
      ]
    )
  )

  // The example of $denseRank is of a time when null and missing were of different ranks, which its text corrects.
  page(
    "$rank, $denseRank and $documentNumber",
    runs(
      cakes,
      [window("$state", { quantity: -1 }, { $rank: {} }), valued({ 4: 1, 2: 2, 0: 3, 1: 1, 5: 2, 3: 3 })],
      [window("$state", byDate, { $rank: {} }), valued({ 4: 1, 0: 2, 2: 3, 5: 1, 3: 2, 1: 3 })],
      [window("$state", { quantity: -1 }, { $denseRank: {} }), valued({ 4: 1, 2: 2, 0: 3, 1: 1, 5: 2, 3: 3 })],
      [window("$state", byDate, { $denseRank: {} }), valued({ 4: 1, 0: 2, 2: 3, 5: 1, 3: 2, 1: 3 })],
      [window("$state", { quantity: -1 }, { $documentNumber: {} }), valued({ 4: 1, 2: 2, 0: 3, 1: 1, 5: 2, 3: 3 })]
    ),
    runs(
      duplicates,
      [
        window("$state", { quantity: -1 }, { $rank: {} }),
        valued({ 4: 1, 9: 1, 2: 3, 0: 4, 10: 5, 11: 5, 1: 1, 5: 2, 6: 2, 7: 2, 8: 2, 3: 6 })
      ],
      [
        window("$state", { quantity: -1 }, { $denseRank: {} }),
        valued({ 4: 1, 9: 1, 2: 2, 0: 3, 10: 4, 11: 4, 1: 1, 5: 2, 6: 2, 7: 2, 8: 2, 3: 3 })
      ],
      [
        window("$state", { quantity: -1 }, { $documentNumber: {} }),
        valued({ 4: 1, 9: 2, 2: 3, 0: 4, 10: 5, 11: 6, 1: 1, 5: 2, 6: 3, 7: 4, 8: 5, 3: 6 })
      ]
    )
  )

  page(
    "$shift",
    runs(
      cakes,
      [
        window("$state", { quantity: -1 }, { $shift: { output: "$quantity", by: 1, default: "Not available" } }),
        valued({ 4: 145, 2: 120, 0: "Not available", 1: 134, 5: 104, 3: "Not available" })
      ],
      [
        window("$state", { quantity: -1 }, { $shift: { output: "$quantity", by: -1, default: "Not available" } }),
        valued({ 4: "Not available", 2: 162, 0: 145, 1: "Not available", 5: 140, 3: 134 })
      ]
    )
  )

  page(
    "$covariancePop and $covarianceSamp",
    runs(
      cakes,
      [
        window("$state", byDate, { $covariancePop: [year, "$quantity"], ...toCurrent }),
        valued({ 4: 0, 0: -10.5, 2: -5.666666666666671, 5: 0, 3: -7.5, 1: 2 }),
        "lackingWindows"
      ],
      [
        window("$state", byDate, { $covarianceSamp: [year, "$quantity"], ...toCurrent }),
        valued({ 4: null, 0: -21, 2: -8.500000000000007, 5: null, 3: -15, 1: 3 }),
        "lackingWindows"
      ]
    )
  )

  page(
    "$derivative",
    runs(
      [...truck("1", [1295.1, 1295.63, 1296.25, 1296.76]), ...truck("2", [10234.1, 10234.33, 10234.73, 10235.13])],
      [[
        ...window("$truckID", { timeStamp: 1 }, {
          $derivative: { input: "$miles", unit: "hour" },
          window: { range: [-30, 0], unit: "second" }
        }),
        { $match: { value: { $gt: 50 } } }
      ], [
        { _id: "11", value: 63.60000000002401 },
        { _id: "12", value: 74.3999999999869 },
        { _id: "13", value: 61.199999999998916 }
      ], "lackingWindows"]
    )
  )

  page(
    "$integral",
    runs(
      [...meter("1", [2.95, 2.7, 2.6, 2.98]), ...meter("2", [2.5, 2.25, 2.75, 2.82])],
      [
        window("$meterID", { timeStamp: 1 }, {
          $integral: { input: "$kilowatts", unit: "hour" },
          window: { range: ["unbounded", "current"], unit: "hour" }
        }),
        [
          { _id: "10", value: 0 },
          { _id: "11", value: 0.023541666666666666 },
          { _id: "12", value: 0.045625 },
          { _id: "13", value: 0.068875 },
          { _id: "20", value: 0 },
          { _id: "21", value: 0.019791666666666666 },
          { _id: "22", value: 0.040625 },
          { _id: "23", value: 0.06383333333333334 }
        ],
        "lackingWindows"
      ]
    )
  )

  page(
    "$expMovingAvg",
    runs(
      [...stock("MDB", [13, 15.4, 12, 11.7]), ...stock("MSFT", [82, 94, 112, 97.3])],
      [window("$stock", { date: 1 }, { $expMovingAvg: { input: "$price", N: 2 } }), [
        { _id: "MDB0", value: 13 },
        { _id: "MDB1", value: 14.6 },
        { _id: "MDB2", value: 12.866666666666667 },
        { _id: "MDB3", value: 12.088888888888889 },
        { _id: "MSFT0", value: 82 },
        { _id: "MSFT1", value: 90 },
        { _id: "MSFT2", value: 104.66666666666667 },
        { _id: "MSFT3", value: 99.75555555555556 }
      ], "lackingWindows"],
      [window("$stock", { date: 1 }, { $expMovingAvg: { input: "$price", alpha: 0.75 } }), [
        { _id: "MDB0", value: 13 },
        { _id: "MDB1", value: 14.8 },
        { _id: "MDB2", value: 12.7 },
        { _id: "MDB3", value: 11.95 },
        { _id: "MSFT0", value: 82 },
        { _id: "MSFT1", value: 91 },
        { _id: "MSFT2", value: 106.75 },
        { _id: "MSFT3", value: 99.6625 }
      ], "lackingWindows"]
    )
  )

  const filled = [500, 507.5, 515, 505, 495, 485]

  page(
    "$linearFill and $locf",
    runs(
      [0, null, null, null, 10].map((value, _id) => ({ _id, index: _id, value })),
      [window(null, { index: 1 }, { $linearFill: "$value" }), valued({ 0: 0, 1: 2.5, 2: 5, 3: 7.5, 4: 10 })]
    ),
    runs(
      [priced(9, 500), priced(10), priced(11, 515), priced(12), priced(13), priced(14, 485)],
      [
        window(null, { time: 1 }, { $linearFill: "$price" }),
        valued({ 9: 500, 10: 507.5, 11: 515, 12: 505, 13: 495, 14: 485 }),
        "lackingWindows"
      ],
      [window(null, { time: 1 }, { $locf: "$price" }), valued({ 9: 500, 10: 500, 11: 515, 12: 515, 13: 515, 14: 485 })],
      [
        [
          {
            $setWindowFields: {
              sortBy: { time: 1 },
              output: { linearFillPrice: { $linearFill: "$price" }, locfPrice: { $locf: "$price" } }
            }
          },
          { $project: { price: 0, time: 0 } }
        ],
        [500, 500, 515, 515, 515, 485].map((locfPrice, index) => ({
          _id: 9 + index,
          linearFillPrice: filled[index],
          locfPrice
        })),
        "lackingWindows"
      ]
    )
  )

  page(
    "$minMaxScaler",
    runs(
      [{ _id: 1, a: 1 }, { _id: 2, a: 5 }, { _id: 3, a: 13 }, { _id: 4, a: 21 }],
      [window(null, { a: 1 }, { $minMaxScaler: "$a" }), valued({ 1: 0, 2: 0.2, 3: 0.6, 4: 1 }), "lackingWindows"],
      [
        window(null, { a: 1 }, { $minMaxScaler: { input: "$a", min: 0, max: 100 } }),
        valued({ 1: 0, 2: 20, 3: 60, 4: 100 }),
        "lackingWindows"
      ]
    )
  )
}
