/**
 * Writes a document together with its entries in all indexes, within a job. Unique indexes and all other conditions are
 * checked before the first write, so that a rejected document changes nothing. Jobs run one after the other, so no
 * other write comes between a check and its write.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { spend } from "@appkernel/document-store/internal"
import { DuplicateKey } from "@appkernel/document-store/StoreError"
import {
  documentKey,
  isArray,
  isDocument,
  limitedRange,
  markWrapped,
  plainValue,
  type Problem,
  queryProblem
} from "@appkernel/mql/internal"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type { Catalog } from "../catalog/catalog.ts"
import type { Collection, Index, KeyTraits } from "../catalog/collection.ts"
import { haveEqualValues, type IndexEntries, indexEntries, suffixOf } from "../catalog/indexKeys.ts"
import type { StoredDocument } from "../planner/candidates.ts"
import type { Encoded, KeyValue } from "../storage/orderedStore.ts"
import { rememberRecord } from "./documentWithId.ts"

/** A document that is validated and encoded. */
export interface Prepared {
  readonly document: Document
  readonly encoded: Encoded
  /** The key of the identifier. */
  readonly key: string
  readonly traits: KeyTraits
}

/** Validates and encodes a document, before its job. */
export const prepare = (store: KeyValue, document: Document): Result.Result<Prepared, Problem> => {
  const id = document["_id"]
  if (id === undefined) return Result.fail(queryProblem("the document has no _id"))
  if (isArray(id) || id instanceof RegExp) {
    return Result.fail(queryProblem("_id can be neither an array nor a regular expression"))
  }
  if (isDocument(id) && Object.keys(id).some((name) => name.startsWith("$") && !referenceFields.has(name))) {
    return Result.fail(queryProblem("_id can have no field whose name begins with $"))
  }
  const traits: KeyTraits = { multikey: false, inexact: false }
  const key = documentKey(id, traits)
  // `_id` is stored first, as in MongoDB.
  const ordered = firstKeyOf(document) === "_id" ? document : Object.freeze({ _id: id, ...document })
  const encoded = store.encode(ordered)
  if (Result.isFailure(encoded)) return Result.fail(queryProblem(encoded.failure))
  if (encoded.success instanceof Uint8Array) spend(encoded.success.length)
  if (plainValue(ordered) !== ordered) {
    markWrapped(ordered)
    traits.wrapped = true
  }
  return Result.succeed({ document: ordered, encoded: encoded.success, key, traits })
}

/** The fields of a reference to another document (`DBRef`). */
const referenceFields: ReadonlySet<string> = new Set(["$ref", "$id", "$db"])

const firstKeyOf = (document: Document): string | undefined => {
  for (const key in document) return key
  return undefined
}

/** The cost of writing a document or an index entry, in units of work. */
export const writeCost = 300

interface IndexChange {
  readonly index: Index
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly entries: IndexEntries
}

/** Logs a warning. */
export type Warn = (text: string) => void

export class DocumentWriter {
  readonly #store: KeyValue
  readonly #catalog: Catalog

  readonly warn: Warn
  /** Opens when a document enters an index whose documents expire. */
  readonly expiring = Latch.makeUnsafe(false)

  constructor(store: KeyValue, catalog: Catalog, warn: Warn) {
    this.#store = store
    this.#catalog = catalog
    this.warn = warn
  }

  /** Inserts a document with the next record id. */
  insert(collection: Collection, prepared: Prepared): Result.Result<void, DuplicateKey | Problem> {
    const identifiers = this.#store.entries(collection.number)
    const problem = this.#problemOf(collection, prepared)
    if (problem !== undefined) return Result.fail(problem)
    if (identifiers.has(prepared.key)) return Result.fail(duplicateKey(collection, collection.identifiers))
    const changes = this.#changes(collection, prepared, undefined)
    if (Result.isFailure(changes)) return Result.fail(changes.failure)
    const record = { recordId: this.#catalog.nextRecordId(collection), document: undefined }
    identifiers.put(prepared.key, record.recordId, undefined)
    this.#apply(collection, prepared, record, changes.success)
    // If the job is rolled back, there is no such record.
    rememberRecord(this.#store, collection, prepared.document["_id"], record.recordId)
    return Result.void
  }

  replace(
    collection: Collection,
    prepared: Prepared,
    previous: StoredDocument
  ): Result.Result<void, DuplicateKey | Problem> {
    const problem = this.#problemOf(collection, prepared)
    if (problem !== undefined) return Result.fail(problem)
    return Result.map(
      this.#changes(collection, prepared, previous),
      (changes) => this.#apply(collection, prepared, previous, changes)
    )
  }

  remove(collection: Collection, { document, recordId }: StoredDocument): void {
    const key = documentKey(document["_id"])
    spend(writeCost)
    this.#store.documents(collection.number).remove(recordId, document)
    this.#store.entries(collection.number).remove(key, recordId)
    for (const index of collection.indexes) {
      const entries = this.#store.entries(index.number)
      const before = entriesBefore(index, document, key)
      spend(writeCost * before.size)
      removeEntries(index, entries, before, recordId)
    }
    this.#catalog.wrote(collection, recordId, document, undefined)
  }

  /** Adds a stored document to an index that is being built. */
  index(
    collection: Collection,
    index: Index,
    { document, recordId }: StoredDocument
  ): Result.Result<void, DuplicateKey | Problem> {
    const added = { key: documentKey(document["_id"]), document }
    return Result.map(this.#change(collection, index, added, { recordId }), (change) => {
      this.#applyTo(recordId, change)
      if (mergeTraits(index.traits, change.entries)) this.#catalog.save(collection)
    })
  }

  /** Why the validator of a collection rejects a document. A validator may also only log a warning. */
  #problemOf({ name, validator }: Collection, { document }: Prepared): Problem | undefined {
    const problem = validator?.problemOf(document)
    if (problem === undefined || validator?.action !== "warn") return problem
    this.warn(`A document was written to "${name}" with a warning: ${problem.text}`)
    return undefined
  }

  #changes(
    collection: Collection,
    prepared: Prepared,
    previous: Previous
  ): Result.Result<ReadonlyArray<IndexChange>, DuplicateKey | Problem> {
    const before = previous?.document
    const indexes = before === undefined
      ? collection.indexes
      : collection.indexes.filter((index) => mayHaveOthers(index, before, prepared.document))
    if (indexes.length === 0) return unchanged
    return Result.all(indexes.map((index) => this.#change(collection, index, prepared, previous)))
  }

  #change(
    collection: Collection,
    index: Index,
    { document, key }: Pick<Prepared, "document" | "key">,
    previous: Previous
  ): Result.Result<IndexChange, DuplicateKey | Problem> {
    return Result.flatMap(Result.mapError(indexEntries(index, document, key), queryProblem), (entries) => {
      const before = previous?.document === undefined ? noEntries : entriesBefore(index, previous.document, key)
      const added = othersThan(before, entries.keys)
      const removed = othersThan(entries.keys, before)
      const recordId = previous?.recordId
      const isDuplicate = index.description.unique === true && (index.collator === undefined
        ? isTaken(this.#store.entries(index.number), added, recordId)
        // In a collation, a document with the same key may have other values than before.
        : isTakenAlike(this.#store, collection, index, { document, key }, entries.keys, recordId))
      if (isDuplicate) {
        return Result.fail(duplicateKey(collection, index))
      }
      return Result.succeed({ index, added, removed, entries })
    })
  }

  #apply(
    collection: Collection,
    prepared: Prepared,
    { document, recordId }: { readonly recordId: string; readonly document: Document | undefined },
    changes: ReadonlyArray<IndexChange>
  ): void {
    spend(writeCost)
    this.#store.documents(collection.number).put(recordId, prepared.encoded, document)
    let isWorse = mergeTraits(collection.identifiers.traits, prepared.traits)
    for (const change of changes) {
      this.#applyTo(recordId, change)
      isWorse = mergeTraits(change.index.traits, change.entries) || isWorse
    }
    if (isWorse) this.#catalog.save(collection)
    this.#catalog.wrote(collection, recordId, document, prepared.document, prepared.encoded)
  }

  #applyTo(recordId: string, { added, index, removed }: IndexChange): void {
    const entries = this.#store.entries(index.number)
    spend(writeCost * (added.length + removed.length))
    removeEntries(index, entries, removed, recordId)
    // The check of unique indexes ensures that no other document has these entries.
    for (const entry of added) entries.put(entry, recordId, undefined)
    if (index.description.expireAfterSeconds !== undefined) this.expiring.openUnsafe()
  }
}

/** Removes entries of a document. While a unique index is built, another document may have one of them. */
const removeEntries = (
  { isReady }: Index,
  entries: ReturnType<KeyValue["entries"]>,
  removed: Iterable<string>,
  recordId: string
): void => {
  for (const entry of removed) {
    if (isReady || entries.get(entry) === recordId) entries.remove(entry, recordId)
  }
}

// The stored record: with a document if it is replaced, without one if it only enters an index. `undefined` for a new record.
type Previous = Partial<StoredDocument> | undefined

const unchanged = Result.succeed<ReadonlyArray<IndexChange>>([])

// An update shares the values that it does not change.
const mayHaveOthers = ({ directions, part }: Index, before: Document, after: Document): boolean => {
  const isPart = part?.holds(after) !== false
  return part !== undefined && part.holds(before) !== isPart
    || isPart && directions.some(({ path: [field = ""] }) => !Object.is(before[field], after[field]))
}

// A stored document has valid entries: otherwise it would have been rejected.
const entriesBefore = (index: Index, document: Document, key: string): ReadonlySet<string> =>
  Result.match(indexEntries(index, document, key), {
    onSuccess: ({ keys }) => keys,
    onFailure: () => noEntries
  })

const noEntries: ReadonlySet<string> = new Set()

const othersThan = (known: ReadonlySet<string>, entries: ReadonlySet<string>): ReadonlyArray<string> => {
  const others: Array<string> = []
  for (const entry of entries) if (!known.has(entry)) others.push(entry)
  return others
}

/** Adds the traits of new keys to those of an index. Returns whether they have changed and must be saved. */
export const mergeTraits = (traits: KeyTraits, { inexact, multikey, wrapped = false }: KeyTraits): boolean => {
  const isWorse = (multikey && !traits.multikey) || (inexact && !traits.inexact) || (wrapped && traits.wrapped !== true)
  if (wrapped) traits.wrapped = true
  traits.multikey ||= multikey
  traits.inexact ||= inexact
  return isWorse
}

/** Whether another record has one of the keys. */
const isTaken = (
  entries: ReturnType<KeyValue["entries"]>,
  keys: ReadonlyArray<string>,
  recordId: string | undefined
): boolean =>
  keys.some((key) => {
    const holder = entries.get(key)
    return holder !== undefined && holder !== recordId
  })

/** Whether another document has equal values in a unique index with a collation, among those with its keys. */
const isTakenAlike = (
  store: KeyValue,
  collection: Collection,
  index: Index,
  { document, key }: { readonly document: Document; readonly key: string },
  keys: Iterable<string>,
  recordId: string | undefined
): boolean => {
  const documents = store.documents(collection.number)
  const suffixLength = suffixOf(index, key).length
  for (const entry of keys) {
    const prefix = entry.slice(0, entry.length - suffixLength)
    const others: Array<string> = []
    store.entries(index.number).scan({ ...limitedRange(prefix, prefix), reverse: false }, (_, other) => {
      if (other !== recordId) others.push(other)
      return true
    })
    for (const id of others) {
      const other = documents.get(id)
      spend(compareCost)
      if (other !== undefined && haveEqualValues(index, document, other)) return true
    }
  }
  return false
}

// The cost of a comparison of two documents, in units of work.
const compareCost = 100

const duplicateKey = ({ name }: Collection, { description, paths }: Index): DuplicateKey =>
  new DuplicateKey({ collection: name, index: description.name, fields: paths })
