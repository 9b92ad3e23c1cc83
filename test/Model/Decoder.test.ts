import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as SchemaParser from "effect/SchemaParser"
import { Model, Validator } from "../../src/index.ts"
import { compileDecoder, invalid } from "../../src/Model/internal/decoder.ts"

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
  made: Model.DateTime
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
  JSON.parse(`{"__proto__":{"width":1}}`)
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

const codecOf = (model: Model.Any) => Schema.toCodecJson(model.create as unknown as Schema.Codec<unknown>)

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

  it("accepts what is valid", () => {
    assert.notStrictEqual(decode(valid), invalid)
  })

  it("gives a valid value itself, without a copy", () => {
    const decode = compileDecoder(codecOf(Part).ast)
    const part = { width: 1 }
    assert.strictEqual(decode(part), part)
  })

  it("leaves fields that every object inherits to the parser of the schema", () => {
    const odd = Schema.Struct({ toString: Schema.Boolean })
    const decodeOdd = compileDecoder(odd.ast)
    assert.deepStrictEqual(decodeOdd({ toString: true, more: 1 }), { toString: true })
    assert.strictEqual(decodeOdd({}), invalid)
  })

  it("leaves the reasons to the parser of the schema", () => {
    const decode = compileDecoder(codecOf(Part).ast)
    assert.strictEqual(decode({ width: -1 }), invalid)
    assert.strictEqual(decode([]), invalid)
  })
})
