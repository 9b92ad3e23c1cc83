/** Writes results of aggregations as JSON. They have no model, so the type of each BSON value determines its form. */
import { Binary, Decimal128, Double, EJSON, Int32, Long, ObjectId, UUID } from "bson"
import { quote } from "../../internal/json.ts"
import { formatDateTime, isDate } from "../../Model/internal.ts"

/**
 * The JSON text of a document without a model, as an aggregation returns it. Dates become date-times in wire form,
 * numbers JSON numbers if possible and text otherwise, identifiers and bytes (Base64) text, and other BSON types
 * extended JSON. `undefined` properties are left out.
 */
export const writeDocument = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      return quote(value)
    case "number":
      return Number.isFinite(value) ? `${value}` : `"${value}"`
    case "boolean":
      return `${value}`
    case "bigint":
      return writeInteger(`${value}`)
    case "object":
      return value === null ? "null" : writeObject(value)
    default:
      return "null"
  }
}

const writeObject = (value: object): string => {
  if (isDate(value)) return `"${formatDateTime(value)}"`
  if (Array.isArray(value)) return `[${value.map((item) => writeDocument(item)).join()}]`
  if ("_bsontype" in value) return writeBson(value)
  if (value instanceof RegExp || value instanceof Date) return quote(String(value))
  const members = Object.entries(value).flatMap(([key, part]) =>
    part === undefined ? [] : [`${quote(key)}:${writeDocument(part)}`]
  )
  return `{${members.join()}}`
}

const writeBson = (value: object): string => {
  if (value instanceof Int32 || value instanceof Double) return writeDocument(value.value)
  if (value instanceof Long) return writeInteger(value.toString())
  if (value instanceof ObjectId || value instanceof Decimal128) return quote(value.toString())
  if (value instanceof UUID) return quote(value.toHexString())
  return value instanceof Binary ? quote(value.toString("base64")) : EJSON.stringify(value)
}

/** Integers beyond the safe range are written as text. */
const writeInteger = (text: string): string => Number.isSafeInteger(Number(text)) ? text : `"${text}"`
