import * as Effect from "effect/Effect"
import { managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { ModelCollection } from "../collection/modelCollection.ts"
import { rejectDuplicateKey } from "../store/rejectDuplicateKey.ts"
import { auditFieldsOf } from "./auditFields.ts"
import { type ModelWriter, withManagedFields } from "./modelWriter.ts"
import type { Referrer } from "./referrers.ts"
import { markDeleted, softDeleteContextOf } from "./softDeletes.ts"

/**
 * The writes that deletions of other documents make to a model's documents. `writer` applies no row filters of callers.
 *
 * @internal
 */
export const referrerOf = (model: Model.Any, documents: ModelCollection, writer: ModelWriter): Referrer => {
  const auditFields = auditFieldsOf(model)
  const deletedField = managedField(model, "deleted")
  const managed = { auditFields, versionField: managedField(model, "version") }
  return {
    model,
    documents,
    update: (filter, change) =>
      Effect.flatMap(withManagedFields(managed, change), (update) =>
        rejectDuplicateKey(
          "delete",
          // No row filter denies the update, and it adds no reference to check.
          Effect.catchTag(
            writer.updateOne("update", filter, update, {}, { deleted: "include" }),
            ["AccessDenied", "ValidationException"],
            Effect.die
          )
        )),
    remove: (filter, isPurge) =>
      deletedField === undefined || isPurge
        ? writer.deleteMany(isPurge ? "purge" : "delete", filter, { deleted: "include" })
        : markDeleted(softDeleteContextOf(model, deletedField, writer, auditFields), filter, "updateMany")
  }
}
