import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { date, rejected, runs, stagePagesOf } from "./stagesPage.ts"

const at = (hour: number) => date(`2021-05-18T${String(hour).padStart(2, "0")}:00:00Z`)
const weather = [12, 11, 11, 12].map((temp, _id) => ({
  _id,
  metadata: { sensorId: 5578, type: "temperature" },
  timestamp: at(4 * _id),
  temp
}))

const bean = (_id: number, altitude: number, variety: string, score: number, more = {}) => ({
  _id,
  altitude,
  variety,
  score,
  ...more
})
const beans = [
  bean(1, 600, "Arabica Typica", 68.3),
  bean(2, 750, "Arabica Typica", 69.5),
  bean(3, 950, "Arabica Typica", 70.5),
  bean(4, 1250, "Gesha", 88.15),
  bean(5, 1700, "Gesha", 95.5, { price: 1029 })
]
const grown = (variety: string, ...altitudes: ReadonlyArray<number>) =>
  altitudes.map((altitude) => ({ variety, altitude }))
const densified = (bounds: unknown) => [
  { $densify: { field: "altitude", partitionByFields: ["variety"], range: { bounds, step: 200 } } }
]

const values = (...values: ReadonlyArray<number | null>) => values.map((value, index) => ({ _id: index, index, value }))

const priced = (_id: number, price?: number) => ({
  _id,
  time: date(`2021-03-08T${String(_id).padStart(2, "0")}:00:00Z`),
  ...price === undefined ? {} : { price }
})

const reviewed = (day: number, score?: number, more = {}) => ({
  date: date(`2021-03-${String(day).padStart(2, "0")}`),
  ...score === undefined ? {} : { score },
  ...more
})
const numbered = (documents: ReadonlyArray<Document>) => documents.map((document, _id) => ({ _id, ...document }))
const reviews = numbered([reviewed(8, 90), reviewed(9, 92), reviewed(10), reviewed(11), reviewed(12, 85), reviewed(13)])
const scored = [90, 92, 92, 92, 85, 85]
const carried = { sortBy: { date: 1 }, output: { score: { method: "locf" } } }

const joes = { restaurant: "Joe's Pizza" }
const sallys = { restaurant: "Sally's Deli" }
const byRestaurant = { sortBy: { date: 1 }, partitionBy: { restaurant: "$restaurant" } }

/** The manual's pages of stages that add what is missing. */
export const gapPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$densify",
    runs(
      weather,
      [
        [{ $densify: { field: "timestamp", range: { step: 1, unit: "hour", bounds: [at(0), at(8)] } } }],
        [...weather, ...[1, 2, 3, 5, 6, 7].map((hour) => ({ timestamp: at(hour) }))]
      ],
      [[{ $densify: { field: "timestamp", range: { step: 1, bounds: [at(0), at(8)] } } }], rejected, "laxDensify"],
      [
        [{ $densify: { field: "timestamp", range: { step: 1.5, unit: "hour", bounds: "full" } } }],
        rejected,
        "laxDensify"
      ],
      [[{ $densify: { field: "temp", range: { step: 1, unit: "hour", bounds: "full" } } }], rejected, "laxDensify"],
      [[{ $densify: { field: "$temp", range: { step: 1, bounds: "full" } } }], rejected, "laxDensify"],
      [[{ $densify: { field: "temp", range: { step: Infinity, bounds: "full" } } }], weather, "laxDensify"]
    ),
    runs(
      beans,
      [
        densified("full"),
        [
          ...beans,
          ...grown("Arabica Typica", 800, 1000, 1200, 1400, 1600),
          ...grown("Gesha", 600, 800, 1000, 1200, 1400, 1600)
        ],
        "fullRanges"
      ],
      [densified("partition"), [...beans, ...grown("Arabica Typica", 800), ...grown("Gesha", 1450, 1650)]],
      [densified([10, 10]), beans, "fullRanges"],
      [
        [{ $densify: { field: "altitude", partitionByFields: ["$variety"], range: { bounds: "full", step: 200 } } }],
        rejected,
        "laxDensify"
      ],
      [
        [{ $densify: { field: "altitude", partitionByFields: [1], range: { bounds: "full", step: 200 } } }],
        rejected,
        "laxDensify"
      ]
    )
  )

  page(
    "$fill",
    runs(values(0, null, null, null, 10), [
      [{ $fill: { sortBy: { index: 1 }, output: { value: { method: "linear" } } } }],
      values(0, 2.5, 5, 7.5, 10)
    ]),
    runs(
      [
        { _id: 0, date: date("2022-02-02"), bootsSold: 10, sandalsSold: 20, sneakersSold: 12 },
        { _id: 1, date: date("2022-02-03"), bootsSold: 7, sneakersSold: 18 },
        { _id: 2, date: date("2022-02-04"), sneakersSold: 5 }
      ],
      [[{
        $fill: { output: { bootsSold: { value: 0 }, sandalsSold: { value: 0 }, sneakersSold: { value: 0 } } }
      }], [
        { _id: 0, date: date("2022-02-02"), bootsSold: 10, sandalsSold: 20, sneakersSold: 12 },
        { _id: 1, date: date("2022-02-03"), bootsSold: 7, sneakersSold: 18, sandalsSold: 0 },
        { _id: 2, date: date("2022-02-04"), sneakersSold: 5, bootsSold: 0, sandalsSold: 0 }
      ]]
    ),
    runs(
      [priced(9, 500), priced(10), priced(11, 515), priced(12), priced(13), priced(14, 485)],
      [
        [{ $fill: { sortBy: { time: 1 }, output: { price: { method: "linear" } } } }],
        [priced(9, 500), priced(10, 507.5), priced(11, 515), priced(12, 505), priced(13, 495), priced(14, 485)]
      ],
      [[{ $fill: { output: { price: { method: "linear" } } } }], rejected],
      [
        [{ $fill: { sortBy: { time: 1 }, partitionByFields: ["$time"], output: { price: { method: "linear" } } } }],
        rejected,
        "laxDensify"
      ]
    ),
    runs(
      reviews,
      [[{ $fill: carried }], reviews.map((review, i) => ({ ...review, score: scored[i] }))],
      [
        [
          { $set: { valueExisted: { $ifNull: [{ $toBool: { $toString: "$score" } }, false] } } },
          { $fill: carried }
        ],
        reviews.map((review, i) => ({ ...review, valueExisted: "score" in review, score: scored[i] }))
      ]
    ),
    runs(
      numbered([
        reviewed(8, 90, joes),
        reviewed(8, 75, sallys),
        reviewed(9, 92, joes),
        reviewed(9, undefined, sallys),
        reviewed(10, undefined, joes),
        reviewed(10, 68, sallys),
        reviewed(11, 93, joes),
        reviewed(11, undefined, sallys)
      ]),
      [
        [{ $fill: { ...byRestaurant, output: { score: { method: "locf" } } } }],
        numbered([
          reviewed(8, 90, joes),
          reviewed(8, 75, sallys),
          reviewed(9, 92, joes),
          reviewed(9, 75, sallys),
          reviewed(10, 92, joes),
          reviewed(10, 68, sallys),
          reviewed(11, 93, joes),
          reviewed(11, 68, sallys)
        ])
      ]
    ),
    runs(
      numbered([reviewed(8, 90, { restaurant: "Steve's Pizza" }), reviewed(8, 75, sallys)]),
      [
        [{ $fill: { ...byRestaurant, output: { score: { method: "linear" } } } }],
        numbered([reviewed(8, 90, { restaurant: "Steve's Pizza" }), reviewed(8, 75, sallys)])
      ],
      [[{ $fill: { sortBy: { date: 1 }, output: { score: { method: "linear" } } } }], rejected, "laxWindows"]
    )
  )
}
