/** The expression operators of binary data, and its conversions from and to texts. */
import { Binary, ObjectId, UUID } from "bson"
import { hash } from "node:crypto"
import { binaryBytes, isDocument, Rank, rankOf } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { isNothing, named, ofValue, type OperatorParser, type OperatorParsers, wholeOf } from "./expression.ts"

export const isBinary = (value: unknown): value is Binary => rankOf(value) === Rank.binary

/** A text in a format as binary data of a subtype, which stays as it is; other values are `undefined`. */
export const toBinary = (value: unknown, subtype: number, format: unknown): Binary | undefined => {
  if (isBinary(value)) {
    return value.sub_type === subtype ? value : reject("binary data can't be converted to another subtype")
  }
  if (typeof value !== "string") return undefined
  charge(value.length)
  const { pattern, encoding } = formatOf(format)
  if ((format === "uuid") !== (subtype === Binary.SUBTYPE_UUID)) {
    return reject("the format uuid and the subtype 4 of binary data need each other")
  }
  if (!pattern.test(value)) return reject(`"${value.slice(0, 100)}" is no binary data in the format ${String(format)}`)
  return format === "uuid" ? new UUID(value) : new Binary(Buffer.from(value, encoding), subtype)
}

/** Binary data as a text in a format. The format `auto` is that of UUIDs, and base64 for the others. */
export const textOfBinary = (value: Binary, format: unknown): string => {
  const bytes = Buffer.from(binaryBytes(value))
  charge(bytes.length)
  const isUuid = value.sub_type === Binary.SUBTYPE_UUID && bytes.length === 16
  if (format === "auto") return textOfBinary(value, isUuid ? "uuid" : "base64")
  const { encoding } = formatOf(format)
  if (format === "uuid") {
    return isUuid ? new UUID(bytes).toHexString() : reject("only binary data of the subtype 4 is a UUID")
  }
  const text = bytes.toString(encoding)
  if (format === "hex") return text.toUpperCase()
  return format === "utf8" && !Buffer.from(text).equals(bytes) ? reject("the binary data is no UTF-8") : text
}

/** A subtype of binary data. Rejects what is none. */
export const subtypeOf = (name: string, value: unknown): number => {
  const subtype = wholeOf(`the subtype of ${name}`, value)
  const isSubtype = subtype >= 0 && subtype <= 255 &&
    (subtype <= Binary.SUBTYPE_VECTOR || subtype >= Binary.SUBTYPE_USER_DEFINED)
  return isSubtype ? subtype : reject(`the subtype of ${name} is from 0 to 9, or one of the user's own from 128 to 255`)
}

// internal

interface Format {
  readonly encoding: BufferEncoding
  readonly pattern: RegExp
}

const formats: ReadonlyMap<unknown, Format> = new Map<unknown, Format>([
  ["base64", { encoding: "base64", pattern: /^(?:[a-z\d+/]{4})*(?:[a-z\d+/]{2}==|[a-z\d+/]{3}=)?$/iu }],
  ["base64url", { encoding: "base64url", pattern: /^(?:[\w-]{4})*(?:[\w-]{2}(?:==)?|[\w-]{3}=?)?$/u }],
  ["hex", { encoding: "hex", pattern: /^(?:[\da-f]{2})*$/iu }],
  ["utf8", { encoding: "utf8", pattern: /^/u }],
  ["uuid", { encoding: "hex", pattern: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/iu }]
])

const formatOf = (format: unknown): Format =>
  formats.get(format) ?? reject("$convert from or to binary data needs a format: base64, base64url, hex, utf8 or uuid")

const $subtype = ofValue((value, name) => isBinary(value) ? value.sub_type : reject(`${name} needs binary data`))

const $binarySize = ofValue((value, name) => {
  if (typeof value === "string") return Buffer.byteLength(value)
  return isBinary(value) ? binaryBytes(value).length : reject(`${name} needs a text or binary data`)
})

const $hexHash = named(["input", "algorithm"], [], ({ algorithm, input }, name) => {
  if (algorithm === "xxh64") return rejectWith(unsupported(`${name} by xxh64`))
  if (algorithm !== "md5" && algorithm !== "sha256") return reject(`${name} needs the algorithm md5, sha256 or xxh64`)
  if (isNothing(input)) return null
  if (typeof input !== "string" && !isBinary(input)) return reject(`${name} needs a text or binary data`)
  const bytes = typeof input === "string" ? Buffer.from(input) : binaryBytes(input)
  charge(bytes.length)
  return hash(algorithm, bytes).toUpperCase()
})

const $createObjectId: OperatorParser = (operand, _, name) =>
  isDocument(operand) && Object.keys(operand).length === 0 ? () => new ObjectId() : reject(`${name} takes no arguments`)

export const binaryOperators: OperatorParsers = { $binarySize, $createObjectId, $hexHash, $subtype }
