/**
 * Encodes values as index keys that compare byte by byte in MongoDB's order. A key is a string with one byte in each
 * character.
 *
 * A component is self-delimiting, so that the components of a compound key are concatenated. Keys have a limited length
 * in lmdb: a longer one is cut and ends in a digest, which keeps it distinct but not in order. {@link KeyNotes} tells.
 */
import type { Binary, ObjectId, Timestamp } from "bson"
import * as crypto from "node:crypto"
import type { Collator } from "./collator.ts"
import { type BsonNumber, residue, toDouble } from "./number.ts"
import { asDocument, binaryBytes, Rank, rankOf } from "./value.ts"

/** Collects whether a key is `inexact`: as distinct as its values, but not in their order. */
export interface KeyNotes {
  inexact: boolean
}

// lmdb's keys have at most 1,978 bytes, for the key of an entry, the document's record id and the table's number.
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

// Printable ASCII needs no UTF-8 encoding. For short texts, this loop is faster than a regular expression.
const isSimple = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

const text = (value: string): string =>
  isSimple(value) ? value : Buffer.from(value).toString("latin1").replaceAll("\0", "\0\xff")

// No terminated text is a prefix of another one, so that inverted texts compare correctly, too.
const terminator = "\0\x01"

const terminated = (value: string): string => text(value) + terminator

const tag = (rank: Rank): string => String.fromCharCode(rank)

const stringTag = tag(Rank.string)

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

const { latin1Slice } = Buffer.prototype

const latin1 = (bytes: Uint8Array): string => latin1Slice.call(bytes, 0, bytes.length)

/**
 * Encodes a value as a component of an ascending key. With a collator, texts that it takes for equal have the same
 * component, and so may others, whose order it keeps.
 */
export const encodeComponent = (value: unknown, notes: KeyNotes, collator?: Collator): string => {
  if (typeof value !== "string") {
    const rank = rankOf(value)
    return tag(rank) + payload(rank, value, notes, collator)
  }
  // A joined text is in one piece. One that is added up has to be copied before its first comparison, and holds its pieces.
  if (collator === undefined) return [stringTag, text(value), terminator].join("")
  notes.inexact = true
  return stringTag + collator.keyOf(value)
}

// The casts follow from the rank.
const payload = (rank: Rank, value: unknown, notes: KeyNotes, collator: Collator | undefined): string => {
  switch (rank) {
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
        Object.entries(asDocument(value as object))
          .map(([name, field]) => `${tag(rankOf(field))}${terminated(name)}${encodeComponent(field, notes, collator)}`)
          .join("")
      }\0`
    case Rank.array:
      return `${(value as ReadonlyArray<unknown>).map((item) => encodeComponent(item, notes, collator)).join("")}\0`
    case Rank.binary: {
      const bytes = binaryBytes(value as Binary)
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
 * The common prefix of the components of all values that equal this one. Components of smaller values order before it,
 * those of larger values after all components with this prefix; only numbers with the same nearest double share it.
 */
export const bound = (value: unknown, collator?: Collator): string => {
  const rank = rankOf(value)
  return rank === Rank.number
    // The cast follows from the rank. The bytes after the double distinguish numbers with the same nearest double.
    ? tag(rank) + double(toDouble(value as BsonNumber))
    : encodeComponent(value, { inexact: false }, collator)
}

/** The common prefix of the components of all texts that begin with this one. */
export const textPrefix = (value: string): string => tag(Rank.string) + text(value)

/** The common prefix of the components of all values of a rank. */
export const rankBound: (rank: Rank) => string = tag

/** Inverts the bytes of a component, for a descending key. */
export const invert = (key: string): string => {
  const bytes = Buffer.from(key, "latin1")
  for (const [i, byte] of bytes.entries()) bytes[i] = 0xff - byte
  return bytes.toString("latin1")
}

/** A key of components and a suffix, in one piece, whose components have a limited length. */
export const limitedKey = (components: ReadonlyArray<string>, suffix: string, notes: KeyNotes): string => {
  const key = [...components, suffix].join("")
  return key.length - suffix.length <= maxLength ? key : limitLength(components.join(""), notes) + suffix
}

/** Bounds the length of a key: replaces the end of a long one by a digest of the key. */
export const limitLength = (key: string, notes: KeyNotes): string => {
  if (key.length <= maxLength) return key
  notes.inexact = true
  const digest = crypto.createHash("sha256").update(key, "latin1").digest()
  return key.slice(0, maxLength - hashLength) + digest.toString("latin1")
}

/**
 * The range from all keys with the prefix `from` to all keys with the prefix `to`, both included, widened so that it
 * contains the keys that {@link limitLength} has cut.
 */
export const limitedRange = (from: string, to: string): { readonly start: string; readonly end: string } => ({
  start: from.slice(0, maxLength - hashLength),
  end: following(to.slice(0, maxLength - hashLength))
})

/** Whether {@link limitedRange} contains only keys with this prefix, unless some are cut. */
export const isWhole = (prefix: string): boolean => prefix.length <= maxLength - hashLength

// The least key after all keys with a prefix. A prefix always has a byte other than 0xff.
const following = (prefix: string): string => {
  const incrementable = prefix.replace(/\xff+$/, "")
  const last = incrementable.charCodeAt(incrementable.length - 1)
  return incrementable.slice(0, -1) + String.fromCharCode(last + 1)
}

/** The record id of a document: its number within the collection as a key that orders like the number. */
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

/** How many bytes a record id has. */
export const recordIdLength = 6

/** The inverse of {@link recordIdOf}. */
export const numberOfRecord = (recordId: string): number => {
  let number = 0
  for (let i = 0; i < recordId.length; i++) number = number * 256 + recordId.charCodeAt(i)
  return number
}

/** The key of a document's `_id`. */
export const documentKey = (id: unknown, notes: KeyNotes = { inexact: false }): string =>
  limitLength(encodeComponent(id, notes), notes)
