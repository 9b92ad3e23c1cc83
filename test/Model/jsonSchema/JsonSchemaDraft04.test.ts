import { assert, describe, it } from "@effect/vitest"
import Ajv from "ajv-draft-04"
import addFormats from "ajv-formats"
import { Arbitrary, DateTime, Option, Predicate, Result, Schema } from "effect"
import { compileSerialiser } from "../../../src/Model/codec/serialiser.ts"
import { Model, Validator } from "../../../src/Model/index.ts"

/**
 * A difference between the schema and the decoder: only one of them accepts the example.
 */
interface Difference {
  readonly reason: string
  readonly fields: Fields
  readonly example: Json
  readonly accepts: "schema" | "decoder"
  /** The values of the fields of which this may be so. */
  readonly covers: (value: Json) => boolean
}

type Fields = Model.Model.Fields
type Json = Schema.Json

class Inmost extends Model.Class<Inmost>()("Inmost", {
  bounded: Schema.String.pipe(Validator.min(2), Validator.max(5)),
  dayMaybe: Model.Date.pipe(Model.optional)
}) {}

class Inner extends Model.Class<Inner>()("Inner", {
  id: Model.id(),
  secret: Schema.String.pipe(Model.omitted),
  inmosts: Schema.Array(Inmost).pipe(Validator.max(2)),
  inmostMaybe: Inmost.pipe(Model.optional)
}) {}

interface StoredTree {
  readonly text: string
  readonly branches: ReadonlyArray<StoredTree>
}

class Tree extends Model.Class<Tree>()("Tree", {
  text: Schema.String,
  branches: Schema.Array(Schema.suspend((): Schema.Codec<Tree, StoredTree> => Tree))
}) {}

const Kind = Schema.Enum({ private: "private", company: "company" }).annotate({ identifier: "Kind" })

const Period = Schema.Struct({ from: Model.Date, to: Schema.optionalKey(Model.DateTime) }).annotate({
  identifier: "Period"
})

/** Fields of every kind, by a name that is theirs wherever they stand. */
const kinds = {
  text: Schema.String,
  filled: Schema.String.pipe(Validator.notEmpty),
  bounded: Schema.String.pipe(Validator.min(2), Validator.max(5)),
  letters: Schema.String.pipe(Validator.regexp(/^[a-cé🔑]{1,3}$/u)),
  both: Schema.String.pipe(Validator.regexp(/^a/u), Validator.regexp(/[bc]$/u), Validator.max(3)),
  int: Schema.Int,
  digit: Schema.Int.pipe(Validator.min(0), Validator.max(9)),
  fives: Schema.Int.check(Schema.isMultipleOf(5)),
  float: Schema.Finite,
  ratio: Schema.Finite.pipe(Validator.min(0), Validator.max(1)),
  positive: Schema.Finite.check(Schema.isGreaterThan(0)),
  // @effect-diagnostics-next-line schemaNumber:off
  number: Schema.Number,
  // @effect-diagnostics-next-line schemaNumber:off
  upward: Schema.Number.pipe(Validator.min(0)),
  flag: Schema.Boolean,
  day: Model.Date,
  kind: Kind,
  level: Schema.Enum({ low: 1, high: 2 }),
  size: Schema.Literals(["S", "L"]),
  mixed: Schema.Literals(["a", 1, true]),
  chosen: Schema.Literals(["a", "ab", "abc"]).pipe(Validator.min(2)),
  list: Schema.Array(Schema.String),
  few: Schema.Array(Schema.Int).pipe(Validator.notEmpty, Validator.max(3)),
  matrix: Schema.Array(Schema.Array(Schema.Finite)),
  moments: Schema.Array(Model.DateTime),
  unique: Schema.UniqueArray(Schema.Union([Schema.String, Schema.Int])),
  someone: Schema.NonEmptyArray(Schema.String),
  pair: Schema.Tuple([Schema.String, Schema.optionalKey(Schema.Int)]),
  headed: Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Schema.Int]),
  struct: Schema.Struct({ day: Model.Date, maybe: Schema.optionalKey(Schema.String) }),
  period: Period,
  record: Schema.Record(Schema.String, Schema.Int),
  extensions: Schema.Record(Schema.String.check(Schema.isPattern(/^x-/u)), Schema.String),
  open: Schema.StructWithRest(Schema.Struct({ a: Schema.String }), [Schema.Record(Schema.String, Schema.String)]),
  union: Schema.Union([Schema.String.pipe(Validator.min(2)), Schema.Int, Model.Date]),
  shape: Schema.Union([
    Schema.Struct({ a: Schema.String }),
    Schema.Struct({ b: Schema.Int, a: Schema.optionalKey(Schema.Int) })
  ]),
  nullable: Schema.NullOr(Schema.String.pipe(Validator.notEmpty)),
  nullableKind: Schema.NullOr(Kind),
  undefinable: Schema.optional(Schema.Int),
  email: Schema.String.pipe(Validator.email),
  large: Schema.BigInt,
  anything: Schema.Json,
  inner: Inner,
  inners: Schema.Array(Inner),
  nullableInner: Schema.NullOr(Inner),
  tree: Tree
} satisfies Fields

const momentOf = Schema.decodeUnknownOption(Schema.toCodecJson(Model.DateTime))

const numberOf = Schema.decodeUnknownOption(Schema.FiniteFromString)

/**
 * All differences there are. The first three are on purpose: the schema is also for what a caller sends. The others are
 * what the words of draft-04, or their usual meaning, are too few for.
 */
const differences = {
  untyped: {
    reason: "`_type` names the model and is none of its fields: a caller need not send it",
    fields: { inner: Inner },
    example: { inner: { id: "I1", inmosts: [] } },
    accepts: "schema",
    covers: () => false
  },
  supplied: {
    reason: "what the server supplies is not required: a caller need not send it",
    fields: { inner: Inner },
    example: { _type: "Holder", inner: { _type: "Inner", inmosts: [] } },
    accepts: "schema",
    covers: () => false
  },
  noteMaybe: {
    reason: "`null` in an optional field means the same as leaving it out, to whoever reads what a caller sends",
    fields: { noteMaybe: Schema.String.pipe(Model.optional) },
    example: { _type: "Holder", noteMaybe: null },
    accepts: "schema",
    covers: () => false
  },
  moment: {
    reason: "a zone may move the first and the last day that can be written out of the years 0000 to 9999",
    fields: { moment: Model.DateTime },
    example: { _type: "Holder", moment: "0000-01-01T00:00:00+01:00" },
    accepts: "schema",
    covers: (value) => Predicate.isString(value) && /^(?:0000-01-01|9999-12-31).*[+-]/u.test(value)
  },
  past: {
    reason: "`Validator.past` and `Validator.future` depend on when they are asked",
    fields: { past: Model.DateTime.pipe(Validator.past) },
    example: { _type: "Holder", past: "9999-01-01T00:00:00" },
    accepts: "schema",
    covers: (value) => Option.exists(momentOf(value), DateTime.isGreaterThan(DateTime.nowUnsafe()))
  },
  filtered: {
    reason: "a filter is code",
    fields: { filtered: Schema.Int.check(Schema.makeFilter((n) => n % 2 === 0)) },
    example: { _type: "Holder", filtered: 1 },
    accepts: "schema",
    covers: (value) => Predicate.isNumber(value) && value % 2 !== 0
  },
  flagged: {
    reason: "a pattern has no flags, so that only one with the flag `u` and none that changes its meaning is written",
    fields: { flagged: Schema.String.pipe(Validator.regexp(/^[a-c]+$/i)) },
    example: { _type: "Holder", flagged: "d" },
    accepts: "schema",
    covers: (value) => Predicate.isString(value) && !/^[a-c]+$/iu.test(value)
  },
  units: {
    reason:
      "`Schema.isMinLength` and its like count UTF-16 units of text, JSON schema characters as `Validator.min` does",
    fields: { units: Schema.String.check(Schema.isMinLength(3)) },
    example: { _type: "Holder", units: "ab" },
    accepts: "schema",
    covers: (value) => Predicate.isString(value) && value.length < 3
  },
  template: {
    reason: "the checks of a template literal's parts are not part of its pattern",
    fields: { template: Schema.TemplateLiteral(["v", Schema.Int]) },
    example: { _type: "Holder", template: "v1.5" },
    accepts: "schema",
    covers: (value) => Predicate.isString(value) && /^v.*[.e]/iu.test(value)
  },
  parsed: {
    reason: "of a type that is written as text, such as `Schema.FiniteFromString` or `Schema.Date`, only that is known",
    fields: { parsed: Schema.FiniteFromString },
    example: { _type: "Holder", parsed: "one" },
    accepts: "schema",
    covers: (value) => Predicate.isString(value) && Option.isNone(numberOf(value))
  },
  tenths: {
    reason: "many validators divide binary fractions when they look at `multipleOf`: 0.3 is none of 0.1",
    fields: { tenths: Schema.Finite.check(Schema.isMultipleOf(0.1)) },
    example: { _type: "Holder", tenths: 0.3 },
    accepts: "decoder",
    covers: (value) => Predicate.isNumber(value)
  },
  sameMoments: {
    reason: "`uniqueItems` compares what is written, and not what it means",
    fields: { sameMoments: Schema.UniqueArray(Model.DateTime) },
    example: { _type: "Holder", sameMoments: ["2026-01-31T09:30:00", "2026-01-31T09:30:00Z"] },
    accepts: "schema",
    covers: (value) => Array.isArray(value)
  },
  trailed: {
    reason: "draft-04 can't tell the last elements of an array from those before them",
    fields: { trailed: Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Schema.Int, Schema.Boolean]) },
    example: { _type: "Holder", trailed: ["a", "b", "c"] },
    accepts: "schema",
    covers: (value) => Array.isArray(value)
  },
  keyed: {
    reason: "draft-04 has no rules for keys but patterns",
    fields: { keyed: Schema.Record(Schema.String.check(Schema.isMinCodePoints(2)), Schema.Int) },
    example: { _type: "Holder", keyed: { ab: "a" } },
    accepts: "schema",
    covers: (value) => Predicate.isObject(value)
  },
  counted: {
    reason: "unknown properties are properties, too, where a schema counts them",
    fields: {
      counted: Schema.Struct({ a: Schema.optionalKey(Schema.Json) }).check(Schema.isMinProperties(1))
    },
    example: { _type: "Holder", counted: { unknown: true } },
    accepts: "schema",
    covers: (value) => Predicate.isObject(value)
  },
  exactlyOne: {
    reason: "whether exactly one of several schemas fits can't be told from schemas that say less than the decoder",
    fields: {
      exactlyOne: Schema.Union([
        Schema.Struct({ a: Schema.optionalKey(Schema.Json) }),
        Schema.Struct({ b: Schema.optionalKey(Schema.Json) })
      ], { mode: "oneOf" })
    },
    example: { _type: "Holder", exactlyOne: {} },
    accepts: "schema",
    covers: (value) => Predicate.isObject(value)
  }
} satisfies { readonly [field: string]: Difference }

const fields: Fields = Object.assign({}, kinds, ...Object.values(differences).map((difference) => difference.fields))

/** Values that are right for some kind of field, or nearly so. */
const values: ReadonlyArray<Json> = Object.values<ReadonlyArray<Json>>({
  plain: [null, true, false, 0, 1, 2, 5, 9, 10, -1, -5, 1.5, 0.3, 2 ** 53 - 1, 2 ** 53, 1e300],
  texts: ["", "a", "ab", "abc", "abcd", "abcde", "abcdef", "d", "x", "a\n"],
  characters: ["é🔑", "🔑", "🔑🔑", "🔑🔑🔑🔑🔑", "🔑🔑🔑🔑🔑🔑"],
  literals: ["private", "S", "M", "NaN", "Infinity", "-Infinity", "12", "-12", "1.5", "v1", "v1.5", "v"],
  emails: ["a@b.ch", "a@b", "a..b@c.ch", ".a@b.ch", "a.@b.ch", "a@-b.ch", "a b@c.ch", "A+a@B.CH", "é@b.ch"],
  days: ["2026-01-31", "2026-02-30", "2026-04-31", "2026-13-01", "2026-01-00", "26-01-01", "2026-1-1"],
  leapDays: ["2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-02-29", "2026-02-29T09:30:00"],
  times: ["2026-01-31T09:30:00.123000", "2026-01-31 09:30", "9999-12-31T23:59:59.999999999", "0000-01-01T00:00"],
  wrongTimes: ["2026-01-31T24:00:00", "2026-01-31T09:60", "2026-01-31T23:59:60Z", "2026-01-31T09", "2026-01-31T9:30"],
  fractions: ["2026-01-31T09:30:00.1234567890", "2026-01-31T09:30:00."],
  zones: ["2024-02-29T09:30:00z", "2024-02-29t09:30:00", "2026-01-31T09:30:00+05:30", "2026-01-31T09:30:00-0530"],
  wrongZones: ["2026-01-31T09:30:00-24:00", "2026-01-31T09:30:00+05:60"],
  lists: [[], ["a"], ["a", "a"], ["a", 1], ["a", 1, 2], ["a", "b"], ["1", 1]],
  numbers: [[1], [1, 2, 3], [1, 2, 3, 4], [1.5], [1, 1]],
  nested: [[null], [[]], [[1, 2.5]], [["a"]], [{}], [{ a: 1 }, { a: 1 }], ["2026-01-31T09:30:00"]],
  objects: [{}, { a: "a" }, { a: 1 }, { b: 1 }, { a: "a", b: 1 }, { b: 1, a: 2 }, { c: 1 }, { a: "a", c: "c" }],
  records: [{ a: "a", c: 1 }, { "x-a": "a" }, { "x-a": 1 }, { ab: 1 }],
  structs: [{ day: "2026-01-31" }, { day: "2026-01-31", maybe: null }, { day: "x", maybe: "a" }],
  periods: [{ from: "2026-01-31", to: "2026-01-31T10:00" }, { from: "2026-01-31", to: "2026-01-31" }],
  models: [
    { _type: "Inner", id: "I1", inmosts: [] },
    { _type: "Inner", id: "", inmosts: [] },
    { _type: "Tree", id: "I1", inmosts: [] },
    { _type: "Inner", id: "I1", inmosts: [], secret: 1 },
    { _type: "Inner", id: "I1", inmosts: [], inmostMaybe: null },
    { _type: "Inner", id: "I1", inmosts: [{ _type: "Inmost", bounded: "ab", dayMaybe: null }] },
    { _type: "Inner", id: "I1", inmosts: [{ _type: "Inmost", bounded: "a" }] },
    { id: "I1", inmosts: [{ bounded: "ab" }] },
    [{ id: "I1", inmosts: [{ bounded: "ab" }] }],
    { _type: "Tree", text: "", branches: [{ _type: "Tree", text: "", branches: [] }] },
    { _type: "Tree", text: "", branches: [{ _type: "Tree", text: 1, branches: [] }] }
  ]
}).flat()

const modes = [true, false]

describe("The JSON schema, read by a draft-04 validator,", () => {
  for (const additionalProperties of modes) {
    describe(`with additionalProperties ${additionalProperties}`, () => {
      it.each(Object.keys(fields))("accepts what the decoder accepts in the field %s, and refuses the rest", (name) => {
        const model = modelOf({ [name]: fields[name]! })
        const verdictsAbout = verdictsOf(model, additionalProperties)
        const all = values.map((value) => ({ value, ...verdictsAbout({ _type: "Holder", [name]: value }) }))
        const wrong = all.filter(({ value, ...verdicts }) => !areAsExpected(verdicts, name, value))
        assert.deepStrictEqual(wrong, [])
        assert.isTrue(all.some(({ described }) => described))
        assert.strictEqual(all.some(({ described }) => !described), name !== "anything")
        const { decoded, described } = verdictsAbout({ _type: "Holder" })
        assert.strictEqual(described, decoded, "when it is missing")
      })

      it.prop("accepts documents of any model", [documents], ([{ document, model }]) => {
        const verdicts = verdictsOf(model, additionalProperties)(document)
        assert.isTrue(verdicts.decoded)
        assert.isTrue(areAsExpected(verdicts, "", document))
      }, { arbitrary: { runs: 100 } })

      it.prop(
        "accepts and refuses documents with a change or two as the decoder does",
        [documents, changes],
        ([{ document, model }, changes]) => {
          const verdictsAbout = verdictsOf(model, additionalProperties)
          for (const change of changes) {
            const changed = changedBy(document, change)
            const verdicts = verdictsAbout(changed)
            assert.isTrue(areAsExpected(verdicts, "", changed), JSON.stringify({ changed, verdicts }))
          }
        },
        { arbitrary: { runs: 100 } }
      )
    })
  }

  it.each(Object.entries(differences))("differs from the decoder about %s", (_, { accepts, example, fields }) => {
    const model = modelOf(fields)
    const isAccepted = ajv.compile(Model.jsonSchema(model))(example)
    const isDecoded = Result.isSuccess(Schema.decodeUnknownResult(codecOf(model))(example))
    assert.deepStrictEqual([isAccepted, isDecoded], accepts === "schema" ? [true, false] : [false, true])
  })

  it("accepts all deliberate differences", () => {
    const model = modelOf({ ...differences.untyped.fields, ...differences.noteMaybe.fields })
    assert.isTrue(verdictsOf(model, false)({ inner: { id: "I1", inmosts: [] }, noteMaybe: null }).described)
  })

  it("accepts the links of the root document where no undeclared property is accepted", () => {
    const model = modelOf({ id: Model.id(), inner: Inner })
    const text = compileSerialiser(model)(
      { _id: "H1", inner: { id: "I1", secret: "s", inmosts: [] } },
      `"_links":{"self":{"href":"/holders/H1","methods":["GET","PUT"]},"collection":{"href":"/holders","methods":"GET"},` +
        `"move":{"href":"/holders/H1/move","methods":"POST","args":["to"]}},`
    )
    const { inner, ...document } = JSON.parse(text!)
    const isAccepted = ajv.compile(Model.jsonSchema(model, { additionalProperties: false }))
    assert.isTrue(isAccepted({ ...document, inner }))
    assert.isFalse(isAccepted({ ...document, inner: { ...inner, _links: document._links } }))
    assert.isFalse(isAccepted({ ...document, inner, _links: { self: "/holders/H1" } }))
    assert.isFalse(isAccepted({ ...document, inner, links: document._links }))
  })
})

// -----------------------------------------------------------------------------

const ajv = new Ajv.default({ strict: true, strictTuples: false, allowUnionTypes: true })
addFormats.default(ajv)
// RFC 3339's demands a zone, which date-times on the wire don't have.
ajv.addFormat("date-time", true)

const modelOf = (fields: Fields): Model.Any => Model.Class<unknown>()("Holder", fields)

// Fields are plain codecs.
const codecOf = (model: Model.Any) => Schema.toCodecJson(model.wire as unknown as Schema.Codec<unknown>)

/** What the validator and the decoder say of a document. */
const verdictsOf = (model: Model.Any, additionalProperties: boolean) => {
  const schema = Model.jsonSchema(model, { additionalProperties })
  assert.isTrue(ajv.validateSchema(schema), "the schema is valid against the meta-schema of draft-04")
  const isAccepted = ajv.compile(schema)
  const decode = Schema.decodeUnknownResult(codecOf(model), {
    onExcessProperty: additionalProperties ? "ignore" : "error"
  })
  return (document: Json): Verdicts => ({
    described: isAccepted(document),
    decoded: Result.isSuccess(decode(asWritten(document, "Holder")))
  })
}

const modelsAt = new Map([
  ["inner", "Inner"],
  ["inners", "Inner"],
  ["nullableInner", "Inner"],
  ["inmosts", "Inmost"],
  ["inmost", "Inmost"],
  ["tree", "Tree"],
  ["branches", "Tree"]
])

/** The document as it would be on the wire: with its types and what is generated, and without `null` where there is nothing. */
const asWritten = (value: Json, model: string | undefined): Json => {
  if (Array.isArray(value)) return value.map((element) => asWritten(element, model))
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([key, part]) => part !== null || key === kindOf(key))
  return {
    ...(model === undefined ? {} : { _type: model }),
    ...(model === "Inner" ? { id: "I" } : {}),
    ...Object.fromEntries(members.map(([key, part]) => [key, asWritten(part, modelsAt.get(kindOf(key)))]))
  }
}

/** A field's kind, whether or not the field is optional. */
const kindOf = (key: string): string => key.replace(/(?:Maybe|Key)$/u, "")

const isObject = (value: Json): value is Schema.JsonObject => Predicate.isObject(value)

const allDifferences = new Map<string, Difference>(Object.entries(differences))

interface Verdicts {
  readonly described: boolean
  readonly decoded: boolean
}

/** Whether the verdicts are the same, or differ as they may about this value or one within it. */
const areAsExpected = ({ decoded, described }: Verdicts, key: string, value: Json): boolean =>
  decoded === described || isCovered(key, value, described ? "schema" : "decoder")

const isCovered = (key: string, value: Json, side: Difference["accepts"]): boolean => {
  const difference = allDifferences.get(kindOf(key))
  return difference?.accepts === side && difference.covers(value) ||
    (Array.isArray(value)
      ? value.some((element) => isCovered("", element, side))
      : isObject(value) && Object.entries(value).some(([key, part]) => isCovered(key, part, side)))
}

const shapes = Arbitrary.array(
  Arbitrary.schema(Schema.Tuple([Schema.Literals(Object.keys(fields)), Schema.Literals(["", "Maybe", "Key"])])),
  { minLength: 1, maxLength: 6 }
)

const models = Arbitrary.map(shapes, (shape) =>
  modelOf(Object.fromEntries(shape.map(([name, suffix]) => {
    // Fields of every kind are schemas or, if they already are optional, end so.
    const field = fields[name] as Schema.Top
    return suffix === "" || name.endsWith("Maybe")
      ? [name, field]
      : [`${name}${suffix}`, suffix === "Key" ? Schema.optionalKey(field) : Model.optional(field)]
  }))))

const documents = Arbitrary.flatMap(
  models,
  (model) =>
    Arbitrary.map(Arbitrary.schema(Schema.toType(codecOf(model))), (value) => ({
      model,
      document: JSON.parse(JSON.stringify(Schema.encodeSync(codecOf(model))(value))) as Json
    }))
)

type Change = readonly [place: number, kind: "remove" | "replace" | "add" | "repeat" | "shorten", value: Json]

const changes: Arbitrary.Arbitrary<ReadonlyArray<ReadonlyArray<Change>>> = Arbitrary.array(
  Arbitrary.array(
    Arbitrary.schema(Schema.Tuple([
      Schema.Natural,
      Schema.Literals(["remove", "replace", "replace", "add", "repeat", "shorten"]),
      Schema.Literals(values.map((_, i) => i))
    ])).pipe(Arbitrary.map(([place, kind, i]): Change => [place, kind, values[i]!])),
    { minLength: 1, maxLength: 2 }
  ),
  { minLength: 1, maxLength: 8 }
)

const changedBy = (document: Json, changes: ReadonlyArray<Change>): Json =>
  changes.reduce((changed, [place, kind, value]) => {
    const places = placesIn(changed)
    return changedAt(changed, places[place % places.length]!, kind, value)
  }, document)

type Path = ReadonlyArray<string | number>

const placesIn = (value: Json): ReadonlyArray<Path> => [
  [],
  ...(Array.isArray(value)
    ? value.flatMap((element, i) => placesIn(element).map((path) => [i, ...path]))
    : isObject(value)
    ? Object.entries(value).flatMap(([key, part]) => placesIn(part).map((path) => [key, ...path]))
    : [])
]

const changedAt = (parent: Json, [key, ...rest]: Path, kind: Change[1], value: Json): Json => {
  if (key === undefined) return changedValue(parent, kind, value)
  const isLast = rest.length === 0 && kind === "remove"
  if (Array.isArray(parent)) {
    return parent.flatMap((element, i) => i !== key ? [element] : isLast ? [] : [changedAt(element, rest, kind, value)])
  }
  return Object.fromEntries(
    Object.entries(parent as Schema.JsonObject).flatMap(([name, part]) =>
      name !== key ? [[name, part]] : isLast ? [] : [[name, changedAt(part, rest, kind, value)]]
    )
  )
}

const changedValue = (old: Json, kind: Change[1], value: Json): Json => {
  switch (kind) {
    case "remove":
      return null
    case "replace":
      return value
    case "add":
      return Array.isArray(old) ? [...old, value] : isObject(old) ? { ...old, unknown: value } : [old]
    case "repeat":
      return Array.isArray(old) ? [...old, ...old] : Predicate.isString(old) ? old + old : value
    case "shorten":
      return Array.isArray(old) ? old.slice(1) : Predicate.isString(old) ? [...old].slice(1).join("") : value
  }
}
