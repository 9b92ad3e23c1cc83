import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { dateOf } from "../bson/normalise.ts"
import type { Filter, Update } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { storedIdOf, textOfId } from "../query/storedIdentifier.ts"
import { DocumentNotFound, type ReadError, VersionConflict } from "../RepositoryError.ts"
import { traced } from "../store/instrumented.ts"
import type { Stamps } from "./auditFields.ts"
import type { DocumentCodec } from "./documentCodec.ts"
import type { ModelCollection } from "./modelCollection.ts"
import { type ModelWriter, withMore, withoutDuplicate } from "./modelWriter.ts"
import type { Operations } from "./operations.ts"
import type { SoftDeletes } from "./softDeletion.ts"

type Removing<M extends Model.Any> = Pick<Operations<M>, "deleteById" | "deleteMany" | "deleteAll">

/**
 * What removes documents from the store.
 *
 * @internal
 */
export const makeRemoving = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  writer: ModelWriter
): Removing<M> => {
  const collection = model.modelName
  return {
    deleteById: deletingById(model, documents, (filter) => writer.deleteOne("delete", filter)),
    deleteMany: traced("deleteMany", collection, (where) => writer.deleteMany("delete", Query.toFilter(model, where))),
    deleteAll: Effect.suspend(traced("deleteAll", collection, () => writer.deleteMany("delete", {})))
  }
}

/**
 * What marks documents as deleted, in a field of theirs, and takes the mark away.
 *
 * @internal
 */
export const makeSoftDeletion = <M extends Model.Any>(
  model: M,
  deletedField: string,
  documents: ModelCollection,
  writer: ModelWriter,
  stamps: Stamps | undefined,
  { fromDocument }: DocumentCodec<M["Type"]>
): Removing<M> & SoftDeletes<M> => {
  const collection = model.modelName
  const versionField = managedField(model, "version")

  type Running = Fiber.Fiber<unknown, unknown>

  const written = (fiber: Running, update: Update): Update => {
    const counted = versionField === undefined ? update : withMore("$inc", update, { [versionField]: 1 })
    return stamps === undefined ? counted : withMore("$set", counted, stamps.updated(fiber))
  }
  const deletion = (fiber: Running): Update =>
    written(fiber, { $set: { [deletedField]: dateOf(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()) } })
  const restoration = (fiber: Running): Update => written(fiber, { $unset: { [deletedField]: "" } })

  const remove = (where: Query.Where<M> | undefined) =>
    Effect.withFiber((fiber) =>
      withoutDuplicate(
        "delete",
        Effect.map(
          writer.updateMany("delete", Query.toFilter(model, where), deletion(fiber), {}),
          ({ matchedCount }) => matchedCount
        )
      )
    )

  return {
    deleteById: deletingById(model, documents, (filter) =>
      Effect.withFiber((fiber) =>
        withoutDuplicate(
          "delete",
          Effect.map(
            writer.updateOne("delete", filter, deletion(fiber), {}),
            ({ matchedCount }) => matchedCount
          )
        )
      )),
    deleteMany: traced("deleteMany", collection, remove),
    deleteAll: Effect.suspend(traced("deleteAll", collection, () => remove(undefined))),
    restoreById: traced(
      "restoreById",
      collection,
      Effect.fnUntraced(function*(id) {
        const update = restoration(yield* Effect.fiber)
        const restored = yield* writer.findOneAndUpdate(
          "restore",
          { _id: storedIdOf(model)(id) },
          update,
          { returnDocument: "after" },
          "only"
        )
        return restored === undefined ? yield* notFound(model, id) : yield* fromDocument(restored)
      })
    ),
    restoreMany: traced("restoreMany", collection, (where) =>
      Effect.withFiber((fiber) =>
        Effect.map(
          writer.updateMany("restore", Query.toFilter(model, where), restoration(fiber), {}, "only"),
          ({ matchedCount }) => matchedCount
        )
      )),
    purgeById: traced(
      "purgeById",
      collection,
      (id) => found(model, id, writer.deleteOne("purge", { _id: storedIdOf(model)(id) }, "include"))
    ),
    purge: traced(
      "purge",
      collection,
      (where) => writer.deleteMany("purge", Query.toFilter(model, where), "only")
    )
  }
}

// internal

const notFound = (model: Model.Any, id: unknown) => new DocumentNotFound({ model: model.modelName, id: textOfId(id) })

/**
 * Deletes the document of an identifier, while it has the version if one is named: `deleteOne` gives how many it deleted
 * of those that the filter selects.
 */
const deletingById = <M extends Model.Any>(
  model: M,
  documents: ModelCollection,
  deleteOne: (filter: Filter) => Effect.Effect<number, ReadError>
): Removing<M>["deleteById"] => {
  const versionField = managedField(model, "version")
  const storedId = storedIdOf(model)
  const deleteById = (id: Model.Id<M>, options?: { readonly version: number }) => {
    const _id = storedId(id)
    if (versionField === undefined || options === undefined) return found(model, id, deleteOne({ _id }))
    const { version } = options
    return Effect.flatMap(deleteOne({ _id, [versionField]: version }), (count) =>
      count > 0
        ? Effect.void
        : Effect.flatMap(documents.findById(_id), (there): Effect.Effect<void, DocumentNotFound | VersionConflict> =>
          Effect.fail(
            there === undefined
              ? notFound(model, id)
              : new VersionConflict({ model: model.modelName, id: textOfId(id), expected: version })
          )))
  }
  // Only a version that is named can be another one.
  return traced("deleteById", model.modelName, deleteById) as Removing<M>["deleteById"]
}

/** There has to be one. */
const found = <E>(
  model: Model.Any,
  id: unknown,
  count: Effect.Effect<number, E>
): Effect.Effect<void, E | DocumentNotFound> =>
  Effect.flatMap(count, (count) => count === 0 ? Effect.fail(notFound(model, id)) : Effect.void)
