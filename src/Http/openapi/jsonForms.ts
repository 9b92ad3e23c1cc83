/** What the document says of JSON that stands for other values: the form that the server reads, and an example. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { jsonCodec, jsonLinkOf, mapParts, modelOf, withParts } from "../../Model/internal.ts"
import * as Model from "../../Model/Model.ts"

/** The schema, with the forms of the values in it. */
export const withJsonForms = <S extends Schema.Top>(schema: S): S => {
  const ast = formed(schema.ast)
  // It differs in what is said of its JSON only. A body that is no JSON stays as it is, with what its schema has besides.
  return ast === schema.ast ? schema : Schema.make<Schema.Top>(ast) as unknown as S
}

// internal

interface Form {
  readonly check?: SchemaAST.Check<never>
  /** Of values that have a form only in words or in a registry. */
  readonly format?: string
  readonly description?: string
  readonly example: string | number
  /** The format of what a store can hold. */
  readonly stored?: string
}

const day = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
const hour = String.raw`(?:[01]\d|2[0-3])`
const minute = String.raw`[0-5]\d`
const seconds = String.raw`:${minute}(?:\.\d{1,9})?`
const zone = String.raw`(?:Z|[+-](?:0\d|1[0-4]):${minute})`
const moment = `${day}T${hour}:${minute}${seconds}${zone}`
const number = String.raw`^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$`

/** The decimals of numbers of the largest exponent that are no larger than the largest number. */
const decimals = Array.from(String(Number.MAX_VALUE).replace(/^1\.(\d+)e.*$/u, "$1")).reduceRight(
  (rest, digit) => String.raw`(?:${digit === "0" ? "" : String.raw`[0-${Number(digit) - 1}]\d*|`}${digit}${rest})?`,
  ""
)

/**
 * Numbers that are finite as doubles, with all texts that JavaScript has of these. Before a positive exponent there are nine digits
 * at most, so that the number stays finite.
 */
const finite = String.raw`^-?(?:\d{1,308}(?:\.\d+)?(?:[eE]-\d+)?|` +
  String.raw`\d{1,9}(?:\.\d+)?[eE]\+?0*(?:\d{1,2}|[12]\d\d)|` +
  String.raw`\d(?:\.\d+)?[eE]\+?0*30[0-7]|1(?:\.${decimals.slice(0, -1)})?[eE]\+?0*308)$`

/** Whole numbers that are exact as doubles, without leading zeros. */
const exact = String.raw`(?:0|[1-9]\d{0,14}|${
  Array.from(String(Number.MAX_SAFE_INTEGER)).reduceRight((rest, digit, i, { length }) => {
    const least = i === 0 ? 1 : 0
    const others = length - 1 - i
    return Number(digit) > least
      ? String.raw`(?:[${least}-${Number(digit) - 1}]\d{${others}}|${digit}${rest})`
      : digit + rest
  }, "")
})`

const identifier = "[0-9A-Za-z-]"
const prerelease = String.raw`(?:${exact}|\d*[A-Za-z-]${identifier}*)`

/** Versions (Semantic Versioning 2.0.0). */
const version = String.raw`^${exact}\.${exact}\.${exact}(?:-${prerelease}(?:\.${prerelease})*)?` +
  String.raw`(?:\+${identifier}+(?:\.${identifier}+)*)?$`

/** The last moment that there is. */
const maxMillis = 8_640_000_000_000_000

const values: ReadonlyArray<readonly [schema: Schema.Top, form: Form]> = [
  // The format of this name requires a zone (RFC 3339), which date-times of models do not have.
  [Model.DateTime, {
    description: "An ISO 8601 date-time, in UTC unless it has a zone; in answers always in UTC, with microseconds",
    check: Schema.isPattern(
      new RegExp(`^${day}[T ]${hour}:${minute}(?:${seconds})?(?:[Zz]|[+-]${hour}:?${minute})?$`, "u")
    ),
    example: "2026-01-31T09:30:00.123000"
  }],
  [Schema.DateTimeUtc, {
    format: "date-time",
    check: Schema.isPattern(new RegExp(`^${moment}$`, "u")),
    example: "2026-01-31T09:30:00.123Z"
  }],
  [Schema.Date, {
    format: "date-time",
    check: Schema.isPattern(new RegExp(`^${moment}$`, "u")),
    example: "2026-01-31T09:30:00.123Z"
  }],
  [Schema.DateTimeZoned, {
    description: "A date-time with its zone (RFC 9557)",
    format: "zoned-date-time",
    check: Schema.isPattern(new RegExp(String.raw`^${moment}(?:\[[^\]]+\])?$`, "u")),
    example: "2026-01-31T09:30:00.000+01:00[Europe/Zurich]"
  }],
  [Schema.TimeZone, {
    description: "The name of a time zone, or an offset",
    format: "time-zone",
    example: "Europe/Zurich"
  }],
  [Schema.BigDecimal, {
    description: "A decimal number",
    check: Schema.isPattern(new RegExp(number, "u")),
    example: "12.50",
    stored: "decimal128"
  }],
  [Schema.DateTimeUtcFromMillis, {
    check: Schema.isBetween({ minimum: -maxMillis, maximum: maxMillis }),
    example: 1_769_851_800_000
  }],
  [Schema.BigInt, { description: "A whole number", example: "42", stored: "int64" }],
  [Schema.FiniteFromString, {
    check: Schema.isPattern(new RegExp(finite, "u")),
    example: "12.5"
  }],
  [Schema.Uint8Array, {
    format: "byte",
    check: Schema.isPattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u),
    example: "aGVsbG8="
  }],
  [Schema.URL, { format: "uri", example: "https://example.com/" }],
  [Schema.SemVer, {
    check: Schema.isPattern(new RegExp(version, "u")),
    example: "1.2.3"
  }]
]

const natural: Form = {
  description: "A whole number",
  check: Schema.isPattern(/^\d+$/u),
  example: "42",
  stored: "int64"
}

const isNatural = (ast: SchemaAST.AST): boolean => ast._tag === "BigInt" && !Schema.is(Schema.make(ast))(-1n)

/** The link between a value and its JSON. */
const jsonLink = (ast: SchemaAST.AST): SchemaAST.Link => {
  const link = ast.encoding!.at(-1)!
  return link.to.encoding === undefined ? link : jsonLink(link.to)
}

/** Either is the same wherever such a value is described. */
const keysOf = ({ to, transformation }: SchemaAST.Link): ReadonlyArray<unknown> =>
  to.annotations === undefined ? [transformation] : [transformation, to.annotations]

const forms: ReadonlyMap<unknown, Form> = new Map(
  values.flatMap(([schema, form]) => keysOf(jsonLink(Schema.toCodecJson(schema).ast)).map((key) => [key, form]))
)

const withForm = (
  json: SchemaAST.AST,
  { check, description, example, format, stored }: Form,
  isStored: boolean
): SchemaAST.AST => {
  const said = isStored ? stored ?? format : format
  const { format: _, ...others } = json.annotations ?? {}
  return withParts(json, {
    annotations: {
      ...others,
      ...description === undefined ? {} : { description },
      ...said === undefined ? {} : { format: said },
      examples: [example]
    },
    ...check === undefined ? {} : { checks: json._tag === "String" ? [check] : [...json.checks ?? [], check] }
  })
}

/** The function that adds the forms to a node. In a model, values are those that a store can hold. */
const forming = (isStored: boolean): (ast: SchemaAST.AST) => SchemaAST.AST => {
  // A recursive schema has one form.
  const formed = memoize((ast: SchemaAST.AST): SchemaAST.AST => {
    const at = isStored || modelOf(ast) === undefined ? formed : stored
    const own = mapParts(ast, at)
    const { encoding } = ast.encoding !== undefined || hasJson(ast) ? jsonCodec(Schema.make(ast)).ast : ast
    if (encoding === undefined) return own
    const links = encoding.map((link) => {
      const form = link.to.encoding !== undefined
        ? undefined
        : isNatural(ast)
        ? natural
        : keysOf(link).map((key) => forms.get(key)).find(Boolean)
      const to = form === undefined ? at(link.to) : withForm(link.to, form, isStored)
      return to === link.to ? link : new SchemaAST.Link(to, link.transformation)
    })
    return links.every((link, i) => link === encoding[i]) ? own : withParts(own, { encoding: links })
  })
  return formed
}

const stored = forming(true)

const formed = forming(false)

/** Whether values have another form in JSON. */
const hasJson = (ast: SchemaAST.AST): boolean =>
  ast._tag === "BigInt" || ast._tag === "Declaration" && jsonLinkOf(ast)?.link !== undefined
