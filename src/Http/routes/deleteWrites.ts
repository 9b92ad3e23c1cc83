import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CallFailure } from "../response/callFailures.ts"
import type { Written } from "../response/writeResponse.ts"
import { isHooked, type MethodHooks, unwrapped } from "./hooks.ts"
import type { WriteContext, WriteFailure } from "./writeContext.ts"
import type { WriteRequest } from "./writeRequest.ts"

/**
 * Deletes a document.
 *
 * @internal
 */
export const deleteWrites = (context: WriteContext, onDelete: MethodHooks) => {
  const { between, checked, guarded, repository, retryConflicts, stored, versionField, versionOf } = context

  /** Removes the document while it has the version that is expected. */
  const removeOnce = (id: unknown, expected: number | undefined): Effect.Effect<void, WriteFailure> =>
    versionField === undefined || expected === undefined
      ? repository.deleteById(id)
      : repository.deleteById(id, { version: expected })

  /** What is removed is what the hooks have seen, where that can be told by its version. */
  const removeBetweenHooks = (id: unknown, expected: number | undefined): Effect.Effect<void, WriteFailure> => {
    const once = between(
      onDelete,
      Option.some(id),
      Effect.map(
        Effect.flatMap(stored(id), (there) => checked(id, there, expected)),
        (instance) => ({ instance, previous: Option.some(instance) })
      ),
      (instance) => Effect.as(removeOnce(id, versionOf(instance)), instance)
    )
    return Effect.asVoid(expected === undefined ? retryConflicts(id, once) : once)
  }

  return ({ conditions, id }: WriteRequest<undefined>): Effect.Effect<Written, CallFailure> =>
    Effect.as(
      unwrapped(
        guarded(
          id,
          undefined,
          conditions,
          (expected) => isHooked(onDelete) ? removeBetweenHooks(id, expected) : removeOnce(id, expected)
        )
      ),
      { _tag: "Deleted" }
    )
}
