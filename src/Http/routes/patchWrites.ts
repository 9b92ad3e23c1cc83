/** Changes documents by `PATCH`: merge patches and JSON Patches, with hooks, preconditions and retries of conflicts. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { patcher, type Serialiser } from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { applyPatch } from "../../Repository/internal.ts"
import type { PreconditionCheck } from "../request/preconditions.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { WrittenAnswer, WrittenDocument } from "../response/writeResponse.ts"
import { isHooked, type MethodHooks, runAfterwards, withoutHookFailure } from "./hooks.ts"
import {
  atomically,
  type Instance,
  type Values,
  type WriteContext,
  type WriteFailure,
  written,
  writtenDocument
} from "./writeContext.ts"
import { type GrantedInstance, keeping } from "./writeGrants.ts"
import type { RequestedChanges, WriteRequest } from "./writeRequest.ts"
import { checkVersion, guarded, versionIn } from "./writeVersions.ts"

/** Changes fields of a document. */
export const patchWrites = (context: WriteContext, onPatch: MethodHooks) => {
  const { codec, documents, model, versionField, view } = context
  const patched = patcher(model)

  /** The document that a JSON Patch tests and copies from: an empty one for a caller who may not read it. */
  const serialiserOf = (fiber: Fiber.Fiber<unknown, unknown>, document: Document): Serialiser => {
    const shown = view.of(fiber)
    return view.isReadable && shown.isShown(document) ? shown.formOf(document).serialise : () => "{}"
  }

  /** Computes the change from the stored document and writes it while that document is unchanged; otherwise retries. */
  const patchWithHooks = (
    { after, before }: MethodHooks,
    id: unknown,
    changes: RequestedChanges,
    check: PreconditionCheck | undefined
  ) =>
    Effect.suspend(() => {
      const requestOf = (previous: Instance) => ({ id: Option.some(id), previous: Option.some(previous) })
      let previous: Instance
      const change = Effect.fnUntraced(function*(stored: Instance): Effect.fn.Return<GrantedInstance, WriteFailure> {
        previous = stored
        const document = codec.toDocument(stored)
        const asked = changes._tag === "Merge"
          ? changes.changes
          : yield* changes.changesOf(document, serialiserOf(yield* Effect.fiber, document), Object(stored))
        const granted = yield* keeping(context, asked, { previous, document, mode: "merge" }, (changed) => {
          const merged = applyPatch(model, Object(stored), changed, {
            mode: changes._tag === "Merge" ? "merge" : "replace",
            versionField
          })
          return Effect.andThen(
            checkVersion(context, id, stored, versionIn(context, changed)),
            patched({ current: Object(stored), merged, changes: changed, isSent: true })
          )
        })
        return before === undefined
          ? granted
          : { ...granted, instance: yield* before(granted.instance, requestOf(stored)) }
      })
      return Effect.flatMap(atomically(context, documents.modify(id, change, check)), (result) =>
        Effect.as(
          after === undefined ? Effect.void : runAfterwards(after(result, requestOf(previous))),
          written(context, result, false)
        ))
    })

  const mergePatch = (id: unknown, changes: Values, check: PreconditionCheck | undefined) =>
    Effect.map(documents.patch(id, changes, check), (document) => writtenDocument(document, false))

  return ({ body, conditions, id }: WriteRequest<RequestedChanges>): Effect.Effect<WrittenAnswer, HandlerFailure> =>
    withoutHookFailure(
      guarded(
        context,
        id,
        body._tag === "Merge" ? versionIn(context, body.changes) : undefined,
        conditions,
        (check): Effect.Effect<WrittenDocument, WriteFailure> =>
          body._tag === "Merge" && !isHooked(onPatch) && !view.mask.touches(body.changes)
            ? mergePatch(id, body.changes, check)
            : patchWithHooks(onPatch, id, body, check)
      )
    )
}
