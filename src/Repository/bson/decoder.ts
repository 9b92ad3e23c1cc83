/**
 * Stored documents as they are read: the values that most documents are made of are decoded here, everything else by
 * `bson`, and the outcome is the same.
 */
import * as BSON from "bson"
import type { Document } from "../DocumentStore.ts"
import { dateOf } from "./value.ts"

/**
 * The document in these bytes, which may be overwritten afterwards: nothing of it refers to them. Throws what `bson`
 * throws about bytes that are no document.
 *
 * @internal
 */
export const decodeDocument = (given: Uint8Array): Document => {
  const { buffer, byteOffset, length } = given
  if (buffer !== view.buffer) lookInto(buffer)
  at = byteOffset
  end = at + length
  const decoded = int32() === length ? fieldsTo(end, start, 1) : other
  if (length > maxHeld) lookInto(none)
  // `bson` lets binary values share what they were made of.
  return decoded === other ? BSON.deserialize(Uint8Array.prototype.slice.call(given, 0, length)) : decoded
}

// internal

// In place of what is left to `bson`: other types, special names, and whatever is odd.
const other: unique symbol = Symbol("other")

type Other = typeof other

// What the bytes that are decoded are in, how far they are decoded, and where they end: nothing else is meanwhile. Small
// documents are often in the same buffer as the one before.
const none = new ArrayBuffer(0)
let view: DataView = new DataView(none)
let bytes: Buffer = Buffer.from(none)
let at = 0
let end = 0

const maxHeld = 65_536

const lookInto = (buffer: ArrayBufferLike): void => {
  view = new DataView(buffer)
  bytes = Buffer.from(buffer)
}

// What is stored is not nested more deeply.
const maxDepth = 200

const { latin1Slice, utf8Slice } = Buffer.prototype

// Behind the end there is nothing, or somebody else's: callers see then that they are too far.
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

const fieldsTo = (last: number, place: Place, depth: number): { [key: string]: unknown } | Other => {
  const document: { [key: string]: unknown } = {}
  let previous = place
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

// Copied: of a literal, V8 may come to believe that all that it makes lives long.
const noItems: ReadonlyArray<unknown> = []

const itemsTo = (last: number, place: Place, depth: number): ReadonlyArray<unknown> | Other => {
  const items = noItems.slice()
  while (at < end) {
    const type = bytes[at++]
    if (type === 0) return at === last ? items : other
    // Their names are their places.
    while (at < end && bytes[at] !== 0) at += 1
    at += 1
    const value = valueOf(type, place, depth)
    if (value === other) return other
    items.push(value)
  }
  return other
}

const valueOf = (type: number | undefined, place: Place, depth: number): unknown => {
  switch (type) {
    case 0x01:
      return float64()
    case 0x02:
      return text()
    case 0x03:
    case 0x04: {
      const last = at + int32()
      if (last > end || depth >= maxDepth) return other
      return type === 0x03 ? fieldsTo(last, place, depth + 1) : itemsTo(last, place, depth + 1)
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
      return high >= -0x20_0000 && high < 0x20_0000 ? high * 0x1_0000_0000 + low : other
    }
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
  // One byte for each character. The last four may have been among those before.
  let all = view.getInt32(to - 4, true)
  for (let i = from; i < to - 4; i += 4) all |= view.getInt32(i, true)
  return (all & notAscii) === 0 ? latin1Slice.call(bytes, from, to) : wide(from, to)
}

const notAscii = 0x8080_8080 | 0

// Many short texts are one of a few. Three times four bytes are all of them.
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
  const place = (hash ^ hash >>> 15) & 1023
  const words = 3 * place
  const known = shorts[place]!
  if (
    known.length === length
    && shortWords[words] === first && shortWords[words + 1] === middle && shortWords[words + 2] === last
  ) return known
  shortWords[words] = first
  shortWords[words + 1] = middle
  shortWords[words + 2] = last
  return shorts[place] = latin1Slice.call(bytes, from, from + length)
}

const fewBytes = (from: number, length: number): number =>
  bytes[from]! | (length > 1 ? bytes[from + 1]! << 8 : 0) | (length > 2 ? bytes[from + 2]! << 16 : 0)

const wide = (from: number, to: number): string | Other => {
  const value = utf8Slice.call(bytes, from, to)
  // It may stand for bytes that are no UTF-8.
  return value.includes("\ufffd") ? other : value
}

// A place between fields, with the names that were found there lately.
class Place {
  next: Name | undefined = undefined
  alternative: Name | undefined = undefined
}

class Name extends Place {
  readonly text: string
  readonly bytes: Uint8Array
  readonly view: DataView
  /** The beginning of a document in the field. */
  readonly inside = new Place()

  constructor(text: string, bytes: Uint8Array) {
    super()
    this.text = text
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

let start = new Place()

// As many as most programs have. When there are more, they begin anew: what is not used any more has to be forgotten.
const maxNames = 4096

let names = new Map<string, Name>()

const nameAfter = (place: Place): Name | undefined => {
  const { next } = place
  if (next !== undefined && isAt(next)) {
    at += next.bytes.length
    return next
  }
  const { alternative } = place
  if (alternative !== undefined && isAt(alternative)) {
    at += alternative.bytes.length
    place.alternative = next
    place.next = alternative
    return alternative
  }
  const name = nameHere()
  if (name !== undefined) {
    place.alternative = next
    place.next = name
  }
  return name
}

// With the zero at the end.
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
    start = new Place()
  }
  const made = new Name(text, Uint8Array.prototype.slice.call(bytes, from, at))
  names.set(text, made)
  return made
}
