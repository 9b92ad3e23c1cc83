/**
 * The writes of a repository except deletions: instances are validated, encoded and written, each document atomically.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { inspector, managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import * as Query from "../Query.ts"
import { BulkInsertFailed, type StoreError } from "../RepositoryError.ts"
import { instrumented } from "../store/instrumented.ts"
import * as Update from "../Update.ts"
import type { AuditFields } from "./auditFields.ts"
import type { DocumentCodec } from "./documentCodec.ts"
import { mapInTurns } from "./mapInTurns.ts"
import type { ModelCollection } from "./modelCollection.ts"
import { type ModelWriter, withOperands } from "./modelWriter.ts"
import type { Operations } from "./operations.ts"
import { makeReadModifyWrite } from "./readModifyWrite.ts"
import type { ValidatedWrites } from "./validatedWrites.ts"
import {
  conflictOrNotFound,
  insertAllDocuments,
  insertDocument,
  insertDocuments,
  replaceDocument,
  versionConflict,
  versionOf,
  type WriteContext,
  writeContextOf
} from "./versionedWrites.ts"

/** @internal */
export type Writes<M extends Model.Any> =
  & Pick<Operations<M>, InstanceWrites | AtomicUpdates | "patch" | "modify">
  & {
    readonly validatedWrites: ValidatedWrites<M["Type"]>
  }

type InstanceWrites = "insert" | "save" | "replace" | "bulkInsert"

type AtomicUpdates = "updateOne" | "updateMany" | "findOneAndUpdate"

/** @internal */
export const makeWrites = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  writer: ModelWriter,
  auditFields: AuditFields | undefined,
  codec: DocumentCodec<M["Type"]>
): Writes<M> => {
  const collection = model.modelName
  const context = writeContextOf(model, documents, writer, auditFields)
  const { modify, patch } = makeReadModifyWrite(model, context, codec)
  const [patchOwn, patchSent] = [patch(false), patch(true)]
  // A document of such a model is inserted as it is.
  const isUnmanaged = auditFields === undefined && context.versionField === undefined &&
    context.deletedField === undefined
    && managedField(model, "revision") === undefined
  return {
    ...instanceWrites(model, context, codec),
    ...atomicUpdates(model, context, codec),
    patch: instrumented("patch", collection, (id, changes) => patchOwn(id, Object(changes))),
    modify: instrumented("modify", collection, modify),
    validatedWrites: {
      insertDocument: instrumented(
        "insertDocument",
        collection,
        isUnmanaged ? documents.insertOne : (document) => Effect.asVoid(insertDocument(context, document))
      ),
      insertDocuments: instrumented("bulkInsert", collection, (all) => insertAllDocuments(context, all)),
      patch: instrumented("patch", collection, patchSent)
    }
  }
}

// internal

const instanceWrites = <M extends Model.Any>(
  model: M,
  context: WriteContext,
  codec: DocumentCodec<M["Type"]>
): Pick<Operations<M>, InstanceWrites> => {
  const collection = model.modelName
  const { fromDocument, toDocument } = codec
  const inspect = inspector(model)
  const inspectReplacement = replacementInspector(model, context, codec)
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
    save: instrumented(
      "save",
      collection,
      Effect.fnUntraced(function*(instance) {
        yield* inspectReplacement(instance)
        return yield* Effect.orDie(fromDocument(yield* save(toDocument(instance))))
      })
    ),
    replace: instrumented(
      "replace",
      collection,
      Effect.fnUntraced(function*(instance) {
        yield* inspectReplacement(instance)
        const document = toDocument(instance)
        const replaced = yield* replaceDocument(context, document, false)
        return replaced === undefined
          ? yield* conflictOrNotFound(context, document["_id"], versionOf(context, document))
          : yield* Effect.orDie(fromDocument(replaced))
      })
    ),
    bulkInsert: instrumented("bulkInsert", collection, bulkInserter(model, context, codec))
  }
}

/** Validates a replacement. Values that are stored already are not validated again; the document is read only then. */
const replacementInspector = <M extends Model.Any>(
  model: M,
  { documents }: WriteContext,
  { fromDocument, toDocument }: DocumentCodec<M["Type"]>
): (instance: M["Type"]) => Effect.Effect<void, ModelError | StoreError> => {
  const inspect = inspector(model)
  return (instance) =>
    Effect.catch(
      inspect(instance),
      Effect.fnUntraced(function*(error) {
        // An invalid instance may have no stored form.
        const id = yield* Effect.try({ try: () => toDocument(instance)["_id"], catch: () => error })
        const stored = yield* documents.findById(id)
        if (stored === undefined) return yield* error
        const previous = yield* Effect.mapError(fromDocument(stored), () => error)
        yield* inspect(instance, previous)
      })
    )
}

/** Replaces a document, or inserts it if no document has its identifier. */
const saver = (context: WriteContext) =>
  Effect.fnUntraced(function*(document: ReturnType<DocumentCodec<unknown>["toDocument"]>) {
    const replaced = yield* replaceDocument(context, document, context.versionField === undefined)
    if (replaced !== undefined) return replaced
    const exists = Effect.map(context.documents.findById(document["_id"]), (stored) => stored !== undefined)
    const conflict = versionConflict(context, document["_id"], versionOf(context, document) ?? 0)
    // No document has this version: either none has the identifier, or another write came first. Asked before the
    // insertion, since a refused insertion ends a transaction.
    if (yield* exists) return yield* conflict
    return yield* Effect.catchTag(
      insertDocument(context, document),
      "DuplicateKey",
      // The store may name any of the violated indexes, so the identifier is looked up.
      Effect.fnUntraced(function*(error) {
        return yield* (yield* Effect.orElseSucceed(exists, () => false)) ? conflict : error
      })
    )
  })

/** Inserts instances in bulk. In an ordered insertion, an invalid instance ends it like a refused document. */
const bulkInserter = <M extends Model.Any>(
  model: M,
  context: WriteContext,
  { toDocument }: DocumentCodec<M["Type"]>
): Operations<M>["bulkInsert"] => {
  const inspect = inspector(model)
  return Effect.fnUntraced(function*(instances, options) {
    const results = yield* Effect.forEach(instances, (instance) => Effect.result(inspect(instance)))
    const invalid = results.flatMap((result, index) =>
      Result.isFailure(result) ? [{ index, error: result.failure }] : []
    )
    if (invalid.length === 0) {
      return yield* insertAllDocuments(context, yield* mapInTurns(instances, toDocument), options)
    }
    const isOrdered = options?.ordered !== false
    const indexes = Array.from(instances.keys()).filter((i) =>
      isOrdered ? i < invalid[0]!.index : Result.isSuccess(results[i]!)
    )
    const { failures, insertedCount } = yield* insertDocuments(
      context,
      yield* mapInTurns(indexes, (i) => toDocument(instances[i]!)),
      options
    )
    const refused = failures.map(({ error, index }) => ({ index: indexes[index]!, error }))
    return yield* new BulkInsertFailed({
      collection: model.modelName,
      insertedCount,
      failures: isOrdered
        ? [refused[0] ?? invalid[0]!]
        : [...refused, ...invalid].toSorted((one, other) => one.index - other.index)
    })
  })
}

const atomicUpdates = <M extends Model.Any>(
  model: M,
  { auditFields, writer }: WriteContext,
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
  return {
    updateOne: instrumented(
      "updateOne",
      collection,
      Effect.fnUntraced(function*(where, changes) {
        const { filter, options, update } = yield* atomic(where, changes)
        return yield* writer.updateOne("update", filter, update, options)
      })
    ),
    updateMany: instrumented(
      "updateMany",
      collection,
      Effect.fnUntraced(function*(where, changes) {
        const { filter, options, update } = yield* atomic(where, changes)
        return yield* writer.updateMany("update", filter, update, options)
      })
    ),
    findOneAndUpdate: instrumented(
      "findOneAndUpdate",
      collection,
      Effect.fnUntraced(function*(where, changes, { returnDocument = "after", sort } = {}) {
        const { filter, options, update } = yield* atomic(where, changes)
        const document = yield* writer.findOneAndUpdate("update", filter, update, {
          ...options,
          returnDocument,
          sort: sort === undefined ? undefined : Query.toSort(model, sort)
        })
        return document === undefined ? Option.none() : Option.some(yield* fromDocument(document))
      })
    )
  }
}
