import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { keptFields } from "../../Model/introspection.ts"
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
  const { checkVersion, documents, finalise, fromDocument, guarded, keeping, model, retryConflicts, view } = context
  const { versionField, versionIn, versionOf, withHooks, written } = context
  /**
   * What is kept must be stored still when the replacement is written, and so must what decides which fields may be
   * written: the rows of a grant may name any field.
   */
  const fields = view.maskDependsOnDocument
    ? Object.keys(model.store.fields).filter((name) => name !== "id")
    : [...new Set([...keptFields(model), ...view.mask.loose.map((name) => name.split(".", 1)[0] ?? name)])]

  const read = Effect.fnUntraced(function*(id: unknown) {
    return (yield* documents.findById(id)) ??
      (yield* new DocumentNotFound({ model: model.modelName, id: textOfId(id) }))
  })

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
          const document = yield* read(id)
          const previous = yield* checkVersion(id, yield* fromDocument(document), expected ?? versionIn(value))
          const { filters, instance } = yield* keeping(
            value,
            { previous, document, mode: "replace" },
            (kept) => replacement(id, kept, expected, { previous, version: versionOf(previous) })
          )
          return {
            instance,
            previous: Option.some(previous),
            write: (changed: Instance) => documents.replace(changed, { document, fields, filters })
          }
        })
      )
      : Effect.gen(function*() {
        const document = yield* read(id)
        // A stored document that does not fit the model is replaced completely.
        const previous = Option.getOrUndefined(yield* Effect.option(fromDocument(document)))
        const version = document[versionField ?? ""]
        const { filters, instance } = yield* keeping(
          value,
          { previous, document, mode: "replace" },
          (kept) => replacement(id, kept, expected, { previous, version })
        )
        return written(yield* documents.replace(instance, { document, fields, filters }), false)
      })

  /** Without an expected version, a conflict with another write is retried. */
  return (hooks, urlId, id, value, conditions) =>
    guarded(id, versionIn(value), conditions, (expected) => {
      const once = replaceOnce(hooks, urlId, id, value, expected)
      return expected === undefined && versionIn(value) === undefined ? retryConflicts(id, once) : once
    })
}
