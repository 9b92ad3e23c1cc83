import { assert } from "@effect/vitest"
import { Binary, Decimal128, Long, ObjectId } from "bson"
import { Effect, Result } from "effect"
import type { Difference, Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter } from "../../src/DocumentStore.ts"
import { collectionOf, day, factsOf, type Tests } from "./collection.ts"

type Case = readonly [operand: Document, ids: ReadonlyArray<number>, difference?: Difference]

/** JSON schemas as filters and as validators, and filters of bits. */
export const schemaContract = (it: Tests, differs: Differs) => {
  const applies = ([, , difference]: Case): boolean => difference === undefined || !differs(difference)

  const finds = (
    group: string,
    documents: ReadonlyArray<Document>,
    filterOf: (operand: Document) => Filter,
    cases: ReadonlyArray<Case>
  ) =>
    it.effect(`finds by ${group}`, () =>
      Effect.gen(function*() {
        const things = yield* collectionOf(documents)
        const tried = cases.filter(applies)
        const found = yield* Effect.forEach(tried, ([operand]) => things.ids(filterOf(operand)))
        const answers = (all: ReadonlyArray<unknown>) => tried.map(([operand], i) => [JSON.stringify(operand), all[i]])
        assert.deepStrictEqual(answers(found), answers(tried.map(([, ids]) => ids)))
      }))

  finds("a JSON schema", people, ($jsonSchema) => ({ $jsonSchema }), [
    [{}, [1, 2, 3, 4, 5, 6]],
    [{ title: "Person", description: "somebody" }, [1, 2, 3, 4, 5, 6]],
    [{ bsonType: "object" }, [1, 2, 3, 4, 5, 6]],
    [{ type: "array" }, []],
    [{ required: ["name", "tags"] }, [1, 2, 3, 5]],
    [{ properties: { name: { bsonType: "string" } } }, [1, 2, 4, 5, 6]],
    [{ required: ["age"], properties: { age: { bsonType: ["int", "decimal"] } } }, [1, 6]],
    [{ properties: { age: { bsonType: "long" } } }, [5]],
    [{ properties: { age: { type: "number" } } }, [1, 2, 5, 6]],
    [{ properties: { age: { type: ["null", "string"] } } }, [3, 4]],
    [{ required: ["born"], properties: { born: { bsonType: "date" }, key: { bsonType: "objectId" } } }, [6]],
    [{ properties: { age: { type: "number", minimum: 20 } } }, [1, 5, 6]],
    [{ properties: { age: { type: "number", minimum: 20, exclusiveMinimum: true } } }, [5], "schemaDecimals"],
    [{ properties: { age: { type: "number", maximum: 17.5 } } }, [2], "schemaDecimals"],
    [{ properties: { age: { type: "number", maximum: 17.5, exclusiveMaximum: true } } }, [], "schemaDecimals"],
    [{ properties: { age: { minimum: 18 } } }, [1, 3, 4, 5, 6]],
    [{ properties: { age: { type: "number", multipleOf: 2.5 } } }, [1, 2, 6]],
    [{ required: ["name"], properties: { name: { type: "string", minLength: 3 } } }, [1, 5]],
    [{ required: ["name"], properties: { name: { type: "string", maxLength: 3 } } }, [2, 5]],
    [{ required: ["name"], properties: { name: { pattern: "^[AB]" } } }, [1, 2, 3]],
    [{ properties: { age: { enum: [20, null, "old"] } } }, [1, 3, 4, 6], "schemaDecimals"],
    [
      { required: ["address"], properties: { address: { enum: [{ zip: 3000, city: "Bern" }] } } },
      [1],
      "schemaFieldOrder"
    ],
    [{ properties: { tags: { items: { type: "string" } } } }, [1, 2, 3, 4, 6]],
    [{ required: ["tags"], properties: { tags: { items: [{ type: "number" }] } } }, [2, 4, 5]],
    [{ required: ["tags"], properties: { tags: { items: [{}, {}], additionalItems: false } } }, [1, 2, 3, 4]],
    [{ required: ["tags"], properties: { tags: { items: [{}], additionalItems: { type: "string" } } } }, [1, 2, 3, 4]],
    [{ required: ["tags"], properties: { tags: { type: "array", minItems: 1 } } }, [1, 3, 5]],
    [{ required: ["tags"], properties: { tags: { type: "array", maxItems: 2 } } }, [1, 2, 3]],
    [{ required: ["tags"], properties: { tags: { type: "array", uniqueItems: true } } }, [1, 2], "schemaFieldOrder"],
    [{ minProperties: 5 }, [1, 2, 5]],
    [{ maxProperties: 4 }, [3, 4, 6]],
    [{ properties: { address: { required: ["city"] } } }, [1, 2, 3, 5, 6]],
    [{ properties: { _id: {}, name: {}, age: {}, tags: {}, address: {} }, additionalProperties: false }, [1, 2, 3, 4]],
    [{ patternProperties: { "^add": { minProperties: 1 } } }, [1, 2, 3, 5, 6]],
    [{ patternProperties: { "^[_antik]": {} }, additionalProperties: { type: "boolean" } }, [1, 2, 3, 4, 5]],
    [{ dependencies: { extra: ["address"] } }, [1, 2, 3, 4, 6]],
    [{ dependencies: { address: { required: ["name"] } } }, [1, 2, 3, 5, 6]],
    [{ allOf: [{ required: ["name"] }, { required: ["address"] }] }, [1, 2]],
    [{ anyOf: [{ required: ["extra"] }, { required: ["born"] }] }, [5, 6]],
    [{ oneOf: [{ required: ["name"] }, { required: ["address"] }] }, [3, 4, 5]],
    [{ not: { required: ["name"] } }, [4, 6]]
  ])

  finds("a JSON schema among other conditions", people, (filter) => filter, [
    [{ $jsonSchema: { required: ["name"] }, age: { $type: "number" } }, [1, 2, 5]],
    [{ $nor: [{ $jsonSchema: { required: ["name"] } }, { _id: 4 }] }, [6]],
    [{ $or: [{ $jsonSchema: { required: ["born"] } }, { _id: 4 }] }, [4, 6]]
  ])

  it.effect("rejects what is no JSON schema", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(people)
      const accepted: Array<string> = []
      for (const schema of differs("malformedSchemas") ? unknownKeywords : [...unknownKeywords, ...malformedSchemas]) {
        const result = yield* Effect.result(store.count(name, { $jsonSchema: schema }))
        if (Result.isSuccess(result)) accepted.push(JSON.stringify(schema))
        else assert.strictEqual(result.failure._tag, "QueryRejected", JSON.stringify(schema))
      }
      assert.deepStrictEqual(accepted, [])
    }))

  finds("the bits of a number or of binary data", ofBits, (a) => ({ a }), [
    [{ $bitsAllSet: [1, 5] }, [1, 4]],
    [{ $bitsAllSet: 50 }, [1]],
    [{ $bitsAllSet: binary(0x30) }, [1]],
    [{ $bitsAllClear: [1, 5] }, [2, 3]],
    [{ $bitsAllClear: Long.fromNumber(35) }, [2, 3]],
    [{ $bitsAllClear: binary(0x20) }, [2, 3]],
    [{ $bitsAnySet: [1, 5] }, [1, 4]],
    [{ $bitsAnySet: 35 }, [1, 4]],
    [{ $bitsAnySet: binary(0x30) }, [1, 2, 3, 4]],
    [{ $bitsAnyClear: [1, 5] }, [2, 3]],
    [{ $bitsAnyClear: 35 }, [1, 2, 3, 4]],
    [{ $bitsAnyClear: binary(0x30) }, [2, 3, 4]],
    // The bits beyond binary data are clear.
    [{ $bitsAnySet: [9, 20] }, []],
    [{ $bitsAllClear: [8, 2 ** 31 - 1] }, [1, 2, 3, 4]],
    [{ $not: { $bitsAllSet: [1, 5] } }, [2, 3]]
  ])

  finds("the bits of other values", ofOtherBits, (a) => ({ a }), [
    [{ $bitsAllSet: 54 }, [1, 5, 6]],
    // The bits beyond 64 are those of the sign.
    [{ $bitsAllSet: [63] }, [1, 4]],
    [{ $bitsAllSet: [200] }, [1, 4]],
    [{ $bitsAnyClear: [200] }, [5, 6]],
    [{ $bitsAllSet: Long.MAX_VALUE }, [1]],
    [{ $bitsAllSet: [] }, [1, 4, 5, 6]],
    [{ $bitsAnySet: [] }, []]
  ])

  it.effect("rejects operands that have no bits", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(ofBits)
      const accepted: Array<string> = []
      for (const operand of [-1, 1.5, NaN, "1", null, {}, [-1], [0.5], ["1"], 2 ** 63]) {
        for (const operator of ["$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"]) {
          const result = yield* Effect.result(store.count(name, { a: { [operator]: operand } }))
          if (Result.isSuccess(result)) accepted.push(`${operator} ${JSON.stringify(operand)}`)
          else assert.strictEqual(result.failure._tag, "QueryRejected")
        }
      }
      assert.deepStrictEqual(accepted, [])
    }))

  it.effect.skipIf(differs("sampleRate"))("takes documents by their chance", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 200 }, (_, _id) => ({ _id })))
      assert.strictEqual(yield* store.count(name, { $sampleRate: 0 }), 0)
      assert.strictEqual(yield* store.count(name, { $sampleRate: 1 }), 200)
      const some = yield* store.count(name, { $sampleRate: 0.5, _id: { $gte: 0 } })
      assert.isTrue(some > 40 && some < 160, `${some}`)
      for (const rate of [-0.1, 1.1, "1", null]) {
        const error = yield* Effect.flip(store.count(name, { $sampleRate: rate }))
        assert.strictEqual(error._tag, "QueryRejected")
      }
    }))

  validatorContract(it)
}

const validatorContract = (it: Tests) => {
  it.effect("lists the collections with their validators", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* collectionOf([{ _id: 1 }]), yield* collectionOf([])]
      const jsonSchema = { bsonType: "object", required: ["name"] }
      const listed = Effect.map(first.store.listCollections, (all) =>
        all.filter(({ name }) => name === first.name || name === second.name))
      assert.deepStrictEqual(yield* listed, [{ name: first.name }])
      yield* first.store.setValidator(first.name, jsonSchema, { action: "warn" })
      yield* second.store.setValidator(second.name, jsonSchema)
      assert.deepStrictEqual(
        yield* listed,
        [
          { name: first.name, jsonSchema, action: "warn" as const },
          { name: second.name, jsonSchema, action: "error" as const }
        ].toSorted((a, b) =>
          a.name < b.name ? -1 : 1
        )
      )
      yield* second.store.setValidator(second.name, undefined)
      assert.deepInclude(yield* listed, { name: second.name })
      assert.deepStrictEqual(
        (yield* first.store.transaction(first.store.listCollections)).map(({ name }) => name),
        (yield* first.store.listCollections).map(({ name }) => name)
      )
    }))

  it.effect("rejects documents that break a collection's schema, and names fields and rules without values", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      const schema = {
        bsonType: "object",
        required: ["name"],
        properties: { name: { bsonType: "string", minLength: 2 }, n: { properties: { x: { bsonType: "number" } } } }
      }
      const rejected = (operation: string, rules: string) => ({
        _tag: "QueryRejected",
        operation,
        detail: `the document does not fulfil the rules of its collection: ${rules}`
      })
      yield* store.setValidator(name, schema)
      const refuses = (operation: string, rules: string, write: Effect.Effect<unknown, object>) =>
        Effect.map(Effect.flip(write), (error) => assert.deepStrictEqual(factsOf(error), rejected(operation, rules)))
      yield* refuses("insertOne", "name (required)", store.insertOne(name, { _id: 1 }))
      yield* store.insertOne(name, { _id: 1, name: "fine" })
      const long = { $set: { name: canary[0], n: { x: canary } } }
      yield* refuses("updateOne", "name (minLength), n.x (bsonType)", store.updateOne(name, { _id: 1 }, long))
      yield* refuses("updateMany", "name (required)", store.updateMany(name, {}, { $unset: { name: "" } }))
      yield* refuses("replaceOne", "name (required)", store.replaceOne(name, { _id: 1 }, { n: {} }))
      yield* refuses("replaceOne", "name (bsonType)", store.replaceOne(name, { _id: 2 }, { name: 5 }, { upsert: true }))
      yield* refuses(
        "updateOne",
        "name (required)",
        store.updateOne(name, { _id: 2 }, { $set: { n: {} } }, { upsert: true })
      )
      yield* refuses(
        "findOneAndUpdate",
        "name (bsonType)",
        store.findOneAndUpdate(name, { _id: 1 }, { $set: { name: 5 } })
      )
      yield* refuses("findOneAndReplace", "name (required)", store.findOneAndReplace(name, { _id: 1 }, { n: {} }))
      const several = [{ _id: 2, name: "fine", n: { x: canary } }, { _id: 3, name: "fine" }]
      const { failures, insertedCount } = yield* store.insertMany(name, several, { ordered: false })
      assert.deepStrictEqual(
        failures.map(({ error, index }) => [index, factsOf(error)]),
        [[0, rejected("insertMany", "n.x (bsonType)")]]
      )
      assert.strictEqual(insertedCount, 1)
      assert.deepStrictEqual(yield* store.find(name, { sort: { _id: 1 } }), [
        { _id: 1, name: "fine" },
        { _id: 3, name: "fine" }
      ])
    }))

  it.effect("sets, changes and removes a collection's schema, also of a missing collection", () =>
    Effect.gen(function*() {
      const { store } = yield* collectionOf([])
      const name = `rules ${Math.random()}`
      const refused = (_id: number) => Effect.map(Effect.result(store.insertOne(name, { _id })), Result.isFailure)
      yield* store.setValidator(name, undefined)
      assert.isFalse(yield* refused(1))
      yield* store.setValidator(name, { required: ["name"] })
      assert.isTrue(yield* refused(2))
      yield* store.setValidator(name, { required: ["other"] }, { action: "warn" })
      assert.isFalse(yield* refused(2))
      yield* store.setValidator(name, { required: ["name"] }, { action: "error" })
      assert.isTrue(yield* refused(3))
      // Stored documents are checked when they are written.
      assert.strictEqual(
        (yield* Effect.flip(store.updateOne(name, { _id: 1 }, { $set: { a: 1 } })))._tag,
        "QueryRejected"
      )
      yield* store.updateOne(name, { _id: 1 }, { $set: { name: "text" } })
      yield* store.setValidator(name, undefined)
      assert.isFalse(yield* refused(3))
      const error = yield* Effect.flip(store.setValidator(name, { bsonType: "nothing" }))
      assert.strictEqual(error._tag, "QueryRejected")
    }))

  it.effect("checks each of many concurrent writes", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      yield* store.setValidator(name, { properties: { n: { maximum: 9 } } })
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => n),
        (n) => Effect.result(store.insertOne(name, { _id: n, n: n % 20 })),
        { concurrency: 40 }
      )
      assert.deepStrictEqual(outcomes.map(Result.isSuccess), outcomes.map((_, n) => n % 20 < 10))
      assert.strictEqual((yield* all).length, 20)
    }))
}

const canary = ["c", "anary"]

const binary = (...bytes: ReadonlyArray<number>) => new Binary(Uint8Array.from(bytes))

// The documents of MongoDB's manual.
const ofBits: ReadonlyArray<Document> = [
  { _id: 1, a: 54 },
  { _id: 2, a: 20 },
  { _id: 3, a: Long.fromNumber(20) },
  { _id: 4, a: binary(0x66) }
]

const ofOtherBits: ReadonlyArray<Document> = [
  { _id: 1, a: -1 },
  { _id: 2, a: 1.5 },
  { _id: 3, a: "54" },
  { _id: 4, a: Long.MIN_VALUE },
  { _id: 5, a: [1, 54] },
  { _id: 6, a: Decimal128.fromString("5.4E+1") },
  { _id: 7, a: NaN },
  { _id: 8, a: 1e20 },
  { _id: 9, a: null },
  { _id: 10 }
]

const people: ReadonlyArray<Document> = [
  { _id: 1, name: "Anna", age: 20, tags: ["a", "b"], address: { city: "Bern", zip: 3000 } },
  { _id: 2, name: "Be", age: 17.5, tags: [], address: { city: "Chur" } },
  { _id: 3, name: 5, age: "old", tags: ["a", "a"] },
  { _id: 4, age: null, tags: "a", address: {} },
  {
    _id: 5,
    name: "Çö😀",
    age: Long.fromString("9007199254740993"),
    tags: [1, "a", { x: 1, y: 2 }, { y: 2, x: 1 }],
    extra: true
  },
  { _id: 6, age: Decimal128.fromString("20.00"), born: day(1), key: new ObjectId("650000000000000000000001") }
]

const unknownKeywords: ReadonlyArray<Document> = [
  { $ref: "#" },
  { $schema: "http://json-schema.org/draft-04/schema#" },
  { default: 1 },
  { definitions: {} },
  { format: "date" },
  { id: "x" },
  { const: 1 },
  { properties: { a: { unknown: 1 } } }
]

const malformedSchemas: ReadonlyArray<unknown> = [
  "text",
  [],
  { type: "integer" },
  { type: "object", bsonType: "object" },
  { bsonType: "nothing" },
  { bsonType: 2 },
  { type: [] },
  { type: ["string", "string"] },
  { required: [] },
  { required: ["a", "a"] },
  { required: [1] },
  { required: "a" },
  { minimum: "1" },
  { maximum: null },
  { exclusiveMinimum: true },
  { maximum: 1, exclusiveMaximum: 1 },
  { multipleOf: 0 },
  { multipleOf: -1 },
  { minLength: -1 },
  { maxLength: 1.5 },
  { pattern: "(" },
  { pattern: 1 },
  { enum: [] },
  { enum: [1, 1] },
  { items: 5 },
  { items: [5] },
  { additionalItems: 5 },
  { uniqueItems: 1 },
  { minItems: "1" },
  { properties: [] },
  { properties: { a: 5 } },
  { patternProperties: { "(": {} } },
  { additionalProperties: 5 },
  { minProperties: -1 },
  { dependencies: { a: [] } },
  { dependencies: { a: 5 } },
  { allOf: [] },
  { anyOf: {} },
  { oneOf: [5] },
  { not: [] },
  { title: 5 },
  { description: 5 }
]
