/** Embeds what a written document refers to, as a `GET` of it by the same caller would after the write. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { identifierOf } from "../../Repository/internal.ts"
import type { Expand } from "../query/urlQuery.ts"
import { type HandlerFailure, isRefusal } from "../response/handlerFailures.ts"
import { charactersOf } from "../response/wireText.ts"
import type { Door, Doors, EmbedWritten } from "./embeddable.ts"
import { plan } from "./expansion.ts"

/**
 * Fails for what could not be expanded, before anything is written. `id` is that of the URL. A caller who may not `GET` the document
 * yet may learn nothing of its paths.
 */
export const expandWritten = (
  model: Model.Any,
  door: Door,
  doors: Doors,
  { expand, id }: { readonly expand: Expand; readonly id: string | undefined }
): Effect.Effect<EmbedWritten, HandlerFailure> => {
  const { print, valueOf } = identifierOf(model)
  const embedded = Effect.fnUntraced(function*(document: Document) {
    const entered = yield* door.enter(print(document["_id"]))
    if (entered === undefined) return undefined
    const { embeddable, within } = entered
    return yield* within(Effect.gen(function*() {
      const expansion = yield* plan(embeddable, expand, doors)
      yield* embeddable.beforeEach?.(valueOf(document["_id"])) ?? Effect.void
      const { isShown, shows } = yield* Effect.withFiber((fiber) => Effect.succeed(embeddable.representations(fiber)))
      if (!isShown(document)) return undefined
      yield* embeddable.afterEach?.(document) ?? Effect.void
      return charactersOf((yield* expansion.embed([document], shows, Effect.void))(0))
    }))
  })
  const checked: Effect.Effect<unknown, HandlerFailure> = door.isForEach && id === undefined
    ? Effect.void
    : Effect.flatMap(
      door.enter(id),
      (entered) => entered === undefined ? Effect.void : entered.within(plan(entered.embeddable, expand, doors))
    )
  // The write is done: whatever fails now must not make it look as if it were not.
  const embed: EmbedWritten = (document) =>
    Effect.catchCause(
      Effect.catchIf(embedded(document), isRefusal, () => Effect.undefined),
      (cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.interrupt
          : Effect.as(Effect.logWarning(`What ${model.modelName} refers to can't be embedded`, cause), undefined)
    )
  return Effect.as(checked, embed)
}
