import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { textOfId } from "../../Repository/introspection.ts"
import { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import type * as preconditions from "../request/preconditions.ts"
import type { WrittenDocument } from "../response/writeResponse.ts"
import { isHooked, type MethodHooks } from "./hooks.ts"
import type { Instance, Values, WriteContext, WriteFailure } from "./writeContext.ts"

/**
 * Replaces a document between the hooks. `place` is the identifier in the URL, if there is one.
 *
 * @internal
 */
export type ReplaceWith = (
  hooks: MethodHooks,
  place: Option.Option<unknown>,
  id: unknown,
  value: Values,
  conditions: preconditions.Preconditions
) => Effect.Effect<WrittenDocument, WriteFailure>

/** @internal */
export const replaceWrites = (context: WriteContext): ReplaceWith => {
  const { checked, finalise, fromDocument, guarded, model, namedIn, repository, retryConflicts } = context
  const { between, stored, versionField, versionOf, written } = context

  /** The instance with the version that a body or a condition expects, or else that which is there. */
  const replacement = (
    id: unknown,
    value: Values,
    expected: number | undefined,
    { previous, version }: { readonly previous: Instance; readonly version: unknown }
  ) =>
    finalise({
      ...value,
      id,
      ...(versionField === undefined ? {} : { [versionField]: expected ?? value[versionField] ?? version })
    }, { isSent: true, previous })

  const replaceOnce = (
    hooks: MethodHooks,
    place: Option.Option<unknown>,
    id: unknown,
    value: Values,
    expected: number | undefined
  ): Effect.Effect<WrittenDocument, WriteFailure> =>
    isHooked(hooks)
      ? between(
        hooks,
        place,
        Effect.gen(function*() {
          const previous = yield* checked(id, yield* stored(id), expected ?? namedIn(value))
          const instance = yield* replacement(id, value, expected, { previous, version: versionOf(previous) })
          return { instance, previous: Option.some(previous) }
        }),
        repository.replace
      )
      : Effect.gen(function*() {
        const there = yield* repository.findDocumentById(id)
        if (there === undefined) return yield* new DocumentNotFound({ model: model.modelName, id: textOfId(id) })
        // What is not one of the model's is replaced as a whole.
        const previous = Option.getOrUndefined(yield* Effect.option(fromDocument(there)))
        const version = there[versionField ?? ""]
        const instance = yield* replacement(id, value, expected, { previous, version })
        return written(yield* repository.replace(instance), false)
      })

  /** Without a version in the body, whichever is stored is replaced, however many write at once. */
  return (hooks, place, id, value, conditions) =>
    guarded(id, namedIn(value), conditions, (expected) => {
      const once = replaceOnce(hooks, place, id, value, expected)
      return expected === undefined && versionField !== undefined && namedIn(value) === undefined
        ? retryConflicts(id, once)
        : once
    })
}
