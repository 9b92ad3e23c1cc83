import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { patcher } from "../../Model/introspection.ts"
import { applyPatch } from "../../Repository/introspection.ts"
import type { CallFailure } from "../response/callFailures.ts"
import type { Written, WrittenDocument } from "../response/writeResponse.ts"
import { isHooked, type MethodHooks, unwrapped } from "./hooks.ts"
import type { Instance, Values, WriteContext, WriteFailure } from "./writeContext.ts"
import type { Changes, WriteRequest } from "./writeRequest.ts"

/**
 * Changes fields of a document.
 *
 * @internal
 */
export const patchWrites = (context: WriteContext, onPatch: MethodHooks) => {
  const { atomically, checked, guarded, model, namedIn, repository, sent, toDocument, versionField, written } = context
  const patched = patcher(model)

  /** The change is made of what is there and written only while that is there; it may have to be made anew. */
  const patchBetweenHooks = (
    { after, before }: MethodHooks,
    id: unknown,
    changes: Changes,
    expected: number | undefined
  ) =>
    Effect.suspend(() => {
      const about = (previous: Instance) => ({ id: Option.some(id), previous: Option.some(previous) })
      let previous: Instance
      const changed = Effect.fnUntraced(function*(there: Instance): Effect.fn.Return<Instance, WriteFailure> {
        previous = there
        const named = changes._tag === "Merge" ? changes.changes : yield* changes.changesOf(toDocument(there))
        yield* checked(id, there, expected ?? namedIn(named))
        const merged = applyPatch(model, Object(there), named, {
          mode: changes._tag === "Merge" ? "merge" : "replace",
          versionField
        })
        const instance = yield* patched({ current: Object(there), merged, changes: named, isSent: true })
        return before === undefined ? instance : yield* before(instance, about(there))
      })
      return Effect.flatMap(atomically(repository.modify(id, changed)), (result) =>
        Effect.as(
          after === undefined ? Effect.void : after(result, about(previous)),
          written(result, false)
        ))
    })

  const mergePatch = (id: unknown, changes: Values, expected: number | undefined) =>
    Effect.map(
      sent.patch(
        id,
        versionField === undefined || expected === undefined
          ? changes
          : { ...changes, [versionField]: expected }
      ),
      (instance) => written(instance, false)
    )

  return ({ body, conditions, id }: WriteRequest<Changes>): Effect.Effect<Written, CallFailure> =>
    unwrapped(
      guarded(
        id,
        body._tag === "Merge" ? namedIn(body.changes) : undefined,
        conditions,
        (expected): Effect.Effect<WrittenDocument, WriteFailure> =>
          body._tag === "Merge" && !isHooked(onPatch)
            ? mergePatch(id, body.changes, expected)
            : patchBetweenHooks(onPatch, id, body, expected)
      )
    )
}
