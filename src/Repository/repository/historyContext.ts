/** Shared parts of the history writer: revisions, history entries, and transactions. */
import * as Effect from "effect/Effect"
import { modelVersionField } from "../../Model/internal.ts"
import type { Targets } from "../collection/documentFields.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import type { Document, DocumentStore, Update } from "../DocumentStore.ts"
import { storedIfUnreadable } from "../query/unreadable.ts"
import { QueryRejected, type ReadError, type StoreError } from "../RepositoryError.ts"
import type { Change } from "./history.ts"
import { type ChangeContext, changeContextOf, entryOf } from "./historyEntry.ts"
import { withOperands } from "./modelWriter.ts"

export interface HistoryContext {
  /** The name of the collection that holds the history. */
  readonly history: string
  readonly revisionField: string
  readonly targets: Targets
  readonly collection: ModelCollection
  /** The collection without the row filters of callers, since the history records every written document. */
  readonly all: ModelCollection
  readonly store: DocumentStore["Service"]
  /** Whether the model is an earlier version, whose writes the newest one completes. */
  readonly isEarlier: boolean
  /** The number of the model's version, which each recorded document has; `undefined` for a model with one version only. */
  readonly modelVersion: number | undefined
}

/** The revision of a document, or 0 for a document that is older than its history. */
export const revisionOf = ({ revisionField }: HistoryContext, document: Document): number => {
  const revision = storedIfUnreadable(document)[revisionField]
  return typeof revision === "number" ? revision : 0
}

export const withRevision = ({ revisionField }: HistoryContext, document: Document, revision: number): Document => ({
  ...document,
  [revisionField]: revision
})

/** The update, which increments the revision as well. */
export const withNextRevision = ({ revisionField }: HistoryContext, update: Update): Update =>
  withOperands("$inc", update, { [revisionField]: 1 })

/** Documents that were written a moment ago, as they are stored. */
export const storedStates = (
  { all, isEarlier, targets }: HistoryContext,
  documents: ReadonlyArray<Document>
): Effect.Effect<ReadonlyArray<Document>, ReadError> =>
  isEarlier ? all.find({ filter: targets.all(documents) }, { deleted: "include" }) : Effect.succeed(documents)

/** Inserts entries. `QueryRejected` if one of the revision exists: another program wrote to one collection only. */
export const appendEntries = Effect.fnUntraced(function*(
  { modelVersion, history, store }: HistoryContext,
  entries: ReadonlyArray<Document>
): Effect.fn.Return<void, ReadError> {
  if (entries.length === 0) return
  const numbered = modelVersion === undefined
    ? entries
    // The entries of this module have a document.
    : entries.map((entry) => ({ ...entry, document: numberedState(entry["document"] as Document, modelVersion) }))
  const { failures: [first] } = yield* store.insertMany(history, numbered)
  if (first !== undefined) return yield* new QueryRejected({ operation: "history", detail: first.error.message })
})

/** A state with the number of its version. One that can't be read is recorded as it is stored. */
const numberedState = (document: Document, modelVersion: number): Document => {
  const stored = storedIfUnreadable(document)
  return { [modelVersionField]: stored === document ? modelVersion : 1, ...stored }
}

/** The entry of a document's state from before its history; empty if it has one. */
export const baselineOf = (
  context: HistoryContext,
  before: Document,
  { at }: ChangeContext
): ReadonlyArray<Document> =>
  revisionOf(context, before) > 0 ? [] : [entryOf("baseline", before, 0, { at, by: undefined })]

export const appendChange = (
  context: HistoryContext,
  change: Change,
  before: Document,
  after: Document,
  changeContext: ChangeContext
): Effect.Effect<void, ReadError> =>
  appendEntries(context, [
    ...baselineOf(context, before, changeContext),
    entryOf(change, after, revisionOf(context, after), changeContext)
  ])

/** The entries of a removal: a second one for the last state tells when and by whom. */
export const removalOf = (
  context: HistoryContext,
  change: Change,
  before: Document,
  changeContext: ChangeContext
): ReadonlyArray<Document> => [
  ...baselineOf(context, before, changeContext),
  entryOf(change, before, revisionOf(context, before) + 1, changeContext)
]

/** Runs `use` in a transaction of the store. */
export const inHistoryTransaction = <A, E>(
  { store }: HistoryContext,
  use: (changeContext: ChangeContext) => Effect.Effect<A, E>
): Effect.Effect<A, E | StoreError> => Effect.withFiber((fiber) => store.transaction(use(changeContextOf(fiber))))
