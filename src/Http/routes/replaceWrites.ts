/** Replaces documents by `PUT`. Stored values that clients neither send nor see are kept. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { keptFields } from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { textOfId } from "../../Repository/internal.ts"
import { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import type * as preconditions from "../request/preconditions.ts"
import type { WrittenDocument } from "../response/writeResponse.ts"
import { isHooked, type MethodHooks } from "./hooks.ts"
import { type Instance, type Values, withHooks, type WriteContext, type WriteFailure, written } from "./writeContext.ts"
import { keeping } from "./writeGrants.ts"
import { checkVersion, expectedFields, guarded, retryConflicts, versionIn } from "./writeVersions.ts"

/** Replaces a document and runs the hooks. `urlId` is the identifier in the URL, if there is one. */
export type ReplaceWith = (
  hooks: MethodHooks,
  urlId: Option.Option<unknown>,
  id: unknown,
  value: Values,
  conditions: preconditions.Preconditions
) => Effect.Effect<WrittenDocument, WriteFailure>

export const replaceWrites = (context: WriteContext): ReplaceWith => {
  const { codec, documents, finalise, model, versionField, view } = context
  /**
   * The fields whose stored values the replacement depends on. It keeps some of them; and if the writable fields depend on
   * the document, the row filters of grants may name any field.
   */
  const computedFrom = view.maskDependsOnDocument
    ? Object.keys(model.store.fields).filter((name) => name !== "id")
    : [...new Set([...keptFields(model), ...view.mask.loose.map((name) => name.split(".", 1)[0] ?? name)])]
  // Of a versioned document, the version tells whether it is unchanged.
  const otherwise = versionField === undefined ? computedFrom : []

  const read = Effect.fnUntraced(function*(id: unknown) {
    return (yield* documents.findById(id)) ??
      (yield* new DocumentNotFound({ model: model.modelName, id: textOfId(id) }))
  })

  /** The new instance, with the version to expect. `previous` is `undefined` if the stored one does not fit. */
  const replacement = (
    id: unknown,
    value: Values,
    document: Document,
    previous: Instance
  ) =>
    keeping(context, value, { previous, document, mode: "replace" }, (kept) =>
      finalise({
        ...kept,
        id,
        ...(versionField === undefined
          ? {}
          : { [versionField]: kept[versionField] ?? document[versionField] ?? 0 })
      }, { isSent: true, previous }))

  const replaceOnce = Effect.fnUntraced(
    function*(id: unknown, value: Values, check: preconditions.PreconditionCheck | undefined) {
      const document = yield* read(id)
      if (check !== undefined) yield* check(document)
      // A stored document that does not fit the model is replaced completely.
      const previous = Option.getOrUndefined(yield* Effect.option(codec.fromDocument(document)))
      const { filters, instance } = yield* replacement(id, value, document, previous)
      const fields = expectedFields(context, check, otherwise)
      return written(context, yield* documents.replace(instance, { document, fields, filters }), false)
    }
  )

  /** Reads the stored document, and computes the instance for the hooks and the write of what they return. */
  const loaded = Effect.fnUntraced(
    function*(id: unknown, value: Values, check: preconditions.PreconditionCheck | undefined) {
      const document = yield* read(id)
      if (check !== undefined) yield* check(document)
      const stored = yield* codec.fromDocument(document)
      const previous = yield* checkVersion(context, id, stored, versionIn(context, value))
      const { filters, instance } = yield* replacement(id, value, document, previous)
      const fields = expectedFields(context, check, otherwise)
      return {
        instance,
        previous: Option.some(previous),
        write: (changed: Instance) => documents.replace(changed, { document, fields, filters })
      }
    }
  )

  /** Without an expected version, a conflict with another write is retried. */
  return (hooks, urlId, id, value, conditions) => {
    const given = versionIn(context, value)
    return guarded(context, id, given, conditions, (check): Effect.Effect<WrittenDocument, WriteFailure> => {
      const once = isHooked(hooks)
        ? withHooks(context, hooks, urlId, loaded(id, value, check))
        : replaceOnce(id, value, check)
      return check === undefined && given === undefined ? retryConflicts(context, id, once) : once
    })
  }
}
