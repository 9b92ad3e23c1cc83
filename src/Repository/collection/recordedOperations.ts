/**
 * What a request does with documents, as its audit log has it: a write within the transaction of the write, and what is read or
 * refused at the end of the request. It has identifiers and numbers, and no values of documents or filters.
 */
import { afterCommit, conjunctionOf, storeOperations } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ModelLike } from "../../Model/internal.ts"
import type { Document, DocumentStore } from "../DocumentStore.ts"
import { textOfId } from "../query/bsonForm.ts"
import type { ReadError } from "../RepositoryError.ts"
import { type AuditTrail, maxIds, type Touched } from "./auditTrail.ts"
import type { CollectionOperation, ModelCollection, Name, Outcome, Runner } from "./modelCollection.ts"

/** Runs an operation of a caller, and adds what it did to the trail. */
export const recorded = <N extends Name>(
  trail: AuditTrail,
  { modelName: model }: ModelLike,
  store: DocumentStore["Service"],
  operation: CollectionOperation<N>,
  run: Runner["run"]
): Outcome<N> => {
  type Failure = Effect.Error<Outcome<N>>
  const given: CollectionOperation<N> & Known = operation
  const { kind } = storeOperations[operation.name]
  if (kind === "read") {
    return trail.hasReads && isRead(given) ? recordedRead(trail, model, operation, run) : run(operation)
  }
  // A soft deletion is an update of the store.
  const write = given.scope?.privilege === "delete" ? "delete" : kind
  const running = (operation: CollectionOperation<N>, found?: ReadonlyArray<string>): Outcome<N> =>
    // The store's own failures are among those of every operation.
    Effect.tap(run(operation), (result): Effect.Effect<void, Failure> => {
      const { count, ids, isPartial = false } = touchedBy(given, result)
      if (count === 0) return Effect.void
      const touched: Touched = { model, operation: write, ids: found ?? ids, count }
      // Rejected documents end a transaction, so nothing more can be written in it.
      return isPartial ? afterCommit(Effect.sync(() => trail.wroteBefore(touched))) : trail.wrote(touched)
    })
  const isFirstOf = operation.name === "updateOne" && namedIn(given.filter).length !== 1
  const isByCondition = trail.hasTransactions &&
    (isFirstOf || operation.name === "updateMany" || operation.name === "deleteMany")
  const written = isByCondition
    ? Effect.flatMap(documentsFor(operation, run, isFirstOf ? 1 : maxIds), (found) => {
      const [first] = found
      if (!isFirstOf) return running(operation, idsOf(found))
      // An update that finds none may insert one, which its result names.
      return first === undefined
        ? running(operation)
        : running({ ...operation, filter: conjunctionOf(given.filter ?? {}, { _id: first["_id"] }) }, idsOf(found))
    })
    : running(operation)
  // A document that several inserts reject would end the transaction of the others.
  return isByCondition || (trail.isStored && operation.name !== "insertMany")
    ? Effect.catchTag(store.transaction(written), "DuplicateKey", (error) => Effect.fail(error as Failure))
    : written
}

/** The stream of an operation that reads. What a pipeline gives are not documents. */
export const recordedStream = (
  trail: AuditTrail,
  { modelName: model }: ModelLike,
  name: "stream" | "aggregate",
  stream: ReturnType<ModelCollection["runStream"]>
): typeof stream => {
  if (!trail.hasReads) return stream
  trail.read({ model, operation: "read", ids: [], count: name === "stream" ? 0 : undefined })
  return name === "aggregate" ? stream : Stream.tap(stream, (document) =>
    Effect.sync(() => {
      trail.read(readOf(model, [document]))
    }))
}

// internal

/** The documents that an operation will change, if it follows in the same transaction. */
const documentsFor = (
  { conditions, filter, name, scope }: CollectionOperation<Name>,
  run: Runner["run"],
  limit: number
): Effect.Effect<ReadonlyArray<Document>, ReadError> =>
  run({
    name: "find",
    filter,
    conditions,
    scope: { ...scope, privilege: scope?.privilege ?? storeOperations[name].privilege },
    options: { projection: { _id: 1 }, limit }
  })

/** The members of operations that the audit log reads, whatever the kind. */
interface Known {
  readonly name: Name
  readonly id?: unknown
  readonly filter?: Document | undefined
  readonly document?: Document
  readonly documents?: ReadonlyArray<Document>
  readonly scope?: { readonly privilege?: string | undefined } | undefined
}

/** A read that a write depends on is part of the write. */
const isRead = ({ name, scope }: Known): boolean =>
  (scope?.privilege ?? "read") === "read" && givenDocuments.has(storeOperations[name].gives)

const givenDocuments: ReadonlySet<string> = new Set(["document", "documents", "page"])

const readOf = (model: string, documents: ReadonlyArray<Document>): Touched => ({
  model,
  operation: "read",
  ids: idsOf(documents),
  count: documents.length
})

const recordedRead = <N extends Name, A, E>(
  trail: AuditTrail,
  model: string,
  operation: CollectionOperation<N>,
  run: (operation: CollectionOperation<N>) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const options: unknown = Reflect.get(operation, "options")
  const take: unknown = Reflect.get(Object(options), "take")
  if (typeof take === "function") {
    const noted = (documents: ReadonlyArray<Document>): unknown => {
      trail.read(readOf(model, documents))
      return take(documents)
    }
    // Only the consumer of the documents is another one.
    return run({ ...operation, options: { ...Object(options), take: noted } })
  }
  return Effect.tap(run(operation), (result) =>
    Effect.sync(() => {
      const documents = documentsIn(result)
      if (documents.length > 0) trail.read(readOf(model, documents))
    }))
}

const documentsIn = (result: unknown): ReadonlyArray<Document> => {
  if (Array.isArray(result)) return result
  if (typeof result !== "object" || result === null) return []
  const inner: unknown = Reflect.get(result, "documents")
  return Array.isArray(inner) ? inner : [Object(result)]
}

const idsOf = (documents: ReadonlyArray<Document>): ReadonlyArray<string> =>
  documents.flatMap(({ _id }) => _id === undefined ? [] : [textOfId(_id)])

/** The documents that a write has changed, by its result. */
const touchedBy = (
  { document, documents, filter, name }: Known,
  result: unknown
): { readonly ids: ReadonlyArray<string>; readonly count: number; readonly isPartial?: boolean } => {
  const found = (name: string): unknown => Reflect.get(Object(result), name)
  switch (storeOperations[name].gives) {
    case "nothing":
      return { ids: idsOf(document === undefined ? [] : [document]), count: 1 }
    case "insertions": {
      const failures: unknown = found("failures")
      const failed = new Set(Array.isArray(failures) ? failures.map(({ index }) => Number(index)) : [])
      const count = Number(found("insertedCount"))
      return {
        ids: idsOf((documents ?? []).filter((_, i) => !failed.has(i)).slice(0, count)),
        count,
        isPartial: failed.size > 0
      }
    }
    case "document":
      return result === undefined ? { ids: [], count: 0 } : { ids: idsOf([Object(result)]), count: 1 }
    default: {
      const upserted = found("upsertedId")
      const matched = typeof result === "number" ? result : Number(found("matchedCount"))
      const ids = upserted === undefined ? namedIn(filter) : [textOfId(upserted)]
      const count = upserted === undefined ? matched : 1
      return { ids: ids.length === count ? ids : [], count }
    }
  }
}

/** The identifier that a filter is about. */
const namedIn = (filter: Document | undefined): ReadonlyArray<string> => {
  const id: unknown = filter?.["_id"]
  if (id === undefined || id === null) {
    const all: unknown = filter?.["$and"]
    return Array.isArray(all) ? all.map((part) => namedIn(Object(part))).find((ids) => ids.length > 0) ?? [] : []
  }
  const isCondition = Object.getPrototypeOf(id) === Object.prototype &&
    Object.keys(id).some((key) => key.startsWith("$"))
  if (!isCondition) return [textOfId(id)]
  const list: unknown = Reflect.get(Object(id), "$in")
  return Array.isArray(list) ? list.map((one) => textOfId(one)) : []
}
