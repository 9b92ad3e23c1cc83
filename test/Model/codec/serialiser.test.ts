import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Result, Schema } from "effect"
import { compileSerialiser } from "../../../src/Model/codec/serialiser.ts"
import { Model, Validator } from "../../../src/Model/index.ts"

const canary = "CANARY"

class Inner extends Model.Class<Inner>()("Inner", {
  id: Model.id(),
  label: Schema.String,
  secret: Schema.String.pipe(Model.withDefault(() => canary), Model.omitted),
  count: Schema.Int.pipe(Validator.min(0), Model.withDefault(() => 3)),
  on: Model.Date.pipe(Model.optional)
}) {}

class All extends Model.Class<All>()("All", {
  id: Model.id(),
  text: Schema.String,
  int: Schema.Int,
  float: Schema.Finite,
  // @effect-diagnostics-next-line schemaNumber:off
  number: Schema.Number,
  flag: Schema.Boolean,
  kind: Schema.Literals(["a", "b\n", 3]),
  size: Schema.Enum({ small: "S", large: "L" }),
  tags: Schema.Array(Schema.String),
  matrix: Schema.Array(Schema.Array(Schema.Int)),
  record: Schema.Record(Schema.String, Schema.Int),
  struct: Schema.Struct({ at: Model.DateTime, maybe: Schema.optionalKey(Schema.String), nothing: Schema.Null }),
  tuple: Schema.Tuple([Schema.String, Schema.Int]),
  union: Schema.Union([Schema.String, Schema.Int]),
  large: Schema.BigInt,
  at: Model.DateTime,
  on: Model.Date,
  days: Schema.Array(Model.Date),
  inner: Inner,
  maybe: Inner.pipe(Model.optional),
  perhaps: Schema.NullOr(Inner).pipe(Model.optional),
  nullable: Schema.NullOr(Inner),
  plainly: Schema.optionalKey(Inner),
  list: Schema.Array(Inner),
  gaps: Schema.Array(Schema.NullOr(Inner)),
  note: Schema.String.pipe(Model.optional),
  since: Model.DateTime.pipe(Model.optional),
  words: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["one", "two"])),
  epoch: Model.DateTime.pipe(Model.withDefault(() => DateTime.makeUnsafe(0))),
  first: Inner.pipe(Model.withDefault(() => new Inner({ id: "I", label: "first" }))),
  both: Schema.String.pipe(Model.optional, Model.withDefault(() => "both")),
  secret: Schema.String.pipe(Model.withDefault(() => canary), Model.omitted),
  ...Model.versioned
}) {}

const positive = Schema.Int.pipe(Validator.min(1))

const serialise = compileSerialiser(All)

type Document = { readonly [key: string]: unknown }

const documentOf = (all: All): Document => {
  const { id, ...fields } = Schema.encodeSync(All)(all)
  return { _id: id, ...fields }
}

/** What the schemas themselves make of a document, without the compiled serialiser. */
const genericText = (document: Document): string | undefined => {
  const { _id, ...fields } = document
  const all = Schema.decodeUnknownResult(All)({ id: _id, ...fields })
  if (Result.isFailure(all)) return undefined
  return JSON.stringify(Schema.encodeSync(Schema.toCodecJson(All.wire))(toWire(all.success)))
}

const toWire = ({ maybe, perhaps, plainly, ...all }: All): typeof All.wire.Type => ({
  _type: "All",
  ...all,
  inner: toInner(all.inner),
  first: toInner(all.first),
  nullable: all.nullable === null ? null : toInner(all.nullable),
  list: all.list.map(toInner),
  gaps: all.gaps.map((inner) => inner === null ? null : toInner(inner)),
  ...(maybe === undefined ? {} : { maybe: toInner(maybe) }),
  ...(perhaps === undefined || perhaps === null ? {} : { perhaps: toInner(perhaps) }),
  ...(plainly === undefined ? {} : { plainly: toInner(plainly) })
})

const toInner = (inner: Inner): typeof Inner.wire.Type => ({ _type: "Inner", ...inner })

const instances = Arbitrary.schema(All)

const integers = Arbitrary.schema(Schema.Int)

const floats = Arbitrary.schema(Schema.Finite)

const pieces = ["a", "é", "漢", "🔑", "\ud800", "\udfff", "\u0000", "\n", "\u001f", "\u007f", "\u2028", `"`, "\\", "</"]

const strange = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 80 }),
  (chosen) => chosen.join("")
)

/** Whether new documents may have the identifier. */
const isAddressable = (id: string) => id.isWellFormed() && !["", ".", ".."].includes(id) && !id.includes("\0")

const someFields = Arbitrary.array(Arbitrary.schema(Schema.Literals(Object.keys(All.fields))), { maxLength: 6 })

const anything: Arbitrary.Arbitrary<unknown> = Arbitrary.schema(Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.Finite,
  Schema.String,
  Schema.Literals(["S", "a", 3]),
  Schema.BigInt,
  Schema.Date,
  Schema.Array(Schema.Union([Schema.Null, Schema.String, Schema.Int])),
  Schema.Record(Schema.String, Schema.Int),
  Schema.Struct({ id: Schema.Literals(["I", "é🔑"]), label: Schema.String, count: Schema.optionalKey(Schema.Natural) })
]))

describe("the compiled serialiser", () => {
  it.prop("writes what the schemas write, key by key", [instances, strange], ([all, text]) => {
    const document = documentOf(new All({ ...all, text, note: text, tags: [text], record: { [text]: 1 } }))
    const written = serialise(document, "")
    assert.strictEqual(written, genericText(document))
    assert.deepStrictEqual(JSON.parse(written!).text, text)
  })

  it.prop("treats missing values as the schemas do", [instances, someFields, someFields], ([all, missing, empty]) => {
    const document = { ...documentOf(all), ...allOf(missing, undefined), ...allOf(empty, null) }
    const present = Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined))
    assert.strictEqual(serialise(present, ""), genericText(present))
    assert.strictEqual(serialise(document, ""), genericText(present), "undefined is as good as absent")
  })

  it.prop(
    "refuses what the schemas refuse, and gives no text of it",
    [instances, someFields, anything],
    ([all, keys, value]) => {
      // What is stored is shown, also if it could not be written any more.
      const others = typeof value === "string" && !isAddressable(value) ? keys.filter((key) => key !== "id") : keys
      const document = { ...documentOf(all), ...allOf(others, value) }
      assert.strictEqual(serialise(document, ""), genericText(document))
    },
    { arbitrary: { runs: 400 } }
  )

  it.each<[string, Schema.Codec<unknown, unknown>, stored: unknown]>([
    ["record", Schema.Record(Schema.String, positive), { a: 0 }],
    ["record of keys with a rule", Schema.Record(Schema.String.check(Schema.isMaxLength(3)), positive), { a: 0 }],
    ["record of structs", Schema.Record(Schema.String, Schema.Struct({ a: positive })), { b: { a: 0 } }],
    ["list of records", Schema.Array(Schema.Record(Schema.String, positive)), [{ a: 0 }]],
    ["tuple", Schema.Tuple([positive, Schema.NonEmptyString]), [0, ""]],
    ["union", Schema.Union([positive, Schema.NonEmptyString]), 0],
    [
      "object with more members",
      Schema.StructWithRest(Schema.Struct({ a: positive }), [
        Schema.Record(Schema.TemplateLiteral(["b", Schema.String]), positive)
      ]),
      { a: 0, bc: 0 }
    ],
    ["list", Schema.NonEmptyArray(positive), [0]],
    ["struct with a record", Schema.Struct({ a: Schema.Record(Schema.String, positive) }), { a: { b: 0 } }]
  ])("writes a %s that breaks rules of today", (_, schema, stored) => {
    class Shop extends Model.Class<Shop>()("Shop", { id: Model.id(), value: schema }) {}
    assert.strictEqual(
      compileSerialiser(Shop)({ _id: "S", value: stored }, ""),
      `{"_type":"Shop","id":"S","value":${JSON.stringify(stored)}}`
    )
  })

  it.prop("writes numbers as JavaScript does", [instances, integers, floats], ([all, int, other]) => {
    const document = documentOf(all)
    for (const float of [int / 100, int % 1e9 / 100, int % 1e5 / 100, int % 1e5 / 1_000, int % 1e5 * 1.1, other]) {
      assert.include(serialise({ ...document, float }, "")!, `"float":${float},`)
    }
  }, { arbitrary: { runs: 400 } })

  it.prop("never writes omitted fields", [instances], ([all]) => {
    const leaky = new Inner({ id: "I", label: "leaky", secret: canary })
    const document = documentOf(
      new All({
        ...all,
        secret: canary,
        inner: leaky,
        maybe: leaky,
        perhaps: leaky,
        nullable: leaky,
        plainly: leaky,
        list: [leaky, leaky],
        gaps: [null, leaky],
        first: leaky
      })
    )
    assert.include(JSON.stringify({ ...document, large: null }), canary)
    assert.notInclude(serialise(document, "")!, canary)
    assert.notInclude(serialise(document, "")!, "secret")
    assert.strictEqual(serialise(document, "")!.split("leaky").length - 1, 9)
  })

  it("writes the defaults of missing fields, in nested models too", () => {
    class Old extends Model.Class<Old>()("Old", { id: Model.id(), first: Inner, words: All.fields.words }) {}
    const text = compileSerialiser(Old)({ _id: "O1", first: { id: "I", label: "l" }, words: [] }, "")
    assert.strictEqual(
      text,
      `{"_type":"Old","id":"O1","first":{"_type":"Inner","id":"I","label":"l","count":3},"words":[]}`
    )
  })

  it("writes only numbers of the field's type", () => {
    class Numbers extends Model.Class<Numbers>()("Numbers", {
      int: Schema.Int,
      float: Schema.Finite.pipe(Model.optional)
    }) {}
    const write = compileSerialiser(Numbers)
    assert.strictEqual(write({ int: -0, float: 1e21 }, ""), `{"_type":"Numbers","int":0,"float":1e+21}`)
    for (const int of [1.5, Number.NaN, 2 ** 53, "1", null]) assert.isUndefined(write({ int }, ""), String(int))
    for (const float of [Infinity, Number.NaN, "1"]) assert.isUndefined(write({ int: 1, float }, ""), String(float))
  })

  it("writes links after the type, and accepts an object without fields", () => {
    class Empty extends Model.Class<Empty>()("Empty", { note: Schema.String.pipe(Model.optional) }) {}
    const write = compileSerialiser(Empty)
    const links = `"_links":{},`
    assert.strictEqual(write({ note: "n" }, links), `{"_type":"Empty","_links":{},"note":"n"}`)
    assert.strictEqual(write({}, links), `{"_type":"Empty","_links":{}}`)
    assert.strictEqual(write({}, ""), `{"_type":"Empty"}`)
  })

  it("writes recursive models", () => {
    interface Stored {
      readonly name: string
      readonly secret?: string | null
      readonly children: ReadonlyArray<Stored>
    }
    class Category extends Model.Class<Category>()("Category", {
      name: Schema.String,
      secret: Schema.String.pipe(Model.optional, Model.omitted),
      children: Schema.Array(Schema.suspend((): Schema.Codec<Category, Stored> => Category))
    }) {}
    const write = compileSerialiser(Category)
    const document = (name: string, ...children: ReadonlyArray<object>) => ({ name, secret: canary, children })
    assert.strictEqual(
      write(document("a", document("b", document("c"))), ""),
      `{"_type":"Category","name":"a","children":[{"_type":"Category","name":"b","children":[` +
        `{"_type":"Category","name":"c","children":[]}]}]}`
    )
    assert.isUndefined(write(document("a", document("b", { name: 3, children: [] })), ""))
  })

  it("dies for a model that is nested in a suspended schema", () => {
    const Hiding = Model.Class<unknown>()("Hiding", {
      inner: Schema.Struct({ deep: Schema.suspend(() => Schema.Struct({ model: Inner })) })
    })
    assert.throws(() => compileSerialiser(Hiding), /^Hiding\.inner holds the model Inner/u)
  })
})

/** The value in each of these fields, but for those where the serialiser differs from the schemas. */
const allOf = (fields: ReadonlyArray<string>, value: unknown): Document =>
  Object.fromEntries(
    fields.filter((field) => !isIndifferent(field, value)).map((field) => [field === "id" ? "_id" : field, value])
  )

/**
 * The serialiser looks neither at what is omitted nor at validators; and it takes `null` for nothing wherever nothing is
 * allowed, which `Schema.optionalKey` of its own does not.
 */
const isIndifferent = (field: string, value: unknown): boolean =>
  field === "secret" || field === "id" && value === "" || field === "plainly" && value === null
