import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { date, joins, rejected, stagePagesOf } from "./stagesPage.ts"

const almonds = { _id: 1, item: "almonds", price: 12, quantity: 2 }
const pecans = { _id: 2, item: "pecans", price: 20, quantity: 1 }
const inventory = [
  { _id: 1, sku: "almonds", description: "product 1", instock: 120 },
  { _id: 2, sku: "bread", description: "product 2", instock: 80 },
  { _id: 3, sku: "cashews", description: "product 3", instock: 60 },
  { _id: 4, sku: "pecans", description: "product 4", instock: 70 },
  { _id: 5, sku: null, description: "Incomplete" },
  { _id: 6 }
]

const reading = {
  _id: 1,
  title: "Reading is ...",
  enrollmentlist: ["giraffe2", "pandabear", "artie"],
  days: ["M", "W", "F"]
}
const writing = { _id: 2, title: "But Writing ...", enrollmentlist: ["giraffe1", "artie"], days: ["T", "F"] }
const members = ([
  ["artie", "2016-05-01", "A"],
  ["giraffe", "2017-05-01", "D"],
  ["giraffe1", "2017-10-01", "A"],
  ["panda", "2018-10-11", "A"],
  ["pandabear", "2018-12-01", "A"],
  ["giraffe2", "2018-12-01", "D"]
] as const).map(([name, foreign, status], i) => ({ _id: i + 1, name, foreign: date(foreign), status }))

const ordered = [
  { _id: 1, item: "almonds", price: 12, ordered: 2 },
  { _id: 2, item: "pecans", price: 20, ordered: 1 },
  { _id: 3, item: "cookies", price: 10, ordered: 60 }
]
const warehouses = [
  { _id: 1, stock_item: "almonds", warehouse: "A", instock: 120 },
  { _id: 2, stock_item: "pecans", warehouse: "A", instock: 80 },
  { _id: 3, stock_item: "almonds", warehouse: "B", instock: 60 },
  { _id: 4, stock_item: "cookies", warehouse: "B", instock: 40 },
  { _id: 5, stock_item: "cookies", warehouse: "A", instock: 80 }
]

const absences = [
  { _id: 1, student: "Ann Aardvark", sickdays: [date("2018-05-01"), date("2018-08-23")] },
  { _id: 2, student: "Zoe Zebra", sickdays: [date("2018-02-01"), date("2018-05-23")] }
]
const holidays2018 = [
  { name: "New Years", date: date("2018-01-01") },
  { name: "Pi Day", date: date("2018-03-14") },
  { name: "Ice Cream Day", date: date("2018-07-15") }
]
const holidays = [
  ...holidays2018.map((holiday, i) => ({ _id: i + 1, year: 2018, ...holiday })),
  { _id: 4, year: 2017, name: "New Years", date: date("2017-01-01") },
  { _id: 5, year: 2017, name: "Ice Cream Day", date: date("2017-07-16") }
]

const steakHouse = { _id: 1, name: "American Steak House", food: ["filet", "sirloin"], beverages: ["beer", "wine"] }
const pizza = {
  _id: 2,
  name: "Honest John Pizza",
  food: ["cheese pizza", "pepperoni pizza"],
  beverages: ["soda"]
}
const filet = { _id: 1, item: "filet", restaurant_name: "American Steak House" }
const withLemonade = { _id: 2, item: "cheese pizza", restaurant_name: "Honest John Pizza", drink: "lemonade" }
const withSoda = { _id: 3, item: "cheese pizza", restaurant_name: "Honest John Pizza", drink: "soda" }
const restaurantMatches = [
  { ...filet, matches: [] },
  { ...withLemonade, matches: [] },
  { ...withSoda, matches: [pizza] }
]

/** The manual's pages of stages that join documents. */
export const joinPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$lookup",
    joins([almonds, pecans, { _id: 3 }], { inventory }, [({ inventory }) => [
      { $lookup: { from: inventory, localField: "item", foreignField: "sku", as: "inventory_docs" } }
    ], [
      { ...almonds, inventory_docs: [inventory[0]] },
      { ...pecans, inventory_docs: [inventory[3]] },
      { _id: 3, inventory_docs: [inventory[4], inventory[5]] }
    ]]),
    joins([reading, writing], { members }, [({ members }) => [
      { $lookup: { from: members, localField: "enrollmentlist", foreignField: "name", as: "enrollee_info" } }
    ], [
      { ...reading, enrollee_info: [members[0], members[4], members[5]] },
      { ...writing, enrollee_info: [members[0], members[2]] }
    ], "joinOrder"]),
    joins([almonds, pecans], {
      items: [
        { _id: 1, item: "almonds", description: "almond clusters", instock: 120 },
        { _id: 2, item: "bread", description: "raisin and nut bread", instock: 80 },
        { _id: 3, item: "pecans", description: "candied pecans", instock: 60 }
      ]
    }, [({ items }) => [
      { $lookup: { from: items, localField: "item", foreignField: "item", as: "fromItems" } },
      { $replaceRoot: { newRoot: { $mergeObjects: [{ $arrayElemAt: ["$fromItems", 0] }, "$$ROOT"] } } },
      { $project: { fromItems: 0 } }
    ], [
      { ...almonds, description: "almond clusters", instock: 120 },
      { ...pecans, description: "candied pecans", instock: 60 }
    ]]),
    // The page has the condition in a list, which is true whatever is in it.
    joins(ordered, { warehouses }, [({ warehouses }) => [{
      $lookup: {
        from: warehouses,
        localField: "item",
        foreignField: "stock_item",
        let: { order_qty: "$ordered" },
        pipeline: [
          { $match: { $expr: { $gte: ["$instock", "$$order_qty"] } } },
          { $project: { stock_item: 0, _id: 0 } }
        ],
        as: "stockdata"
      }
    }], [
      { ...ordered[0], stockdata: [{ warehouse: "A", instock: 120 }, { warehouse: "B", instock: 60 }] },
      { ...ordered[1], stockdata: [{ warehouse: "A", instock: 80 }] },
      { ...ordered[2], stockdata: [{ warehouse: "A", instock: 80 }] }
    ]]),
    joins(absences, { holidays }, [({ holidays }) => [{
      $lookup: {
        from: holidays,
        pipeline: [
          { $match: { year: 2018 } },
          { $project: { _id: 0, date: { name: "$name", date: "$date" } } },
          { $replaceRoot: { newRoot: "$date" } }
        ],
        as: "holidays"
      }
    }], absences.map((absence) => ({ ...absence, holidays: holidays2018 }))]),
    joins(
      [filet, withLemonade, withSoda],
      { restaurants: [steakHouse, pizza] },
      [({ restaurants }) => [{
        $lookup: {
          from: restaurants,
          localField: "restaurant_name",
          foreignField: "name",
          let: { orders_drink: "$drink" },
          pipeline: [{ $match: { $expr: { $in: ["$$orders_drink", "$beverages"] } } }],
          as: "matches"
        }
      }], restaurantMatches],
      [({ restaurants }) => [{
        $lookup: {
          from: restaurants,
          let: { orders_restaurant_name: "$restaurant_name", orders_drink: "$drink" },
          pipeline: [{
            $match: {
              $expr: {
                $and: [{ $eq: ["$$orders_restaurant_name", "$name"] }, { $in: ["$$orders_drink", "$beverages"] }]
              }
            }
          }],
          as: "matches"
        }
      }], restaurantMatches],
      [
        ({ self }) => [{ $lookup: { from: self, pipeline: [{ $documents: [{}] }], as: "test" } }],
        rejected,
        "documentsInStages"
      ]
    )
  )

  page(
    "$documents",
    joins([], {}, [[{
      $unionWith: {
        pipeline: [
          { $documents: [{ x: 10 }, { x: 2 }, { x: 5 }] },
          { $bucketAuto: { groupBy: "$x", buckets: 4 } }
        ]
      }
    }], [
      { _id: { min: 2, max: 5 }, count: 1 },
      { _id: { min: 5, max: 10 }, count: 1 },
      { _id: { min: 10, max: 10 }, count: 1 }
    ], "documentsInStages"]),
    joins([{ _id: 1, zip: 94301, name: "Palo Alto" }, { _id: 2, zip: 10019, name: "New York" }], {}, [[
      { $match: {} },
      {
        $lookup: {
          localField: "zip",
          foreignField: "zip_id",
          as: "city_state",
          pipeline: [{
            $documents: [{ zip_id: 94301, name: "Palo Alto, CA" }, { zip_id: 10019, name: "New York, NY" }]
          }]
        }
      }
    ], [
      { _id: 1, zip: 94301, name: "Palo Alto", city_state: [{ zip_id: 94301, name: "Palo Alto, CA" }] },
      { _id: 2, zip: 10019, name: "New York", city_state: [{ zip_id: 10019, name: "New York, NY" }] }
    ], "documentsInStages"])
  )
}
