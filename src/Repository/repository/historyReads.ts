/**
 * Reads the history of a model's documents.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Model from "../../Model/Model.ts"
import { dateOf } from "../bson/normalise.ts"
import type { Document, DocumentStore, FindOptions } from "../DocumentStore.ts"
import { instanceIdOf, storedIdOf } from "../query/storedIdentifier.ts"
import { instrumented, instrumentedStream } from "../store/instrumented.ts"
import type { DocumentCodec } from "./documentCodec.ts"
import type { Change, Histories, History, Revision } from "./history.ts"
import { entryId, historyOf } from "./historyEntry.ts"

/**
 * The operations that read the entries which the history writer inserts.
 *
 * @internal
 */
export const makeHistoryReads = <M extends Model.Any>(
  model: M,
  store: DocumentStore["Service"],
  { fromDocument }: DocumentCodec<M["Type"]>
): Histories<M> => {
  const collection = model.modelName
  const history = historyOf(collection)
  const storedId = storedIdOf(model)
  const instanceId = instanceIdOf(model)

  const revisionOf = (entry: Document): Revision<M> => {
    // Only the history writer inserts entries.
    const { at, by, change, document, document_id, revision } = entry as unknown as HistoryEntry
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

  const atRevision = (id: unknown, revision: number) =>
    Effect.map(
      store.findById(history, entryId(id, revision)),
      (entry) => Option.map(Option.fromUndefinedOr(entry), revisionOf)
    )

  const atTime = Effect.fnUntraced(function*(id: unknown, time: DateTime.Utc) {
    const filter = { at: { $lte: dateOf(time.epochMilliseconds) } }
    const [entry] = yield* store.find(history, { ...latestFirst(id, filter), limit: 1 })
    return entry === undefined || removals.has(entry["change"]) ? Option.none() : Option.some(revisionOf(entry))
  })

  const list = instrumented("history", collection, (
    id: Model.Id<M>,
    { before, pageSize }: Parameters<History<M>>[1] = {}
  ) =>
    Effect.map(
      store.find(history, {
        ...latestFirst(storedId(id), before === undefined ? {} : { revision: { $lt: before.revision } }),
        limit: pageSize
      }),
      (entries) => entries.map(revisionOf)
    ))

  const operations: Pick<History<M>, "at" | "stream" | "purge"> = {
    at: instrumented(
      "history.at",
      collection,
      (id, { revision, time }) => time === undefined ? atRevision(storedId(id), revision) : atTime(storedId(id), time)
    ),
    stream: instrumentedStream(
      "history.stream",
      collection,
      (id) => Stream.map(store.stream(history, latestFirst(storedId(id), {})), revisionOf)
    ),
    purge: instrumented(
      "history.purge",
      collection,
      (id) => store.deleteMany(history, { document_id: storedId(id) })
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
  readonly document: Document
}

const latestFirst = (id: unknown, conditions: Document): FindOptions => ({
  filter: { document_id: id, ...conditions },
  sort: { revision: -1 }
})

// The changes after which the document no longer exists.
const removals: ReadonlySet<unknown> = new Set<Change>(["delete", "purge"])
