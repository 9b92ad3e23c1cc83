/**
 * The records of the log of changes, as they are stored. Of an update, a record has the document after it, and of the document
 * before only what differs.
 *
 * On disk a record is put together from the bytes of the document, which is encoded already.
 */
import * as Result from "effect/Result"
import { plainStored, plainValue } from "../../bson/plainDocument.ts"
import { isArray, isDocument, setField } from "../../bson/value.ts"
import type { Document, StoredChange } from "../../DocumentStore.ts"
import { memoryOf } from "../../mql/limits/sizeLimits.ts"
import type { Encoded, KeyValue } from "../../storage/orderedStore.ts"

/**
 * What is recorded of a change, beside its documents.
 *
 * @internal
 */
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

/**
 * A stored record and its size.
 *
 * @internal
 */
export interface ChangeRecord {
  readonly encoded: Encoded
  readonly bytes: number
}

/**
 * Encodes a record. One of the documents is there.
 *
 * @internal
 */
export const encodeRecord = (
  { encode }: Pick<KeyValue, "encode">,
  { collection, offset, time, transaction, who }: RecordHead,
  before: Document | undefined,
  after: { readonly document: Document; readonly encoded: Encoded } | undefined
): ChangeRecord => {
  const { added, replaced } = after === undefined || before === undefined
    ? { replaced: before, added: [] }
    : differenceOf(before, after.document)
  const head = {
    t: time,
    x: transaction,
    s: offset,
    c: collection,
    ...who === undefined ? {} : { w: who },
    ...added.length === 0 ? {} : { n: added }
  }
  const bytesOf = (document: Document) => encodedOf(encode, document)
  if (after !== undefined && !(after.encoded instanceof Uint8Array)) return inMemory(head, replaced, after.document)
  const headBytes = bytesOf(head)
  if (!(headBytes instanceof Uint8Array)) return inMemory(head, replaced, after?.document)
  const encoded = joined(headBytes, [
    ["b", replaced === undefined ? undefined : bytesOf(replaced)],
    ["a", after?.encoded]
  ])
  return { encoded, bytes: encoded.length }
}

/**
 * The head of a stored record.
 *
 * @internal
 */
export const headOf = (record: Document): RecordHead => ({
  collection: String(record["c"]),
  time: Number(record["t"]),
  transaction: Number(record["x"]),
  who: typeof record["w"] === "string" ? record["w"] : undefined,
  offset: Number(record["s"])
})

/**
 * The documents of a stored record.
 *
 * @internal
 */
export const documentsOf = (
  record: Document
): { readonly before: Document | undefined; readonly after: Document | undefined } => {
  const { a: after, b: replaced, n: added } = plainStored(record)
  const documentAfter = isDocument(after) ? after : undefined
  const documentBefore = isDocument(replaced) ? replaced : undefined
  return documentAfter === undefined || documentBefore === undefined
    ? { before: documentBefore, after: documentAfter }
    : { before: beforeOf(documentAfter, documentBefore, isArray(added) ? added : []), after: documentAfter }
}

/**
 * A change as streams have it. One of the documents is there.
 *
 * @internal
 */
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

// What is encoded here are parts of documents that have been stored, and small heads.
const encodedOf = (encode: KeyValue["encode"], document: Document): Encoded =>
  Result.getOrThrowWith(encode(document), (problem) => new Error(problem))

const inMemory = (head: Document, replaced: Document | undefined, after: Document | undefined): ChangeRecord => {
  const encoded = {
    ...head,
    ...replaced === undefined ? {} : { b: replaced },
    ...after === undefined ? {} : { a: after }
  }
  return { encoded, bytes: memoryOf(encoded) }
}

/** What an update has taken away or replaced, and the names of the fields that it has added. */
const differenceOf = (
  before: Document,
  after: Document
): { readonly replaced: Document; readonly added: ReadonlyArray<string> } => {
  const replaced: { [key: string]: unknown } = {}
  const added: Array<string> = []
  for (const key of Object.keys(after)) {
    if (!Object.hasOwn(before, key)) added.push(key)
    else if (!isSame(before[key], after[key])) setField(replaced, key, before[key])
  }
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) setField(replaced, key, before[key])
  return { replaced, added }
}

// Equal values of other types may be kept twice.
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (one instanceof Date && other instanceof Date && one.getTime() === other.getTime())

const beforeOf = (after: Document, replaced: Document, added: ReadonlyArray<unknown>): Document => {
  const before: { [key: string]: unknown } = {}
  for (const key of Object.keys(after)) {
    if (!added.includes(key)) setField(before, key, Object.hasOwn(replaced, key) ? replaced[key] : after[key])
  }
  for (const key of Object.keys(replaced)) if (!Object.hasOwn(before, key)) setField(before, key, replaced[key])
  return before
}

type Part = readonly [name: "a" | "b", bytes: Encoded | undefined]

/** A document with further fields, each a document. */
const joined = (head: Uint8Array, parts: ReadonlyArray<Part>): Uint8Array => {
  let length = head.length
  for (const [, bytes] of parts) if (bytes instanceof Uint8Array) length += fieldHead + bytes.length
  const all = Buffer.allocUnsafe(length)
  // The last byte of a document ends it.
  let at = head.length - 1
  all.set(head.subarray(0, at))
  for (const [name, bytes] of parts) {
    if (!(bytes instanceof Uint8Array)) continue
    all[at] = embeddedDocument
    all[at + 1] = name.charCodeAt(0)
    all[at + 2] = 0
    all.set(bytes, at + fieldHead)
    at += fieldHead + bytes.length
  }
  all[at] = 0
  all.writeInt32LE(length)
  return all
}

// The type of a field, its name of one letter, and the end of the name.
const fieldHead = 3

const embeddedDocument = 3
