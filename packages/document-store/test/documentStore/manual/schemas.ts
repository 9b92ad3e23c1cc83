import { assert } from "@effect/vitest"
import { Decimal128, Double, Int32 } from "bson"
import { Effect } from "effect"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import { collectionOf, type Tests } from "../collection.ts"
import { findPagesOf } from "./queriesPage.ts"

const sized = (h: unknown, w: unknown, uom: string) => ({ h, w, uom })
const stocked = [
  { _id: "apple", item: "apple", qty: new Int32(45), status: "A", instock: true },
  { _id: "journal", item: "journal", qty: new Int32(25), size: sized(14, 21, "cm"), instock: true },
  { _id: "notebook", item: "notebook", qty: new Int32(50), size: sized(8.5, 11, "in"), instock: true },
  { _id: "paper", item: "paper", qty: new Int32(100), size: sized(8.5, 11, "in"), instock: 1 },
  { _id: "pears", item: "pears", qty: new Int32(50), status: "A", instock: true },
  { _id: "planner", item: "planner", qty: new Int32(75), size: sized(22.85, 30, "cm"), instock: 1 },
  { _id: "postcard", item: "postcard", qty: new Int32(45), size: sized(10, 15.25, "cm"), instock: true }
]
const schema = {
  required: ["item", "qty", "instock"],
  properties: {
    item: { bsonType: "string" },
    qty: { bsonType: "int" },
    size: {
      bsonType: "object",
      required: ["uom"],
      properties: { uom: { bsonType: "string" }, h: { bsonType: "double" }, w: { bsonType: "double" } }
    },
    instock: { bsonType: "bool" }
  }
}

const users = (minLength: number) => ({
  bsonType: "object",
  required: ["username", "password"],
  properties: { name: { bsonType: "string" }, password: { bsonType: "string", minLength } }
})

/** The manual's pages of JSON schemas, as filters and as rules of a collection. */
export const schemaPages = (it: Tests, differs: Differs) => {
  findPagesOf(it, differs)(
    "$jsonSchema",
    stocked,
    [{ $jsonSchema: schema }, ["apple", "pears"]],
    [{ $nor: [{ $jsonSchema: schema }] }, ["journal", "notebook", "paper", "planner", "postcard"]]
  )

  it.effect("writes as the manual's examples of $jsonSchema", () =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* collectionOf(stocked)
      const invalid = { $nor: [{ $jsonSchema: schema }] }
      assert.strictEqual((yield* store.updateMany(name, invalid, { $set: { isValid: false } })).modifiedCount, 5)
      assert.deepStrictEqual(yield* ids({ isValid: { $ne: false } }), ["apple", "pears"])
      assert.strictEqual(yield* store.deleteMany(name, invalid), 5)
    }))

  it.effect("refuses as the manual's examples of a collection's rules", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const refusesOf = (name: string) => (document: Document) =>
        Effect.map(
          Effect.flip(store.insertOne(name, document)),
          ({ _tag }) => assert.strictEqual(_tag, "QueryRejected")
        )
      const refuses = refusesOf(name)
      yield* store.setValidator(name, users(8))
      yield* store.insertOne(name, { _id: 2, username: "salesAdmin02", password: "i8U60*VyL8" })
      yield* store.setValidator(name, users(12))
      yield* refuses({ _id: 1, username: "salesAdmin01", password: "kT9$j4wg#M" })
      yield* store.insertOne(name, { _id: 1, username: "salesAdmin01", password: "8p&SQd7T90$KKx" })
      assert.strictEqual(
        (yield* Effect.flip(store.updateOne(name, { _id: 2 }, { $set: { a: 1 } })))._tag,
        "QueryRejected"
      )
      assert.strictEqual((yield* all).length, 2)
      const students = yield* collectionOf([])
      yield* store.setValidator(students.name, {
        bsonType: "object",
        title: "Student Object Validation",
        required: ["address", "major", "name", "year"],
        properties: {
          name: { bsonType: "string", description: "'name' must be a string and is required" },
          year: { bsonType: "int", minimum: 2017, maximum: 3017 },
          gpa: { bsonType: ["double"], description: "'gpa' must be a double if the field exists" }
        }
      })
      const address = { city: "NYC", street: "33rd Street" }
      const alice = { _id: 1, name: "Alice", year: new Int32(2019), major: "History", address }
      yield* refusesOf(students.name)({ ...alice, gpa: new Int32(3) })
      yield* store.insertOne(students.name, { ...alice, gpa: new Double(3) })
      const contacts = yield* collectionOf([])
      const contact = {
        bsonType: "object",
        required: ["phone"],
        properties: {
          phone: { bsonType: "string" },
          email: { bsonType: "string", pattern: "@mongodb\\.com$" },
          status: { enum: ["Unknown", "Incomplete"] }
        }
      }
      yield* store.setValidator(contacts.name, contact)
      yield* refusesOf(contacts.name)({ _id: 1, name: "Amanda", status: "Updated" })
      yield* store.setValidator(contacts.name, contact, { action: "warn" })
      yield* store.insertOne(contacts.name, { _id: 1, name: "Amanda", status: "Updated" })
    }))

  it.effect("finds the orders that the manual's rule by an expression accepts", () =>
    Effect.gen(function*() {
      const decimal = (text: string) => Decimal128.fromString(text)
      const order = (_id: number, totalWithVAT: string) => ({
        _id,
        total: decimal("141"),
        VAT: decimal("0.20"),
        totalWithVAT: decimal(totalWithVAT)
      })
      const { ids } = yield* collectionOf([order(1, "169"), order(2, "169.2")])
      const rule = { $expr: { $eq: ["$totalWithVAT", { $multiply: ["$total", { $sum: [1, "$VAT"] }] }] } }
      assert.deepStrictEqual(yield* ids(rule), [2])
    }))
}
