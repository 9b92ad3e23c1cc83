/**
 * The writes of a repository except deletions: instances are validated, encoded and written, each document atomically.
 */
import { instrumented } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import { filesOf, inspector, managedField, modelTypeId } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import { withRowFilters } from "../collection/accessDecision.ts"
import { insertAdmitted } from "../collection/bulkInserts.ts"
import type { DocumentCodec } from "../collection/documentCodec.ts"
import { unchangedSince } from "../collection/documentFields.ts"
import { mapInSteps } from "../collection/mapInSteps.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import { ownerOf } from "../collection/storedCollection.ts"
import type { Document } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import type { VersionConflict, WriteError } from "../RepositoryError.ts"
import * as Update from "../Update.ts"
import type { AuditFields } from "./auditFields.ts"
import type { DocumentRead, DocumentWrites } from "./documentOperations.ts"
import { type ModelWriter, withOperands } from "./modelWriter.ts"
import type { Operations } from "./operations.ts"
import { LostUpdate, makeReadModifyWrite, makeRetryLostUpdates, type RetryLostUpdates } from "./readModifyWrite.ts"
import { hasCheckedReferences } from "./referenceChecks.ts"
import {
  conflictOrNotFound,
  insertDocument,
  insertDocuments,
  insertedAll,
  type ModelWriteContext,
  replaceDocument,
  storedOf,
  storedVersionOf,
  versionConflict,
  versionOf,
  writeContextOf
} from "./versionedWrites.ts"

export type Writes<M extends Model.Any> =
  & Pick<Operations<M>, InstanceWrites | AtomicUpdates | "patch" | "modify">
  & {
    readonly documentWrites: Omit<DocumentWrites<M["Type"]>, "delete" | "ofDeleted">
  }

type InstanceWrites = "insert" | "save" | "replace" | "bulkInsert"

type AtomicUpdates = "updateOne" | "updateMany" | "findOneAndUpdate"

export const makeWrites = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  writer: ModelWriter,
  auditFields: AuditFields | undefined,
  codec: DocumentCodec<M["Type"]>
): Writes<M> => {
  const collection = model.modelName
  const context = writeContextOf(model, documents, writer, auditFields)
  const retry = makeRetryLostUpdates(context)
  // Documents of such a model have no fields to add, no references to check, and no files to record.
  const isUnmanaged = filesOf(ownerOf(model)) === undefined && !hasCheckedReferences(model) &&
    auditFields === undefined &&
    context.versionField === undefined &&
    context.deletedField === undefined
    && managedField(model, "revision") === undefined
  const { modify, patch } = makeReadModifyWrite(model, context, codec, retry, isUnmanaged)
  const [patchOwn, patchSent] = [patch(false), patch(true)]
  const modified: typeof modify = instrumented("modify", collection, modify)
  return {
    ...instanceWrites(model, context, codec, retry),
    ...atomicUpdates(model, context, codec),
    patch: instrumented(
      "patch",
      collection,
      (id, changes) => Effect.flatMap(patchOwn(id, Object(changes)), codec.fromDocument)
    ),
    modify: (id, change) => modified(id, (current) => Effect.map(change(current), (instance) => ({ instance }))),
    documentWrites: {
      modify: modified,
      insert: instrumented(
        "insertDocument",
        collection,
        isUnmanaged
          ? (document) => Effect.as(documents.insertOne(document), document)
          : (document) => insertDocument(context, document)
      ),
      insertMany: instrumented("bulkInsert", collection, (all) => insertedAll(context, insertDocuments(context, all))),
      patch: instrumented("patch", collection, patchSent),
      replace: instrumented("replace", collection, replaceRead(model, context, codec))
    }
  }
}

// internal

const instanceWrites = <M extends Model.Any>(
  model: M,
  context: ModelWriteContext,
  codec: DocumentCodec<M["Type"]>,
  retry: RetryLostUpdates
): Pick<Operations<M>, InstanceWrites> => {
  const collection = model.modelName
  const { fromDocument, toDocument } = codec
  const inspect = inspector(model)
  const replaceWith = replacer(model, context, codec, retry)
  const save = saver(context)
  return {
    insert: instrumented(
      "insert",
      collection,
      Effect.fnUntraced(function*(instance) {
        yield* inspect(instance)
        const document = toDocument(instance)
        const inserted = yield* insertDocument(context, document)
        return inserted === document ? instance : yield* Effect.orDie(fromDocument(inserted))
      })
    ),
    save: instrumented("save", collection, (instance) => replaceWith(instance, save)),
    replace: instrumented(
      "replace",
      collection,
      (instance) =>
        replaceWith(
          instance,
          Effect.fnUntraced(function*(document) {
            const replaced = yield* replaceDocument(context, document)
            return replaced ?? (yield* conflictOrNotFound(context, document, versionOf(context, document)))
          })
        )
    ),
    bulkInsert: instrumented("bulkInsert", collection, bulkInserter(model, context, codec))
  }
}

/**
 * Validates a replacement and writes it. An invalid value is accepted if it is stored already. Then the stored document is
 * read, and replaced only while it is unchanged, so that the invalid value is still the stored one.
 */
const replacer = <M extends Model.Any>(
  model: M,
  context: ModelWriteContext,
  { fromDocument, toDocument }: DocumentCodec<M["Type"]>,
  retry: RetryLostUpdates
) => {
  const inspect = inspector(model)
  const fields = ownFieldsOf(model)

  const replaceStored = Effect.fnUntraced(function*(instance: M["Type"], document: Document, error: ModelError) {
    const stored = yield* storedOf(context, document)
    if (stored === undefined) return yield* error
    yield* inspect(instance, yield* Effect.mapError(fromDocument(stored), () => error))
    const version = versionOf(context, document)
    if (version !== undefined && version !== storedVersionOf(context, stored)) {
      return yield* versionConflict(context, document["_id"], version)
    }
    const replaced = yield* replaceDocument(context, document, { condition: unchangedSince(stored, fields) })
    return replaced ?? (yield* Effect.fail(new LostUpdate()))
  })

  const replaceInvalid = (instance: M["Type"], error: ModelError) =>
    Effect.flatMap(
      // An invalid instance may have no stored form.
      Effect.try({ try: () => toDocument(instance), catch: () => error }),
      (document) => retry(document["_id"], replaceStored(instance, document, error))
    )

  return <E>(
    instance: M["Type"],
    replaceValid: (document: Document) => Effect.Effect<Document, E>
  ): Effect.Effect<M["Type"], E | ModelError | VersionConflict | WriteError> =>
    inspect(instance).pipe(
      Effect.matchEffect({
        onFailure: (error) => replaceInvalid(instance, error),
        onSuccess: () => replaceValid(toDocument(instance))
      }),
      Effect.flatMap((document) => Effect.orDie(fromDocument(document)))
    )
}

/** Validates the replacement of a document that was read, and writes it while the fields that it depends on are unchanged. */
const replaceRead = <M extends Model.Any>(
  model: M,
  context: ModelWriteContext,
  { fromDocument, toDocument }: DocumentCodec<M["Type"]>
): DocumentWrites<M["Type"]>["replace"] => {
  const inspect = inspector(model)
  const ownFields = ownFieldsOf(model)
  /** The fields that must be unchanged: all of them for an instance with an invalid value, which must still be stored. */
  const fieldsOf = (instance: M["Type"], { document, fields }: DocumentRead) =>
    Effect.matchEffect(inspect(instance), {
      onSuccess: () => Effect.succeed(fields),
      onFailure: (error) =>
        fromDocument(document).pipe(
          Effect.mapError(() => error),
          Effect.flatMap((stored) => inspect(instance, stored)),
          Effect.as([...ownFields, ...fields])
        )
    })
  return Effect.fnUntraced(function*(instance, read) {
    const fields = yield* fieldsOf(instance, read)
    const document = toDocument(instance)
    const version = versionOf(context, document)
    const condition = unchangedSince(read.document, fields)
    const replacement = replaceDocument(context, document, { condition, read: read.document })
    const replaced = yield* withRowFilters(replacement, model, read.filters)
    return yield* replaced === undefined
      ? conflictOrNotFound(context, read.document, version ?? 0)
      : Effect.orDie(fromDocument(replaced))
  })
}

const ownFieldsOf = (model: Model.Any): ReadonlyArray<string> =>
  Object.keys(model.store.fields).filter((field) => model[modelTypeId][field]?.managed === undefined)

/** Replaces a document, or inserts it if no document has its identifier. */
const saver = (context: ModelWriteContext) =>
  Effect.fnUntraced(function*(document: Document) {
    const replaced = yield* replaceDocument(context, document, { upsert: context.versionField === undefined })
    if (replaced !== undefined) return replaced
    const exists = Effect.map(storedOf(context, document), (stored) => stored !== undefined)
    const conflict = versionConflict(context, document["_id"], versionOf(context, document) ?? 0)
    // Nothing was replaced: the document does not exist, or has another version. The check is before the insertion, since
    // a rejected insertion ends a surrounding transaction.
    if (yield* exists) {
      return yield* conflict
    }
    return yield* Effect.catchTag(
      insertDocument(context, document),
      "DuplicateKey",
      // The store may name any violated index, so this looks the identifier up.
      Effect.fnUntraced(function*(error) {
        return yield* (yield* Effect.orElseSucceed(exists, () => false))
          ? conflict
          : error
      })
    )
  })

/** Inserts instances in bulk. An invalid instance ends an ordered insertion, as a rejected document does. */
const bulkInserter = <M extends Model.Any>(
  model: M,
  context: ModelWriteContext,
  { toDocument }: DocumentCodec<M["Type"]>
): Operations<M>["bulkInsert"] => {
  const inspect = inspector(model)
  return Effect.fnUntraced(function*(instances, options) {
    const invalid = yield* Effect.forEach(
      instances,
      (instance) => Effect.match(inspect(instance), { onFailure: Function.identity, onSuccess: () => undefined })
    )
    return yield* insertedAll(
      context,
      insertAdmitted(invalid, options?.ordered !== false, (indexes) =>
        Effect.flatMap(
          mapInSteps(indexes, (i) => toDocument(instances[i]!)),
          (documents) => insertDocuments(context, documents, options)
        ))
    )
  })
}

const atomicUpdates = <M extends Model.Any>(
  model: M,
  { auditFields, writer }: ModelWriteContext,
  { fromDocument }: DocumentCodec<M["Type"]>
): Pick<Operations<M>, AtomicUpdates> => {
  const collection = model.modelName
  const atomic = Effect.fnUntraced(function*(where: Query.Where<M> | undefined, changes: Update.Changes<M>) {
    const fiber = yield* Effect.fiber
    const { arrayFilters, update } = yield* Update.toUpdate(model, changes)
    return {
      filter: Query.toFilter(model, where),
      update: auditFields === undefined ? update : withOperands("$set", update, auditFields.updated(fiber)),
      options: arrayFilters === undefined ? {} : { arrayFilters }
    }
  })
  const updating = (method: "updateOne" | "updateMany"): Operations<M>["updateOne"] =>
    instrumented(
      method,
      collection,
      Effect.fnUntraced(function*(where, changes) {
        const { filter, options, update } = yield* atomic(where, changes)
        return yield* writer.update("update", { name: method, filter, update, options })
      })
    )
  return {
    updateOne: updating("updateOne"),
    updateMany: updating("updateMany"),
    findOneAndUpdate: instrumented(
      "findOneAndUpdate",
      collection,
      Effect.fnUntraced(function*(where, changes, { returnDocument = "after", sort } = {}) {
        const { filter, options, update } = yield* atomic(where, changes)
        const document = yield* writer.update("update", {
          name: "findOneAndUpdate",
          filter,
          update,
          options: { ...options, returnDocument, sort: sort === undefined ? undefined : Query.toSort(model, sort) }
        })
        return document === undefined ? Option.none() : Option.some(yield* fromDocument(document))
      })
    )
  }
}
