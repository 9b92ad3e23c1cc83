/** BSON values: their types, and MongoDB's order over all of them. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import type { Binary, DBRef, ObjectId, Timestamp } from "bson"
import { type BsonNumber, compareNumbers, isZero } from "./number.ts"

/** The rank of each BSON type in MongoDB's comparison order: values of different types compare by it. */
export const Rank = {
  minKey: 0x08,
  // Never stored: the index key of an empty array, which orders before `null`.
  undefined: 0x10,
  null: 0x18,
  number: 0x20,
  string: 0x28,
  document: 0x30,
  array: 0x38,
  binary: 0x40,
  objectId: 0x48,
  boolean: 0x50,
  date: 0x58,
  timestamp: 0x60,
  regularExpression: 0x68,
  code: 0x70,
  maxKey: 0xe0
} as const

export type Rank = typeof Rank[keyof typeof Rank]

// By tag, not `instanceof`: `bson` has a CommonJS and a module build, and each has its own classes.
const rankByTag = new Map<unknown, Rank>([
  ["MinKey", Rank.minKey],
  ["Double", Rank.number],
  ["Long", Rank.number],
  ["Decimal128", Rank.number],
  ["DBRef", Rank.document],
  ["Binary", Rank.binary],
  ["ObjectId", Rank.objectId],
  ["Timestamp", Rank.timestamp],
  ["Code", Rank.code],
  ["MaxKey", Rank.maxKey]
])

/** The rank of a normalised value. */
export const rankOf = (value: unknown): Rank => {
  switch (typeof value) {
    case "string":
      return Rank.string
    case "number":
      return Rank.number
    case "boolean":
      return Rank.boolean
    case "object":
      if (value === null) return Rank.null
      if (Array.isArray(value)) return Rank.array
      if (value instanceof Date) return Rank.date
      if (value instanceof RegExp) return Rank.regularExpression
      return rankByTag.get(tagOf(value)) ?? Rank.document
    default:
      return Rank.undefined
  }
}

/** The `bson` class of an object, or `undefined`. An own key `_bsontype` comes from outside and does not count. */
export const tagOf = (value: object): unknown =>
  "_bsontype" in value && !Object.hasOwn(value, "_bsontype") ? value._bsontype : undefined

/** Whether `bson` has a class with this tag whose values are stored as they are. */
export const isStorableTag = (tag: unknown): boolean => rankByTag.has(tag)

/** Whether a value is a nested document: neither an array nor an instance of a `bson` class. */
export const isDocument = (value: unknown): value is Document =>
  typeof value === "object" && value !== null
  // The fast path: a plain object has no tag.
  && (Object.getPrototypeOf(value) === Object.prototype
    || (!Array.isArray(value) && rankOf(value) === Rank.document && tagOf(value) === undefined))

export const isArray = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

export const isNumber = (value: unknown): value is BsonNumber => rankOf(value) === Rank.number

/** Whether MongoDB takes a value for true: all but `false`, `null`, missing and 0. */
export const isTruthy = (value: unknown): boolean => {
  if (value === false || value === undefined || value === null || value === 0) return false
  return typeof value !== "object" || !isNumber(value) || !isZero(value)
}

/** An own field of a document; inherited ones are `undefined`. */
export const ownField = (document: Document, key: string): unknown =>
  Object.hasOwn(document, key) ? document[key] : undefined

/** Sets a field of a new document. `__proto__` becomes an ordinary key. */
export const setField = (document: { [key: string]: unknown }, key: string, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(document, key, { value, enumerable: true, configurable: true, writable: true })
  } else document[key] = value
}

/** The bytes of a binary value; its buffer may be longer. */
export const binaryBytes = (binary: Binary): Uint8Array => binary.buffer.subarray(0, binary.position)

// By code points, the order of UTF-8's bytes; JavaScript compares UTF-16 code units.
const compareStrings = (a: string, b: string): number => {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // A surrogate pair's code point is greater than any single unit's.
    const [astralX, astralY] = [isSurrogate(x), isSurrogate(y)]
    return astralX === astralY ? x - y : astralX ? 1 : -1
  }
  return a.length - b.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff

const compareBytes = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b)

/** The order of two texts. */
export type CompareTexts = (a: string, b: string) => number

/**
 * MongoDB's order of two normalised values: by type, then by value. Documents compare field by field (type, name, value),
 * arrays item by item. `undefined` orders before `null`. Texts compare by their code points, or as a collation says; names
 * of fields always by their code points.
 */
export const compare = (a: unknown, b: unknown, texts: CompareTexts = compareStrings): number => {
  if (a === b) return 0
  if (typeof a === "string" && typeof b === "string") return texts(a, b)
  if (typeof a === "number" && typeof b === "number") return compareNumbers(a, b)
  const [rankA, rankB] = [rankOf(a), rankOf(b)]
  return rankA === rankB ? compareWithin(rankA, a, b, texts) : rankA - rankB
}

// The casts follow from the rank, which both values share.
const compareWithin = (rank: Rank, a: unknown, b: unknown, texts: CompareTexts): number => {
  switch (rank) {
    case Rank.number:
      return compareNumbers(a as BsonNumber, b as BsonNumber)
    case Rank.string:
      return texts(a as string, b as string)
    case Rank.boolean:
      return Number(a) - Number(b)
    case Rank.date:
      return (a as Date).getTime() - (b as Date).getTime()
    case Rank.objectId:
      return compareBytes((a as ObjectId).id, (b as ObjectId).id)
    case Rank.array:
      return compareItems(a as ReadonlyArray<unknown>, b as ReadonlyArray<unknown>, texts)
    case Rank.document:
      return compareFields(Object.entries(asDocument(a as object)), Object.entries(asDocument(b as object)), texts)
    case Rank.binary:
      return compareBinary(a as Binary, b as Binary)
    case Rank.timestamp:
      return (a as Timestamp).compare(b as Timestamp)
    case Rank.regularExpression:
      return compareStrings((a as RegExp).source, (b as RegExp).source)
        || compareStrings((a as RegExp).flags, (b as RegExp).flags)
    case Rank.code:
      return compareStrings(
        String((a as { readonly code: unknown }).code),
        String((b as { readonly code: unknown }).code)
      )
    default:
      return 0
  }
}

const compareItems = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>, texts: CompareTexts): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compare(a[i], b[i], texts)
    if (order !== 0) return order
  }
  return a.length - b.length
}

const compareFields = (
  a: ReadonlyArray<[string, unknown]>,
  b: ReadonlyArray<[string, unknown]>,
  texts: CompareTexts
): number => {
  for (const [i, [nameA, valueA]] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const [nameB, valueB] = other
    const order = rankOf(valueA) - rankOf(valueB) || compareStrings(nameA, nameB) || compare(valueA, valueB, texts)
    if (order !== 0) return order
  }
  return a.length - b.length
}

const compareBinary = (a: Binary, b: Binary): number =>
  a.position - b.position || a.sub_type - b.sub_type || compareBytes(binaryBytes(a), binaryBytes(b))

/** A value of the rank `document` as a document: a `DBRef` becomes one. */
export const asDocument = (value: object): Document =>
  // Any object of this rank other than a `DBRef` is a plain one.
  tagOf(value) === "DBRef" ? { ...(value as DBRef).toJSON() } : value as Document

export const equals = (a: unknown, b: unknown): boolean => compare(a, b) === 0

/** Whether two values have the same BSON: stricter than {@link equals}, by which 1 equals a `Decimal128` of 1. */
export const isIdentical = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (isArray(a) && isArray(b)) return a.length === b.length && a.every((item, i) => isIdentical(item, b[i]))
  if (isDocument(a) && isDocument(b)) {
    const [keysA, keysB] = [Object.keys(a), Object.keys(b)]
    return keysA.length === keysB.length && keysA.every((key, i) => key === keysB[i] && isIdentical(a[key], b[key]))
  }
  return equals(a, b) && (isNumber(a) ? typeof a === typeof b && tagOf(Object(a)) === tagOf(Object(b)) : true)
}
