/**
 * Values as keys that order like the values: strings of single bytes (one character each), compared byte by byte. A
 * component says itself where it ends.
 */
import type { Binary, ObjectId, Timestamp } from "bson"
import * as crypto from "node:crypto"
import { type BsonNumber, residue, toDouble } from "./number.ts"
import { bytesOf, plain, Rank, rankOf } from "./value.ts"

/**
 * What became of the keys that were made: `inexact` ones are as distinct as their values, but not quite in their order.
 *
 * @internal
 */
export interface KeyNotes {
  inexact: boolean
}

// A key may have 1,978 bytes in lmdb: those of an entry, those of the document it points to, and a table's number.
const maxLength = 900
const hashLength = 32

const doubleBytes = Buffer.alloc(8)

const double = (value: number): string => {
  if (Number.isNaN(value)) return "\0\0\0\0\0\0\0\0"
  doubleBytes.writeDoubleBE(value === 0 ? 0 : value)
  const negative = doubleBytes.readUInt8(0) >= 0x80
  if (!negative) doubleBytes.writeUInt8(doubleBytes.readUInt8(0) ^ 0x80)
  else for (let i = 0; i < 8; i++) doubleBytes.writeUInt8(doubleBytes.readUInt8(i) ^ 0xff, i)
  return doubleBytes.toString("latin1")
}

// Printable ASCII is its own UTF-8. Most texts in keys are too short for a regular expression to pay.
const isSimple = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

const text = (value: string): string =>
  isSimple(value) ? value : Buffer.from(value).toString("latin1").replaceAll("\0", "\0\xff")

// No text's bytes begin with all of another's, so that they also compare when they are inverted.
const terminated = (value: string): string => `${text(value)}\0\x01`

const tag = (rank: Rank): string => String.fromCharCode(rank)

const number = (value: BsonNumber, notes: KeyNotes): string => {
  const rest = residue(value)
  if (rest === undefined) return `${double(toDouble(value))}\x80`
  notes.inexact = true
  return `${double(toDouble(value))}${rest.side < 0 ? "\x40" : "\xc0"}${terminated(rest.text)}`
}

const uint32 = (...values: ReadonlyArray<number>): string => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes.toString("latin1")
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")

/**
 * A value as a component of a key, ascending.
 *
 * @internal
 */
export const component = (value: unknown, notes: KeyNotes): string => {
  const rank = rankOf(value)
  return tag(rank) + payload(rank, value, notes)
}

// The casts in here follow from the rank.
const payload = (rank: Rank, value: unknown, notes: KeyNotes): string => {
  switch (rank) {
    case Rank.string:
      return terminated(value as string)
    case Rank.number:
      return number(value as BsonNumber, notes)
    case Rank.boolean:
      return value === true ? "\x01" : "\0"
    case Rank.date:
      return double((value as Date).getTime())
    case Rank.objectId:
      return latin1((value as ObjectId).id)
    case Rank.document:
      return `${
        Object.entries(plain(value as object))
          .map(([name, field]) => `${tag(rankOf(field))}${terminated(name)}${component(field, notes)}`)
          .join("")
      }\0`
    case Rank.array:
      return `${(value as ReadonlyArray<unknown>).map((item) => component(item, notes)).join("")}\0`
    case Rank.binary: {
      const bytes = bytesOf(value as Binary)
      return uint32(bytes.length) + String.fromCharCode((value as Binary).sub_type) + latin1(bytes)
    }
    case Rank.timestamp: {
      const { t, i } = value as Timestamp
      return uint32(t, i)
    }
    case Rank.regularExpression: {
      const { source, flags } = value as RegExp
      return terminated(source) + terminated(flags)
    }
    case Rank.code:
      return terminated(String((value as { readonly code: unknown }).code))
    default:
      return ""
  }
}

/**
 * What the components of all values that are equal to this one begin with: those of smaller ones come before it, those of
 * larger ones after all that begin with it.
 *
 * @internal
 */
export const bound = (value: unknown): string => {
  const rank = rankOf(value)
  return rank === Rank.number
    // The cast follows from the rank. What follows the double tells numbers apart that share it.
    ? tag(rank) + double(toDouble(value as BsonNumber))
    : component(value, { inexact: false })
}

/**
 * What the components of all texts begin with that begin so.
 *
 * @internal
 */
export const beginning = (value: string): string => tag(Rank.string) + text(value)

/**
 * What all components of a class of values begin with.
 *
 * @internal
 */
export const rankBound: (rank: Rank) => string = tag

/**
 * A component of a descending key.
 *
 * @internal
 */
export const invert = (key: string): string => {
  const bytes = Buffer.from(key, "latin1")
  for (const [i, byte] of bytes.entries()) bytes[i] = 0xff - byte
  return bytes.toString("latin1")
}

/**
 * A key of bounded length: a long one ends in a digest of itself.
 *
 * @internal
 */
export const fit = (key: string, notes: KeyNotes): string => {
  if (key.length <= maxLength) return key
  notes.inexact = true
  const digest = crypto.createHash("sha256").update(key, "latin1").digest()
  return key.slice(0, maxLength - hashLength) + digest.toString("latin1")
}

/**
 * The range of what begins with `from` to what begins with `to`, both included, as keys that were {@link fit} are found
 * in it.
 *
 * @internal
 */
export const fitRange = (from: string, to: string): { readonly start: string; readonly end: string } => ({
  start: from.slice(0, maxLength - hashLength),
  end: following(to.slice(0, maxLength - hashLength))
})

// What follows everything that begins with a prefix; no prefix has no other byte than 0xff.
const following = (prefix: string): string => {
  const kept = prefix.replace(/\xff+$/, "")
  return kept.slice(0, -1) + String.fromCharCode(kept.charCodeAt(kept.length - 1) + 1)
}

/**
 * A document's number as a key: where it is among the documents of its collection.
 *
 * @internal
 */
export const recordIdOf = (number: number): string => {
  const high = Math.floor(number / 0x1_0000_0000)
  return String.fromCharCode(
    high >>> 8,
    high & 0xff,
    number >>> 24 & 0xff,
    number >>> 16 & 0xff,
    number >>> 8 & 0xff,
    number & 0xff
  )
}

/**
 * How many bytes a record identifier has.
 *
 * @internal
 */
export const recordIdLength = 6

/**
 * The number that {@link recordIdOf} made a key of.
 *
 * @internal
 */
export const numberOfRecord = (recordId: string): number => {
  let number = 0
  for (let i = 0; i < recordId.length; i++) number = number * 256 + recordId.charCodeAt(i)
  return number
}

/**
 * The key of the identifier of a document.
 *
 * @internal
 */
export const documentKey = (id: unknown, notes: KeyNotes = { inexact: false }): string =>
  fit(component(id, notes), notes)
