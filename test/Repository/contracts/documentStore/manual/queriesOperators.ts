import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Document, Filter } from "../../../../../src/Repository/DocumentStore.ts"
import type { Difference, Differs } from "../../../../support/serverDifferences.ts"
import { collectionOf, plain, type Tests } from "../collection.ts"

/** A filter, the identifiers of its documents or `rejected`, and the difference of a server that errs. */
type Find = readonly [filter: Filter, ids: ReadonlyArray<number> | symbol, difference?: Difference]

/** A filter, a projection and the documents that it leaves. */
type Projected = readonly [filter: Filter, projection: Document, documents: ReadonlyArray<Document>]

const rejected = Symbol("rejected")

const inventory = [
  { _id: 1, item: { name: "ab", code: "123" }, qty: 15, tags: ["A", "B", "C"] },
  { _id: 2, item: { name: "cd", code: "123" }, qty: 20, tags: ["B"] },
  { _id: 3, item: { name: "ij", code: "456" }, qty: 25, tags: ["A", "B"] },
  { _id: 4, item: { name: "xy", code: "456" }, qty: 30, tags: ["B", "A"] },
  { _id: 5, item: { name: "mn", code: "000" }, qty: 20, tags: [["A", "B"], "C"] }
]

const skus = [
  { _id: 100, sku: "abc123", description: "Single line description." },
  { _id: 101, sku: "abc789", description: "First line\nSecond line" },
  { _id: 102, sku: "xyz456", description: "Many spaces before     line" },
  { _id: 103, sku: "xyz789", description: "Multiple\nline description" },
  { _id: 104, sku: "Abc789", description: "SKU starts with A" }
]

const bits = [
  { _id: 1, a: 54, binary: "00110110" },
  { _id: 2, a: 20, binary: "00010100" },
  { _id: 3, a: 20, binary: "00010100" }
]

const survey = [
  { _id: 1, results: [{ product: "abc", score: 10 }, { product: "xyz", score: 5 }] },
  { _id: 2, results: [{ product: "abc", score: 8 }, { product: "xyz", score: 7 }] },
  { _id: 3, results: [{ product: "abc", score: 7 }, { product: "xyz", score: 8 }] },
  { _id: 4, results: [{ product: "abc", score: 7 }, { product: "def", score: 8 }] }
]

const school = (_id: number, name: string, school: number, age: number) => ({ name, school, age, _id })
const john = school(1, "john", 102, 10)
const jess = school(2, "jess", 102, 11)
const jeff = school(3, "jeff", 108, 15)
const students = [
  { _id: 1, zipcode: "63109", students: [john, jess, jeff] },
  { _id: 2, zipcode: "63110", students: [school(1, "ajax", 100, 7), school(2, "achilles", 100, 8)] },
  { _id: 3, zipcode: "63109", students: [school(1, "ajax", 100, 7), school(2, "achilles", 100, 8)] }
]

const schema = {
  required: ["item", "qty"],
  properties: { item: { bsonType: "string" }, qty: { bsonType: "int", minimum: 1 } }
}

/** The manual's pages of query operators and of projections. */
export const queryPages = (it: Tests, differs: Differs) => {
  const page = (title: string, documents: ReadonlyArray<Document>, ...table: ReadonlyArray<Find>) =>
    it.effect(`finds as the manual's examples of ${title}`, () =>
      Effect.gen(function*() {
        const { ids, name, store } = yield* collectionOf(documents)
        for (const [filter, expected, difference] of table) {
          if (difference !== undefined && differs(difference)) continue
          if (typeof expected === "symbol") {
            const error = yield* Effect.flip(store.find(name, { filter }))
            assert.strictEqual(error._tag, "QueryRejected", JSON.stringify(filter))
          } else assert.deepStrictEqual(yield* ids(filter), [...expected], JSON.stringify(filter))
        }
      }))

  const projections = (title: string, documents: ReadonlyArray<Document>, ...table: ReadonlyArray<Projected>) =>
    it.effect(`projects as the manual's examples of ${title}`, () =>
      Effect.gen(function*() {
        const { find } = yield* collectionOf(documents)
        for (const [filter, projection, expected] of table) {
          const found = yield* find({ filter, projection, sort: { _id: 1 } })
          assert.deepStrictEqual(plain(found), plain(expected), JSON.stringify(projection))
        }
      }))

  page(
    "$eq, $ne, $gt, $gte, $lt, $lte, $in and $nin",
    inventory,
    [{ qty: { $eq: 20 } }, [2, 5]],
    [{ qty: 20 }, [2, 5]],
    [{ "item.name": { $eq: "ab" } }, [1]],
    [{ tags: { $eq: "B" } }, [1, 2, 3, 4]],
    [{ tags: { $eq: ["A", "B"] } }, [3, 5]],
    [{ tags: ["A", "B"] }, [3, 5]],
    [{ qty: { $ne: 20 } }, [1, 3, 4]],
    [{ none: { $ne: 20 } }, [1, 2, 3, 4, 5]],
    [{ qty: { $gt: 20 } }, [3, 4]],
    [{ qty: { $gte: 20 } }, [2, 3, 4, 5]],
    [{ qty: { $lt: 20 } }, [1]],
    [{ qty: { $lte: 20 } }, [1, 2, 5]],
    [{ qty: { $in: [15, 30] } }, [1, 4]],
    [{ tags: { $in: ["C"] } }, [1, 5]],
    [{ "item.name": { $in: [/^a/, /^x/] } }, [1, 4]],
    [{ qty: { $nin: [15, 20] } }, [3, 4]],
    [{ none: { $nin: [15, 20] } }, [1, 2, 3, 4, 5]],
    [{ qty: { $in: 15 } }, rejected]
  )

  page(
    "$and, $or, $nor, $not",
    inventory,
    [{ $and: [{ qty: { $ne: 20 } }, { qty: { $exists: true } }] }, [1, 3, 4]],
    [{ $and: [{ $or: [{ qty: { $lt: 20 } }, { qty: { $gt: 25 } }] }, { tags: "B" }] }, [1, 4]],
    [{ $or: [{ qty: { $lt: 20 } }, { "item.code": "000" }] }, [1, 5]],
    [{ $nor: [{ qty: 20 }, { "item.code": "123" }] }, [3, 4]],
    [{ qty: { $not: { $gt: 20 } } }, [1, 2, 5]],
    [{ "item.name": { $not: /^a/ } }, [2, 3, 4, 5]],
    [{ $or: [] }, rejected]
  )

  page(
    "$exists and $type",
    [
      { _id: 1, zipCode: "63109" },
      { _id: 2, zipCode: 100.5 },
      { _id: 3, zipCode: ["63110", 7] },
      { _id: 4, zipCode: null },
      { _id: 5 }
    ],
    [{ zipCode: { $exists: true } }, [1, 2, 3, 4]],
    [{ zipCode: { $exists: false } }, [5]],
    [{ zipCode: null }, [4, 5]],
    [{ zipCode: { $type: "null" } }, [4]],
    [{ zipCode: { $type: "string" } }, [1, 3]],
    [{ zipCode: { $type: 2 } }, [1, 3]],
    [{ zipCode: { $type: "number" } }, [2, 3]],
    [{ zipCode: { $type: ["double", "null"] } }, [2, 4]],
    [{ zipCode: { $type: "array" } }, [3]],
    [{ zipCode: { $type: "text" } }, rejected]
  )

  page(
    "$regex",
    skus,
    [{ sku: { $regex: /789$/ } }, [101, 103, 104]],
    [{ sku: { $regex: /^ABC/i } }, [100, 101, 104]],
    [{ sku: { $regex: "^ABC", $options: "i" } }, [100, 101, 104]],
    [{ description: { $regex: /^S/, $options: "m" } }, [100, 101, 104]],
    [{ description: { $regex: /^S/ } }, [100, 104]],
    [{ description: { $regex: "m.*line", $options: "si" } }, [102, 103]],
    [{ description: { $regex: "m.*line", $options: "i" } }, [102]],
    [{ sku: { $regex: "abc #category code\n123 #item number", $options: "x" } }, [100]],
    [{ sku: { $regex: "(?i)a(?-i)bc" } }, [100, 101, 104], "flagsWithinPatterns"]
  )

  page(
    "$mod",
    [{ _id: 1, qty: 0 }, { _id: 2, qty: 5 }, { _id: 3, qty: 12 }],
    [{ qty: { $mod: [4, 0] } }, [1, 3]],
    [{ qty: { $mod: [4.5, 0] } }, [1, 3]],
    [{ qty: { $mod: [4] } }, rejected, "operandsOfMod"],
    [{ qty: { $mod: [] } }, rejected, "operandsOfMod"],
    [{ qty: { $mod: [4, 0, 0] } }, rejected, "operandsOfMod"]
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
    [{ $expr: { $gt: ["$spent", "$budget"] } }, [1, 2, 5]],
    [{
      $expr: {
        $lt: [{ $cond: { if: { $gte: ["$spent", 300] }, then: { $multiply: ["$spent", 0.5] }, else: "$spent" } }, 160]
      }
    }, [2, 3, 4]]
  )

  page(
    "$jsonSchema",
    [{ _id: 1, item: "journal", qty: 25 }, { _id: 2, item: "paper", qty: 0 }, { _id: 3, item: 9, qty: 5 }, { _id: 4 }],
    [{ $jsonSchema: schema }, [1]],
    [{ $nor: [{ $jsonSchema: schema }] }, [2, 3, 4]],
    [{ $jsonSchema: { properties: { qty: { minimum: 5 } } } }, [1, 3, 4]]
  )

  page(
    "$all, $elemMatch and $size",
    survey,
    [{ results: { $elemMatch: { product: "xyz", score: { $gte: 8 } } } }, [3]],
    [{ results: { $elemMatch: { product: { $ne: "xyz" } } } }, [1, 2, 3, 4]],
    [{ "results.product": { $ne: "xyz" } }, [4]],
    [{ results: { $elemMatch: { product: "xyz" } } }, [1, 2, 3]],
    [{ "results.product": { $all: ["abc", "def"] } }, [4], "itemsOfAll"],
    [{
      results: {
        $all: [{ $elemMatch: { product: "abc", score: 7 } }, { $elemMatch: { product: "xyz", score: 8 } }]
      }
    }, [3]],
    [{ results: { $size: 2 } }, [1, 2, 3, 4]],
    [{ results: { $size: 1 } }, []]
  )

  page(
    "$elemMatch of values",
    [{ _id: 1, results: [82, 85, 88] }, { _id: 2, results: [75, 88, 89] }],
    [{ results: { $elemMatch: { $gte: 80, $lt: 85 } } }, [1]],
    [{ results: { $all: [88] } }, [1, 2]],
    [{ results: { $all: [[82, 85, 88]] } }, [1], "itemsOfAll"]
  )

  page(
    "$bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear",
    bits,
    [{ a: { $bitsAllSet: [1, 5] } }, [1]],
    [{ a: { $bitsAllSet: 50 } }, [1]],
    [{ a: { $bitsAnySet: [1, 5] } }, [1]],
    [{ a: { $bitsAnySet: 35 } }, [1]],
    [{ a: { $bitsAllClear: [1, 5] } }, [2, 3]],
    [{ a: { $bitsAllClear: 35 } }, [2, 3]],
    [{ a: { $bitsAnyClear: [1, 5] } }, [2, 3]],
    [{ a: { $bitsAnyClear: 35 } }, [1, 2, 3]],
    [{ a: { $bitsAllSet: -1 } }, rejected]
  )

  page(
    "$geoWithin with a box, a polygon and a circle",
    [{ _id: 1, loc: [1, 1] }, { _id: 2, loc: [3, 5] }, { _id: 3, loc: [50, 50] }, { _id: 4, loc: [99, 120] }],
    [{ loc: { $geoWithin: { $box: [[0, 0], [100, 100]] } } }, [1, 2, 3]],
    [{ loc: { $geoWithin: { $polygon: [[0, 0], [3, 6], [6, 0]] } } }, [1, 2]],
    [{ loc: { $geoWithin: { $center: [[0, 0], 10] } } }, [1, 2]]
  )

  projections(
    "$elemMatch",
    students,
    [{ zipcode: "63109" }, { students: { $elemMatch: { school: 102 } } }, [{ _id: 1, students: [john] }, { _id: 3 }]],
    [{ zipcode: "63109" }, { students: { $elemMatch: { school: 102, age: { $gt: 10 } } } }, [
      { _id: 1, students: [jess] },
      { _id: 3 }
    ]]
  )

  projections(
    "$ and $slice",
    [{ _id: 1, semester: 1, grades: [70, 87, 90] }, { _id: 2, semester: 1, grades: [90, 88, 92] }],
    [{ semester: 1, grades: { $gte: 85 } }, { "grades.$": 1 }, [{ _id: 1, grades: [87] }, { _id: 2, grades: [90] }]],
    [{ _id: 1 }, { grades: { $slice: 2 } }, [{ _id: 1, semester: 1, grades: [70, 87] }]],
    [{ _id: 1 }, { grades: { $slice: -1 } }, [{ _id: 1, semester: 1, grades: [90] }]],
    [{ _id: 1 }, { grades: { $slice: [1, 1] } }, [{ _id: 1, semester: 1, grades: [87] }]]
  )
}
