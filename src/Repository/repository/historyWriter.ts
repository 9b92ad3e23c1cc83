/**
 * Writes documents of models with `Model.historied` together with the history of their states.
 *
 * Guarantees: each change and its history entries are committed in one transaction, or neither is. Entries of one document
 * have consecutive revisions, and reinserting an identifier continues the revisions of the removed document.
 *
 * Limits: `insertMany` commits in chunks, so an interruption may leave the first chunks inserted. `updateMany` and
 * `deleteMany` are one transaction each, and hold the complete documents of one chunk in memory at a time.
 */
import { conjunctionOf, rejectDuplicateKey, storeOperations } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/internal.ts"
import { chunksOf } from "../collection/bulkInserts.ts"
import { targetsOf } from "../collection/documentFields.ts"
import type { CollectionOperation, Scope, Updated, UpdateName } from "../collection/modelCollection.ts"
import { viewOf } from "../collection/storedCollection.ts"
import type { Document, Filter, Update, UpdateResult } from "../DocumentStore.ts"
import type { StoreError } from "../RepositoryError.ts"
import type { Change } from "./history.ts"
import {
  appendChange,
  appendEntries,
  baselineOf,
  type HistoryContext,
  inHistoryTransaction,
  removalOf,
  revisionOf,
  storedStates,
  withNextRevision,
  withRevision
} from "./historyContext.ts"
import { type ChangeContext, entryOf, historyOf } from "./historyEntry.ts"
import { insertOne, insertWithHistory } from "./historyInserts.ts"
import type { DeleteName, ModelWriter } from "./modelWriter.ts"

export const makeHistoryWriter = (
  model: ModelLike,
  revisionField: string,
  { all, collection, modelVersion, store }: Pick<HistoryContext, "all" | "collection" | "modelVersion" | "store">
): ModelWriter => {
  const context: HistoryContext = {
    history: historyOf(model.modelName),
    revisionField,
    targets: targetsOf(model),
    collection,
    all,
    store,
    isEarlier: viewOf(model) !== undefined,
    modelVersion
  }
  return {
    insert: (document) => inHistoryTransaction(context, (changeContext) => insertOne(context, document, changeContext)),
    insertMany: (documents, options) => insertWithHistory(context, documents, options?.ordered ?? true),
    replace: (filter, document, upsert) => replace(context, filter, document, upsert),
    update: (change, operation) => update(context, change, operation),
    delete: (change, operation) =>
      rejectDuplicateKey(change, (operation.name === "deleteOne" ? deleteOne : deleteMany)(context, change, operation))
  }
}

// internal

const replace = (context: HistoryContext, filter: Filter, document: Document, upsert: boolean) =>
  inHistoryTransaction(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const [before] = yield* context.collection.find({ filter, limit: 1 }, { privilege: "update" })
      if (before === undefined) return upsert ? yield* insertOne(context, document, changeContext) : undefined
      const after = withRevision(context, document, revisionOf(context, before) + 1)
      yield* context.collection.replaceOne(filter, after)
      const [stored = after] = yield* storedStates(context, [after])
      yield* appendChange(context, "replace", before, stored, changeContext)
      return after
    })
  )

const update = <N extends UpdateName>(
  context: HistoryContext,
  change: Change,
  operation: CollectionOperation<N>
): Updated<N> => {
  const { name } = operation
  const isReturned = storeOperations[name].gives === "document"
  const isAfter = Object(operation.options).returnDocument === "after"
  // The table says which of these an operation gives.
  const given = (result: UpdateResult | Document | undefined) => result as Effect.Success<Updated<N>>
  const countOf = (count: number) => given({ matchedCount: count, modifiedCount: count })
  return name === "updateMany"
    ? Effect.map(updateMany(context, change, operation), countOf)
    : Effect.map(
      updateFirst(context, change, operation),
      (states) => isReturned ? given(isAfter ? states?.after : states?.before) : countOf(states === undefined ? 0 : 1)
    )
}

const updateFirst = (
  context: HistoryContext,
  change: Change,
  { filter, options, scope, update }: CollectionOperation<UpdateName>
) =>
  inHistoryTransaction(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const { all, collection, targets } = context
      const before = yield* collection.run({
        name: "findOneAndUpdate",
        filter,
        update: withNextRevision(context, update),
        options: { ...options, returnDocument: "before" },
        scope
      })
      if (before === undefined) return undefined
      const after = yield* all.findById(before["_id"], { deleted: "include" }, undefined, targets.shardOf(before))
      if (after === undefined) return undefined
      yield* appendChange(context, change, before, after, changeContext)
      return { before, after }
    })
  )

const updateMany = (
  context: HistoryContext,
  change: Change,
  { filter = {}, options, scope, update }: CollectionOperation<UpdateName>
) => {
  const { all, collection } = context
  const isPositional = hasPositionalPath(update)
  return forEachChunk(
    context,
    filter,
    { privilege: "update", ...scope },
    Effect.fnUntraced(function*(chunk, changeContext, withoutHistory) {
      const before = withoutHistory === undefined
        ? []
        : yield* all.find({ filter: withoutHistory }, { deleted: "include" })
      const { matchedCount } = yield* collection.run({
        name: "updateMany",
        // A positional path selects the list item by the conditions of the original filter.
        filter: isPositional ? conjunctionOf(filter, chunk) : chunk,
        update: withNextRevision(context, update),
        options,
        scope
      })
      const after = yield* all.find({ filter: chunk }, { deleted: "include" })
      yield* appendEntries(context, [
        ...before.flatMap((document) => baselineOf(context, document, changeContext)),
        ...after.map((document) => entryOf(change, document, revisionOf(context, document), changeContext))
      ])
      return matchedCount
    })
  )
}

const deleteOne = (context: HistoryContext, change: Change, { filter, scope }: CollectionOperation<DeleteName>) =>
  inHistoryTransaction(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const before = yield* context.collection.run({ name: "findOneAndDelete", filter, scope })
      if (before === undefined) return 0
      yield* appendEntries(context, removalOf(context, change, before, changeContext))
      return 1
    })
  )

const deleteMany = (context: HistoryContext, change: Change, { filter = {}, scope }: CollectionOperation<DeleteName>) =>
  forEachChunk(
    context,
    filter,
    { privilege: "delete", ...scope },
    Effect.fnUntraced(function*(chunk, changeContext) {
      const before = yield* context.all.find({ filter: chunk }, { deleted: "include" })
      const removed = yield* context.collection.run({
        name: "deleteMany",
        filter: chunk,
        scope: { deleted: "include" }
      })
      yield* appendEntries(context, before.flatMap((document) => removalOf(context, change, document, changeContext)))
      return removed
    })
  )

/** Runs `use` on each chunk, with filters for it and its documents without history, and adds up the results. */
const forEachChunk = <E>(
  context: HistoryContext,
  filter: Filter,
  scope: Scope,
  use: (
    chunk: Filter,
    changeContext: ChangeContext,
    withoutHistory: Filter | undefined
  ) => Effect.Effect<number, E>
): Effect.Effect<number, E | StoreError> =>
  inHistoryTransaction(
    context,
    Effect.fnUntraced(function*(changeContext) {
      const { targets } = context
      const matches = yield* context.collection.find(
        { filter, projection: { ...targets.projection, [context.revisionField]: 1 } },
        scope
      )
      let count = 0
      for (const [, chunk] of chunksOf(matches)) {
        const withoutHistory = chunk.filter((document) => revisionOf(context, document) === 0)
        count += yield* use(
          targets.all(chunk),
          changeContext,
          withoutHistory.length === 0 ? undefined : targets.all(withoutHistory)
        )
      }
      return count
    })
  )

/** Whether a path has the positional operator `$`, which stands for the list item that the filter matched. */
const hasPositionalPath = (update: Update): boolean =>
  Object.values(update).some((paths) => Object.keys(Object(paths)).some((path) => path.split(".").includes("$")))
