/**
 * The stored records of the log of changes. The record of an update has the document after it, and only the differing fields
 * of the document before it.
 *
 * A record on disk copies the bytes of the document, which is encoded already.
 */
import type { Document, StoredChange } from "@appkernel/document-store/DocumentStore"
import { getOrMake } from "@appkernel/document-store/internal"
import { isDocument, memoryOf, plainStored, plainValue, setField } from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Encoded, KeyValue } from "../storage/orderedStore.ts"

/** The recorded facts of a change, besides its documents. */
export interface RecordHead {
  readonly collection: string
  /** Milliseconds since 1970. */
  readonly time: number
  /** The number of the first change that was committed with it. */
  readonly transaction: number
  readonly who: string | undefined
  /** The bytes of all records before it. */
  readonly offset: number
}

/** A stored record and its size. */
export interface ChangeRecord {
  readonly encoded: Encoded
  readonly bytes: number
}

/** Encodes a record of one document or two; `encoded` is the stored form of the later one. */
export const encodeRecord = (
  { encode }: Pick<KeyValue, "encode">,
  head: RecordHead,
  before: Document | undefined,
  after: Document | undefined,
  encoded: Encoded | undefined
): ChangeRecord => {
  const { added, replaced } = after === undefined || before === undefined
    ? { replaced: before, added: "" }
    : differenceOf(before, after)
  const replacedEncoded = replaced === undefined ? undefined : encodedOf(encode, replaced)
  if (!((encoded ?? replacedEncoded) instanceof Uint8Array)) {
    // The store holds the document after the change anyway, until a later record has what is replaced of it.
    const bytes = headSize + (replaced === undefined ? 0 : memoryOf(replaced))
    return { encoded: inMemory(head, added || undefined, replaced, after), bytes }
  }
  const record = joined(head, added, [["b", replacedEncoded], ["a", encoded]])
  return { encoded: record, bytes: record.length }
}

/** The head of a stored record. */
export const headOf = (record: Document): RecordHead => ({
  collection: String(record["c"]),
  time: Number(record["t"]),
  transaction: Number(record["x"]),
  who: typeof record["w"] === "string" ? record["w"] : undefined,
  offset: Number(record["s"])
})

/** The documents of a stored record. */
export const documentsOfRecord = (
  record: Document
): { readonly before: Document | undefined; readonly after: Document | undefined } => {
  const { a: after, b: replaced, n: added } = plainStored(record)
  const documentAfter = isDocument(after) ? after : undefined
  const documentBefore = isDocument(replaced) ? replaced : undefined
  return documentAfter === undefined || documentBefore === undefined
    ? { before: documentBefore, after: documentAfter }
    : {
      before: beforeOf(documentAfter, documentBefore, typeof added === "string" ? added.slice(0, -1).split("\0") : []),
      after: documentAfter
    }
}

/** A change in the form that streams return. At least one of the documents is not `undefined`. */
export const storedChange = (
  facts: Pick<StoredChange, "collection" | "position" | "transaction" | "time" | "who">,
  before: Document | undefined,
  after: Document | undefined
): StoredChange => {
  const own = { ...facts, id: plainValue((after ?? before)?.["_id"]) }
  return after === undefined
    ? { ...own, operation: "delete", before: plainStored(before ?? {}) }
    : before === undefined
    ? { ...own, operation: "insert", after: plainStored(after) }
    : { ...own, operation: "update", before: plainStored(before), after: plainStored(after) }
}

// internal

// The encoding can't fail: it gets small heads, and parts of stored documents.
const encodedOf = (encode: KeyValue["encode"], document: Document): Encoded =>
  Result.getOrThrowWith(encode(document), (problem) => new Error(problem))

/** Records have one shape, with the fields of {@link joined}, so that one is a single small object. */
const inMemory = (
  { collection: c, offset: s, time: t, transaction: x, who: w }: RecordHead,
  n: string | undefined,
  b: Document | undefined,
  a: Document | undefined
): Document => ({ t, x, s, c, w, n, b, a })

/** The fields that an update removed or replaced, with their values before it, and the names of the fields that it added. */
const differenceOf = (
  before: Document,
  after: Document
): { readonly replaced: Document; readonly added: string } => {
  const replaced: { [key: string]: unknown } = {}
  let added = ""
  let removed = 0
  // `for in` is by far the fastest way through the fields of a frozen object.
  for (const _ in before) removed += 1
  for (const key in after) {
    const [value, next] = [before[key], after[key]]
    // Names of fields don't contain this character, so it ends each of them.
    if (value !== next && !Object.hasOwn(before, key)) added += `${key}\0`
    else {
      removed -= 1
      if (value !== next && !isSame(value, next)) setField(replaced, key, value)
    }
  }
  if (removed > 0) { for (const key in before) if (!Object.hasOwn(after, key)) setField(replaced, key, before[key]) }
  return { replaced, added }
}

// Cheap: equal documents and lists count as different, and are then stored twice.
const isSame = (one: unknown, other: unknown): boolean =>
  one instanceof Date && other instanceof Date && one.getTime() === other.getTime()

const beforeOf = (after: Document, replaced: Document, added: ReadonlyArray<string>): Document => {
  const before: { [key: string]: unknown } = {}
  for (const key of Object.keys(after)) {
    if (!added.includes(key)) setField(before, key, Object.hasOwn(replaced, key) ? replaced[key] : after[key])
  }
  for (const key of Object.keys(replaced)) if (!Object.hasOwn(before, key)) setField(before, key, replaced[key])
  return before
}

type Part = readonly [name: "a" | "b", bytes: Encoded | undefined]

const joined = (head: RecordHead, added: string, parts: ReadonlyArray<Part>): Uint8Array => {
  const collection = elementsOf(head.collection)
  const who = head.who === undefined ? none : textElement("w", head.who)
  const names = added === "" ? none : textElement("n", added)
  let length = lengthOfSize + 3 * numberElement + collection.length + who.length + names.length + 1
  for (const [, bytes] of parts) if (bytes instanceof Uint8Array) length += elementHead + bytes.length
  const all = Buffer.allocUnsafe(length)
  let at = all.writeInt32LE(length)
  for (const [name, number] of [["t", head.time], ["x", head.transaction], ["s", head.offset]] as const) {
    at = beginElement(all, at, doubleType, name)
    at = all.writeDoubleLE(number, at)
  }
  for (const element of [collection, who, names]) {
    all.set(element, at)
    at += element.length
  }
  for (const [name, bytes] of parts) {
    if (!(bytes instanceof Uint8Array)) continue
    at = beginElement(all, at, documentType, name)
    all.set(bytes, at)
    at += bytes.length
  }
  all[at] = 0
  return all
}

const beginElement = (all: Buffer, at: number, type: number, name: string): number => {
  all[at] = type
  all[at + 1] = name.charCodeAt(0)
  all[at + 2] = 0
  return at + elementHead
}

const textElement = (name: string, text: string): Buffer => {
  const length = Buffer.byteLength(text)
  const element = Buffer.alloc(elementHead + lengthOfSize + length + 1)
  const at = element.writeInt32LE(length + 1, beginElement(element, 0, textType, name))
  element.write(text, at)
  return element
}

const elementsOf: (collection: string) => Buffer = (() => {
  const known = new Map<string, Buffer>()
  return (collection: string) => getOrMake(known, collection, () => textElement("c", collection))
})()

const none = Buffer.alloc(0)

// The types of BSON.
const [doubleType, textType, documentType] = [1, 2, 3]

const lengthOfSize = 4

// The type of an element, its name of one letter, and the end of the name.
const elementHead = 3

const numberElement = elementHead + 8

// The bytes that a record takes in memory besides its documents, roughly.
const headSize = 200
