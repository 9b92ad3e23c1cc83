/** Filters of a URL by values of every kind of field: they find what `query` finds, and what plain code finds. */
import { assert, it } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Order, Result, Schema, SchemaGetter } from "effect"
import * as UrlQuery from "../../../src/Http/query/urlQuery.ts"
import { DocumentStore, EmbeddedStore, type Field, Marshaller, Model } from "../../../src/index.ts"
import { documentCodec } from "../../../src/Repository/collection/documentCodec.ts"
import { quoted } from "../../support/quoted.ts"

/** A field, and values as callers send them; `undefined` is none. */
interface Sampled {
  readonly value: Field.Field.Input
  readonly json: ReadonlyArray<unknown>
  /** The order of the values, if the store has it. */
  readonly order?: Order.Order<never>
}

const CentsText = Schema.String.check(Schema.isPattern(/^\d+\.\d\d$/u)).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((text: string) => Math.round(Number(text) * 100)),
    encode: SchemaGetter.transform((cents: number) => (cents / 100).toFixed(2))
  })
)

const YesOrNo = Schema.Literals(["Y", "N"]).pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transform((text: "Y" | "N") => text === "Y"),
    encode: SchemaGetter.transform((is: boolean) => is ? "Y" as const : "N" as const)
  })
)

const times = [
  "2026-01-30T23:59:59.999Z",
  "2026-01-31T00:00:00.000Z",
  "2026-01-31T09:30:00.000Z",
  "2026-01-31T23:59:59.999Z",
  "2026-02-01T00:00:00.000Z",
  "9999-12-31T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z"
]

const millis = times.map((time) => DateTime.makeUnsafe(time).epochMilliseconds)

const words = ["a", "5", "true", "null", "1.00"]

const moments: { readonly [name: string]: Sampled } = {
  modelDateTime: { value: Model.DateTime, json: times.map((time) => time.replace("Z", "000")), order: DateTime.Order },
  timestamp: {
    value: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
    json: millis.map((time) => time / 1000),
    order: DateTime.Order
  },
  dateTimeUtc: { value: Schema.DateTimeUtc, json: times, order: DateTime.Order },
  dateTimeUtcFromMillis: { value: Schema.DateTimeUtcFromMillis, json: millis, order: DateTime.Order },
  dateTimeUtcFromString: { value: Schema.DateTimeUtcFromString, json: times },
  date: { value: Schema.Date, json: times, order: Order.Date },
  dateFromMillis: { value: Schema.DateFromMillis, json: millis, order: Order.Date },
  dateFromString: { value: Schema.DateFromString, json: times },
  nullableDate: { value: Schema.NullOr(Schema.Date), json: [...times, null], order: Order.Date }
}

const kinds: { readonly [name: string]: Sampled } = {
  ...moments,
  string: { value: Schema.String, json: words, order: Order.String },
  int: { value: Schema.Int, json: [-1, 0, 7, 12], order: Order.Number },
  finite: { value: Schema.Finite, json: [-1.5, 0, 1e21, 3], order: Order.Number },
  finiteFromString: { value: Schema.FiniteFromString, json: ["9", "10", "10.5"] },
  bigint: { value: Schema.BigInt, json: ["9007199254740992", "9007199254740993", "-1"], order: Order.BigInt },
  bigDecimal: { value: Schema.BigDecimal, json: ["1.5", "10", "0.1234567890123456789"], order: BigDecimal.Order },
  boolean: { value: Schema.Boolean, json: [true, false] },
  booleanFromBit: { value: Schema.BooleanFromBit, json: [1, 0] },
  yesOrNo: { value: YesOrNo, json: ["Y", "N"] },
  literals: { value: Schema.Literals(["1", "x", 1, 2]), json: ["1", "x", 1, 2] },
  cents: {
    value: Schema.Int.pipe(Model.marshalled(Marshaller.make({ store: Schema.Int, wire: CentsText }))),
    json: ["0.50", "1.00", "2.00", "12.50", "100.00"],
    order: Order.Number
  },
  centsInText: { value: CentsText, json: ["0.50", "1.00", "12.50"] },
  optional: { value: Schema.String.pipe(Model.optional), json: ["x", undefined] },
  nullable: { value: Schema.NullOr(Schema.Int), json: [5, null], order: Order.Number },
  optionFromNull: { value: Schema.OptionFromNullOr(Schema.String), json: ["x", null] },
  optionFromNullInt: { value: Schema.OptionFromNullOr(Schema.Int), json: [5, 6, null] },
  optionFromKey: { value: Schema.OptionFromOptionalKey(Schema.String), json: ["x", undefined] },
  optionFromOptional: { value: Schema.OptionFromOptional(Schema.Int), json: [5, undefined] }
}

const found = Effect.fnUntraced(function*(model: Model.Any, parameters: UrlQuery.Parameters) {
  const store = yield* DocumentStore.DocumentStore
  const read = UrlQuery.make(model, { defaultPageSize: 50, maxPageSize: 1_000 })(parameters)
  const { filter } = Result.getOrThrowWith(read, (problems) => new Error(JSON.stringify([parameters, problems])))
  return (yield* store.find(model.modelName, { filter, sort: { _id: 1 } })).map(({ _id }) => Number(_id))
})

/** Inserts a document for each value, whose identifier is its index. */
const stored = Effect.fnUntraced(function*(name: string, { json, value }: Sampled) {
  const model = class extends Model.Class<{ readonly value: unknown }>()(`Sample${name}`, { id: Model.id(), value }) {}
  const store = yield* DocumentStore.DocumentStore
  const instances = yield* Effect.forEach(
    json,
    (given, i) =>
      Model.fromWire(model, { _type: model.modelName, id: String(i), ...given === undefined ? {} : { value: given } })
  )
  const { toDocument } = documentCodec(model)
  yield* store.insertMany(model.modelName, instances.map((instance) => toDocument(instance)), { ordered: false })
  return { model, values: instances.map(({ value }) => value) }
})

/** Where the predicate holds. */
const where = <A>(all: ReadonlyArray<A>, holds: (one: A) => boolean) => all.flatMap((one, i) => holds(one) ? [i] : [])

const termsOf = (json: unknown): ReadonlyArray<string> =>
  typeof json === "string"
    ? /^[a-z0-9.:TZ-]+$/iu.test(json) ? [json, quoted(json)] : [quoted(json)]
    : [String(json)]

it.layer(EmbeddedStore.layerMemory)("filters by values", (it) => {
  for (const [name, sampled] of Object.entries(kinds)) {
    it.effect(`${name}: the text of a value finds the documents that query and plain code find`, () =>
      Effect.gen(function*() {
        const { json, order } = sampled
        const { model, values } = yield* stored(name, sampled)
        const mayBeMissing = json.some((one) => one === undefined || one === null)
        const isUnclear = (text: string) =>
          json.some((one) => typeof one !== "string" && String(one) === text) && json.includes(text) ||
          mayBeMissing && text === "null"
        for (const [i, one] of json.entries()) {
          const equal = where(json, (other) => other === one)
          const others = where(json, (other) => other !== one)
          const query = JSON.stringify({ value: one ?? null })
          assert.deepStrictEqual(yield* found(model, { query }), equal, query)
          for (const term of one === undefined ? ["null"] : termsOf(one)) {
            if (typeof one === "string" && isUnclear(term)) continue
            assert.deepStrictEqual(yield* found(model, { value: term }), equal, term)
            assert.deepStrictEqual(yield* found(model, { value: `[${term}]` }), equal, `[${term}]`)
            assert.deepStrictEqual(yield* found(model, { value: `!${term}` }), others, `!${term}`)
            if (order === undefined || one === undefined || one === null) continue
            const isGreater = Order.isGreaterThan(order as Order.Order<unknown>)
            const isPresent = (other: unknown) => other !== null && other !== undefined
            const after = where(values, (other) => isPresent(other) && isGreater(other, values[i]))
            const upTo = where(values, (other) => isPresent(other) && !isGreater(other, values[i]))
            assert.deepStrictEqual(yield* found(model, { value: `>${term}` }), after, `>${term}`)
            assert.deepStrictEqual(yield* found(model, { value: `<=${term}` }), upTo, `<=${term}`)
            const later = JSON.stringify({ value: { $gt: one } })
            assert.deepStrictEqual(yield* found(model, { query: later }), after, later)
          }
        }
      }))
  }

  for (const [name, sampled] of Object.entries(moments)) {
    it.effect(`${name}: a date is the whole of that day, also the last one that there is`, () =>
      Effect.gen(function*() {
        const { model, values } = yield* stored(`Day${name}`, sampled)
        const dayOf = (value: unknown) =>
          value === null ? "" : DateTime.formatIsoDateUtc(DateTime.makeUnsafe(value as DateTime.Utc | Date))
        for (const day of ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02", "9999-12-31"]) {
          const expected: { readonly [operator: string]: (value: string) => boolean } = {
            "": (value) => value === day,
            "!": (value) => value !== day,
            ...sampled.order === undefined ? {} : {
              ">": (value) => value > day,
              ">=": (value) => value >= day,
              "<": (value) => value !== "" && value < day,
              "<=": (value) => value !== "" && value <= day
            }
          }
          for (const [operator, holds] of Object.entries(expected)) {
            const term = `${operator}${day}`
            assert.deepStrictEqual(
              yield* found(model, { value: term }),
              where(values, (value) => holds(dayOf(value))),
              term
            )
          }
        }
      }))
  }

  it.effect("booleans are read in words, whatever their JSON form is", () =>
    Effect.gen(function*() {
      for (const name of ["boolean", "booleanFromBit", "yesOrNo"]) {
        const { model } = yield* stored(`Words${name}`, kinds[name]!)
        for (const yes of ["true", "yes", "y", "on"]) {
          assert.deepStrictEqual(yield* found(model, { value: yes }), [0], yes)
        }
        for (const no of ["false", "no", "n", "off"]) {
          assert.deepStrictEqual(yield* found(model, { value: no }), [1], no)
        }
      }
    }))
})
