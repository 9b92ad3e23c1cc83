/** Reads the history of a model's documents. */
import { instrumented, instrumentedStream } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { isMarkedDeleted } from "../collection/deletedDocuments.ts"
import type { DocumentCodec } from "../collection/documentCodec.ts"
import { everyState, type ModelCollection, type StateTest } from "../collection/modelCollection.ts"
import type { Document, DocumentStore, FindOptions } from "../DocumentStore.ts"
import { instanceIdOf, storedIdOf, textOfId } from "../query/bsonForm.ts"
import type { ReadError } from "../RepositoryError.ts"
import type { Change, Histories, History, HistoryPoint, Revision } from "./history.ts"
import { entryId, historyOf } from "./historyEntry.ts"

/** The operations that read the entries of the history writer. */
export const makeHistoryReads = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  store: DocumentStore["Service"],
  { fromDocument }: DocumentCodec<M["Type"]>,
  { purging, upgrade }: {
    readonly upgrade: (document: Document) => Document
    /** Removes with the entries of a document what only they have. */
    readonly purging: (id: unknown, purge: Effect.Effect<number, ReadError>) => Effect.Effect<number, ReadError>
  }
): Histories<M> => {
  const collection = model.modelName
  const history = historyOf(collection)
  const storedId = storedIdOf(model)
  const instanceId = instanceIdOf(model)

  // The history writer gives each entry a document.
  const documentIn = (entry: Document): Document => upgrade(entry["document"] as Document)

  const deletedField = managedField(model, "deleted")
  const revisionOf = (entry: Document): Revision<M> => {
    // The history writer gives each entry these fields.
    const { at, by, change, document_id, revision } = entry as unknown as HistoryEntry
    const document = documentIn(entry)
    return {
      // The schema of the identifier decodes to the identifier's type.
      id: instanceId(document_id) as Model.Id<M>,
      revision,
      change,
      time: DateTime.fromDateUnsafe(at),
      by,
      document,
      instance: Effect.suspend(() => fromDocument(document))
    }
  }

  const atRevision = (id: unknown, revision: number) => store.findById(history, entryId(id, revision))

  const atTime = Effect.fnUntraced(function*(id: unknown, time: DateTime.Utc) {
    const filter = { at: { $lte: dateOf(time.epochMilliseconds) } }
    const [entry] = yield* store.find(history, { ...latestFirst(id, filter), limit: 1 })
    if (entry === undefined || removals.has(entry["change"])) return undefined
    // A deletion of another document may have changed one that was softly deleted before.
    return isMarkedDeleted(documentIn(entry), deletedField) ? undefined : entry
  })

  /** The states of a document are documents of its model for the audit log. */
  const note = (id: unknown) => documents.note({ model: collection, operation: "read", ids: [textOfId(id)], count: 1 })

  const at = Effect.fnUntraced(function*(id: unknown, { revision, time }: HistoryPoint) {
    const isAdmitted = yield* documents.statesOf(id, { privilege: "read" })
    if (isAdmitted === undefined) return Option.none()
    const entry = yield* time === undefined ? atRevision(id, revision) : atTime(id, time)
    if (entry === undefined || !isAdmitted(documentIn(entry))) return Option.none()
    yield* note(id)
    return Option.some(revisionOf(entry))
  })

  /** Reads a page of entries that the row filters admit. */
  const entriesOf = (
    isAdmitted: StateTest,
    options: FindOptions
  ): Effect.Effect<ReadonlyArray<Document>, ReadError> => {
    if (isAdmitted === everyState) return store.find(history, options)
    const { limit, ...all } = options
    const admitted = Stream.filter(store.stream(history, all), (entry) => isAdmitted(documentIn(entry)))
    return Stream.runCollect(limit === undefined ? admitted : Stream.take(admitted, limit))
  }

  const list = instrumented("history", collection, (
    id: Model.Id<M>,
    { before, pageSize }: Parameters<History<M>>[1] = {}
  ) =>
    Effect.gen(function*() {
      const isAdmitted = yield* documents.statesOf(storedId(id), { privilege: "read" })
      if (isAdmitted === undefined) return []
      const entries = yield* entriesOf(isAdmitted, {
        ...latestFirst(storedId(id), before === undefined ? {} : { revision: { $lt: before.revision } }),
        limit: pageSize
      })
      if (entries.length > 0) yield* note(storedId(id))
      return entries.map(revisionOf)
    }))

  const operations: Pick<History<M>, "at" | "stream" | "purge"> = {
    at: instrumented("history.at", collection, (id, point) => at(storedId(id), point)),
    stream: instrumentedStream(
      "history.stream",
      collection,
      (id) =>
        Stream.unwrap(
          Effect.map(documents.statesOf(storedId(id), { privilege: "read" }), (isAdmitted) =>
            isAdmitted === undefined ? Stream.empty : store.stream(history, latestFirst(storedId(id), {})).pipe(
              Stream.filter((entry) =>
                isAdmitted(documentIn(entry))
              ),
              Stream.tap(() => note(storedId(id))),
              Stream.map(revisionOf)
            ))
        )
    ),
    purge: instrumented(
      "history.purge",
      collection,
      (id) =>
        Effect.flatMap(
          documents.statesOf(storedId(id), { privilege: "delete" }),
          (isAdmitted) =>
            isAdmitted === undefined
              ? Effect.succeed(0)
              : purging(storedId(id), store.deleteMany(history, { document_id: storedId(id) }))
        )
    )
  }

  return { history: Object.assign(list, operations) }
}

// internal

interface HistoryEntry {
  readonly document_id: unknown
  readonly revision: number
  readonly change: Change
  readonly at: Date
  readonly by: string | undefined
}

const latestFirst = (id: unknown, conditions: Document): FindOptions => ({
  filter: { document_id: id, ...conditions },
  sort: { revision: -1 }
})

// The changes after which the document no longer exists.
const removals: ReadonlySet<unknown> = new Set<Change>(["delete", "purge"])
