/**
 * Stored documents as they are read: the values that most documents are made of are decoded here, everything else by
 * `bson`, and the outcome is the same.
 */
import * as BSON from "bson"
import type { Document } from "../DocumentStore.ts"
import { dateOf } from "./bsonValue.ts"

/**
 * The document in these bytes, which may be overwritten afterwards: nothing of it refers to them. Throws what `bson`
 * throws about bytes that are no document.
 *
 * @internal
 */
export const decodeDocument = (given: Uint8Array): Document => {
  const { length } = given
  bytes = given
  at = 0
  end = length
  const decoded = int32() === length ? fieldsTo(length, start, 1) : other
  bytes = none
  // `bson` lets binary values share what they were made of.
  return decoded === other ? BSON.deserialize(Uint8Array.prototype.slice.call(given, 0, length)) : decoded
}

// internal

// In place of what is left to `bson`: other types, special names, and whatever is odd.
const other: unique symbol = Symbol("other")

type Other = typeof other

const none = new Uint8Array(0)

// What is decoded, how far, and where it ends: nothing else is meanwhile.
let bytes: Uint8Array = none
let at = 0
let end = 0

// What is stored is not nested more deeply.
const maxDepth = 200

const { latin1Slice, utf8Slice } = Buffer.prototype

const eight = new Uint8Array(8)
const double = new DataView(eight.buffer)

// Behind the end there is no byte, or somebody else's: callers look at what comes after.
const int32 = (): number => {
  const source = bytes
  const from = at
  at = from + 4
  return source[from]! | source[from + 1]! << 8 | source[from + 2]! << 16 | source[from + 3]! << 24
}

const float64 = (): number => {
  const source = bytes
  const from = at
  at = from + 8
  for (let i = 0; i < 8; i++) eight[i] = source[from + i]!
  return double.getFloat64(0, true)
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
  const source = bytes
  const length = int32() - 1
  const from = at
  const to = from + length
  if (length < 0 || to >= end || source[to] !== 0) return other
  at = to + 1
  if (length <= maxShort) return shortText(source, from, length)
  // One byte for each character.
  let i = from
  for (; i + 4 <= to; i += 4) {
    if ((source[i]! | source[i + 1]! | source[i + 2]! | source[i + 3]!) > 127) return wide(from, to)
  }
  for (; i < to; i++) if (source[i]! > 127) return wide(from, to)
  return latin1Slice.call(source, from, to)
}

// Many short texts are one of a few.
const maxShort = 12
const shorts = Array.from({ length: 1024 }, () => "")

const shortText = (source: Uint8Array, from: number, length: number): string | Other => {
  let hash = length
  for (let i = 0; i < length; i++) {
    const byte = source[from + i]!
    if (byte > 127) return wide(from, from + length)
    hash = Math.imul(hash, 31) + byte | 0
  }
  const place = hash & 1023
  const known = shorts[place]!
  if (known.length === length) {
    let i = 0
    while (i < length && known.charCodeAt(i) === source[from + i]) i += 1
    if (i === length) return known
  }
  return shorts[place] = latin1Slice.call(source, from, from + length)
}

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
  /** The beginning of a document in the field. */
  readonly inside = new Place()

  constructor(text: string, bytes: Uint8Array) {
    super()
    this.text = text
    this.bytes = bytes
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
const isAt = ({ bytes: expected }: Name): boolean => {
  const source = bytes
  const from = at
  const { length } = expected
  for (let i = 0; i < length; i++) if (source[from + i] !== expected[i]) return false
  return true
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
