import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { managedField } from "../../Model/internal/variants.ts"
import * as Model from "../../Model/Model.ts"
import type { Document, DocumentStore, Filter } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import type { Repository } from "../Repository.ts"
import { BulkInsertFailed, DocumentNotFound, type StoreError, VersionConflict } from "../RepositoryError.ts"
import * as Update from "../Update.ts"
import { retryConflicts } from "./conflicts.ts"
import type { DocumentCodec } from "./documents.ts"
import { applyPatch, changeOf } from "./patch.ts"
import { stampsOf } from "./stamps.ts"
import { traced } from "./traced.ts"

/** @internal */
export type Writing<M extends Model.Any> = Pick<
  Repository<M>,
  | "insert"
  | "save"
  | "replace"
  | "patch"
  | "bulkInsert"
  | "updateOne"
  | "updateMany"
  | "findOneAndUpdate"
  | "deleteById"
  | "deleteMany"
  | "deleteAll"
  | "insertDocument"
>

/**
 * The writing half of a repository.
 *
 * @internal
 */
export const makeWriting = <M extends Model.Any>(
  model: M,
  store: DocumentStore["Service"],
  { fromDocument, toDocument }: DocumentCodec<M["Type"]>,
  findById: Repository<M>["findById"]
): Writing<M> => {
  const collection = model.modelName
  const versionField = managedField(model, "version")
  const stamps = stampsOf(model)

  const versionOf = (document: Document): number | undefined => {
    const version = versionField === undefined ? undefined : document[versionField]
    return typeof version === "number" ? version : undefined
  }
  const withVersion = (document: Document, version: number): Document =>
    versionField === undefined ? document : { ...document, [versionField]: version }

  const notFound = (id: unknown) => new DocumentNotFound({ model: model.modelName, id: String(id) })

  const conflict = (id: unknown, expected: number) =>
    new VersionConflict({ model: model.modelName, id: String(id), expected })

  /** The stored document is another version, or there is none. */
  const conflictOrNotFound = Effect.fnUntraced(function*(id: unknown, expected: number | undefined) {
    const there = yield* store.findById(collection, id)
    return yield* there === undefined || expected === undefined
      ? notFound(id)
      : conflict(id, expected)
  })

  /** The document as the first version, inserted now. */
  const asFirst = (fiber: Fiber.Fiber<unknown, unknown>, document: Document): Document => {
    const first = versionOf(document) === 1 ? document : withVersion(document, 1)
    return stamps === undefined ? first : stamps.inserted(fiber, first)
  }

  const insertDocument = (document: Document): Effect.Effect<Document, StoreError> =>
    Effect.withFiber((fiber) => {
      const first = asFirst(fiber, document)
      return Effect.as(store.insertOne(collection, first), first)
    })

  const targetOf = (document: Document): Filter => {
    const version = versionOf(document)
    return version === undefined || versionField === undefined
      ? { _id: document["_id"] }
      : { _id: document["_id"], [versionField]: version }
  }

  const nextOf = (document: Document): Document => {
    const version = versionOf(document)
    return version === undefined ? document : withVersion(document, version + 1)
  }

  /** What is stored in the place of the document of the same identifier (and version), if that was there. */
  const replaceDocument = Effect.fnUntraced(function*(document: Document, upsert: boolean) {
    if (stamps !== undefined) return yield* replaceAudited(document, upsert)
    const next = nextOf(document)
    const { matchedCount, upsertedId } = yield* store.replaceOne(collection, targetOf(document), next, { upsert })
    return matchedCount > 0 || upsertedId !== undefined ? next : undefined
  })

  /** Who inserted it, and when, is kept: it is replaced while it is the one that was read. */
  const replaceAudited: (
    document: Document,
    upsert: boolean
  ) => Effect.Effect<Document | undefined, StoreError> = Effect.fnUntraced(function*(document, upsert) {
    const fiber = yield* Effect.fiber
    const before = yield* store.findById(collection, document["_id"])
    if (before === undefined) return upsert ? yield* insertDocument(document) : undefined
    const next = stamps === undefined ? nextOf(document) : stamps.replaced(fiber, nextOf(document), before)
    const insertedField = managedField(model, "inserted") ?? "inserted"
    const inserted = before[insertedField]
    const { matchedCount } = yield* store.replaceOne(collection, {
      ...targetOf(document),
      [insertedField]: inserted === undefined ? { $exists: false } : inserted
    }, next)
    if (matchedCount > 0) return next
    const now = yield* store.findById(collection, document["_id"])
    const isAnother = now !== undefined && Number(now[insertedField]) !== Number(inserted)
    return isAnother && versionOf(document) === undefined ? yield* replaceAudited(document, upsert) : undefined
  })

  const instanceOf = (document: Document) => Effect.orDie(fromDocument(document))

  /** One attempt; a document that somebody else wrote in between is a conflict, whoever named a version or not. */
  const patchOnce = Effect.fnUntraced(function*(id: string, changes: object, expected: number | undefined) {
    const fiber = yield* Effect.fiber
    const stored = yield* store.findById(collection, id)
    if (stored === undefined) return yield* notFound(id)
    const current = yield* fromDocument(stored)
    if (expected !== undefined && expected !== versionOf(stored)) return yield* conflict(id, expected)
    const changed = yield* Model.finalise(model, applyPatch(Object(current), changes, versionField))
    const change = changeOf(stored, toDocument(changed), Object.keys(changes), versionField)
    if (change === undefined) return current
    const { matchedCount } = yield* store.updateOne(
      collection,
      change.filter,
      stamps === undefined ? change.update : withSet(change.update, stamps.updated(fiber))
    )
    return matchedCount > 0 ? yield* findById(id) : yield* conflict(id, versionOf(stored) ?? 0)
  })

  const atomic = Effect.fnUntraced(function*(where: Query.Where<M> | undefined, changes: Update.Changes<M>) {
    const fiber = yield* Effect.fiber
    const { arrayFilters, update } = yield* Update.toUpdate(model, changes)
    return {
      filter: Query.toFilter(model, where),
      update: stamps === undefined ? update : withSet(update, stamps.updated(fiber)),
      options: arrayFilters === undefined ? {} : { arrayFilters }
    }
  })

  const span = <Args extends ReadonlyArray<unknown>, A, E>(
    name: string,
    operation: (...args: Args) => Effect.Effect<A, E>
  ) => traced(name, collection, operation)

  return {
    insert: span(
      "insert",
      Effect.fnUntraced(function*(instance) {
        const document = toDocument(instance)
        const inserted = yield* insertDocument(document)
        return inserted === document ? instance : yield* instanceOf(inserted)
      })
    ),
    save: span(
      "save",
      Effect.fnUntraced(function*(instance) {
        const document = toDocument(instance)
        const replaced = yield* replaceDocument(document, versionField === undefined)
        if (replaced !== undefined) return yield* instanceOf(replaced)
        const isThere = Effect.map(store.findById(collection, document["_id"]), (there) => there !== undefined)
        const isConflict = conflict(document["_id"], versionOf(document) ?? 0)
        // Nobody has this version: either nobody has the identifier, or somebody wrote in between. It is asked first, since
        // a refused insertion ends a transaction.
        if (yield* isThere) return yield* isConflict
        const inserted = yield* insertDocument(document).pipe(
          Effect.catchTag("DuplicateKey", (error) =>
            // The store may name any of the indexes that are in the way, so the identifier is asked for.
            isThere.pipe(
              Effect.orElseSucceed(() => false),
              Effect.flatMap((isThere) => Effect.fail(isThere ? isConflict : error))
            ))
        )
        return yield* instanceOf(inserted)
      })
    ),
    replace: span(
      "replace",
      Effect.fnUntraced(function*(instance) {
        const document = toDocument(instance)
        const replaced = yield* replaceDocument(document, false)
        return replaced === undefined
          ? yield* conflictOrNotFound(document["_id"], versionOf(document))
          : yield* instanceOf(replaced)
      })
    ),
    patch: span("patch", (id, changes) => {
      const named = Object(changes)
      const expected = versionOf(named)
      const patched = patchOnce(id, named, expected)
      return expected === undefined ? retryConflicts(patched) : patched
    }),
    bulkInsert: span(
      "bulkInsert",
      Effect.fnUntraced(function*(instances, options) {
        const fiber = yield* Effect.fiber
        const documents = instances.map((instance) => asFirst(fiber, toDocument(instance)))
        const { failures, insertedCount } = yield* store.insertMany(collection, documents, options)
        return failures.length === 0
          ? insertedCount
          : yield* new BulkInsertFailed({ collection, insertedCount, failures })
      })
    ),
    updateOne: span(
      "updateOne",
      Effect.fnUntraced(function*(where, changes) {
        const { filter, options, update } = yield* atomic(where, changes)
        return yield* store.updateOne(collection, filter, update, options)
      })
    ),
    updateMany: span(
      "updateMany",
      Effect.fnUntraced(function*(where, changes) {
        const { filter, options, update } = yield* atomic(where, changes)
        return yield* store.updateMany(collection, filter, update, options)
      })
    ),
    findOneAndUpdate: span(
      "findOneAndUpdate",
      Effect.fnUntraced(function*(where, changes, { returnDocument = "after", sort } = {}) {
        const { filter, options, update } = yield* atomic(where, changes)
        const document = yield* store.findOneAndUpdate(collection, filter, update, {
          ...options,
          returnDocument,
          sort: sort === undefined ? undefined : Query.toSort(model, sort)
        })
        return document === undefined ? Option.none() : Option.some(yield* fromDocument(document))
      })
    ),
    deleteById: span(
      "deleteById",
      Effect.fnUntraced(function*(id) {
        if ((yield* store.deleteOne(collection, { _id: id })) === 0) return yield* notFound(id)
      })
    ),
    deleteMany: span("deleteMany", (where) => store.deleteMany(collection, Query.toFilter(model, where))),
    deleteAll: Effect.suspend(span("deleteAll", () => store.deleteMany(collection, {}))),
    insertDocument: span(
      "insertDocument",
      stamps === undefined && versionField === undefined
        ? (document) => store.insertOne(collection, document)
        : (document) => Effect.asVoid(insertDocument(document))
    )
  }
}

const withSet = (update: Document, more: Document): Document => ({
  ...update,
  $set: { ...(typeof update["$set"] === "object" ? update["$set"] : {}), ...more }
})
