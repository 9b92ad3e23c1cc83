/**
 * The deletes of a repository whose model has soft deletion. A delete sets the time of the deletion in a field of the
 * document, a restore removes that field, and only a purge removes the document.
 */
import { instrumented, rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ownValue } from "../../internal/objects.ts"
import { managedField, modelTypeId } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Deleted, SoftDeletes } from "../collection/deletedDocuments.ts"
import type { DocumentCodec } from "../collection/documentCodec.ts"
import { targetsOf, unchangedSince } from "../collection/documentFields.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import type { Filter } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { isStoredIdentically, storedIdOf, textOfId } from "../query/bsonForm.ts"
import { type ReadError, VersionConflict } from "../RepositoryError.ts"
import type { AuditFields } from "./auditFields.ts"
import { type Deletes, makeDeleteOne, makeDeletes, requireMatch } from "./deletes.ts"
import { type DeletedWrites, storedFieldsOf } from "./documentOperations.ts"
import { type ManagedFields, type ModelWriter, withManagedFields } from "./modelWriter.ts"
import type { Deleting } from "./referencedDeletes.ts"
import { documentNotFound } from "./versionedWrites.ts"

interface SoftDeleteContext extends ManagedFields {
  readonly deletedField: string
  readonly writer: ModelWriter
}

export const softDeleteContextOf = (
  model: Model.Any,
  deletedField: string,
  writer: ModelWriter,
  auditFields: AuditFields | undefined
): SoftDeleteContext => ({ deletedField, versionField: managedField(model, "version"), writer, auditFields })

export const makeSoftDeletes = <M extends Model.Any>(
  model: M,
  deletedField: string,
  documents: ModelCollection,
  writer: ModelWriter,
  auditFields: AuditFields | undefined,
  codec: DocumentCodec<M["Type"]>,
  deleting: Deleting
): Deletes<M> & SoftDeletes<M> & { readonly ofDeleted: DeletedWrites<M["Type"]> } => {
  const context = softDeleteContextOf(model, deletedField, writer, auditFields)
  const purge = (filter: Filter, method: "deleteOne" | "deleteMany", deleted: Deleted) =>
    deleting(
      { filter, scope: { deleted }, isOne: method === "deleteOne", isPurge: true },
      (filter) => writer.delete("purge", { name: method, filter, scope: { deleted } })
    )
  const collection = model.modelName
  const storedId = storedIdOf(model)
  const restoring = withManagedFields(context, { $unset: { [deletedField]: "" } })
  const { deleteRead: purgeRead } = makeDeleteOne(
    model,
    documents,
    (filter) => purge(filter, "deleteOne", "include"),
    { deleted: "include" }
  )
  return {
    ...makeDeletes(
      model,
      documents,
      deleting,
      (filter, isOne) => markDeleted(context, filter, isOne ? "updateOne" : "updateMany")
    ),
    restoreById: instrumented(
      "restoreById",
      collection,
      Effect.fnUntraced(function*(id) {
        const restored = yield* context.writer.update("restore", {
          name: "findOneAndUpdate",
          filter: { _id: storedId(id) },
          update: yield* restoring,
          options: { returnDocument: "after" },
          scope: { deleted: "only" }
        })
        return restored === undefined
          ? yield* documentNotFound(model, id)
          : yield* codec.fromDocument(restored)
      })
    ),
    restoreMany: instrumented(
      "restoreMany",
      collection,
      Effect.fnUntraced(function*(where) {
        const [filter, update] = [Query.toFilter(model, where), yield* restoring]
        const { matchedCount } = yield* context.writer.update("restore", {
          name: "updateMany",
          filter,
          update,
          scope: { deleted: "only" }
        })
        return matchedCount
      })
    ),
    purgeById: instrumented(
      "purgeById",
      collection,
      (id) => requireMatch(model, id, purge({ _id: storedId(id) }, "deleteOne", "include"))
    ),
    purge: instrumented(
      "purge",
      collection,
      (where) => purge(Query.toFilter(model, where), "deleteMany", "only")
    ),
    ofDeleted: {
      purge: purgeRead,
      restore: instrumented("restoreById", collection, restoreRead(model, context, documents, codec))
    }
  }
}

/** Restores a document with what an instance has otherwise, while the fields that it depends on are as they were read. */
const restoreRead = <M extends Model.Any>(
  model: M,
  context: SoftDeleteContext,
  documents: ModelCollection,
  codec: DocumentCodec<M["Type"]>
): DeletedWrites<M["Type"]>["restore"] => {
  const { deletedField, versionField, writer } = context
  const targets = targetsOf(model)
  const ownFields = storedFieldsOf(model).filter((field) => model[modelTypeId][field]?.managed === undefined)
  return Effect.fnUntraced(function*(instance, { document, fields, previous }) {
    // What differs from the instance that was read, so that new fields of the model stay as they are stored.
    const [before, after] = [codec.toDocument(previous), codec.toDocument(instance)]
    const changed = ownFields.filter((field) => !isStoredIdentically(ownValue(before, field), ownValue(after, field)))
    const set = changed.filter((field) => ownValue(after, field) !== undefined)
    const unset = [deletedField, ...changed.filter((field) => ownValue(after, field) === undefined)]
    const update = yield* withManagedFields(context, {
      ...set.length === 0 ? {} : { $set: Object.fromEntries(set.map((field) => [field, after[field]])) },
      $unset: Object.fromEntries(unset.map((field) => [field, ""]))
    })
    const restored = yield* writer.update("restore", {
      name: "findOneAndUpdate",
      filter: { ...unchangedSince(document, [...new Set([...fields, ...changed])]), ...targets.one(document) },
      update,
      options: { returnDocument: "after" },
      scope: { deleted: "only", before: document }
    })
    if (restored !== undefined) return restored
    const stored = yield* documents.findById(document["_id"], { privilege: "update", deleted: "only" })
    return yield* stored === undefined
      ? documentNotFound(model, document["_id"])
      : new VersionConflict({
        model: model.modelName,
        id: textOfId(document["_id"]),
        expected: Number(document[versionField ?? ""] ?? 0)
      })
  })
}

/** Marks documents as deleted. */
export const markDeleted = Effect.fnUntraced(function*(
  context: SoftDeleteContext,
  filter: Filter,
  method: "updateOne" | "updateMany"
): Effect.fn.Return<number, ReadError> {
  const clock = yield* Clock.Clock
  const deletedAt = dateOf(clock.currentTimeMillisUnsafe())
  const update = yield* withManagedFields(context, { $set: { [context.deletedField]: deletedAt } })
  const marked = context.writer.update("delete", { name: method, filter, update, scope: { privilege: "delete" } })
  // Row filters don't check a document after its deletion, and a deletion adds no reference.
  const result = yield* rejectDuplicateKey(
    "delete",
    Effect.catchTag(marked, ["AccessDenied", "FileQuotaExceeded", "ValidationException"], Effect.die)
  )
  return result.matchedCount
})
