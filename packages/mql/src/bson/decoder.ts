/**
 * A fast decoder of BSON for the common types. A document with anything else is decoded by `bson`; the result is the same, except that
 * a regular expression which JavaScript does not have stays a `BSONRegExp`.
 *
 * It remembers which field name followed which one, and short strings: documents of a collection are alike, so a name is
 * compared with the expected one instead of decoded. The state is module-wide, since decoding never yields.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as BSON from "bson"
import * as Result from "effect/Result"
import { maxNesting } from "./limits.ts"
import { dateOf } from "./normalise.ts"
import { doubleOf, made, plainNumber, wrappedCount } from "./number.ts"
import { markWrapped } from "./plainDocument.ts"
import { isDocument, tagOf } from "./value.ts"

/**
 * Decodes a document of the first `length` bytes, and marks one that has a `Double` or a `Long`. It does not refer to the bytes, which may be
 * overwritten afterwards. Throws what `bson` throws for malformed BSON.
 */
export const decodeDocument = (given: Uint8Array, length = given.length): Document => {
  const before = wrappedCount()
  const document = decode(given, length)
  if (wrappedCount() !== before) markWrapped(document)
  return document
}

// internal

const decode = (given: Uint8Array, length: number): Document => {
  const { buffer, byteOffset } = given
  if (buffer !== view.buffer) lookInto(buffer)
  at = byteOffset
  end = at + length
  const decoded = int32() === length ? fieldsTo(end, start, 1) : other
  if (length > maxKept) lookInto(none)
  // Copied: binary values that `bson` decodes share the buffer.
  if (decoded !== other) return decoded
  const copy = Uint8Array.prototype.slice.call(given, 0, length)
  hasSymbol = false
  const document = BSON.deserialize(copy, { bsonRegExp: true, promoteLongs: false, promoteValues: false })
  const typed = withTypes(document, tagOf(document) !== undefined)
  if (!hasSymbol) return typed
  const promoted = BSON.deserialize(copy, { bsonRegExp: true })
  return withTypes(promoted, tagOf(promoted) !== undefined)
}

// Symbols are deprecated, and no store here writes them. `bson` has to make texts of them while it recognises references.
let hasSymbol = false

/** Replaces the classes of numbers by those that are used here, in place: in references and code, by plain numbers. */
const withTypes = <A extends object>(document: A, isPlain = false): A => {
  for (const [key, value] of Object.entries(document)) {
    if (typeof value !== "object" || value === null) continue
    const replaced = isPlain ? plainNumber(typed(value, true)) : typed(value, false)
    if (replaced === value) continue
    Object.defineProperty(document, key, { value: replaced, enumerable: true, configurable: true, writable: true })
  }
  return document
}

const typed = (value: object, isPlain: boolean): unknown => {
  // The casts follow from the tags.
  switch (tagOf(value)) {
    case "Int32":
      return value.valueOf()
    case "BSONSymbol":
      hasSymbol = true
      return value
    case "Double":
      return doubleOf((value as BSON.Double).value)
    case "Long":
      return made(value as BSON.Long)
    case "BSONRegExp":
      return regExpOf(value as BSON.BSONRegExp)
    case "DBRef":
    case "Code":
      return withTypes(value, true)
    case undefined:
      return Array.isArray(value) || isDocument(value) ? withTypes(value, isPlain) : value
    default:
      return value
  }
}

/** The expression with the flags that `bson` gives it; itself if JavaScript has no such pattern, or no such option. */
const regExpOf = (stored: BSON.BSONRegExp): unknown => {
  const { options, pattern } = stored
  return /[xl]/u.test(options) ? stored : Result.getOrElse(
    Result.try(() => new RegExp(pattern, options.replace("s", "g").replace(/[^gim]/gu, ""))),
    () => stored
  )
}

// Returned instead of a value that `bson` must decode: other types, special names, malformed bytes.
const other: unique symbol = Symbol("other")

type Other = typeof other

// The buffer that is being decoded, the position in it, and the end of the document. The views are reused, since small
// documents often share the buffer of the previous one.
const none = new ArrayBuffer(0)
let view: DataView = new DataView(none)
let bytes: Buffer = Buffer.from(none)
let at = 0
let end = 0

const maxKept = 65_536

const lookInto = (buffer: ArrayBufferLike): void => {
  view = new DataView(buffer)
  bytes = Buffer.from(buffer)
}

const { latin1Slice, utf8Slice } = Buffer.prototype

// Never reads beyond the end, where another document may be: callers notice by `at`.
const int32 = (): number => {
  const from = at
  at = from + 4
  return at <= end ? view.getInt32(from, true) : -1
}

const float64 = (): number => {
  const from = at
  at = from + 8
  return at <= end ? view.getFloat64(from, true) : 0
}

const fieldsTo = (last: number, slot: NameSlot, depth: number): { [key: string]: unknown } | Other => {
  const document: { [key: string]: unknown } = {}
  let previous = slot
  while (at < end) {
    const type = bytes[at++]
    if (type === 0) return at === last ? document : other
    const name = nameAfter(previous)
    if (name === undefined) return other
    const value = valueOf(type, name.inside, depth)
    if (value === other) return other
    document[name.text] = value
    previous = name
  }
  return other
}

// Copied with `slice`: V8 pretenures an array literal at a hot site, and only a major GC frees pretenured arrays.
const noItems: ReadonlyArray<unknown> = []

const itemsTo = (last: number, slot: NameSlot, depth: number): ReadonlyArray<unknown> | Other => {
  const items = noItems.slice()
  while (at < end) {
    const type = bytes[at++]
    if (type === 0) return at === last ? items : other
    // Skips the name, which is the index.
    while (at < end && bytes[at] !== 0) at += 1
    at += 1
    const value = valueOf(type, slot, depth)
    if (value === other) return other
    items.push(value)
  }
  return other
}

const valueOf = (type: number | undefined, slot: NameSlot, depth: number): unknown => {
  switch (type) {
    case 0x01:
      return doubleOf(float64())
    case 0x02:
      return text()
    case 0x03:
    case 0x04: {
      const last = at + int32()
      if (last > end || depth >= maxNesting) return other
      return type === 0x03 ? fieldsTo(last, slot, depth + 1) : itemsTo(last, slot, depth + 1)
    }
    case 0x05: {
      const length = int32()
      const subtype = bytes[at]
      const from = at + 1
      at = from + length
      // `bson` judges the others.
      if (length < 0 || at >= end || (subtype !== 0 && (subtype !== 4 || length !== 16))) return other
      const value = Uint8Array.prototype.slice.call(bytes, from, at)
      return subtype === 4 ? new BSON.UUID(value) : new BSON.Binary(value, 0)
    }
    case 0x07:
      at += 12
      return at < end ? new BSON.ObjectId(Uint8Array.prototype.slice.call(bytes, at - 12, at)) : other
    case 0x08: {
      const byte = bytes[at++]
      return byte === 0 ? false : byte === 1 ? true : other
    }
    case 0x09: {
      const low = int32() >>> 0
      return dateOf(int32() * 0x1_0000_0000 + low)
    }
    case 0x0a:
      return null
    case 0x10:
      return int32()
    case 0x12: {
      const low = int32() >>> 0
      const high = int32()
      return made(new BSON.Long(low, high))
    }
    case 0x13:
      at += 16
      return at < end ? new BSON.Decimal128(Uint8Array.prototype.slice.call(bytes, at - 16, at)) : other
    default:
      return other
  }
}

const text = (): string | Other => {
  const length = int32() - 1
  const from = at
  const to = from + length
  if (length < 0 || to >= end || bytes[to] !== 0) return other
  at = to + 1
  if (length <= maxShort) return shortText(from, length)
  // Four bytes at a time; the last four may overlap the previous ones.
  let all = view.getInt32(to - 4, true)
  for (let i = from; i < to - 4; i += 4) all |= view.getInt32(i, true)
  return (all & notAscii) === 0 ? latin1Slice.call(bytes, from, to) : wide(from, to)
}

const notAscii = 0x8080_8080 | 0

// A cache of short strings, which repeat across documents. Three words identify a string of up to 12 bytes.
const maxShort = 12
const shorts = Array.from({ length: 1024 }, () => "")
const shortWords = new Int32Array(3 * shorts.length)

const shortText = (from: number, length: number): string | Other => {
  if (length === 0) return ""
  const last = length < 4 ? 0 : view.getInt32(from + length - 4, true)
  const first = length < 4 ? fewBytes(from, length) : view.getInt32(from, true)
  const middle = length > 8 ? view.getInt32(from + 4, true) : 0
  if (((first | middle | last) & notAscii) !== 0) return wide(from, from + length)
  const hash = Math.imul(Math.imul(first ^ length, 0x9e37_79b1) ^ middle, 0x85eb_ca6b) ^ Math.imul(last, 0xc2b2_ae35)
  const index = (hash ^ hash >>> 15) & 1023
  const words = 3 * index
  const known = shorts[index]!
  if (
    known.length === length
    && shortWords[words] === first && shortWords[words + 1] === middle && shortWords[words + 2] === last
  ) return known
  shortWords[words] = first
  shortWords[words + 1] = middle
  shortWords[words + 2] = last
  return shorts[index] = latin1Slice.call(bytes, from, from + length)
}

const fewBytes = (from: number, length: number): number =>
  bytes[from]! | (length > 1 ? bytes[from + 1]! << 8 : 0) | (length > 2 ? bytes[from + 2]! << 16 : 0)

const wide = (from: number, to: number): string | Other => {
  const value = utf8Slice.call(bytes, from, to)
  // U+FFFD may replace invalid UTF-8, which `bson` judges.
  return value.includes("\ufffd") ? other : value
}

// A slot between two fields: the names that followed here in recent documents.
class NameSlot {
  next: Name | undefined = undefined
  alternative: Name | undefined = undefined
}

class Name extends NameSlot {
  readonly text: string
  readonly bytes: Uint8Array
  readonly view: DataView
  /** The slot before the first field of a nested document in this field. */
  readonly inside = new NameSlot()

  constructor(text: string, bytes: Uint8Array) {
    super()
    this.text = text
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

let start = new NameSlot()

// Enough for most programs. When it is exceeded, the cache is emptied, so that unused names don't stay forever.
const maxNames = 4096

let names = new Map<string, Name>()

const nameAfter = (slot: NameSlot): Name | undefined => {
  const { next } = slot
  if (next !== undefined && isAt(next)) {
    at += next.bytes.length
    return next
  }
  const { alternative } = slot
  if (alternative !== undefined && isAt(alternative)) {
    at += alternative.bytes.length
    slot.alternative = next
    slot.next = alternative
    return alternative
  }
  const name = nameHere()
  if (name !== undefined) {
    slot.alternative = next
    slot.next = name
  }
  return name
}

// Whether these bytes come next, the terminating zero included.
const isAt = ({ bytes: expected, view: expectedView }: Name): boolean => {
  const from = at
  const { length } = expected
  if (from + length > end) return false
  if (length < 4) {
    for (let i = 0; i < length; i++) if (bytes[from + i] !== expected[i]) return false
    return true
  }
  const last = length - 4
  for (let i = 0; i < last; i += 4) if (view.getInt32(from + i, true) !== expectedView.getInt32(i, true)) return false
  return view.getInt32(from + last, true) === expectedView.getInt32(last, true)
}

const nameHere = (): Name | undefined => {
  const from = at
  while (at < end && bytes[at] !== 0) at += 1
  at += 1
  if (at >= end || bytes[from] === 0x24) return undefined
  const text = utf8Slice.call(bytes, from, at - 1)
  if (text === "__proto__") return undefined
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= maxNames) {
    names = new Map()
    start = new NameSlot()
  }
  const made = new Name(text, Uint8Array.prototype.slice.call(bytes, from, at))
  names.set(text, made)
  return made
}
