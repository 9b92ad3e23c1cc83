import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CallFailure } from "../response/callFailures.ts"
import type { Written } from "../response/writeResponse.ts"
import { isHooked, type MethodHooks, unwrapped } from "./hooks.ts"
import { withHooks, type WriteContext, type WriteFailure } from "./writeContext.ts"
import type { WriteRequest } from "./writeRequest.ts"
import { checkVersion, guarded, retryConflicts, versionOf } from "./writeVersions.ts"

/**
 * Deletes a document.
 *
 * @internal
 */
export const deleteWrites = (context: WriteContext, onDelete: MethodHooks) => {
  const { repository, versionField } = context

  /** Deletes the document only while it has the expected version. */
  const deleteOnce = (id: unknown, expected: number | undefined): Effect.Effect<void, WriteFailure> =>
    versionField === undefined || expected === undefined
      ? repository.deleteById(id)
      : repository.deleteById(id, { version: expected })

  /** In a versioned model, deletes exactly the version that the hooks have received. */
  const deleteWithHooks = (id: unknown, expected: number | undefined): Effect.Effect<void, WriteFailure> => {
    const once = withHooks(
      context,
      onDelete,
      Option.some(id),
      Effect.map(
        Effect.flatMap(repository.findById(id), (instance) => checkVersion(context, id, instance, expected)),
        (instance) => ({
          instance,
          previous: Option.some(instance),
          write: () => Effect.as(deleteOnce(id, versionOf(context, instance)), instance)
        })
      )
    )
    return Effect.asVoid(expected === undefined ? retryConflicts(context, id, once) : once)
  }

  return ({ conditions, id }: WriteRequest<undefined>): Effect.Effect<Written, CallFailure> =>
    Effect.as(
      unwrapped(
        guarded(
          context,
          id,
          undefined,
          conditions,
          (expected) => isHooked(onDelete) ? deleteWithHooks(id, expected) : deleteOnce(id, expected)
        )
      ),
      { _tag: "Deleted" }
    )
}
