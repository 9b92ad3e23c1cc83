import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, DateTime, Effect, Option, Schema, SchemaGetter } from "effect"
import * as SchemaParser from "effect/SchemaParser"
import { Model, Validator } from "../../../src/index.ts"
import { compileDecoder, invalid } from "../../../src/Model/codec/decoder.ts"
import { bodyDecoder } from "../../../src/Model/codec/explainer.ts"
import { problemsOf } from "../../../src/Model/codec/fieldProblems.ts"

class Part extends Model.Class<Part>()("Part", {
  width: Schema.Finite.pipe(Validator.min(0)),
  label: Schema.String.pipe(Validator.notEmpty, Model.optional)
}) {}

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id({ prefix: "T" }),
  name: Schema.String.pipe(Validator.notEmpty),
  // @effect-diagnostics-next-line schemaNumber:off
  any: Schema.Number,
  state: Schema.Literals(["open", "closed"]),
  size: Schema.Union([Schema.Int, Schema.Literal("huge")]),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  parts: Schema.Array(Part),
  main: Part.pipe(Model.optional),
  pair: Schema.Tuple([Schema.String, Schema.Int]),
  labels: Schema.Record(Schema.String, Schema.Boolean),
  free: Schema.Json.pipe(Model.optional),
  open: Schema.JsonObject.pipe(Model.optional),
  nulls: Schema.NonEmptyArray(Schema.Null).pipe(Model.optional),
  made: Model.DateTime,
  due: Model.Date.pipe(Validator.past, Model.optional),
  seen: Model.DateTime.pipe(Validator.past, Model.withDefault(() => DateTime.makeUnsafe(0))),
  days: Schema.Array(Model.Date).pipe(Validator.max(2), Model.optional),
  noted: Model.DateTime.pipe(Model.converted((moment) => Effect.succeed(moment)), Model.optional),
  supplied: Schema.optionalKey(Schema.String).pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transformOptional((text) => Option.orElseSome(text, () => "supplied")),
      encode: SchemaGetter.passthrough()
    })
  ),
  secret: Schema.Record(Schema.String, Schema.Finite).pipe(Model.optional, Model.omitted),
  code: Schema.Struct({ part: Part.create, digits: Schema.String.pipe(Validator.regexp(/^\d{3}$/u)) }).pipe(
    Model.optional,
    Model.omitted
  )
}) {}

const valid = {
  name: "a",
  any: 1,
  state: "open",
  size: 3,
  parts: [{ width: 1 }],
  pair: ["x", 1],
  labels: { a: true },
  made: "2026-01-31T09:30:00"
}

const known = [
  ...Object.values(valid),
  "",
  ["a", "b"],
  { width: 2, label: "b", more: 1 },
  null,
  undefined,
  -1,
  "NaN",
  "huge",
  true,
  "2026-02-30",
  "2999-12-31",
  "1999-12-31",
  ["1999-12-31", "2999-12-31", 3],
  "0000-01-01T00:00:00+00:01",
  "2999-12-31T00:00:00Z",
  { a: 1, b: "CANARY" },
  { part: { width: -1 }, digits: "CANARY" },
  { part: { width: 2 }, digits: "123" },
  { "": "CANARY" },
  JSON.parse(`{"__proto__":{"width":1}}`),
  // What `JSON.parse` makes of a number such as 1e400.
  Infinity,
  { a: [{ b: -Infinity }] },
  [],
  [null]
]

/** Values that are right for some field and wrong for others. */
const values = Arbitrary.all([
  Arbitrary.schema(Schema.Literals([...known.keys()])),
  Arbitrary.schema(Schema.Boolean),
  Arbitrary.schema(Schema.Json)
]).pipe(Arbitrary.map(([at, isKnown, other]) => isKnown ? known[at] : other))

const keys = Arbitrary.schema(Schema.Literals([...Object.keys(Thing.create.fields), "__proto__", "more"]))

const changes = Arbitrary.array(Arbitrary.all([keys, values]), { maxLength: 3 })

const changed = (base: object, entries: ReadonlyArray<readonly [string, unknown]>): object => {
  const body = { ...base }
  for (const [key, value] of entries) {
    Object.defineProperty(body, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return body
}

// Fields are plain codecs.
const jsonCodec = (schema: Schema.Top) => Schema.toCodecJson(schema as Schema.Codec<unknown>)

const codecOf = (model: Model.Any) => jsonCodec(model.create)

describe("the compiled decoder", () => {
  const codec = codecOf(Thing)
  const decode = compileDecoder(codec.ast)
  const expected = SchemaParser.decodeUnknownExit(codec)

  it.prop(
    "gives what the schema gives, or says no where the schema does, and leaves the input alone",
    [changes, values],
    ([entries, other]) => {
      for (const body of [changed(valid, entries), other]) {
        const before = structuredClone(body)
        const exit = expected(body)
        const actual = decode(body)
        if (exit._tag === "Success") assert.deepStrictEqual(actual, exit.value)
        else assert.strictEqual(actual, invalid)
        assert.deepStrictEqual(body, before)
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it("accepts valid values", () => {
    assert.notStrictEqual(decode(valid), invalid)
  })

  it("returns new objects and lists, without unknown keys", () => {
    const body = { ...valid, tags: ["a"], more: 1 }
    const thing = decode(body) as typeof Thing.create.Type // the body is valid
    assert.isFalse("more" in thing)
    assert.notStrictEqual(thing.tags, body.tags)
    assert.notStrictEqual(thing.parts[0], body.parts[0])
  })

  it("asks a flipped schema's own parser, which runs the checks of its input", () => {
    const short = Schema.flip(Schema.Array(Schema.String).check(Schema.isMaxLength(1)))
    const decodeShort = compileDecoder(short.ast)
    assert.deepStrictEqual(decodeShort(["a"]), ["a"])
    assert.strictEqual(decodeShort(["a", "b"]), invalid)
  })

  it("leaves dates to the schema's parser if the stored value or the text has further checks", () => {
    const text = Model.DateTime.from.pipe(
      Schema.decodeTo(Schema.String, {
        decode: SchemaGetter.transform((date) => date.toISOString()),
        encode: SchemaGetter.transform((text) => new Date(text))
      })
    )
    const early = Model.DateTime.from.check(Schema.makeFilter((date) => date.getTime() < 0)).pipe(
      Schema.decodeTo(Schema.DateTimeUtc, {
        decode: SchemaGetter.transform((date) => DateTime.makeUnsafe(date)),
        encode: SchemaGetter.transform((moment) => DateTime.toDateUtc(moment))
      })
    )
    assert.strictEqual(compileDecoder(jsonCodec(text).ast)(valid.made), "2026-01-31T09:30:00.000Z")
    assert.strictEqual(compileDecoder(jsonCodec(early).ast)(valid.made), invalid)
  })

  it("has the value that a field's own schema supplies for a missing one", () => {
    const thing = decode(valid) as typeof Thing.create.Type // the body is valid
    assert.strictEqual(thing.supplied, "supplied")
  })

  it("leaves fields with the name of an inherited property to the schema's parser", () => {
    const odd = Schema.Struct({ toString: Schema.Boolean })
    const decodeOdd = compileDecoder(odd.ast)
    assert.deepStrictEqual(decodeOdd({ toString: true, more: 1 }), { toString: true })
    assert.strictEqual(decodeOdd({}), invalid)
  })

  it("leaves the reasons of a failure to the schema's parser", () => {
    const decode = compileDecoder(codecOf(Part).ast)
    assert.strictEqual(decode({ width: -1 }), invalid)
    assert.strictEqual(decode([]), invalid)
  })
})

describe("the decoder of bodies", () => {
  const inOrder = Schema.Struct({ from: Schema.Int, to: Schema.Int.pipe(Validator.min(0)) }).check(
    Schema.makeFilter(({ from, to }) => from <= to ? undefined : { path: ["to"], issue: "is before from" })
  )

  /** What the schema's own parser says when it is asked for everything. */
  const expectedOf = (schema: Schema.Struct<Schema.Struct.Fields>) => {
    const decode = SchemaParser.decodeUnknownExit(jsonCodec(schema), { errors: "all" })
    return (body: unknown) => {
      const exit = decode(body)
      return exit._tag === "Success"
        ? { _tag: "Valid", value: exit.value }
        : { _tag: "Invalid", problems: problemsOf(Option.getOrThrow(Cause.findErrorOption(exit.cause))) }
    }
  }

  it("accepts only years of four digits, whatever other checks a date-time has", () => {
    const decode = compileDecoder(jsonCodec(Thing.wire.fields.noted).ast)
    assert.strictEqual(decode("0000-01-01T00:00:00+00:01"), invalid)
    assert.strictEqual(decode("9999-12-31T23:59:59-00:01"), invalid)
    assert.notStrictEqual(decode("9999-12-31T23:59:59"), invalid)
  })

  const variants = [Thing.create, Thing.patch, Thing.wire, Part.create] as const
  const decoders = variants.map((schema) => [bodyDecoder(schema), expectedOf(schema)] as const)

  it.prop("reports the schema's issues, in the same order", [changes, values], ([entries, other]) => {
    for (const body of [changed(valid, entries), changed({}, entries), other]) {
      for (const [decode, expected] of decoders) assert.deepStrictEqual<unknown>(decode(body), expected(body))
    }
  }, { arbitrary: { runs: 500 } })

  it.prop("reports a struct's check over several fields", [values, values], ([from, to]) => {
    assert.deepStrictEqual<unknown>(bodyDecoder(inOrder)({ from, to }), expectedOf(inOrder)({ from, to }))
  })

  it("reports every invalid field, and no omitted value", () => {
    const decode = bodyDecoder(Thing.create)
    const { made: _, ...rest } = valid
    const body = {
      ...rest,
      name: "",
      state: "lost",
      parts: [{ width: -1 }],
      seen: "yesterday",
      secret: { CANARY: "CANARY" }
    }
    const decoded = decode(body)
    assert.strictEqual(decoded._tag, "Invalid")
    const problems = decoded._tag === "Invalid" ? decoded.problems : []
    assert.deepStrictEqual(problems.map(({ field, validator }) => [field, validator]), [
      ["name", "NotEmpty"],
      ["state", "Type"],
      ["parts.0.width", "Min"],
      ["made", "Required"],
      ["seen", "Type"],
      ["secret", "Type"]
    ])
    assert.notInclude(JSON.stringify(problems), "CANARY")
  })

  it("reports a struct's check over several fields once each field is valid", () => {
    const decode = bodyDecoder(inOrder)
    assert.deepStrictEqual<unknown>(decode({ from: 1, to: 2 }), { _tag: "Valid", value: { from: 1, to: 2 } })
    const fieldsOf = (body: unknown) => {
      const decoded = decode(body)
      return decoded._tag === "Invalid" ? decoded.problems.map(({ field }) => field) : []
    }
    assert.deepStrictEqual(fieldsOf({ from: 2, to: 1 }), ["to"])
    assert.deepStrictEqual(fieldsOf({ from: "2", to: -1 }), ["from", "to"])
    assert.deepStrictEqual(fieldsOf(null), [""])
  })
})
