import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { textOfId } from "../../Repository/introspection.ts"
import { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import type * as preconditions from "../request/preconditions.ts"
import type { WrittenDocument } from "../response/writeResponse.ts"
import { isHooked, type MethodHooks } from "./hooks.ts"
import type { Instance, Values, WriteContext, WriteFailure } from "./writeContext.ts"

/**
 * Replaces a document and runs the hooks. `urlId` is the identifier in the URL, if there is one.
 *
 * @internal
 */
export type ReplaceWith = (
  hooks: MethodHooks,
  urlId: Option.Option<unknown>,
  id: unknown,
  value: Values,
  conditions: preconditions.Preconditions
) => Effect.Effect<WrittenDocument, WriteFailure>

/** @internal */
export const replaceWrites = (context: WriteContext): ReplaceWith => {
  const { checkVersion, documents, finalise, fromDocument, guarded, keeping, model, repository, retryConflicts } =
    context
  const { stored, toDocument, versionField, versionIn, versionOf, withHooks, written } = context

  /** The new instance, with the version of a precondition, of the body, or of the stored document. */
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
    urlId: Option.Option<unknown>,
    id: unknown,
    value: Values,
    expected: number | undefined
  ): Effect.Effect<WrittenDocument, WriteFailure> =>
    isHooked(hooks)
      ? withHooks(
        hooks,
        urlId,
        Effect.gen(function*() {
          const previous = yield* checkVersion(id, yield* stored(id), expected ?? versionIn(value))
          const kept = yield* keeping(value, { previous, document: toDocument(previous), mode: "replace" })
          const instance = yield* replacement(id, kept, expected, { previous, version: versionOf(previous) })
          return { instance, previous: Option.some(previous) }
        }),
        repository.replace
      )
      : Effect.gen(function*() {
        const current = yield* documents.findById(id)
        if (current === undefined) return yield* new DocumentNotFound({ model: model.modelName, id: textOfId(id) })
        // A stored document that does not fit the model is replaced completely.
        const previous = Option.getOrUndefined(yield* Effect.option(fromDocument(current)))
        const version = current[versionField ?? ""]
        const kept = yield* keeping(value, { previous, document: current, mode: "replace" })
        const instance = yield* replacement(id, kept, expected, { previous, version })
        return written(yield* repository.replace(instance), false)
      })

  /** Without an expected version, a conflict with another write is retried. */
  return (hooks, urlId, id, value, conditions) =>
    guarded(id, versionIn(value), conditions, (expected) => {
      const once = replaceOnce(hooks, urlId, id, value, expected)
      return expected === undefined && versionField !== undefined && versionIn(value) === undefined
        ? retryConflicts(id, once)
        : once
    })
}
