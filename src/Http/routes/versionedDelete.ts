import * as Effect from "effect/Effect"
import type * as Model from "../../Model/Model.ts"
import { storedIdOf, textOfId } from "../../Repository/introspection.ts"
import * as Query from "../../Repository/Query.ts"
import type { Operations } from "../../Repository/Repository.ts"
import { DocumentNotFound, type ReadError, VersionConflict } from "../../Repository/RepositoryError.ts"

/**
 * Removes the document of this identifier while it has the expected version, in one atomic operation. Fails with
 * `VersionConflict` when it has another.
 *
 * @internal
 */
export const deleteVersion = Effect.fnUntraced(function*<M extends Model.Any>(
  repository: Pick<Operations<M>, "deleteMany" | "findDocumentById" | "model">,
  { expected, id, versionField }: { readonly id: Model.Id<M>; readonly versionField: string; readonly expected: number }
): Effect.fn.Return<void, DocumentNotFound | VersionConflict | ReadError> {
  const deleted = yield* repository.deleteMany(() =>
    Query.native({ _id: storedIdOf(repository.model)(id), [versionField]: expected })
  )
  if (deleted > 0) return
  const model = repository.model.modelName
  return yield* (yield* repository.findDocumentById(id)) === undefined
    ? new DocumentNotFound({ model, id: textOfId(id) })
    : new VersionConflict({ model, id: textOfId(id), expected })
})
