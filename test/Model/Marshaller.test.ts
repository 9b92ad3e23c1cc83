import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Schema, SchemaGetter } from "effect"
import { TestClock } from "effect/testing"
import { compileSerialiser } from "../../src/Model/codec/serialiser.ts"
import { Marshaller, Model, Validator } from "../../src/Model/index.ts"
import { recordEncoder } from "../../src/Model/instance/recordCodec.ts"

const moment = DateTime.makeUnsafe("2026-01-31T09:30:00.123Z")
const seconds = 1_769_851_800.123

/** Prices are whole cents; they were texts in francs once. */
const cents = Marshaller.make(Schema.Union([
  Schema.Int,
  Schema.FiniteFromString.pipe(Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((francs: number) => Math.round(francs * 100)),
    encode: SchemaGetter.transform((all) => all / 100)
  }))
]))

const shouted = Marshaller.make({
  store: Schema.String,
  wire: Schema.String.pipe(Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((text: string) => text.toLowerCase()),
    encode: SchemaGetter.transform((text) => text.toUpperCase())
  }))
})

class Reading extends Model.Class<Reading>()("Reading", {
  id: Model.id(),
  at: Model.DateTime.pipe(Validator.past, Model.marshalled(Marshaller.timestamp)),
  until: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp), Model.optional),
  day: Model.Date.pipe(Model.marshalled(Marshaller.mongoDateTime)),
  price: Schema.Int.pipe(Validator.min(1), Model.marshalled(cents)),
  word: Schema.String.pipe(Model.marshalled(shouted))
}) {}

const wire = { at: seconds, day: "2026-01-31", price: 1250, word: "HELLO" }
const create = Schema.decodeUnknownSync(Schema.toCodecJson(Reading.create))
const reading = new Reading({ id: "R1", at: moment, day: moment, price: 1250, word: "hello" })
const serialise = compileSerialiser(Reading)

describe("Marshaller", () => {
  it("timestamp: a date-time is a float UNIX timestamp outside, and back", () => {
    assert.deepStrictEqual(create(wire).at, moment)
    assert.strictEqual(recordEncoder(Reading, "_id")(reading)["at"], seconds)
  })

  it.prop("timestamp keeps every millisecond", [Arbitrary.schema(Marshaller.timestamp.wire)], ([any]) => {
    const { wire } = Marshaller.timestamp
    assert.deepStrictEqual(Schema.decodeUnknownSync(wire)(Schema.encodeUnknownSync(wire)(any)), any)
  })

  it("timestamp rejects years without four digits", () => {
    assert.throws(() => create({ ...wire, at: 1e12 }))
    assert.throws(() => create({ ...wire, at: Number.POSITIVE_INFINITY }))
  })

  it.effect("timestamp rejects a stored number out of range", () =>
    Effect.gen(function*() {
      for (const at of [Number.POSITIVE_INFINITY, Number.NaN, 1e15]) {
        const stored = { _id: "R1", at, day: DateTime.toDateUtc(moment), price: 1, word: "a" }
        const { problems } = yield* Effect.flip(Model.fromRecord(Reading, stored))
        assert.deepStrictEqual(problems.map(({ field, validator }) => [field, validator]), [["at", "Type"]])
      }
    }))

  it("mongoDateTime: a date is a BSON date in the store, and a date again when it is read", () => {
    const stored = recordEncoder(Reading, "_id")(reading)
    assert.deepStrictEqual(stored["day"], DateTime.toDateUtc(DateTime.makeUnsafe("2026-01-31T00:00:00Z")))
  })

  it.effect("with two codecs stores one form and shows another", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(moment.epochMilliseconds)
      const stored = { _id: "R1", at: seconds, day: DateTime.toDateUtc(moment), price: 1250, word: "hello" }
      const reading = yield* Model.fromRecord(Reading, stored)
      assert.strictEqual(reading.word, "hello")
      assert.strictEqual(JSON.parse(yield* Model.dumps(reading)).word, "HELLO")
      assert.strictEqual(JSON.parse(serialise(stored, "")!).word, "HELLO")
    }))

  it.effect("with an old form upgrades a document on the first read", () =>
    Effect.gen(function*() {
      const old = { _id: "R1", at: seconds, day: DateTime.toDateUtc(moment), price: "12.50", word: "hello" }
      const reading = yield* Model.fromRecord(Reading, old)
      assert.strictEqual(reading.price, 1250)
      assert.strictEqual(recordEncoder(Reading, "_id")(reading)["price"], 1250)
      assert.strictEqual(JSON.parse(serialise(old, "")!).price, 1250)
      assert.isUndefined(serialise({ ...old, price: true }, ""))
    }))

  it.effect("keeps null where it is a value", () =>
    Effect.gen(function*() {
      class Nullable extends Model.Class<Nullable>()("Nullable", {
        id: Schema.String,
        at: Schema.NullOr(Schema.FiniteFromString),
        days: Schema.Array(Schema.NullOr(Model.Date))
      }) {}
      const instance = new Nullable({ id: "N1", at: null, days: [null, DateTime.makeUnsafe(0)] })
      const { id, ...rest } = yield* Model.toRecord(instance)
      const text = compileSerialiser(Nullable)({ _id: id, ...rest }, "") ?? ""
      const expected = { _type: "Nullable", id: "N1", at: null, days: [null, "1970-01-01"] }
      assert.deepStrictEqual([JSON.parse(text), JSON.parse(yield* Model.dumps(instance))], [expected, expected])
      assert.deepStrictEqual(yield* Model.fromRecord(Nullable, { _id: id, ...rest }), instance)
    }))

  it.effect("keeps the checks of the schema", () =>
    Effect.gen(function*() {
      const future = DateTime.makeUnsafe("9000-01-01T00:00:00Z")
      const error = yield* Effect.flip(
        Model.finalise(Reading, { at: future, day: moment, price: 0, word: "a" })
      )
      assert.deepStrictEqual(error.problems.map(({ field, validator }) => [field, validator]), [
        ["at", "Past"],
        ["price", "Min"]
      ])
    }))

  it("has the decoded type in the metadata, and the wire type in the JSON schema", () => {
    assert.strictEqual(Model.metadata(Reading)["at"]?.type, "datetime")
    assert.strictEqual(Model.metadata(Reading)["price"]?.type, "int")
    // Every schema has properties.
    const properties = Model.jsonSchema(Reading)["properties"] as { readonly at: { readonly type: string } }
    assert.strictEqual(properties.at.type, "number")
  })
})
