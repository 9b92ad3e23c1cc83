/**
 * The records of files, in one collection: who holds a file, in the transactions of the documents that refer to it. A file
 * without a holder is gone: its bytes are removed after the commit. Its record remains for a while, so that nobody refers to
 * it again.
 */
import { afterCommit, rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { FileStoreFailed, Service as Files } from "../../Files/FileStore.ts"
import type { FileReference } from "../../Model/internal.ts"
import type { Document, DocumentStore, IndexDescription } from "../DocumentStore.ts"
import { type ReadError, type StoreError, StoreUnavailable } from "../RepositoryError.ts"

/** The name of the collection. */
export const fileRecords = "appkernel_files"

const goneIndex: IndexDescription = { name: "gone_1", key: { gone: 1 }, sparse: true }

/** What a write changes for one document or its history: which files it holds that it did not hold, and the other way round. */
export interface Change {
  readonly holder: string
  readonly added: ReadonlyArray<FileReference>
  readonly removed: ReadonlyArray<string>
}

/** The stores of documents and of their files. */
export interface Stores {
  readonly store: DocumentStore["Service"]
  readonly files: Files
}

/** Makes the index that {@link sweep} reads. */
export const installFileRecords = (store: DocumentStore["Service"]): Effect.Effect<void, StoreError> =>
  store.createIndexes(fileRecords, [goneIndex])

/**
 * Records changes in the transaction of the write that makes them. Returns a file that can't be held, because its bytes are not
 * there: then the write must not be.
 */
export const recordChanges = Effect.fnUntraced(function*(
  stores: Stores,
  changes: ReadonlyArray<Change>
): Effect.fn.Return<string | undefined, ReadError> {
  for (const { added, holder } of changes) {
    for (const file of added) {
      if (!(yield* rejectDuplicateKey("files", hold(stores, file, holder)))) return file.id
    }
  }
  const released: Array<string> = []
  for (const { holder, removed } of changes) {
    for (const id of removed) {
      if (yield* rejectDuplicateKey("files", release(stores, id, holder))) released.push(id)
    }
  }
  // What this does not remove is removed by the sweep.
  if (released.length > 0) yield* afterCommit(Effect.ignore(removeBytes(stores, released), { log: "Warn" }))
  return undefined
})

/**
 * Removes the bytes that nobody holds: those of files that are gone, and those that have no record and are older than the
 * `grace`, which are left of uploads that were not completed. With `every`, one process does so in each such time. Nothing is removed while somebody holds the store of files. The
 * result is how many there were.
 */
export const sweep = Effect.fnUntraced(function*(
  stores: Stores,
  grace: Duration.Duration,
  every?: Duration.Duration
): Effect.fn.Return<number, ReadError | FileStoreFailed> {
  const { files, store } = stores
  const now = yield* DateTime.now
  if (every !== undefined && !(yield* isDue(store, now, every))) return 0
  if (yield* files.isHeld) return 0
  const before = DateTime.subtractDuration(now, grace)
  const expired = dateOf(before.epochMilliseconds)
  let count = 0
  const orphans = files.entries.pipe(
    Stream.filter(({ modified }) => DateTime.isLessThan(modified, before)),
    Stream.grouped(chunkSize)
  )
  yield* Stream.runForEach(
    orphans,
    Effect.fnUntraced(function*(entries) {
      const ids = entries.map(({ id }) => id)
      const records = yield* store.find(fileRecords, { filter: { _id: { $in: ids } }, projection: { _id: 1 } })
      const recorded = new Set(records.map(({ _id }) => _id))
      for (const id of ids) {
        if (recorded.has(id)) continue
        // From now on nobody can refer to it; somebody who has come first keeps it.
        const isMarked = yield* store.insertOne(fileRecords, { _id: id, holders: [], gone: yield* date }).pipe(
          Effect.as(true),
          Effect.catchTag("DuplicateKey", () => Effect.succeed(false))
        )
        if (isMarked && (yield* removeBytes(stores, [id]))) count++
      }
    })
  )
  yield* Stream.runForEach(
    Stream.grouped(store.stream(fileRecords, { filter: { gone: { $lte: dateOf(now.epochMilliseconds) } } }), chunkSize),
    Effect.fnUntraced(function*(records) {
      const isRemoved = yield* removeBytes(stores, records.map(({ _id }) => String(_id)))
      const old = isRemoved ? records.filter(({ gone }) => Number(gone) <= expired.getTime()) : []
      yield* store.deleteMany(fileRecords, { _id: { $in: old.map(({ _id }) => _id) }, holders: [] })
    })
  )
  return count
})

/** A failure of the store of files, as one of the store. */
export const asStoreFailure = ({ detail, operation, retryable }: FileStoreFailed): StoreUnavailable =>
  new StoreUnavailable({ operation: `files.${operation}`, detail, retryable })

/** The documents that hold a file. */
export const holdersOf = ({ holders }: Document): ReadonlyArray<unknown> => Array.isArray(holders) ? holders : []

// internal

const chunkSize = 200

const date = Effect.map(Clock.currentTimeMillis, dateOf)

/** Whether nobody has swept for about this time. Of several that ask at once, one is told so. */
const isDue = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  now: DateTime.Utc,
  every: Duration.Duration
): Effect.fn.Return<boolean, ReadError> {
  const at = dateOf(now.epochMilliseconds)
  const isFirst = yield* store.insertOne(fileRecords, { _id: "sweep", at }).pipe(
    Effect.as(true),
    Effect.catchTag("DuplicateKey", () => Effect.succeed(false))
  )
  if (isFirst) return true
  // Timers are not exact.
  const last = dateOf(now.epochMilliseconds - Duration.toMillis(every) * 0.9)
  const due = store.updateOne(fileRecords, { _id: "sweep", at: { $lte: last } }, { $set: { at } })
  return (yield* rejectDuplicateKey("sweep", due)).matchedCount === 1
})

/** Adds a holder, if the bytes are there and are to stay. */
const hold = Effect.fnUntraced(function*(
  { files, store }: Stores,
  { id, sha256 }: FileReference,
  holder: string
): Effect.fn.Return<boolean, StoreError> {
  const record = yield* store.findById(fileRecords, id)
  if (record === undefined) {
    const size = yield* files.stat(id).pipe(
      Effect.map((entry): number | undefined => entry.size),
      Effect.catchTag("FileMissing", () => Effect.undefined),
      Effect.mapError(asStoreFailure)
    )
    if (size === undefined) return false
    yield* store.insertOne(fileRecords, { _id: id, size, sha256, holders: [holder] })
    return true
  }
  if (holdersOf(record).length === 0) return false
  yield* store.updateOne(fileRecords, { _id: id }, { $addToSet: { holders: holder } })
  return true
})

/** Removes a holder. Whether it was the last one. */
const release = Effect.fnUntraced(function*(
  { store }: Stores,
  id: string,
  holder: string
): Effect.fn.Return<boolean, StoreError> {
  const record = yield* store.findById(fileRecords, id)
  if (record === undefined || !holdersOf(record).includes(holder)) return false
  const isLast = holdersOf(record).length === 1
  yield* store.updateOne(fileRecords, { _id: id }, {
    $pull: { holders: holder },
    ...isLast ? { $set: { gone: yield* date } } : {}
  })
  return isLast
})

/** Removes bytes unless somebody holds the store, which has to be asked after nothing refers to them any more. */
const removeBytes = ({ files }: Stores, ids: ReadonlyArray<string>): Effect.Effect<boolean, FileStoreFailed> =>
  Effect.flatMap(files.isHeld, (isHeld) => isHeld ? Effect.succeed(false) : Effect.as(files.remove(ids), true))
