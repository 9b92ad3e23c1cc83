/**
 * The sweep: finds the files that nobody holds, and removes their bytes. A store removes documents that expire by itself, without a
 * repository, so their files have them as holders until then.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { FileStoreFailed } from "../../Files/FileStore.ts"
import { isIdentifier } from "../../Files/internal.ts"
import type { Document, DocumentStore } from "../DocumentStore.ts"
import { historyOf } from "../repository/historyEntry.ts"
import type { ReadError } from "../RepositoryError.ts"
import {
  date,
  fileCollections,
  fileRecords,
  holderOf,
  holdersOf,
  idsWithin,
  madeIdsOf,
  recordChanges,
  type Stores
} from "./fileRecords.ts"
import { heldBy } from "./quotas.ts"

/**
 * Removes the bytes that nobody holds: those of files that are gone for the `grace`, and those that have no record and are older
 * than it, which are left of uploads that were not completed. Documents that have expired hold no files any more. With
 * `every`, one process does so in each such time. Nothing is removed while somebody holds the store of files. The result is how
 * many there were that had no record.
 */
export const sweep = Effect.fnUntraced(function*(
  stores: Stores,
  grace: Duration.Duration,
  every?: Duration.Duration
): Effect.fn.Return<number, ReadError | FileStoreFailed> {
  const { files, store } = stores
  const now = yield* DateTime.now
  if (every !== undefined && !(yield* isDue(store, now, every))) return 0
  yield* releaseExpired(stores)
  if (yield* files.isHeld) return 0
  const before = DateTime.subtractDuration(now, grace)
  let count = 0
  const orphans = files.entries.pipe(
    Stream.filter(({ modified }) => DateTime.isLessThan(modified, before)),
    Stream.grouped(chunkSize)
  )
  yield* Stream.runForEach(
    orphans,
    Effect.fnUntraced(function*(entries) {
      const ids = entries.map(({ id }) => id)
      const records = yield* store.find(fileRecords, {
        filter: { $or: [{ _id: { $in: ids } }, { "made.id": { $in: ids } }] },
        projection: { "made.id": 1 }
      })
      const recorded = new Set(records.flatMap((record) => [record["_id"], ...madeIdsOf(record)]))
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
    Stream.grouped(
      store.stream(fileRecords, { filter: { gone: { $lte: dateOf(before.epochMilliseconds) } } }),
      chunkSize
    ),
    Effect.fnUntraced(function*(records) {
      const ids = records.map(({ _id }) => _id)
      const bytes = [...ids.map(String).filter(isIdentifier), ...records.flatMap(madeIdsOf)]
      const isRemoved = yield* removeBytes(stores, bytes)
      if (isRemoved) yield* store.deleteMany(fileRecords, { _id: { $in: ids }, holders: [] })
    })
  )
  return count
})

// internal

const chunkSize = 200

/** Removes bytes unless somebody holds the store, which has to be asked after nothing refers to them any more. */
const removeBytes = ({ files }: Stores, ids: ReadonlyArray<string>): Effect.Effect<boolean, FileStoreFailed> =>
  Effect.flatMap(files.isHeld, (isHeld) => isHeld ? Effect.succeed(false) : Effect.as(files.remove(ids), true))

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

/** Releases the files of documents that have expired: of collections with an index that removes documents. */
const releaseExpired = Effect.fnUntraced(function*(stores: Stores): Effect.fn.Return<void, ReadError> {
  const { store } = stores
  for (const name of yield* fileCollections(store)) {
    const indexes = yield* store.listIndexes(name)
    if (indexes.every(({ expireAfterSeconds }) => expireAfterSeconds === undefined)) continue
    yield* Stream.runForEach(
      Stream.grouped(store.stream(fileRecords, { filter: heldBy(name) }), chunkSize),
      (records) => releaseMissing(stores, name, records)
    )
  }
})

/** Releases the files of records that documents of a collection hold, but neither they nor their histories refer to. */
const releaseMissing = Effect.fnUntraced(function*(
  stores: Stores,
  collection: string,
  records: ReadonlyArray<Document>
): Effect.fn.Return<void, ReadError> {
  const { store } = stores
  const held = records.flatMap((record) => holdingsOf(record, collection))
  const referred = new Set<string>()
  yield* Stream.runForEach(
    store.stream(collection, { filter: { _id: { $in: [...new Set(held.map(({ id }) => id))] } } }),
    (document) =>
      Effect.sync(() => {
        for (const file of idsWithin(document)) referred.add(`${holderOf(collection, document["_id"])} ${file}`)
      })
  )
  for (const { file, holder, id } of held) {
    if (referred.has(`${holder} ${file}`)) continue
    const states = Stream.concat(
      store.stream(collection, { filter: { _id: id } }),
      store.stream(historyOf(collection), { filter: { document_id: id } })
    )
    const released = Effect.gen(function*() {
      const referring = yield* Stream.runHead(Stream.filter(states, (state) => idsWithin(state).includes(file)))
      if (Option.isNone(referring)) yield* recordChanges(stores, [{ id, holder, added: [], removed: [file] }])
    })
    yield* rejectDuplicateKey("sweep", store.transaction(released))
  }
})

/** Which documents of a collection hold the file of a record. */
const holdingsOf = (record: Document, collection: string) => {
  const ids: ReadonlyArray<unknown> = Array.isArray(record["ids"]) ? record["ids"] : []
  return ids.flatMap((id) => {
    const holder = holderOf(collection, id)
    return holdersOf(record).includes(holder) ? [{ file: String(record["_id"]), holder, id }] : []
  })
}
