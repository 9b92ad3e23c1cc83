/** Parses the operands of filters by the type of their field, from URL text or JSON, into stored values. */
import * as DateTime from "effect/DateTime"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { booleanOf } from "../../internal/booleans.ts"
import {
  definesKind,
  hasFourDigitYear,
  holdsTexts,
  jsonCodec,
  kindOf,
  nameOf,
  parseDate,
  parseDateTime,
  temporalKind,
  withChecksThat
} from "../../Model/internal.ts"
import { toBson } from "../../Repository/internal.ts"

/** Parses what callers compare a field with. Validators do not run: a query may search for what can't be written. */
export interface Reader {
  /** Whether the stored value is text. */
  readonly isText: boolean
  /** Whether the values are ordered. */
  readonly isOrdered: boolean
  /**
   * Parses a text into a stored value; `undefined` if it does not fit the field. Where the field takes texts and other values, a
   * quoted text is a text, and another one is a number or a boolean if it can be.
   */
  readonly text: (text: string, isQuoted?: boolean) => unknown
  /** For a date-time field and a date, the stored first and last millisecond of that day. */
  readonly day: (text: string) => readonly [first: unknown, last: unknown] | undefined
  /** Decodes a JSON value into a stored value; `undefined` if it does not fit the field. */
  readonly json: (value: unknown) => unknown
}

/** The reader for values with the given stored and wire form. */
export const readerOf = (stored: SchemaAST.AST, wire: SchemaAST.AST): Reader => readersOf(stored)(wire)

const readersOf = memoize((stored: SchemaAST.AST) => memoize((wire: SchemaAST.AST) => make(stored, wire)))

const make = (storedForm: SchemaAST.AST, wireForm: SchemaAST.AST): Reader => {
  const stored = withoutRulesOf(storedForm)
  const kind = kindOf(stored.ast)
  const isBoolean = kind === "bool"
  const isMoment = kind === "datetime"
  const isDate = kind === "date"
  const hasDigits = digits.has(SchemaAST.toEncoded(stored.ast).annotations?.["bsonType"])
  const encode = SchemaParser.encodeUnknownExit(stored)
  const encoded = (value: unknown): unknown => {
    const exit = encode(value)
    return exit._tag === "Success" ? toBson(exit.value) : undefined
  }
  const forms = (wireForm === storedForm ? [stored] : [withoutRulesOf(wireForm), stored]).map((form) =>
    formReader(form, encoded)
  )
  const momentOf = (millis: number | undefined): unknown => {
    if (millis === undefined || !hasFourDigitYear(millis)) return undefined
    const moment = DateTime.makeUnsafe(millis)
    // In the program it is a `DateTime` or a `Date`.
    return encoded(moment) ?? encoded(DateTime.toDateUtc(moment))
  }

  const json = (value: unknown): unknown => {
    for (const form of forms) {
      const read = form.read(value)
      if (read !== undefined) return read
    }
    if (isBoolean && typeof value === "boolean") return encoded(value)
    // The wire has them as text, since JSON's numbers are too small for some of them.
    if (hasDigits && typeof value === "number") return json(String(value))
    return typeof value === "string" && (isMoment || isDate)
      ? momentOf(isMoment ? parseDateTime(value) ?? parseDate(value) : parseDate(value))
      : undefined
  }

  return {
    isText: holdsTexts(SchemaAST.toEncoded(stored.ast)),
    isOrdered: isOrdered(stored.ast),
    text: (text, isQuoted = false) => {
      const given = isMoment || isDate ? withZone(isoDate(text) ?? text) : text
      const quoted = isQuoted ? json(given) : undefined
      if (quoted !== undefined) return quoted
      const other = otherThanText(given)
      for (const form of forms) {
        const read = other === undefined || form.isText ? undefined : form.read(other)
        if (read !== undefined) return read
        // The text that callers read is not the number that is stored.
        const asText = form.isText && !isQuoted ? form.read(given) : undefined
        if (asText !== undefined) return asText
      }
      const word = isBoolean ? booleanOf(given) : undefined
      return word !== undefined ? json(word) : isQuoted ? undefined : json(given)
    },
    day: (text) => {
      const start = isMoment ? parseDate(isoDate(text) ?? text) : undefined
      if (start === undefined) return undefined
      const [first, last] = [momentOf(start), momentOf(start + millisPerDay - 1)]
      return first === undefined || last === undefined ? undefined : [first, last]
    },
    json
  }
}

/** Decodes the JSON form of a schema and encodes the value for the store. */
const formReader = (form: Schema.Codec<unknown>, encode: (value: unknown) => unknown) => {
  const codec = jsonCodec(form)
  const decode = SchemaParser.decodeUnknownExit(codec)
  return {
    isText: holdsTexts(SchemaAST.toEncoded(codec.ast)),
    read: (value: unknown): unknown => {
      const exit = decode(value)
      return exit._tag === "Success" ? encode(exit.value) : undefined
    }
  }
}

const millisPerDay = 86_400_000

/** The number or the boolean that a text writes. */
const otherThanText = (text: string): number | boolean | undefined => {
  if (text === "true" || text === "false") return text === "true"
  const number = decimal.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/iu

/** The `YYYY-MM-DD` of a date that starts with the day. */
const isoDate = (text: string): string | undefined => {
  const [, day = "", , month = "", year = ""] = /^(\d{1,2})([-./])(\d{1,2})\2(\d{4})$/u.exec(text) ?? []
  return year === "" ? undefined : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
}

/** The plus sign of a zone is decoded as a space in a URL. */
const withZone = (text: string): string =>
  text.replace(/^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?) (\d\d:?\d\d)$/u, "$1+$2")

/** Whether stored values are ordered like the decoded ones. */
const isOrdered = (ast: SchemaAST.AST): boolean => {
  const end = SchemaAST.toEncoded(ast)
  if (end.annotations?.[temporalKind] !== undefined || ordered.has(end.annotations?.["bsonType"])) return true
  if (ast._tag === "Union" && ast.encoding === undefined) return ast.types.some(isOrdered)
  if (ast._tag === "Boolean" || ast._tag === "Null") return false
  if (ast.encoding === undefined) return ast._tag !== "Declaration" || ordered.has(nameOf(ast))
  // A number that is stored as text is ordered as text.
  return end._tag === "Number" ? isNumeric(ast) : holdsTexts(end) && holdsTexts(SchemaAST.toType(ast))
}

const ordered: ReadonlySet<unknown> = new Set([
  "date",
  "long",
  "decimal",
  "objectId",
  "effect/schema/Date",
  "effect/schema/Json"
])

const digits: ReadonlySet<unknown> = new Set(["long", "decimal"])

const isNumeric = (ast: SchemaAST.AST): boolean => ast._tag === "Number" || moments.has(kindOf(ast))

const moments: ReadonlySet<string> = new Set(["datetime", "date"])

/** The schema with the checks that define its type, but without the rules of its values. */
const withoutRulesOf = (ast: SchemaAST.AST): Schema.Codec<unknown> => Schema.make(withChecksThat(ast, definesKind))
