/** The deletes of every repository: soft ones mark documents as deleted, others delete them. */
import { instrumented } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { unchangedSince } from "../collection/documentFields.ts"
import type { ModelCollection, Scope } from "../collection/modelCollection.ts"
import type { Filter } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { storedIdOf, textOfId } from "../query/bsonForm.ts"
import { type DeleteError, type DocumentNotFound, type ReadError, VersionConflict } from "../RepositoryError.ts"
import type { DocumentWrites } from "./documentOperations.ts"
import type { Operations } from "./operations.ts"
import type { Deleting } from "./referencedDeletes.ts"
import { documentNotFound } from "./versionedWrites.ts"

export type Deletes<M extends Model.Any> = Pick<Operations<M>, "deleteById" | "deleteMany" | "deleteAll"> & {
  readonly deleteRead: DocumentWrites<M["Type"]>["delete"]
}

/** `write` deletes the first match or all of them, or marks them as deleted, and returns their number. */
export const makeDeletes = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  deleting: Deleting,
  write: (filter: Filter, isOne: boolean) => Effect.Effect<number, ReadError>
): Deletes<M> => {
  const collection = model.modelName
  const deleteMany = (filter: Filter) => deleting({ filter }, (filter) => write(filter, false))
  return {
    ...makeDeleteOne(
      model,
      documents,
      (filter) => deleting({ filter, isOne: true }, (filter) => write(filter, true))
    ),
    deleteMany: instrumented("deleteMany", collection, (where) => deleteMany(Query.toFilter(model, where))),
    deleteAll: Effect.suspend(instrumented("deleteAll", collection, () => deleteMany({})))
  }
}

/**
 * The deletes of one document. `deleteOne` deletes the document that matches a filter, and returns the number of deleted
 * documents. What is expected of the document is part of the filter, so the check and the delete are one atomic operation.
 */
export const makeDeleteOne = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  deleteOne: (filter: Filter) => Effect.Effect<number, DeleteError>,
  scope?: Pick<Scope, "deleted">
): Pick<Deletes<M>, "deleteById" | "deleteRead"> => {
  const versionField = managedField(model, "version")
  const storedId = storedIdOf(model)

  const deleteWhere = Effect.fnUntraced(function*(_id: unknown, condition: Filter, expected: number) {
    const deletedCount = yield* deleteOne({ ...condition, _id })
    if (deletedCount > 0) return
    const stored = yield* documents.findById(_id, { ...scope, privilege: "delete" })
    return yield* stored === undefined
      ? documentNotFound(model, _id)
      : new VersionConflict({ model: model.modelName, id: textOfId(_id), expected })
  })

  const deleteById = (
    id: Model.Id<M>,
    options?: { readonly version: number }
  ): Effect.Effect<void, DocumentNotFound | VersionConflict | DeleteError> =>
    versionField === undefined || options === undefined
      ? requireMatch(model, id, deleteOne({ _id: storedId(id) }))
      : deleteWhere(storedId(id), { [versionField]: options.version }, options.version)

  return {
    // Without an expected version, the operation never fails with `VersionConflict`, as the overloads say.
    deleteById: instrumented("deleteById", model.modelName, deleteById) as Deletes<M>["deleteById"],
    deleteRead: instrumented(
      "deleteById",
      model.modelName,
      ({ document, fields }) =>
        deleteWhere(document["_id"], unchangedSince(document, fields), Number(document[versionField ?? ""] ?? 0))
    )
  }
}

/** Fails with `DocumentNotFound` when a write by identifier matched no document. */
export const requireMatch = Effect.fnUntraced(function*<E>(
  model: Model.Any,
  id: unknown,
  write: Effect.Effect<number, E>
): Effect.fn.Return<void, E | DocumentNotFound> {
  const matchedCount = yield* write
  if (matchedCount === 0) return yield* documentNotFound(model, id)
})
