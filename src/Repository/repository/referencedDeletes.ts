/**
 * Deletions of documents that others refer to. The references declare what happens to the referring documents, which is
 * part of the transaction of the deletion.
 *
 * First, the deletion collects all documents that `cascade` deletes, through any number of models and in circles. Then a
 * `restrict` prevents the deletion if its document would stay. The caller's row filters apply only to the documents that
 * the caller deletes directly.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import { conjunctionOf, rejectDuplicateKey } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/internal.ts"
import type { Touched } from "../collection/auditTrail.ts"
import { chunksOf } from "../collection/bulkInserts.ts"
import { targetsOf } from "../collection/documentFields.ts"
import type { ModelCollection, Scope } from "../collection/modelCollection.ts"
import type { Document, DocumentStore, Filter } from "../DocumentStore.ts"
import { textOfId } from "../query/bsonForm.ts"
import { type DeleteError, DocumentReferenced, type ReadError } from "../RepositoryError.ts"
import { uniqueTextOfId } from "./historyEntry.ts"
import { lockDocuments } from "./referenceLocks.ts"
import { idsAt, type Referrer, type Referring, referringTo, withoutReferences } from "./referrers.ts"

/** Runs a deletion with its consequences. `write` deletes the documents that match its filter. */
export type Deleting = (
  target: {
    readonly filter: Filter
    readonly scope?: Scope | undefined
    /** Whether only the first match is deleted. */
    readonly isOne?: boolean
    readonly isPurge?: boolean
  },
  write: (filter: Filter) => Effect.Effect<number, ReadError>
) => Effect.Effect<number, DeleteError>

export const makeDeleting = (
  model: ModelLike,
  documents: ModelCollection,
  store: DocumentStore["Service"]
): Deleting =>
({ filter, isOne = false, isPurge = false, scope }, write) => {
  const { modelName } = model
  if (referringTo(store, modelName).length === 0) return write(filter)
  const targets = targetsOf(model)
  const deletion = Effect.gen(function*() {
    const options = { filter, projection: targets.projection, ...(isOne ? { limit: 1 } : {}) }
    const found = yield* documents.find(options, { ...scope, privilege: "delete" })
    const ids = found.map(({ _id }) => _id)
    const context: DeletionContext = {
      store,
      isPurge,
      deleted: new Map([[modelName, byText(ids)]]),
      cleared: new Map()
    }
    const removals = yield* collect(context, modelName, ids)
    for (const [target, ids] of context.deleted) yield* settle(context, target, ids)
    for (const { documents, referrer } of removals) {
      const { all } = targetsOf(referrer.model)
      for (const [, chunk] of chunksOf(documents)) yield* referrer.remove(all(chunk), isPurge)
    }
    for (const touched of consequencesOf(context, removals)) yield* documents.note(touched)
    return yield* write(conjunctionOf(filter, targets.all(found)))
  })
  // A deletion inserts no document and no value that could be taken.
  return rejectDuplicateKey("delete", store.transaction(deletion))
}

// internal

interface DeletionContext {
  readonly store: DocumentStore["Service"]
  readonly isPurge: boolean
  /** The identifiers of all deleted documents, by the names of their models and by their texts. */
  readonly deleted: Map<string, Map<string, unknown>>
  /** The identifiers of the documents in which references are set to `null`, in the same way. */
  readonly cleared: Map<string, Map<string, unknown>>
}

interface Removal {
  readonly referrer: Referrer
  readonly documents: ReadonlyArray<Document>
}

const byText = (ids: ReadonlyArray<unknown>): Map<string, unknown> => new Map(ids.map((id) => [uniqueTextOfId(id), id]))

/** What was done to documents beside those that the caller deletes directly. */
const consequencesOf = ({ cleared }: DeletionContext, removals: ReadonlyArray<Removal>): ReadonlyArray<Touched> => {
  const removed = Map.groupBy(removals, ({ referrer }) => referrer.model.modelName)
  return [
    ...Array.from(
      removed,
      ([model, all]) => touchedOf(model, "delete", all.flatMap(({ documents }) => documents.map(({ _id }) => _id)))
    ),
    ...Array.from(cleared, ([model, ids]) => touchedOf(model, "update", [...ids.values()]))
  ]
}

const touchedOf = (model: string, operation: "delete" | "update", ids: ReadonlyArray<unknown>): Touched => ({
  model,
  operation,
  ids: ids.map((id) => textOfId(id)),
  count: ids.length
})

const isDeleted = ({ deleted }: DeletionContext, modelName: string, id: unknown): boolean =>
  deleted.get(modelName)?.has(uniqueTextOfId(id)) === true

/** Collects the documents that `cascade` deletes, and adds them to the deleted ones of the context. */
const collect = Effect.fnUntraced(function*(context: DeletionContext, modelName: string, ids: ReadonlyArray<unknown>) {
  const removals: Array<Removal> = []
  const followed: Array<readonly [target: string, ids: ReadonlyArray<unknown>]> = [[modelName, ids]]
  // The loop also visits what it adds.
  for (const [target, ids] of followed) {
    const referring = referringTo(context.store, target)
    if (referring.some(({ field }) => field.isChecked)) {
      yield* lockDocuments(context.store, target, ids, "references")
    }
    for (const { field, referrer } of referring) {
      if (field.onDelete !== "cascade") continue
      const { modelName } = referrer.model
      const found = yield* referringDocuments({ field, referrer }, ids, { isWithDeleted: context.isPurge })
      const added = found.filter(({ _id }) => !isDeleted(context, modelName, _id))
      if (added.length === 0) continue
      const addedIds = added.map(({ _id }) => _id)
      context.deleted.set(modelName, new Map([...context.deleted.get(modelName) ?? [], ...byText(addedIds)]))
      removals.push({ referrer, documents: added })
      followed.push([modelName, addedIds])
    }
  }
  return removals
})

/**
 * Sets references to deleted documents to `null`. Fails if a document that restricts the deletion stays, or one that can't be read
 * and may refer to what is deleted.
 */
const settle = Effect.fnUntraced(function*(context: DeletionContext, target: string, ids: Map<string, unknown>) {
  for (const { field, referrer } of referringTo(context.store, target)) {
    const { modelName } = referrer.model
    const isNull = field.onDelete === "null"
    const isWithDeleted = isNull || field.onDelete === "cascade" && context.isPurge
    const [path, isReferred] = [field.path.join("."), (id: unknown) => ids.has(uniqueTextOfId(id))]
    const unreadable = yield* referrer.unreadable?.(path, isReferred, { isWithDeleted }) ?? Effect.succeed([])
    const staying = unreadable.find(({ id }) => !isDeleted(context, modelName, id))
    if (staying !== undefined) {
      return yield* new DocumentReferenced({ model: target, id: textOfId(staying.target), by: modelName, field: path })
    }
    if (field.onDelete === "cascade") continue
    const found = yield* referringDocuments({ field, referrer }, [...ids.values()], { isWithDeleted: isNull })
    for (const document of found.filter(({ _id }) => !isDeleted(context, modelName, _id))) {
      if (!isNull) {
        const id = textOfId(idsAt(document, field.path).find((id) => isReferred(id)))
        return yield* new DocumentReferenced({ model: target, id, by: modelName, field: path })
      }
      yield* referrer.update(
        targetsOf(referrer.model).one(document),
        withoutReferences(document, field, isReferred)
      )
      getOrMake(context.cleared, modelName, () => new Map()).set(uniqueTextOfId(document["_id"]), document["_id"])
    }
  }
})

/** The documents that refer to one of the identifiers, with the referring field only. */
const referringDocuments = Effect.fnUntraced(function*(
  { field: { path }, referrer }: Referring,
  ids: ReadonlyArray<unknown>,
  { isWithDeleted }: { readonly isWithDeleted: boolean }
): Effect.fn.Return<ReadonlyArray<Document>, ReadError> {
  const found: Array<Document> = []
  const { projection } = targetsOf(referrer.model)
  for (const [, chunk] of chunksOf(ids)) {
    const options = { filter: { [path.join(".")]: { $in: chunk } }, projection: { ...projection, [path[0] ?? ""]: 1 } }
    found.push(...yield* referrer.documents.find(options, { deleted: isWithDeleted ? "include" : "exclude" }))
  }
  return found
})
