import { assert } from "@effect/vitest"
import { Double, Int32, Long, MaxKey, MinKey } from "bson"
import { Effect } from "effect"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import { collectionOf, type Tests } from "../collection.ts"
import { findPagesOf, rejected } from "./queriesPage.ts"

const date = (text: string) => new Date(text)

const inventory = [
  { _id: 1, item: { name: "ab", code: "123" }, qty: 15, tags: ["A", "B", "C"] },
  { _id: 2, item: { name: "cd", code: "123" }, qty: 20, tags: ["B"] },
  { _id: 3, item: { name: "ij", code: "456" }, qty: 25, tags: ["A", "B"] },
  { _id: 4, item: { name: "xy", code: "456" }, qty: 30, tags: ["B", "A"] },
  { _id: 5, item: { name: "mn", code: "000" }, qty: 20, tags: [["A", "B"], "C"] }
]

const hardware = [
  { _id: "nuts", quantity: 30, carrier: { name: "Shipit", fee: 3 }, type: ["hardware"] },
  { _id: "bolts", quantity: 50, carrier: { name: "Shipit", fee: 4 }, type: ["hardware", "fasteners"] },
  { _id: "washers", quantity: 10, carrier: { name: "Shipit", fee: 1 } }
]

const office = [
  { _id: "Books", quantity: 5, tags: ["school", "storage", "home"] },
  { _id: "Erasers", quantity: 15, tags: ["school", "home"] },
  { _id: "Maps", tags: ["office", "storage"] },
  { _id: "Pens", quantity: 350, tags: ["school", "office"] }
]

const priced = [
  { _id: 1, price: 1.99, sale: true, qty: 10, item: "pen" },
  { _id: 2, price: 2.99, sale: true, qty: 30, item: "ink" },
  { _id: 3, price: 2.99, sale: false, qty: 10 },
  { _id: 4, price: 4.99, qty: 40, item: "pad" },
  { _id: 5, sale: false, qty: 50, item: "cup" },
  { _id: 6, price: [7.99, 4.99], status: ["new", "processing"] }
]

const spices = [
  { _id: 1, saffron: 5, cinnamon: 5, mustard: null },
  { _id: 2, saffron: 3, cinnamon: null, mustard: 8 },
  { _id: 3, saffron: null, cinnamon: 3, mustard: 9 },
  { _id: 4, saffron: 1, cinnamon: 2, mustard: 3 },
  { _id: 5, saffron: 2, mustard: 5 },
  { _id: 6, saffron: 3, cinnamon: 2 },
  { _id: 7, saffron: 4 },
  { _id: 8, cinnamon: 2, mustard: 4 },
  { _id: 9, cinnamon: 2 },
  { _id: 10, mustard: 6 }
]

const movie = (_id: string, rating: number, votes: number) => ({ _id, imdb: { rating, votes } })

const skus = [
  { _id: 100, sku: "abc123", description: "Single line description." },
  { _id: 101, sku: "abc789", description: "First line\nSecond line" },
  { _id: 102, sku: "xyz456", description: "Many spaces before     line" },
  { _id: 103, sku: "xyz789", description: "Multiple\nline description" },
  { _id: 104, sku: "Abc789", description: "SKU starts with A" }
]

/** The manual's pages of query operators that compare, combine and compute. */
export const queryPages = (it: Tests, differs: Differs) => {
  const page = findPagesOf(it, differs)

  page(
    "$eq",
    inventory,
    [{ qty: { $eq: 20 } }, [2, 5]],
    [{ qty: 20 }, [2, 5]],
    [{ "item.name": { $eq: "ab" } }, [1]],
    [{ "item.name": "ab" }, [1]],
    [{ tags: { $eq: "B" } }, [1, 2, 3, 4]],
    [{ tags: "B" }, [1, 2, 3, 4]],
    [{ tags: { $eq: ["A", "B"] } }, [3, 5]],
    [{ tags: ["A", "B"] }, [3, 5]]
  )
  page(
    "$eq of patterns",
    [{ _id: 1, company: "MongoDB" }, { _id: 2, company: "MongoDB2" }],
    [{ company: "MongoDB" }, [1]],
    [{ company: { $eq: "MongoDB" } }, [1]],
    [{ company: { $eq: /MongoDB/ } }, []],
    [{ company: { $ne: /MongoDB/ } }, rejected],
    [{ company: /MongoDB/ }, [1, 2]],
    [{ company: { $regex: /MongoDB/ } }, [1, 2]]
  )

  page(
    "$gt, $gte, $lt, $lte and $ne",
    hardware,
    [{ quantity: { $gt: 20 } }, ["bolts", "nuts"]],
    [{ "carrier.fee": { $gt: 2 } }, ["bolts", "nuts"]],
    [{ quantity: { $gte: 30 } }, ["bolts", "nuts"]],
    [{ "carrier.fee": { $gte: 2 } }, ["bolts", "nuts"]],
    [{ quantity: { $lt: 20 } }, ["washers"]],
    [{ "carrier.fee": { $lt: 20 } }, ["bolts", "nuts", "washers"]],
    [{ quantity: { $lte: 30 } }, ["nuts", "washers"]],
    [{ quantity: { $ne: 20 } }, ["bolts", "nuts", "washers"]],
    [{ "carrier.fee": { $ne: 1 } }, ["bolts", "nuts"]],
    [{ type: { $ne: ["hardware", "fasteners"] } }, ["nuts", "washers"]],
    [{ type: { $ne: ["fasteners", "hardware"] } }, ["bolts", "nuts", "washers"]],
    [{ type: { $ne: "fasteners" } }, ["nuts", "washers"]]
  )

  page(
    "$in and $nin",
    office,
    [{ quantity: { $in: [5, 15] } }, ["Books", "Erasers"]],
    [{ tags: { $in: ["home", "school"] } }, ["Books", "Erasers", "Pens"]],
    [{ tags: { $in: [/^be/, /^st/] } }, ["Books", "Maps"]],
    [{ quantity: { $nin: [5, 15] } }, ["Maps", "Pens"]],
    [{ tags: { $nin: ["school"] } }, ["Maps"]],
    [{ tags: { $in: [{ $regex: "^be" }] } }, rejected],
    [{ quantity: { $in: 15 } }, rejected]
  )

  page(
    "$and, $or, $nor and $not",
    priced,
    [{ $and: [{ price: { $ne: 1.99 } }, { price: { $exists: true } }] }, [2, 3, 4, 6]],
    [{ price: { $ne: 1.99, $exists: true } }, [2, 3, 4, 6]],
    [{ $and: [{ price: { $in: [7.99, 3.99] } }, { price: { $in: [4.99, 1.99] } }] }, [6]],
    [{ $and: [{ status: "new" }, { status: "processing" }] }, [6]],
    [{ status: { $nin: ["closed", "archived"] } }, [1, 2, 3, 4, 5, 6]],
    [{ status: { $in: ["new", "processing"] } }, [6]],
    [{ status: { $all: ["new", "processing"] } }, [6]],
    [{ $or: [{ qty: { $lt: 20 } }, { price: 4.99 }] }, [1, 3, 4, 6]],
    [{ $or: [{ qty: 10 }, { $or: [{ qty: 50 }] }] }, [1, 3, 5]],
    [{ $nor: [{ price: 1.99 }, { sale: true }] }, [3, 4, 5, 6]],
    [{ $nor: [{ price: 1.99 }, { qty: { $lt: 20 } }, { sale: true }] }, [4, 5, 6]],
    [{ $nor: [{ price: 1.99 }, { price: { $exists: false } }, { sale: true }, { sale: { $exists: false } }] }, [3]],
    [{ price: { $not: { $gt: 1.99 } } }, [1, 5]],
    [{ price: { $lte: 1.99 } }, [1]],
    [{ price: { $not: { $eq: 1.99 } } }, [2, 3, 4, 5, 6]],
    [{ price: { $not: 1.99 } }, rejected],
    [{ item: { $not: /^p.*/ } }, [2, 3, 5, 6]],
    [{ item: { $not: { $regex: "^p.*" } } }, [2, 3, 5, 6]],
    [{ item: { $not: { $regex: /^p.*/ } } }, [2, 3, 5, 6]],
    [{ $or: [] }, rejected]
  )

  page(
    "$exists",
    spices,
    [{ saffron: { $exists: true } }, [1, 2, 3, 4, 5, 6, 7]],
    [{ cinnamon: { $exists: false } }, [5, 7, 10]],
    [{ mustard: { $exists: true, $nin: [5, 8] } }, [1, 3, 4, 8, 10]]
  )

  it.effect("counts as the manual's examples of $exists with a sparse index", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([
        { _id: 0, symbol: "MDB", auditDate: date("2021-05-18T16:12:23Z") },
        { _id: 1, symbol: "MDB", auditDate: date("2021-04-21T11:34:45Z") },
        { _id: 2, symbol: "MSFT", auditDate: date("2021-02-24T15:11:32Z") },
        { _id: 3, symbol: "MSFT", auditDate: null },
        { _id: 4, symbol: "MSFT", auditDate: date("2021-07-13T18:32:54Z") },
        { _id: 5, symbol: "AAPL" }
      ])
      yield* store.createIndexes(name, [{ name: "auditDateSparseIndex", key: { auditDate: 1 }, sparse: true }])
      assert.strictEqual(yield* store.count(name, { auditDate: { $exists: true } }), 5)
      assert.strictEqual(yield* store.count(name, { auditDate: { $ne: null } }), 4)
    }))

  page(
    "$type",
    [
      {
        _id: 1,
        zipCode: "90698345",
        classAverage: 87.33333333333333,
        readings: [25, 23, ["Warn", 55], ["ERROR", 66]]
      },
      { _id: 2, zipCode: new Double(43339374), classAverage: "83.52", readings: [25, 25, 24, 23] },
      { _id: 3, zipCode: Long.fromNumber(3921412), classAverage: "94.06", readings: [22, 24, []] },
      { _id: 4, zipCode: new Int32(88602117), classAverage: new Int32(93), readings: [] },
      { _id: 5, zipCode: ["834847278", "1893289032"], readings: 24 },
      { _id: 6, x: new MinKey(), grades: [{ grade: "C" }, { grade: new MinKey() }] },
      { _id: 7, y: new MaxKey(), grades: [{ grade: new MaxKey() }, { grade: "B" }] }
    ],
    [{ zipCode: { $type: 2 } }, [1, 5]],
    [{ zipCode: { $type: "string" } }, [1, 5]],
    [{ zipCode: { $type: 1 } }, [2]],
    [{ zipCode: { $type: "double" } }, [2]],
    [{ zipCode: { $type: "number" } }, [2, 3, 4]],
    [{ classAverage: { $type: [2, 1] } }, [1, 2, 3]],
    [{ classAverage: { $type: ["string", "double"] } }, [1, 2, 3]],
    [{ readings: { $type: "array" } }, [1, 2, 3, 4]],
    [{ x: { $type: "minKey" } }, [6]],
    [{ y: { $type: "maxKey" } }, [7]],
    [{ "grades.grade": { $type: "minKey" } }, [6]],
    [{ "grades.grade": { $type: "maxKey" } }, [7]],
    [{ zipCode: { $type: "text" } }, rejected]
  )

  page(
    "$regex",
    skus,
    [{ sku: { $regex: /789$/ } }, [101, 103, 104]],
    [{ sku: { $regex: /^ABC/i } }, [100, 101, 104]],
    [{ sku: { $regex: "^ABC", $options: "i" } }, [100, 101, 104]],
    [{ sku: /^ABC/i }, [100, 101, 104]],
    [{ sku: { $regex: /abc/i, $nin: ["abc789"] } }, [100, 104]],
    [{ sku: { $regex: /abc/, $options: "i", $nin: ["abc789"] } }, [100, 104]],
    [{ sku: { $in: [/^ABC/i, /^xyz4/] } }, [100, 101, 102, 104]],
    [{ description: { $regex: /^S/, $options: "m" } }, [100, 101, 104]],
    [{ description: { $regex: /^S/ } }, [100, 104]],
    [{ description: { $regex: /S/ } }, [100, 101, 104]],
    [{ description: { $regex: /m.*line/, $options: "si" } }, [102, 103]],
    [{ description: { $regex: /m.*line/, $options: "i" } }, [102]],
    [{ sku: { $regex: "abc #category code\n123 #item number", $options: "x" } }, [100]],
    [{ sku: { $regex: "(?i)a(?-i)bc" } }, [100, 101, 104], "flagsWithinPatterns"]
  )
  page(
    "$regex beyond ASCII",
    [{ _id: 0, artist: "Blue Öyster Cult" }, { _id: 1, artist: "Blue Öyster Cult" }, {
      _id: 2,
      artist: "Blue Oyster Cult"
    }],
    [{ artist: { $regex: /\byster/ } }, [0, 1], "wordsOfLetters"]
  )

  page(
    "$mod",
    [{ _id: 1, item: "abc123", qty: 0 }, { _id: 2, item: "xyz123", qty: 5 }, { _id: 3, item: "ijk123", qty: 12 }],
    [{ qty: { $mod: [4, 0] } }, [1, 3]],
    [{ qty: { $mod: [new Double(4), 0] } }, [1, 3]],
    [{ qty: { $mod: [4.5, 0] } }, [1, 3]],
    [{ qty: { $mod: [4.99, 0] } }, [1, 3]],
    [{ qty: { $mod: [-4, -0] } }, [1, 3]],
    [{ qty: { $mod: [4] } }, rejected, "operandsOfMod"],
    [{ qty: { $mod: [] } }, rejected, "operandsOfMod"],
    [{ qty: { $mod: [4, 1, 2, 3] } }, rejected, "operandsOfMod"],
    [{ qty: { $mod: [NaN, 0] } }, rejected, "operandsOfMod"],
    [{ qty: { $mod: [4, Infinity] } }, rejected, "operandsOfMod"]
  )

  page(
    "$expr",
    [
      { _id: 1, category: "food", budget: 400, spent: 450 },
      { _id: 2, category: "drinks", budget: 100, spent: 150 },
      { _id: 3, category: "clothes", budget: 100, spent: 50 },
      { _id: 4, category: "misc", budget: 500, spent: 300 },
      { _id: 5, category: "travel", budget: 200, spent: 650 }
    ],
    [{ $expr: { $gt: ["$spent", "$budget"] } }, [1, 2, 5]]
  )
  page(
    "$expr with conditions",
    [
      movie("Fight Club", 8.9, 1191784),
      movie("Hollywood", 9.1, 511),
      movie("Planet Earth", 9.5, 82896),
      movie("The Godfather", 9.2, 1038358),
      movie("The Shawshank Redemption", 9.3, 1521105)
    ],
    [{
      $expr: {
        $gt: [
          {
            $cond: {
              if: { $gte: ["$imdb.votes", 1000] },
              then: "$imdb.rating",
              else: { $multiply: ["$imdb.rating", 0.5] }
            }
          },
          9
        ]
      }
    }, ["Planet Earth", "The Godfather", "The Shawshank Redemption"]]
  )
}
