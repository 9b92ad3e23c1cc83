import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { joins, rejected, type Run, stagePagesOf } from "./stagesPage.ts"

const employee = (_id: number, name: string, reportsTo?: string) => ({
  _id,
  name,
  ...(reportsTo === undefined ? {} : { reportsTo })
})
const dev = employee(1, "Dev")
const eliot = employee(2, "Eliot", "Dev")
const ron = employee(3, "Ron", "Eliot")
const andrew = employee(4, "Andrew", "Eliot")
const asya = employee(5, "Asya", "Ron")
const dan = employee(6, "Dan", "Andrew")

const airport = (_id: number, airport: string, ...connects: ReadonlyArray<string>) => ({ _id, airport, connects })
const jfk = airport(0, "JFK", "BOS", "ORD")
const bos = airport(1, "BOS", "JFK", "PWM")
const ord = airport(2, "ORD", "JFK")
const pwm = airport(3, "PWM", "BOS", "LHR")
const lhr = airport(4, "LHR", "PWM")
const away = (numConnections: number, airport: Document) => ({ ...airport, numConnections })
const fromJfk = [away(0, jfk), away(1, bos), away(1, ord), away(2, pwm)]
const fromBos = [away(1, jfk), away(0, bos), away(2, ord), away(1, pwm), away(2, lhr)]

const person = (_id: number, name: string, friends: ReadonlyArray<string>, hobbies: ReadonlyArray<string>) => ({
  _id,
  name,
  friends,
  hobbies
})
const tanya = ["Shirley Soto", "Terry Hawkins", "Carole Hale"]
const people = [
  person(1, "Tanya Jordan", tanya, ["tennis", "unicycling", "golf"]),
  person(2, "Carole Hale", ["Joseph Dennis", "Tanya Jordan", "Terry Hawkins"], ["archery", "golf", "woodworking"]),
  person(3, "Terry Hawkins", ["Tanya Jordan", "Carole Hale", "Angelo Ward"], ["knitting", "frisbee"]),
  person(4, "Joseph Dennis", ["Angelo Ward", "Carole Hale"], ["tennis", "golf", "topiary"]),
  person(5, "Angelo Ward", ["Terry Hawkins", "Shirley Soto", "Joseph Dennis"], ["travel", "ceramics", "golf"]),
  person(6, "Shirley Soto", ["Angelo Ward", "Tanya Jordan", "Carole Hale"], ["frisbee", "set theory"])
]

// The order of what $graphLookup finds is not documented.
const inOrder = (field: string) => ({ $set: { [field]: { $sortArray: { input: `$${field}`, sortBy: { _id: 1 } } } } })

const suppliers = [
  { _id: 1, supplier: "Aardvark and Sons", state: "Texas" },
  { _id: 2, supplier: "Bears Run Amok.", state: "Colorado" },
  { _id: 3, supplier: "Squid Mark Inc. ", state: "Rhode Island" }
]
const regions = [
  { _id: 1, warehouse: "A", region: "West", state: "California" },
  { _id: 2, warehouse: "B", region: "Central", state: "Colorado" },
  { _id: 3, warehouse: "C", region: "East", state: "Florida" }
]

type Quantities = { readonly [item: string]: readonly [general: number | undefined, shopMart: number] }
const yearly: { readonly [year: string]: Quantities } = {
  2017: { Chocolates: [150, 50], Cookies: [100, 120], Pie: [10, 5] },
  2018: { Cheese: [30, 50], Chocolates: [125, 150], Cookies: [200, 100], Nuts: [undefined, 100], Pie: [30, 25] },
  2019: { Cheese: [50, 20], Chocolates: [125, 150], Cookies: [200, 100], Nuts: [80, 30], Pie: [50, 75] },
  2020: { Cheese: [100, 100], Chocolates: [200, 300], Cookies: [500, 400], Nuts: [100, 200], Pie: [100, 100] }
}
/** A year's sales by store and item, with identifiers that the page leaves to the store. */
const salesOf = (year: number) =>
  ["General Store", "ShopMart"].flatMap((store, i) =>
    Object.entries(yearly[year] ?? {}).flatMap(([item, quantities]) =>
      quantities[i] === undefined ? [] : [{ _id: `${store} ${item}`, store, item, quantity: quantities[i] }]
    )
  )

/** The manual's pages of stages that follow and unite collections. */
export const graphPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$graphLookup",
    joins([dev, eliot, ron, andrew, asya, dan], {}, [({ self }) => [
      {
        $graphLookup: {
          from: self,
          startWith: "$reportsTo",
          connectFromField: "reportsTo",
          connectToField: "name",
          as: "reportingHierarchy"
        }
      },
      inOrder("reportingHierarchy")
    ], [
      { ...dev, reportingHierarchy: [] },
      { ...eliot, reportingHierarchy: [dev] },
      { ...ron, reportingHierarchy: [dev, eliot] },
      { ...andrew, reportingHierarchy: [dev, eliot] },
      { ...asya, reportingHierarchy: [dev, eliot, ron] },
      { ...dan, reportingHierarchy: [dev, eliot, andrew] }
    ]]),
    joins(
      [
        { _id: 1, name: "Dev", nearestAirport: "JFK" },
        { _id: 2, name: "Eliot", nearestAirport: "JFK" },
        { _id: 3, name: "Jeff", nearestAirport: "BOS" }
      ],
      { airports: [jfk, bos, ord, pwm, lhr] },
      [({ airports }) => [
        {
          $graphLookup: {
            from: airports,
            startWith: "$nearestAirport",
            connectFromField: "connects",
            connectToField: "airport",
            maxDepth: 2,
            depthField: "numConnections",
            as: "destinations"
          }
        },
        inOrder("destinations")
      ], [
        { _id: 1, name: "Dev", nearestAirport: "JFK", destinations: fromJfk },
        { _id: 2, name: "Eliot", nearestAirport: "JFK", destinations: fromJfk },
        { _id: 3, name: "Jeff", nearestAirport: "BOS", destinations: fromBos }
      ]],
      ...[-1, 1.5].map((maxDepth): Run => [
        ({ airports }) => [
          {
            $graphLookup: {
              from: airports,
              startWith: "$nearestAirport",
              connectFromField: "connects",
              connectToField: "airport",
              maxDepth,
              as: "destinations"
            }
          }
        ],
        rejected,
        "laxCounts"
      ]),
      [
        ({ airports }) => [
          {
            $graphLookup: {
              from: airports,
              startWith: "$nearestAirport",
              connectFromField: "connects",
              connectToField: "airport",
              depthField: "numConnections",
              as: "destinations"
            }
          },
          { $unwind: "$destinations" },
          { $group: { _id: { $type: "$destinations.numConnections" } } }
        ],
        [{ _id: "long" }],
        "placesAsInts"
      ]
    ),
    joins(people, {}, [({ self }) => [
      { $match: { name: "Tanya Jordan" } },
      {
        $graphLookup: {
          from: self,
          startWith: "$friends",
          connectFromField: "friends",
          connectToField: "name",
          as: "golfers",
          restrictSearchWithMatch: { hobbies: "golf" }
        }
      },
      inOrder("golfers"),
      { $project: { name: 1, friends: 1, "connections who play golf": "$golfers.name" } }
    ], [{
      _id: 1,
      name: "Tanya Jordan",
      friends: tanya,
      "connections who play golf": ["Tanya Jordan", "Carole Hale", "Joseph Dennis", "Angelo Ward"]
    }], "pathsThroughLists"])
  )

  const states = [{ $project: { state: 1, _id: 0 } }]
  page(
    "$unionWith",
    joins(
      suppliers,
      { warehouses: regions },
      [({ warehouses }) => [...states, { $unionWith: { coll: warehouses, pipeline: states } }], [
        { state: "Texas" },
        { state: "Colorado" },
        { state: "Rhode Island" },
        { state: "California" },
        { state: "Colorado" },
        { state: "Florida" }
      ]],
      [
        ({ warehouses }) => [
          ...states,
          { $unionWith: { coll: warehouses, pipeline: states } },
          { $group: { _id: "$state" } }
        ],
        [{ _id: "California" }, { _id: "Texas" }, { _id: "Florida" }, { _id: "Colorado" }, { _id: "Rhode Island" }]
      ]
    ),
    joins(
      salesOf(2017),
      { sales18: salesOf(2018), sales19: salesOf(2019), sales20: salesOf(2020) },
      [
        ({ sales18, sales19, sales20 }) => [
          { $set: { _id: "2017" } },
          { $unionWith: { coll: sales18, pipeline: [{ $set: { _id: "2018" } }] } },
          { $unionWith: { coll: sales19, pipeline: [{ $set: { _id: "2019" } }] } },
          { $unionWith: { coll: sales20, pipeline: [{ $set: { _id: "2020" } }] } },
          { $sort: { _id: 1, store: 1, item: 1 } }
        ],
        [2017, 2018, 2019, 2020].flatMap((year) => salesOf(year).map((sale) => ({ ...sale, _id: String(year) })))
      ],
      [({ sales18, sales19, sales20 }) => [
        { $unionWith: sales18 },
        { $unionWith: sales19 },
        { $unionWith: sales20 },
        { $group: { _id: "$item", total: { $sum: "$quantity" } } },
        { $sort: { total: -1 } }
      ], [
        { _id: "Cookies", total: 1720 },
        { _id: "Chocolates", total: 1250 },
        { _id: "Nuts", total: 510 },
        { _id: "Pie", total: 395 },
        { _id: "Cheese", total: 350 }
      ]]
    ),
    joins(
      [{ _id: 1, flavor: "chocolate" }, { _id: 2, flavor: "strawberry" }, { _id: 3, flavor: "cherry" }],
      {},
      [
        [{
          $unionWith: {
            pipeline: [{ $documents: [{ _id: 4, flavor: "orange" }, { _id: 5, flavor: "vanilla", price: 20 }] }]
          }
        }],
        [
          { _id: 1, flavor: "chocolate" },
          { _id: 2, flavor: "strawberry" },
          { _id: 3, flavor: "cherry" },
          { _id: 4, flavor: "orange" },
          { _id: 5, flavor: "vanilla", price: 20 }
        ],
        "documentsInStages"
      ],
      [({ self }) => [{ $unionWith: { coll: self, pipeline: [{ $documents: [] }] } }], rejected, "documentsInStages"]
    )
  )
}
