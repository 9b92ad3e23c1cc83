import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Model from "../../Model/Model.ts"
import { dateOf } from "../bson/normalise.ts"
import type { Document, DocumentStore, FindOptions } from "../DocumentStore.ts"
import { instanceIdOf, storedIdOf } from "../query/storedIdentifier.ts"
import { traced, tracedStream } from "../store/instrumented.ts"
import type { DocumentCodec } from "./documentCodec.ts"
import type { Change, Histories, Version } from "./history.ts"
import { entryId, historyOf } from "./historyEntry.ts"

/**
 * Reads what the history writer keeps.
 *
 * @internal
 */
export const makeHistoryReading = <M extends Model.Any>(
  model: M,
  store: DocumentStore["Service"],
  { fromDocument }: DocumentCodec<M["Type"]>
): Histories<M> => {
  const collection = model.modelName
  const history = historyOf(collection)
  const storedId = storedIdOf(model)
  const instanceId = instanceIdOf(model)

  const versionOf = (entry: Document): Version<M> => {
    // Only the history writer makes entries.
    const { at, by, change, document, document_id, revision } = entry as unknown as Entry
    return {
      // What the schema of the identifier reads is of its type.
      id: instanceId(document_id) as Model.Id<M>,
      revision,
      change,
      at: DateTime.fromDateUnsafe(at),
      by,
      document,
      instance: Effect.suspend(() => fromDocument(document))
    }
  }

  const stateAt = (id: unknown, at: DateTime.Utc) =>
    Effect.map(
      store.find(history, { ...latest(storedId(id), { at: { $lte: dateOf(at.epochMilliseconds) } }), limit: 1 }),
      ([entry]) => entry === undefined || gone.has(entry["change"]) ? Option.none() : Option.some(versionOf(entry))
    )

  return {
    history: traced("history", collection, (id, { before, pageSize } = {}) =>
      Effect.map(
        store.find(history, {
          ...latest(storedId(id), before === undefined ? {} : { revision: { $lt: before } }),
          limit: pageSize
        }),
        (entries) => entries.map(versionOf)
      )),
    historyStream: tracedStream(
      "historyStream",
      collection,
      (id) => Stream.map(store.stream(history, latest(storedId(id), {})), versionOf)
    ),
    versionAt: traced("versionAt", collection, (id, at) =>
      typeof at === "number"
        ? Effect.map(
          store.findById(history, entryId(storedId(id), at)),
          (entry) => Option.map(Option.fromUndefinedOr(entry), versionOf)
        )
        : stateAt(id, at)),
    purgeHistory: traced("purgeHistory", collection, (id) => store.deleteMany(history, { document_id: storedId(id) }))
  }
}

// internal

interface Entry {
  readonly document_id: unknown
  readonly revision: number
  readonly change: Change
  readonly at: Date
  readonly by: string | undefined
  readonly document: Document
}

const latest = (id: unknown, more: Document): FindOptions => ({
  filter: { document_id: id, ...more },
  sort: { revision: -1 }
})

// After these, there is no document.
const gone: ReadonlySet<unknown> = new Set<Change>(["delete", "purge"])
