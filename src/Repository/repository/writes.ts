import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { hasRules, inspector, managedField, modelTypeId, patcher } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { Document, Filter } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { isStoredAlike } from "../query/bsonForm.ts"
import { storedIdOf, textOfId } from "../query/storedIdentifier.ts"
import {
  BulkInsertFailed,
  type DocumentInvalid,
  DocumentNotFound,
  type StoreError,
  VersionConflict
} from "../RepositoryError.ts"
import { traced } from "../store/instrumented.ts"
import { makeRetry } from "../store/retryOnConflict.ts"
import * as Update from "../Update.ts"
import type { Stamps } from "./auditFields.ts"
import type { DocumentCodec } from "./documentCodec.ts"
import { applyPatch, changeOf } from "./mergePatch.ts"
import type { ModelCollection } from "./modelCollection.ts"
import { type ModelWriter, withMore } from "./modelWriter.ts"
import type { Operations } from "./operations.ts"
import type { SentWrites } from "./validatedWrites.ts"

/** @internal */
export type Writing<M extends Model.Any> =
  & Pick<
    Operations<M>,
    | "insert"
    | "save"
    | "replace"
    | "patch"
    | "modify"
    | "bulkInsert"
    | "updateOne"
    | "updateMany"
    | "findOneAndUpdate"
  >
  & {
    readonly sent: SentWrites<M["Type"]>
  }

type InsertManyOptions = Parameters<ModelWriter["insertMany"]>[1]

/** A document as it shall be: which of its fields may differ, and of which fields that was made. */
interface Plan {
  readonly after: Document
  readonly named: ReadonlyArray<string>
  readonly read: ReadonlyArray<string>
}

/** Somebody else wrote the document after it was read. */
class Lost {
  readonly _tag = "Lost"
}

const isLost = (error: unknown): error is Lost => error instanceof Lost

/**
 * The writing half of a repository, but for what removes.
 *
 * @internal
 */
export const makeWriting = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  writer: ModelWriter,
  stamps: Stamps | undefined,
  { fromDocument, toDocument }: DocumentCodec<M["Type"]>
): Writing<M> => {
  const collection = model.modelName
  const versionField = managedField(model, "version")
  const deletedField = managedField(model, "deleted")
  const isPlain = deletedField === undefined && managedField(model, "revision") === undefined

  const versionOf = (document: Document): number | undefined => {
    const version = versionField === undefined ? undefined : document[versionField]
    return typeof version === "number" ? version : undefined
  }
  const withVersion = (document: Document, version: number): Document =>
    versionField === undefined ? document : { ...document, [versionField]: version }

  const notFound = (id: unknown) => new DocumentNotFound({ model: model.modelName, id: textOfId(id) })

  const conflict = (id: unknown, expected: number) =>
    new VersionConflict({ model: model.modelName, id: textOfId(id), expected })

  /** The stored document is another version, or there is none. */
  const conflictOrNotFound = Effect.fnUntraced(function*(id: unknown, expected: number | undefined) {
    const there = yield* documents.findById(id)
    return yield* there === undefined || expected === undefined
      ? notFound(id)
      : conflict(id, expected)
  })

  /** What is written is not deleted, whatever it was when it was read. */
  const undeleted = (document: Document): Document => {
    if (deletedField === undefined || !Object.hasOwn(document, deletedField)) return document
    const { [deletedField]: _, ...others } = document
    return others
  }

  /** The document as the first version. */
  const firstOf = (document: Document): Document => {
    const given = undeleted(document)
    return versionOf(given) === 1 ? given : withVersion(given, 1)
  }
  /** The document as the first version, inserted now. */
  const asFirst = (fiber: Fiber.Fiber<unknown, unknown>, document: Document): Document => {
    const first = firstOf(document)
    return stamps === undefined ? first : stamps.inserted(fiber, first)
  }

  const insertDocument: (document: Document) => Effect.Effect<Document, StoreError> = stamps === undefined
    ? (document) => writer.insert(firstOf(document))
    : (document) => Effect.withFiber((fiber) => writer.insert(asFirst(fiber, document)))

  const targetOf = (document: Document): Filter => {
    const version = versionOf(document)
    return version === undefined || versionField === undefined
      ? { _id: document["_id"] }
      : { _id: document["_id"], [versionField]: version }
  }

  const nextOf = (document: Document): Document => {
    const version = versionOf(document)
    const given = undeleted(document)
    return version === undefined ? given : withVersion(given, version + 1)
  }

  /** What is stored in the place of the document of the same identifier (and version), if that was there. */
  const replaceDocument = (document: Document, upsert: boolean): Effect.Effect<Document | undefined, StoreError> =>
    stamps === undefined
      ? writer.replace(targetOf(document), nextOf(document), upsert)
      : replaceAudited(stamps, document, upsert)

  /** Who inserted it, and when, is kept: it is replaced while it is the one that was read. */
  const replaceAudited: (
    stamps: Stamps,
    document: Document,
    upsert: boolean
  ) => Effect.Effect<Document | undefined, StoreError> = Effect.fnUntraced(function*(stamps, document, upsert) {
    const fiber = yield* Effect.fiber
    const before = yield* documents.findById(document["_id"])
    if (before === undefined) return upsert ? yield* insertDocument(document) : undefined
    const next = stamps.replaced(fiber, nextOf(document), before)
    const insertedField = managedField(model, "inserted") ?? "inserted"
    const inserted = before[insertedField]
    const replaced = yield* writer.replace(
      { ...targetOf(document), [insertedField]: inserted === undefined ? { $exists: false } : inserted },
      next,
      false
    )
    if (replaced !== undefined) return replaced
    const now = yield* documents.findById(document["_id"])
    const isAnother = now !== undefined && Number(now[insertedField]) !== Number(inserted)
    return isAnother && versionOf(document) === undefined ? yield* replaceAudited(stamps, document, upsert) : undefined
  })

  const insertMany = (all: ReadonlyArray<Document>, options?: InsertManyOptions) =>
    Effect.withFiber((fiber) => writer.insertMany(all.map((document) => asFirst(fiber, document)), options))

  const insertAll = (all: ReadonlyArray<Document>, options?: InsertManyOptions) =>
    Effect.flatMap(insertMany(all, options), ({ failures, insertedCount }) =>
      failures.length === 0
        ? Effect.succeed(insertedCount)
        : Effect.fail(new BulkInsertFailed({ collection, insertedCount, failures })))

  const inspect = inspector(model)
  const patched = patcher(model)

  /** What is stored already in the place of an instance is not validated again, and is only read where that matters. */
  const inspectReplacement = (instance: M["Type"]): Effect.Effect<void, ModelError | StoreError> =>
    Effect.catch(inspect(instance), (error) =>
      Effect.flatMap(
        // What is not valid may have no stored form.
        Effect.try({ try: () => toDocument(instance)["_id"], catch: () => error }),
        (id) =>
          Effect.flatMap(documents.findById(id), (stored) =>
            stored === undefined
              ? Effect.fail(error)
              : Effect.flatMap(
                Effect.mapError(fromDocument(stored), () => error),
                (previous) => inspect(instance, previous)
              ))
      ))

  const instanceOf = (document: Document) => Effect.orDie(fromDocument(document))

  /** One try. */
  const modifyOnce = Effect.fnUntraced(function*<E, R>(
    id: unknown,
    plan: (current: M["Type"], stored: Document) => Effect.Effect<Plan, E, R>
  ): Effect.fn.Return<M["Type"], E | Lost | DocumentNotFound | DocumentInvalid | StoreError, R> {
    const fiber = yield* Effect.fiber
    const stored = yield* documents.findById(storedIdOf(model)(id))
    if (stored === undefined) return yield* notFound(id)
    const current = yield* fromDocument(stored)
    const { after, named, read } = yield* plan(current, stored)
    const change = changeOf(stored, after, { named, read }, versionField)
    if (change === undefined) return current
    const modified = yield* writer.findOneAndUpdate(
      "patch",
      change.filter,
      stamps === undefined ? change.update : withMore("$set", change.update, stamps.updated(fiber)),
      { returnDocument: "after" }
    )
    return modified === undefined ? yield* Effect.fail(new Lost()) : yield* fromDocument(modified)
  })

  const retry = makeRetry()

  const modify = <E, R>(
    id: unknown,
    plan: (current: M["Type"], stored: Document) => Effect.Effect<Plan, E, R>
  ): Effect.Effect<M["Type"], E | DocumentNotFound | DocumentInvalid | VersionConflict | StoreError, R> =>
    Effect.catchIf(
      retry(
        textOfId(id),
        (error: E | Lost | DocumentNotFound | DocumentInvalid | StoreError) => isLost(error),
        modifyOnce(id, plan)
      ),
      isLost,
      () => Effect.fail(conflict(id, 0))
    )

  const fields = Object.keys(model.store.fields).filter((field) => model[modelTypeId][field]?.managed !== "id")
  const ownFields = fields.filter((field) => model[modelTypeId][field]?.managed === undefined)
  // Rules for several fields hold of what was validated only while all of it is as it was.
  const readByPatch = hasRules(model) ? fields : []

  const planOfPatch = Effect.fnUntraced(function*(
    id: unknown,
    changes: { readonly [field: string]: unknown },
    isSent: boolean,
    current: M["Type"],
    stored: Document
  ) {
    const expected = versionOf(changes)
    if (expected !== undefined && expected !== versionOf(stored)) return yield* conflict(id, expected)
    const merged = applyPatch(model, Object(current), changes, { mode: "merge", versionField })
    const changed = yield* patched({ current: Object(current), merged, changes, isSent })
    return { after: toDocument(changed), named: Object.keys(changes), read: readByPatch }
  })

  const patchOf = (isSent: boolean) => (id: unknown, changes: object) =>
    modify(id, (current, stored) => planOfPatch(id, { ...changes }, isSent, current, stored))

  /** What is changed is what differs from what was read, whatever the store has of fields that are new in the model. */
  const planOf = (current: M["Type"], changed: M["Type"]): Plan => {
    const [before, after] = [toDocument(current), toDocument(changed)]
    return { after, named: ownFields.filter((field) => !isStoredAlike(before[field], after[field])), read: fields }
  }

  const atomic = Effect.fnUntraced(function*(where: Query.Where<M> | undefined, changes: Update.Changes<M>) {
    const fiber = yield* Effect.fiber
    const { arrayFilters, update } = yield* Update.toUpdate(model, changes)
    return {
      filter: Query.toFilter(model, where),
      update: stamps === undefined ? update : withMore("$set", update, stamps.updated(fiber)),
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
        yield* inspect(instance)
        const document = toDocument(instance)
        const inserted = yield* insertDocument(document)
        return inserted === document ? instance : yield* instanceOf(inserted)
      })
    ),
    save: span(
      "save",
      Effect.fnUntraced(function*(instance) {
        yield* inspectReplacement(instance)
        const document = toDocument(instance)
        const replaced = yield* replaceDocument(document, versionField === undefined)
        if (replaced !== undefined) return yield* instanceOf(replaced)
        const isThere = Effect.map(documents.findById(document["_id"]), (there) => there !== undefined)
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
        yield* inspectReplacement(instance)
        const document = toDocument(instance)
        const replaced = yield* replaceDocument(document, false)
        return replaced === undefined
          ? yield* conflictOrNotFound(document["_id"], versionOf(document))
          : yield* instanceOf(replaced)
      })
    ),
    patch: span("patch", (id, changes) => patchOf(false)(id, Object(changes))),
    modify: traced(
      "modify",
      collection,
      (id, change) =>
        modify(id, (current) =>
          Effect.flatMap(
            change(current),
            (changed) => Effect.as(inspect(changed, current), planOf(current, changed))
          ))
    ),
    bulkInsert: span(
      "bulkInsert",
      Effect.fnUntraced(function*(instances, options) {
        const results = yield* Effect.forEach(instances, (instance) => Effect.result(inspect(instance)))
        const refused = results.flatMap((result, index) =>
          Result.isFailure(result) ? [{ index, error: result.failure }] : []
        )
        if (refused.length === 0) return yield* insertAll(instances.map(toDocument), options)
        const isOrdered = options?.ordered !== false
        const places = Array.from(instances.keys()).filter((i) =>
          isOrdered ? i < refused[0]!.index : Result.isSuccess(results[i]!)
        )
        const { failures, insertedCount } = yield* insertMany(places.map((i) => toDocument(instances[i]!)), options)
        const others = failures.map(({ error, index }) => ({ index: places[index]!, error }))
        return yield* new BulkInsertFailed({
          collection,
          insertedCount,
          failures: isOrdered
            ? [others[0] ?? refused[0]!]
            : [...others, ...refused].toSorted((one, other) => one.index - other.index)
        })
      })
    ),
    updateOne: span(
      "updateOne",
      Effect.fnUntraced(function*(where, changes) {
        const { filter, options, update } = yield* atomic(where, changes)
        return yield* writer.updateOne("update", filter, update, options)
      })
    ),
    updateMany: span(
      "updateMany",
      Effect.fnUntraced(function*(where, changes) {
        const { filter, options, update } = yield* atomic(where, changes)
        return yield* writer.updateMany("update", filter, update, options)
      })
    ),
    findOneAndUpdate: span(
      "findOneAndUpdate",
      Effect.fnUntraced(function*(where, changes, { returnDocument = "after", sort } = {}) {
        const { filter, options, update } = yield* atomic(where, changes)
        const document = yield* writer.findOneAndUpdate("update", filter, update, {
          ...options,
          returnDocument,
          sort: sort === undefined ? undefined : Query.toSort(model, sort)
        })
        return document === undefined ? Option.none() : Option.some(yield* fromDocument(document))
      })
    ),
    sent: {
      insertDocument: span(
        "insertDocument",
        stamps === undefined && versionField === undefined && isPlain
          ? documents.insertOne
          : (document) => Effect.asVoid(insertDocument(document))
      ),
      insertDocuments: span("bulkInsert", (all) => insertAll(all)),
      patch: span("patch", patchOf(true))
    }
  }
}
