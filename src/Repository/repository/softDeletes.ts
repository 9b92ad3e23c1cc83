/**
 * The deletes of a repository whose model has soft deletion. A delete sets the time of the deletion in a field of the
 * document, a restore removes that field, and only a purge removes the document.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { dateOf } from "../bson/normalise.ts"
import type { Filter, Update } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { storedIdOf } from "../query/storedIdentifier.ts"
import type { ReadError, WriteError } from "../RepositoryError.ts"
import { instrumented } from "../store/instrumented.ts"
import { rejectDuplicateKey } from "../store/rejectDuplicateKey.ts"
import type { AuditFields } from "./auditFields.ts"
import { type Deletes, makeDeleteById, notFound, requireMatch } from "./deletes.ts"
import type { DocumentCodec } from "./documentCodec.ts"
import type { ModelCollection } from "./modelCollection.ts"
import { type ModelWriter, withOperands } from "./modelWriter.ts"
import type { SoftDeletes } from "./softDeletion.ts"

/** @internal */
export const makeSoftDeletes = <M extends Model.Any>(
  model: M,
  deletedField: string,
  documents: ModelCollection,
  writer: ModelWriter,
  auditFields: AuditFields | undefined,
  codec: DocumentCodec<M["Type"]>
): Deletes<M> & SoftDeletes<M> => {
  const context: SoftDeleteContext = { deletedField, versionField: managedField(model, "version"), writer, auditFields }
  const collection = model.modelName
  const storedId = storedIdOf(model)
  return {
    deleteById: makeDeleteById(model, documents, (filter) => markDeleted(context, filter, "updateOne")),
    deleteMany: instrumented(
      "deleteMany",
      collection,
      (where) => markDeleted(context, Query.toFilter(model, where), "updateMany")
    ),
    deleteAll: Effect.suspend(
      instrumented("deleteAll", collection, () => markDeleted(context, {}, "updateMany"))
    ),
    restoreById: instrumented(
      "restoreById",
      collection,
      Effect.fnUntraced(function*(id) {
        const restored = yield* restoreOne(context, { _id: storedId(id) })
        return restored === undefined
          ? yield* notFound(model, id)
          : yield* codec.fromDocument(restored)
      })
    ),
    restoreMany: instrumented(
      "restoreMany",
      collection,
      (where) => restoreMany(context, Query.toFilter(model, where))
    ),
    purgeById: instrumented(
      "purgeById",
      collection,
      (id) => requireMatch(model, id, writer.deleteOne("purge", { _id: storedId(id) }, { deleted: "include" }))
    ),
    purge: instrumented(
      "purge",
      collection,
      (where) => writer.deleteMany("purge", Query.toFilter(model, where), { deleted: "only" })
    )
  }
}

// internal

interface SoftDeleteContext {
  readonly deletedField: string
  readonly versionField: string | undefined
  readonly writer: ModelWriter
  readonly auditFields: AuditFields | undefined
}

/** The update, which increments the version and sets the audit fields as well. */
const withManagedFields = Effect.fnUntraced(function*(
  { auditFields, versionField }: SoftDeleteContext,
  update: Update
): Effect.fn.Return<Update> {
  const fiber = yield* Effect.fiber
  const counted = versionField === undefined ? update : withOperands("$inc", update, { [versionField]: 1 })
  return auditFields === undefined ? counted : withOperands("$set", counted, auditFields.updated(fiber))
})

const markDeleted = Effect.fnUntraced(function*(
  context: SoftDeleteContext,
  filter: Filter,
  method: "updateOne" | "updateMany"
): Effect.fn.Return<number, ReadError> {
  const clock = yield* Clock.Clock
  const deletedAt = dateOf(clock.currentTimeMillisUnsafe())
  const update = yield* withManagedFields(context, { $set: { [context.deletedField]: deletedAt } })
  const marked = context.writer[method]("delete", filter, update, {}, { access: "delete" })
  // What a delete leaves behind is not checked.
  const result = yield* rejectDuplicateKey("delete", Effect.catchTag(marked, "AccessDenied", Effect.die))
  return result.matchedCount
})

const restoreOne = Effect.fnUntraced(function*(context: SoftDeleteContext, filter: Filter) {
  const update = yield* withManagedFields(context, { $unset: { [context.deletedField]: "" } })
  return yield* context.writer.findOneAndUpdate("restore", filter, update, { returnDocument: "after" }, {
    deleted: "only"
  })
})

const restoreMany = Effect.fnUntraced(function*(
  context: SoftDeleteContext,
  filter: Filter
): Effect.fn.Return<number, WriteError> {
  const update = yield* withManagedFields(context, { $unset: { [context.deletedField]: "" } })
  const { matchedCount } = yield* context.writer.updateMany("restore", filter, update, {}, { deleted: "only" })
  return matchedCount
})
