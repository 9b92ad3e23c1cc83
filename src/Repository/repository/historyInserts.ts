/**
 * Inserts documents together with the first entries of their histories.
 *
 * A rejected insert aborts its transaction. So a chunk with a rejected document is inserted again: an ordered insert repeats
 * the documents before the rejected one, an unordered insert repeats each document in a transaction of its own.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { insertInChunks } from "../collection/bulkInserts.ts"
import type { InsertManyResult } from "../collection/modelCollection.ts"
import type { Document } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import {
  appendEntries,
  type HistoryContext,
  inHistoryTransaction,
  revisionOf,
  storedStates,
  withRevision
} from "./historyContext.ts"
import { type ChangeContext, entryOf, uniqueTextOfId } from "./historyEntry.ts"

/** Inserts a document within a transaction. Returns it with its revision. */
export const insertOne = Effect.fnUntraced(function*(
  context: HistoryContext,
  document: Document,
  changeContext: ChangeContext
) {
  const [inserted = document] = yield* withFirstRevisions(context, [document])
  yield* context.collection.insertOne(inserted)
  yield* appendInserted(context, [inserted], changeContext)
  return inserted
})

/** Inserts documents in chunks, each in a transaction of its own. */
export const insertWithHistory = (
  context: HistoryContext,
  documents: ReadonlyArray<Document>,
  isOrdered: boolean
): Effect.Effect<InsertManyResult, ReadError> =>
  insertInChunks(
    documents,
    { ordered: isOrdered },
    (chunk) => isOrdered ? insertOrdered(context, chunk) : insertUnordered(context, chunk)
  )

// internal

class InsertRejected extends Data.TaggedClass("InsertRejected")<{ readonly failures: InsertManyResult["failures"] }> {}

/** Adds the first revisions to documents. A removed document with the same identifier is continued. */
const withFirstRevisions = Effect.fnUntraced(function*(context: HistoryContext, documents: ReadonlyArray<Document>) {
  const { history, store } = context
  // Any of its entries, since those before a purge are gone. Most documents have none.
  const entries = yield* store.find(history, {
    filter: { document_id: { $in: documents.map(({ _id }) => _id) } },
    projection: { document_id: 1, revision: 1 }
  })
  const lastRevisions = new Map<string, number>()
  for (const { document_id: id, revision } of entries) {
    const key = uniqueTextOfId(id)
    lastRevisions.set(key, Math.max(lastRevisions.get(key) ?? 0, Number(revision)))
  }
  return documents.map((document) =>
    withRevision(context, document, (lastRevisions.get(uniqueTextOfId(document["_id"])) ?? 0) + 1)
  )
})

const appendInserted = (context: HistoryContext, inserted: ReadonlyArray<Document>, changeContext: ChangeContext) =>
  Effect.flatMap(storedStates(context, inserted), (documents) =>
    appendEntries(
      context,
      documents.map((document) => entryOf("insert", document, revisionOf(context, document), changeContext))
    ))

/** Inserts all documents in one transaction. A rejected document prevents the others; the result has the failures. */
const insertAllOrNone = (
  context: HistoryContext,
  documents: ReadonlyArray<Document>,
  options: { readonly ordered: boolean }
): Effect.Effect<InsertManyResult, ReadError> =>
  rejectDuplicateKey(
    "insertMany",
    inHistoryTransaction(
      context,
      Effect.fnUntraced(function*(changeContext) {
        const inserted = yield* withFirstRevisions(context, documents)
        const result = yield* context.collection.insertMany(inserted, options)
        if (result.failures.length > 0) return yield* Effect.fail(new InsertRejected({ failures: result.failures }))
        yield* appendInserted(context, inserted, changeContext)
        return result
      })
    ).pipe(Effect.catchIf(
      (error) => error instanceof InsertRejected,
      ({ failures }) => Effect.succeed({ insertedCount: 0, failures })
    ))
  )

/** Inserts the documents before the first one that is rejected. */
const insertOrdered = Effect.fnUntraced(function*(
  context: HistoryContext,
  documents: ReadonlyArray<Document>
): Effect.fn.Return<InsertManyResult, ReadError> {
  const result = yield* insertAllOrNone(context, documents, { ordered: true })
  const [rejection] = result.failures
  if (rejection === undefined) return result
  const before = documents.slice(0, rejection.index)
  const { failures, insertedCount } = before.length === 0
    ? { failures: [], insertedCount: 0 }
    // The rejection may have aborted a transaction of the caller, which then fails otherwise: this reports the rejection.
    : yield* Effect.catchTag(
      insertOrdered(context, before),
      "QueryRejected",
      () => Effect.succeed({ ...result, failures: [] })
    )
  return { insertedCount, failures: failures.length > 0 ? failures : [rejection] }
})

/** Inserts every document that is not rejected. */
const insertUnordered = Effect.fnUntraced(function*(context: HistoryContext, documents: ReadonlyArray<Document>) {
  const result = yield* insertAllOrNone(context, documents, { ordered: false })
  if (result.failures.length === 0) return result
  const results = yield* Effect.forEach(
    documents,
    (document) => insertAllOrNone(context, [document], { ordered: false })
  )
  return {
    insertedCount: results.reduce((sum, { insertedCount }) => sum + insertedCount, 0),
    failures: results.flatMap(({ failures }, index) => failures.map(({ error }) => ({ index, error })))
  }
})
