/**
 * Writes documents of models with `Model.historied` together with the history of their states.
 *
 * Guarantees: each change and its history entries are committed in one transaction, or neither is. Entries of one document
 * have consecutive revisions, and reinserting an identifier continues the revisions of the removed document.
 *
 * Limits: `insertMany` commits in chunks, so an interruption may leave the first chunks inserted. `updateMany` and
 * `deleteMany` are one transaction each, and hold the complete documents of one chunk in memory at a time.
 */
import * as Effect from "effect/Effect"
import type { Document, DocumentStore, Filter, Update } from "../DocumentStore.ts"
import type { StoreError } from "../RepositoryError.ts"
import { rejectDuplicateKey } from "../store/rejectDuplicateKey.ts"
import type { Change } from "./history.ts"
import {
  appendChange,
  appendEntries,
  atomically,
  baselineOf,
  chunksOf,
  type HistoryContext,
  removalOf,
  revisionOf,
  withNextRevision,
  withRevision
} from "./historyContext.ts"
import { type ChangeContext, entryOf, historyOf } from "./historyEntry.ts"
import { insertMany, insertOne } from "./historyInserts.ts"
import { conjunctionOf, type ModelCollection } from "./modelCollection.ts"
import type { ModelWriter } from "./modelWriter.ts"
import type { Deleted } from "./softDeletion.ts"

/** @internal */
export const makeHistoryWriter = (
  name: string,
  revisionField: string,
  collection: ModelCollection,
  store: DocumentStore["Service"]
): ModelWriter => {
  const context: HistoryContext = { history: historyOf(name), revisionField, collection, store }
  return {
    insert: (document) => atomically(context, (changeContext) => insertOne(context, document, changeContext)),
    insertMany: (documents, options) => insertMany(context, documents, options?.ordered ?? true),
    replace: (filter, document, upsert) => replace(context, filter, document, upsert),
    updateOne: (change, ...args) =>
      Effect.map(
        updateFirst(context, change, ...args),
        (updated) =>
          updated === undefined ? { matchedCount: 0, modifiedCount: 0 } : { matchedCount: 1, modifiedCount: 1 }
      ),
    updateMany: (change, ...args) =>
      Effect.map(
        updateMany(context, change, ...args),
        (count) => ({ matchedCount: count, modifiedCount: count })
      ),
    findOneAndUpdate: (change, filter, update, options, deleted) =>
      Effect.map(
        updateFirst(context, change, filter, update, options, deleted),
        (updated) => options.returnDocument === "after" ? updated?.after : updated?.before
      ),
    deleteOne: (change, filter, deleted) => rejectDuplicateKey(change, deleteOne(context, change, filter, deleted)),
    deleteMany: (change, filter, deleted) => rejectDuplicateKey(change, deleteMany(context, change, filter, deleted))
  }
}

// internal

const replace = (context: HistoryContext, filter: Filter, document: Document, upsert: boolean) =>
  atomically(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const [before] = yield* context.collection.find({ filter, limit: 1 })
      if (before === undefined) return upsert ? yield* insertOne(context, document, changeContext) : undefined
      const after = withRevision(context, document, revisionOf(context, before) + 1)
      yield* context.collection.replaceOne(filter, after)
      yield* appendChange(context, "replace", before, after, changeContext)
      return after
    })
  )

const updateFirst = (
  context: HistoryContext,
  change: Change,
  ...[filter, update, options, deleted]: Parameters<ModelCollection["findOneAndUpdate"]>
) =>
  atomically(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const { collection } = context
      const before = yield* collection.findOneAndUpdate(
        filter,
        withNextRevision(context, update),
        { ...options, returnDocument: "before" },
        deleted
      )
      if (before === undefined) return undefined
      const after = yield* collection.findById(before["_id"], "include")
      if (after === undefined) return undefined
      yield* appendChange(context, change, before, after, changeContext)
      return { before, after }
    })
  )

const updateMany = (
  context: HistoryContext,
  change: Change,
  ...[filter, update, options, deleted]: Parameters<ModelCollection["updateMany"]>
) => {
  const { collection } = context
  const isPositional = hasPositionalPath(update)
  return forEachChunk(
    context,
    filter,
    deleted,
    Effect.fnUntraced(function*(chunk, changeContext, idsWithoutHistory) {
      const before = idsWithoutHistory.length === 0
        ? []
        : yield* collection.find({ filter: { _id: { $in: idsWithoutHistory } } }, "include")
      // A positional path selects the list item by the conditions of the original filter.
      const matches = isPositional ? conjunctionOf(filter, chunk) : chunk
      const { matchedCount } = yield* collection.updateMany(
        matches,
        withNextRevision(context, update),
        options,
        deleted
      )
      const after = yield* collection.find({ filter: chunk }, "include")
      yield* appendEntries(context, [
        ...before.flatMap((document) => baselineOf(context, document, changeContext)),
        ...after.map((document) => entryOf(change, document, revisionOf(context, document), changeContext))
      ])
      return matchedCount
    })
  )
}

const deleteOne = (context: HistoryContext, change: Change, filter: Filter, deleted: Deleted | undefined) =>
  atomically(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const before = yield* context.collection.findOneAndDelete(filter, deleted)
      if (before === undefined) return 0
      yield* appendEntries(context, removalOf(context, change, before, changeContext))
      return 1
    })
  )

const deleteMany = (context: HistoryContext, change: Change, filter: Filter, deleted: Deleted | undefined) =>
  forEachChunk(
    context,
    filter,
    deleted,
    Effect.fnUntraced(function*(chunk, changeContext) {
      const before = yield* context.collection.find({ filter: chunk }, "include")
      const removed = yield* context.collection.deleteMany(chunk, "include")
      yield* appendEntries(context, before.flatMap((document) => removalOf(context, change, document, changeContext)))
      return removed
    })
  )

/**
 * Runs `use` on each chunk of the matching documents, all in one transaction, and adds up its results. `use` gets a filter
 * for the chunk, and the identifiers of those documents that have no history yet.
 */
const forEachChunk = (
  context: HistoryContext,
  filter: Filter,
  deleted: Deleted | undefined,
  use: (
    chunk: Filter,
    changeContext: ChangeContext,
    idsWithoutHistory: ReadonlyArray<unknown>
  ) => Effect.Effect<number, StoreError>
): Effect.Effect<number, StoreError> =>
  atomically(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const matches = yield* context.collection.find(
        { filter, projection: { _id: 1, [context.revisionField]: 1 } },
        deleted
      )
      let count = 0
      for (const [, chunk] of chunksOf(matches)) {
        const idsWithoutHistory = chunk.filter((document) => revisionOf(context, document) === 0).map(({ _id }) => _id)
        count += yield* use({ _id: { $in: chunk.map(({ _id }) => _id) } }, changeContext, idsWithoutHistory)
      }
      return count
    })
  )

/** Whether a path has the positional operator `$`, which refers to the list item that the filter matched. */
const hasPositionalPath = (update: Update): boolean =>
  Object.values(update).some((paths) => Object.keys(Object(paths)).some((path) => path.split(".").includes("$")))
