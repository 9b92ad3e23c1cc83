/** Says the quotas of the files of a model, counts those that were written before it had some, and tells how much room there is. */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Stream from "effect/Stream"
import type { ModelLike } from "../../Model/internal.ts"
import { makeModelCollection } from "../collection/collectionStages.ts"
import { hasVersions, ownerOf } from "../collection/storedCollection.ts"
import type { Document } from "../DocumentStore.ts"
import { indexesOf } from "../repository/modelIndexes.ts"
import type { FileQuotaExceeded, ReadError } from "../RepositoryError.ts"
import { fileRecords, holderOf, recordChanges, type Stores } from "./fileRecords.ts"
import { countersOf, exceededBy, type FileQuotas, heldBy, roomOf, setQuotas } from "./quotas.ts"

/** The bytes that the files of a document may get. */
export interface Room {
  readonly bytes: number
  /** What more than that would be. */
  readonly exceeded: FileQuotaExceeded
}

/**
 * Says the quotas of a model from now on. Files that were written before it had them are counted first, each in a transaction of its
 * own and none twice, so that a process which is killed goes on where it was. The result tells the room for a document; `undefined`
 * for any number of bytes.
 */
export const countingQuotas = Effect.fnUntraced(function*(
  stores: Stores,
  model: ModelLike,
  quotas: FileQuotas | undefined
): Effect.fn.Return<(document: Document) => Effect.Effect<Room | undefined, ReadError>, ReadError> {
  const { store } = stores
  const { modelName } = ownerOf(model)
  const marker = { _id: `quota/${modelName}` }
  setQuotas(store, model, quotas)
  if (quotas === undefined) {
    // What is written from now on is not counted.
    yield* store.deleteMany(fileRecords, marker)
    return () => Effect.undefined
  }
  const countersIn = countersOf(model, quotas)
  const by = JSON.stringify([quotas.quota !== undefined, ...Object.keys(quotas.quotaBy).toSorted()])
  const newest = yield* newestCollection(model, store)
  const known = yield* store.findById(fileRecords, marker._id)
  if (known?.["by"] !== by) {
    const count = Effect.fnUntraced(function*(file: string, id: unknown) {
      const document = yield* newest.findById(id, { deleted: "include" })
      // What is there already stays.
      const counters = countersIn(document ?? {}).map((counter) => ({ ...counter, limit: Infinity }))
      const holder = holderOf(modelName, id)
      yield* recordChanges(stores, [{ id, holder, added: [], removed: [], counters, recounted: [file] }])
    })
    yield* Stream.runForEach(
      store.stream(fileRecords, { filter: heldBy(modelName), projection: { ids: 1 } }),
      ({ _id, ids }) =>
        Effect.forEach(
          Array.isArray(ids) ? ids : [],
          (id: unknown) => rejectDuplicateKey("files", store.transaction(count(String(_id), id))),
          { discard: true }
        )
    )
    yield* rejectDuplicateKey("files", store.updateOne(fileRecords, marker, { $set: { by } }, { upsert: true }))
  }
  return Effect.fnUntraced(function*(document) {
    // What an earlier version has may be another value by the same name.
    const counted = ownerOf(model) === model || document["_id"] === undefined
      ? document
      : yield* newest.findById(document["_id"], { deleted: "include" })
    const room = yield* roomOf(store, countersIn(counted ?? {}))
    return room && { bytes: room.bytes, exceeded: exceededBy(room.counter) }
  })
})

// internal

/** All documents of a model as its newest version has them. */
const newestCollection = Effect.fnUntraced(function*(model: ModelLike, store: Stores["store"]) {
  const owner = ownerOf(model)
  const versions = hasVersions(owner)
    ? yield* Effect.promise(() => import("../versions/earlierCollections.ts"))
    : undefined
  return makeModelCollection(owner, store, identity, {
    versions: versions?.versionRunner(owner, store, indexesOf(owner))
  })
})
