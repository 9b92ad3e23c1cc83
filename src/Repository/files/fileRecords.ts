/**
 * The records of files, in one collection: who holds a file, in the transactions of the documents that refer to it. A file
 * without a holder is gone, and nobody refers to it again. Its record and its bytes remain for a while, for those who read
 * them.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { FileStoreFailed, Service as Files } from "../../Files/FileStore.ts"
import { isBeside } from "../../Files/internal.ts"
import type { FileReference } from "../../Model/internal.ts"
import type { Document, DocumentStore, IndexDescription } from "../DocumentStore.ts"
import { uniqueTextOfId } from "../repository/historyEntry.ts"
import { type FileQuotaExceeded, type ReadError, type StoreError, StoreUnavailable } from "../RepositoryError.ts"
import { countedOf, type Counter, makeTally } from "./quotas.ts"

/** The name of the collection. */
export const fileRecords = "appkernel_files"

const indexes: ReadonlyArray<IndexDescription> = [
  { name: "gone_1", key: { gone: 1 }, sparse: true },
  { name: "made.id_1", key: { "made.id": 1 }, sparse: true },
  { name: "holders_1", key: { holders: 1 }, sparse: true }
]

/** What a write changes for one document or its history: which files it holds that it did not hold, and the other way round. */
export interface Change {
  /** The identifier of the document, as it is stored. */
  readonly id: unknown
  readonly holder: string
  readonly added: ReadonlyArray<FileReference>
  readonly removed: ReadonlyArray<string>
  /** Those that it holds still, because its document or its history was seen to refer to them. Defaults to none. */
  readonly kept?: ReadonlyArray<string> | undefined
  /** For which quotas the files of the document count; `undefined` without quotas. */
  readonly counters?: ReadonlyArray<Counter> | undefined
  /** The files that it has held before, and that count for other quotas now. Defaults to none. */
  readonly recounted?: ReadonlyArray<string> | undefined
}

/** The stores of documents and of their files. */
export interface Stores {
  readonly store: DocumentStore["Service"]
  readonly files: Files
}

/** The document with the names of the collections whose documents may have files. */
const collectionsOfFiles = "collections"

/** The names of the collections whose documents may have files. */
export const fileCollections = (store: DocumentStore["Service"]): Effect.Effect<ReadonlyArray<string>, ReadError> =>
  Effect.map(store.findById(fileRecords, collectionsOfFiles), (found) => {
    const names: unknown = found?.["names"]
    return Array.isArray(names) ? names.map(String) : []
  })

/** The document that says whether the files are in the folder of the documents, so that a check of the folder misses them there. */
export const placeOfFiles = "place"

/** Makes the indexes that the sweep reads, and says where the files of a folder are, and that the collection may have some. */
export const installFileRecords = Effect.fnUntraced(function*(
  { files, store }: Stores,
  collection: string
): Effect.fn.Return<void, StoreError> {
  const said = (id: string, update: Document) =>
    Effect.catchTag(
      store.updateOne(fileRecords, { _id: id }, update, { upsert: true }),
      "DuplicateKey",
      // Another process has begun it meanwhile.
      () => store.updateOne(fileRecords, { _id: id }, update)
    )
  yield* store.createIndexes(fileRecords, indexes)
  if (!(yield* fileCollections(store)).includes(collection)) {
    yield* said(collectionsOfFiles, { $addToSet: { names: collection } })
  }
  if (store.folder === undefined) return
  const beside = isBeside(store, files)
  const known = yield* store.findById(fileRecords, placeOfFiles)
  if (known?.["beside"] !== beside) yield* said(placeOfFiles, { $set: { beside } })
})

/**
 * Records changes in the transaction of the write that makes them. Returns a file that can't be held, because its bytes are not
 * there, or a quota that would be exceeded: then the write must not be.
 */
export const recordChanges = Effect.fnUntraced(function*(
  stores: Stores,
  changes: ReadonlyArray<Change>
): Effect.fn.Return<string | FileQuotaExceeded | undefined, ReadError> {
  const { store } = stores
  const tally = makeTally(store)
  for (const change of changes) {
    for (const file of change.added) {
      if (!(yield* rejectDuplicateKey("files", hold(stores, file, change, tally)))) return file.id
    }
  }
  for (const { counters = [], holder, recounted = [] } of changes) {
    for (const id of recounted) {
      const record = yield* store.findById(fileRecords, id)
      if (record === undefined || !holdersOf(record).includes(holder)) continue
      const counted = recountedFor(record, holder, Number(record["size"]), counters, tally)
      yield* rejectDuplicateKey("files", store.updateOne(fileRecords, { _id: id }, { $set: { counted } }))
    }
  }
  // Snapshots let two writes keep a file for what the other one removes, unless both write to its record.
  const kept = store.isolation === "serializable" ? [] : changes.flatMap((change) => change.kept ?? [])
  if (kept.length > 0) {
    yield* rejectDuplicateKey("files", store.updateMany(fileRecords, { _id: { $in: kept } }, { $inc: { writes: 1 } }))
  }
  for (const { holder, removed } of changes) {
    for (const id of removed) yield* rejectDuplicateKey("files", release(stores, id, holder, tally))
  }
  return yield* tally.written
})

/** A failure of the store of files, as one of the store. */
export const asStoreFailure = ({ detail, operation, retryable }: FileStoreFailed): StoreUnavailable =>
  new StoreUnavailable({ operation: `files.${operation}`, detail, retryable })

/** Who holds the files of a document of a collection, and those of its history. */
export const holderOf = (collection: string, id: unknown): string => `${collection}/${uniqueTextOfId(id)}`

/** The documents that hold a file. */
export const holdersOf = ({ holders }: Document): ReadonlyArray<unknown> => Array.isArray(holders) ? holders : []

/** The identifiers of the files that were made of the one of a record: its picture in other sizes. */
export const madeIdsOf = ({ made }: Document): ReadonlyArray<string> =>
  Array.isArray(made) ? made.flatMap(({ id }: { readonly id?: string }) => id === undefined ? [] : [id]) : []

/** The identifiers of the files in a document as it is stored, wherever they are: of whatever version it is. */
export const idsWithin = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return []
  const { id, sha256 }: { readonly id?: unknown; readonly sha256?: unknown } = value
  const inner = Object.values(value).flatMap(idsWithin)
  return typeof id === "string" && sha256 !== undefined ? [id, ...inner] : inner
}

/** The time of the clock. */
export const date = Effect.map(Clock.currentTimeMillis, dateOf)

// internal

/** Adds a holder, if the bytes are there and are to stay. */
const hold = Effect.fnUntraced(function*(
  { files, store }: Stores,
  { id, sha256 }: FileReference,
  { counters, holder, id: holderId }: Change,
  tally: Tally
): Effect.fn.Return<boolean, StoreError> {
  const record = yield* store.findById(fileRecords, id)
  if (record === undefined) {
    const size = yield* files.stat(id).pipe(
      Effect.map((entry): number | undefined => entry.size),
      Effect.catchTag("FileMissing", () => Effect.undefined),
      Effect.mapError(asStoreFailure)
    )
    if (size === undefined) return false
    const counted = counters === undefined ? {} : { counted: recountedFor({}, holder, size, counters, tally) }
    yield* store.insertOne(fileRecords, { _id: id, size, sha256, holders: [holder], ids: [holderId], ...counted })
    return true
  }
  if (holdersOf(record).length === 0) return false
  yield* store.updateOne(fileRecords, { _id: id }, {
    $addToSet: { holders: holder, ids: holderId },
    ...counters === undefined
      ? {}
      : { $set: { counted: recountedFor(record, holder, Number(record["size"]), counters, tally) } },
    // A write even where it holds the file already: one that finds at the same time that it does not conflicts with it.
    $inc: { writes: 1 }
  })
  return true
})

/** Removes a holder. */
const release = Effect.fnUntraced(function*(
  { store }: Stores,
  id: string,
  holder: string,
  tally: Tally
): Effect.fn.Return<void, StoreError> {
  const record = yield* store.findById(fileRecords, id)
  if (record === undefined || !holdersOf(record).includes(holder)) return
  const isLast = holdersOf(record).length === 1
  for (const { for: keys, holder: one, size } of countedOf(record)) if (one === holder) tally.returned(keys, size)
  yield* store.updateOne(fileRecords, { _id: id }, {
    $pull: { holders: holder, ...record["counted"] === undefined ? {} : { counted: { holder } } },
    ...isLast ? { $set: { gone: yield* date } } : {}
  })
})

type Tally = ReturnType<typeof makeTally>

/** What a record says of who is counted, once a file of a holder counts for these counters and no others. */
const recountedFor = (
  record: Document,
  holder: string,
  size: number,
  counters: ReadonlyArray<Counter>,
  tally: Tally
): ReadonlyArray<Document> => {
  const others = countedOf(record).filter((one) => {
    if (one.holder === holder) tally.returned(one.for, one.size)
    return one.holder !== holder
  })
  tally.taken(counters, size)
  return [...others, { holder, size, for: counters.map(({ key }) => key) }].map((one) => ({ ...one }))
}
