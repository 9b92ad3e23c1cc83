/**
 * Writes documents together with the history of their states: each change and what is kept of it are one transaction.
 */
import * as Effect from "effect/Effect"
import type { Document, DocumentStore, Filter, InsertManyResult, Update } from "../DocumentStore.ts"
import { QueryRejected, type ReadError, type StoreError } from "../RepositoryError.ts"
import type { Change } from "./history.ts"
import { entryId, entryOf, historyOf, type Occasion, occasionOf, textOfId } from "./historyEntry.ts"
import { mapInTurns } from "./mapInTurns.ts"
import { both, type ModelCollection } from "./modelCollection.ts"
import { type ModelWriter, withMore, withoutDuplicate } from "./modelWriter.ts"
import type { Deleted } from "./softDeletion.ts"

/** @internal */
export const makeHistoryWriter = (
  name: string,
  revisionField: string,
  collection: ModelCollection,
  store: DocumentStore["Service"]
): ModelWriter => {
  const history = historyOf(name)

  const revisionOf = (document: Document): number => {
    const revision = document[revisionField]
    return typeof revision === "number" ? revision : 0
  }
  const withRevision = (document: Document, revision: number): Document => ({ ...document, [revisionField]: revision })
  const counted = (update: Update): Update => withMore("$inc", update, { [revisionField]: 1 })

  /** Of a state that is there already, somebody wrote to one of the collections without the other. */
  const keep = (entries: ReadonlyArray<Document>): Effect.Effect<void, ReadError> =>
    entries.length === 0 ? Effect.void : Effect.flatMap(
      store.insertMany(history, entries),
      ({ failures: [first] }) =>
        first === undefined
          ? Effect.void
          : Effect.fail(new QueryRejected({ operation: "history", detail: first.error.message }))
    )

  /** The state before the first one that is kept, of a document that is older than its history. */
  const baselineOf = (before: Document, occasion: Occasion): ReadonlyArray<Document> =>
    revisionOf(before) > 0 ? [] : [entryOf("baseline", before, 0, { at: occasion.at, by: undefined })]

  const keepChange = (
    change: Change,
    before: Document,
    after: Document,
    occasion: Occasion
  ): Effect.Effect<void, ReadError> =>
    keep([...baselineOf(before, occasion), entryOf(change, after, revisionOf(after), occasion)])

  /** What is removed has its last state twice: as it came to be, and as it went. */
  const removalOf = (change: Change, before: Document, occasion: Occasion): ReadonlyArray<Document> => [
    ...baselineOf(before, occasion),
    entryOf(change, before, revisionOf(before) + 1, occasion)
  ]

  /** The documents with their first revisions: those behind the last one, where there was one of the identifier before. */
  const asFirst = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>) {
    // By identifiers of states, so that others who insert meanwhile are not in the way.
    const known = yield* store.find(history, {
      filter: { _id: { $in: documents.map(({ _id }) => entryId(_id, 1)) } },
      projection: { document_id: 1 }
    })
    const before = new Set(known.map((entry) => textOfId(entry["document_id"])))
    return yield* Effect.forEach(
      documents,
      Effect.fnUntraced(function*(document) {
        const [last] = before.has(textOfId(document["_id"]))
          ? yield* store.find(history, {
            filter: { document_id: document["_id"] },
            sort: { revision: -1 },
            limit: 1,
            projection: { revision: 1 }
          })
          : []
        return withRevision(document, (last === undefined ? 0 : Number(last["revision"])) + 1)
      })
    )
  })

  const atomically = <A, E>(
    use: (occasion: Occasion) => Effect.Effect<A, E | StoreError>
  ): Effect.Effect<A, E | StoreError> => Effect.withFiber((fiber) => store.transaction(use(occasionOf(fiber))))

  const insertWithin = Effect.fnUntraced(function*(document: Document, occasion: Occasion) {
    const [first = document] = yield* asFirst([document])
    yield* collection.insertOne(first)
    yield* keep([entryOf("insert", first, revisionOf(first), occasion)])
    return first
  })

  /** All or none of them; the refusals, if it is none. */
  const insertAll = (
    documents: ReadonlyArray<Document>,
    options: { readonly ordered: boolean }
  ): Effect.Effect<InsertManyResult, ReadError> =>
    withoutDuplicate(
      "insertMany",
      atomically(Effect.fnUntraced(function*(occasion) {
        const firsts = yield* asFirst(documents)
        const result = yield* collection.insertMany(firsts, options)
        if (result.failures.length > 0) return yield* Effect.fail(new Refused(result.failures))
        yield* keep(yield* mapInTurns(firsts, (first) => entryOf("insert", first, revisionOf(first), occasion)))
        return result
      })).pipe(Effect.catchIf(
        (error) => error instanceof Refused,
        ({ failures }) => Effect.succeed({ insertedCount: 0, failures })
      ))
    )

  /** As many as come before the first that is refused. */
  const insertBefore = Effect.fnUntraced(function*(
    documents: ReadonlyArray<Document>
  ): Effect.fn.Return<InsertManyResult, ReadError> {
    const result = yield* insertAll(documents, { ordered: true })
    const [refusal] = result.failures
    if (refusal === undefined) return result
    const before = documents.slice(0, refusal.index)
    const { failures, insertedCount } = before.length === 0
      ? { failures: [], insertedCount: 0 }
      // The transaction that all of this is part of may have failed by the refusal.
      : yield* Effect.catchTag(insertBefore(before), "QueryRejected", () => Effect.succeed({ ...result, failures: [] }))
    return { insertedCount, failures: failures.length > 0 ? failures : [refusal] }
  })

  /** As many as can be, one by one where not all can. */
  const insertEach = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>) {
    const together = yield* insertAll(documents, { ordered: false })
    if (together.failures.length === 0) return together
    const results = yield* Effect.forEach(documents, (document) => insertAll([document], { ordered: false }))
    return {
      insertedCount: results.reduce((sum, { insertedCount }) => sum + insertedCount, 0),
      failures: results.flatMap(({ failures }, index) => failures.map(({ error }) => ({ index, error })))
    }
  })

  const insertMany: ModelWriter["insertMany"] = Effect.fnUntraced(function*(documents, options) {
    const isOrdered = options?.ordered ?? true
    const failures: Array<InsertManyResult["failures"][number]> = []
    let insertedCount = 0
    for (const [from, chunk] of chunksOf(documents)) {
      const inserted = yield* isOrdered ? insertBefore(chunk) : insertEach(chunk)
      insertedCount += inserted.insertedCount
      failures.push(...inserted.failures.map(({ error, index }) => ({ index: from + index, error })))
      if (isOrdered && failures.length > 0) break
    }
    return { insertedCount, failures }
  })

  /** Does something to all matches, some at a time, in one transaction; of those that are `unknown` no state is kept. */
  const eachChunk = (
    filter: Filter,
    deleted: Deleted | undefined,
    use: (some: Filter, occasion: Occasion, unknown: ReadonlyArray<unknown>) => Effect.Effect<number, StoreError>
  ): Effect.Effect<number, StoreError> =>
    atomically(Effect.fnUntraced(function*(occasion) {
      const found = yield* collection.find({ filter, projection: { _id: 1, [revisionField]: 1 } }, deleted)
      let count = 0
      for (const [, chunk] of chunksOf(found)) {
        const unknown = chunk.filter((document) => revisionOf(document) === 0).map(({ _id }) => _id)
        count += yield* use({ _id: { $in: chunk.map(({ _id }) => _id) } }, occasion, unknown)
      }
      return count
    }))

  const updateFirst = Effect.fnUntraced(function*(
    change: Change,
    occasion: Occasion,
    ...[filter, update, options, deleted]: Parameters<ModelCollection["findOneAndUpdate"]>
  ) {
    const before = yield* collection.findOneAndUpdate(
      filter,
      counted(update),
      { ...options, returnDocument: "before" },
      deleted
    )
    if (before === undefined) return undefined
    const after = yield* collection.findById(before["_id"], "include")
    if (after === undefined) return undefined
    yield* keepChange(change, before, after, occasion)
    return { before, after }
  })

  return {
    insert: (document) => atomically((occasion) => insertWithin(document, occasion)),
    insertMany,
    replace: (filter, document, upsert) =>
      atomically(Effect.fnUntraced(function*(occasion) {
        const [before] = yield* collection.find({ filter, limit: 1 })
        if (before === undefined) return upsert ? yield* insertWithin(document, occasion) : undefined
        const next = withRevision(document, revisionOf(before) + 1)
        yield* collection.replaceOne(filter, next)
        yield* keepChange("replace", before, next, occasion)
        return next
      })),
    updateOne: (change, ...args) =>
      Effect.map(
        atomically((occasion) => updateFirst(change, occasion, ...args)),
        (updated) =>
          updated === undefined ? { matchedCount: 0, modifiedCount: 0 } : { matchedCount: 1, modifiedCount: 1 }
      ),
    updateMany: (change, filter, update, options, deleted) =>
      Effect.map(
        eachChunk(
          filter,
          deleted,
          Effect.fnUntraced(function*(some, occasion, unknown) {
            const before = unknown.length === 0
              ? []
              : yield* collection.find({ filter: { _id: { $in: unknown } } }, "include")
            const which = isPositional(update) ? both(filter, some) : some
            const { matchedCount } = yield* collection.updateMany(which, counted(update), options, deleted)
            const after = yield* collection.find({ filter: some }, "include")
            yield* keep([
              ...before.flatMap((document) => baselineOf(document, occasion)),
              ...after.map((document) => entryOf(change, document, revisionOf(document), occasion))
            ])
            return matchedCount
          })
        ),
        (count) => ({ matchedCount: count, modifiedCount: count })
      ),
    findOneAndUpdate: (change, filter, update, options, deleted) =>
      Effect.map(
        atomically((occasion) => updateFirst(change, occasion, filter, update, options, deleted)),
        (updated) => options.returnDocument === "after" ? updated?.after : updated?.before
      ),
    deleteOne: (change, filter, deleted) =>
      withoutDuplicate(
        change,
        atomically(Effect.fnUntraced(function*(occasion) {
          const before = yield* collection.findOneAndDelete(filter, deleted)
          if (before === undefined) return 0
          yield* keep(removalOf(change, before, occasion))
          return 1
        }))
      ),
    deleteMany: (change, filter, deleted) =>
      withoutDuplicate(
        change,
        eachChunk(
          filter,
          deleted,
          Effect.fnUntraced(function*(some, occasion) {
            const before = yield* collection.find({ filter: some }, "include")
            const removed = yield* collection.deleteMany(some, "include")
            yield* keep(before.flatMap((document) => removalOf(change, document, occasion)))
            return removed
          })
        )
      )
  }
}

// internal

/** Whether a path finds its place in a list by what the filter says of the list. */
const isPositional = (update: Update): boolean =>
  Object.values(update).some((paths) => Object.keys(Object(paths)).some((path) => path.split(".").includes("$")))

class Refused {
  readonly _tag = "Refused"
  readonly failures: InsertManyResult["failures"]
  constructor(failures: InsertManyResult["failures"]) {
    this.failures = failures
  }
}

// So many documents and their states are in memory at a time.
const chunkSize = 200

const chunksOf = function*<A>(all: ReadonlyArray<A>): Generator<readonly [from: number, chunk: ReadonlyArray<A>]> {
  for (let from = 0; from < all.length; from += chunkSize) yield [from, all.slice(from, from + chunkSize)]
}
