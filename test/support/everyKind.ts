/** A model for each kind of field that a schema can be. */
import { BigDecimal, DateTime, Order, Schema, SchemaAST, SchemaGetter } from "effect"
import { Model } from "../../src/index.ts"

export interface Kind {
  readonly schema: Schema.Top
  /** The order of the values, where range filters are possible. */
  readonly order?: Order.Order<never>
  /**
   * Whether a URL can filter by a value. Values with parts have no form in a URL. A value of a union can be read as
   * another member of it.
   */
  readonly isFilterable?: boolean | "unclear"
}

class Money
  extends Schema.Class<Money>("Money")({ amount: Schema.BigDecimal, currency: Schema.Literals(["CHF", "EUR"]) })
{}

interface Tree {
  readonly at: DateTime.Utc
  readonly branches: ReadonlyArray<Tree>
}
interface StoredTree {
  readonly at: DateTime.Utc
  readonly branches: ReadonlyArray<StoredTree>
}
const Tree: Schema.Codec<Tree, StoredTree> = Schema.Struct({
  at: Schema.DateTimeUtc,
  branches: Schema.Array(Schema.suspend((): Schema.Codec<Tree, StoredTree> => Tree))
})

const Celsius = Schema.Struct({ degrees: Schema.Finite }).pipe(
  Schema.decodeTo(Schema.Finite, {
    decode: SchemaGetter.transform(({ degrees }) => degrees),
    encode: SchemaGetter.transform((degrees) => ({ degrees }))
  })
)

const Colour = { Red: "red", Green: "green" } as const

// The values that have a short form in JSON and in a URL.
const small = Schema.Int.check(Schema.isBetween({ minimum: -1000, maximum: 1000 }))

export const kinds: { readonly [name: string]: Kind } = {
  string: { schema: Schema.String },
  nonEmpty: { schema: Schema.NonEmptyString },
  template: { schema: Schema.TemplateLiteral(["v", Schema.Int]) },
  uuid: { schema: Schema.String.check(Schema.isUUID()) },
  branded: { schema: Schema.String.pipe(Schema.brand("Code")) },
  int: { schema: Schema.Int, order: Order.Number },
  finite: { schema: Schema.Finite, order: Order.Number },
  // @effect-diagnostics-next-line schemaNumber:off
  number: { schema: Schema.Number },
  boolean: { schema: Schema.Boolean },
  literal: { schema: Schema.Literal("only") },
  literals: { schema: Schema.Literals(["a", "b", 3]) },
  bigintLiterals: { schema: Schema.Literals([1n, 2n]) },
  enum: { schema: Schema.Enum(Colour) },
  nullable: { schema: Schema.NullOr(Schema.String) },
  nullableDate: { schema: Schema.NullOr(Schema.DateTimeUtc) },
  finiteFromString: { schema: Schema.FiniteFromString },
  dateTimeUtc: { schema: Schema.DateTimeUtc, order: DateTime.Order },
  dateTimeUtcFromMillis: { schema: Schema.DateTimeUtcFromMillis, order: DateTime.Order },
  dateTimeZoned: { schema: Schema.DateTimeZoned },
  date: { schema: Schema.Date, order: Order.Date },
  modelDateTime: { schema: Model.DateTime, order: DateTime.Order },
  modelDate: { schema: Model.Date },
  timeZone: { schema: Schema.TimeZone },
  duration: { schema: Schema.Duration, isFilterable: false },
  durationFromMillis: { schema: Schema.DurationFromMillis },
  bigint: {
    schema: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n })),
    order: Order.BigInt
  },
  bigDecimal: { schema: Schema.BigDecimal, order: BigDecimal.Order },
  byteSize: { schema: Schema.ByteSize },
  bytes: { schema: Schema.Uint8Array },
  bytesFromBase64: { schema: Schema.Uint8ArrayFromBase64 },
  url: { schema: Schema.URL },
  searchParams: { schema: Schema.URLSearchParams },
  objectId: { schema: Model.ObjectId, order: Order.String },
  option: { schema: Schema.Option(Schema.DateTimeUtc), isFilterable: false },
  optionFromNull: { schema: Schema.OptionFromNullOr(Schema.String) },
  optionFromKey: { schema: Schema.OptionFromOptionalKey(Schema.BigInt) },
  undefinable: { schema: Schema.UndefinedOr(Schema.Uint8Array) },
  optionalKey: { schema: Schema.optionalKey(Schema.DateTimeUtc) },
  optional: { schema: Schema.optional(Schema.BigDecimal) },
  result: { schema: Schema.Result(Schema.String, Schema.Int), isFilterable: false },
  set: { schema: Schema.ReadonlySet(Schema.DateTimeUtc) },
  hashSet: { schema: Schema.HashSet(Schema.String) },
  chunk: { schema: Schema.Chunk(Schema.Int) },
  map: { schema: Schema.ReadonlyMap(Schema.String, Schema.BigInt), isFilterable: false },
  hashMap: { schema: Schema.HashMap(Schema.String, Schema.Uint8Array), isFilterable: false },
  list: { schema: Schema.Array(Schema.BigDecimal) },
  lists: { schema: Schema.Array(Schema.Array(Schema.DateTimeUtc)), isFilterable: false },
  tuple: { schema: Schema.Tuple([Schema.String, Schema.BigInt]), isFilterable: false },
  nonEmptyList: { schema: Schema.NonEmptyArray(Schema.BigDecimal) },
  openTuple: { schema: Schema.TupleWithRest(Schema.Tuple([Schema.Uint8Array]), [Schema.BigInt]), isFilterable: false },
  openStruct: {
    schema: Schema.StructWithRest(Schema.Struct({ at: Schema.DateTimeUtc }), [
      Schema.Record(Schema.TemplateLiteral(["x", small]), Schema.BigInt)
    ]),
    isFilterable: false
  },
  encodedSide: {
    schema: Schema.toEncoded(Schema.Struct({ at: Schema.DateTimeUtcFromString, size: Schema.FiniteFromString })),
    isFilterable: false
  },
  decodedSide: { schema: Schema.toType(Schema.FiniteFromString), order: Order.Number },
  record: {
    schema: Schema.Record(Schema.String.check(Schema.isPattern(/^[a-z]{1,5}$/u)), Schema.DateTimeUtc),
    isFilterable: false
  },
  struct: {
    schema: Schema.Struct({
      at: Schema.DateTimeUtc,
      size: Schema.optionalKey(Schema.BigInt),
      link: Schema.NullOr(Schema.URL)
    }),
    isFilterable: false
  },
  class: { schema: Money, isFilterable: false },
  tree: { schema: Tree, isFilterable: false },
  transformed: { schema: Celsius, isFilterable: false },
  union: { schema: Schema.Union([Schema.Uint8Array, Schema.Boolean, Schema.DateTimeUtc]), isFilterable: "unclear" },
  numbers: { schema: Schema.Union([Schema.Int, Schema.BigInt, Schema.BigDecimal]), isFilterable: "unclear" },
  unions: {
    schema: Schema.Union([
      Schema.Struct({ kind: Schema.tag("a"), at: Schema.DateTimeUtc }),
      Schema.Struct({ kind: Schema.tag("b"), size: Schema.BigInt })
    ]),
    isFilterable: false
  },
  json: { schema: Schema.Json, isFilterable: "unclear" },
  unknown: { schema: Schema.Unknown, isFilterable: "unclear" },
  semVer: { schema: Schema.SemVer },
  small: { schema: small, order: Order.Number }
}

/** Whether a field of this kind may have no value without being declared optional. */
export const mayBeMissing = ({ ast }: Schema.Top): boolean =>
  SchemaAST.isOptional(ast) || Schema.is(Schema.make<Schema.Top>(ast))(undefined)
