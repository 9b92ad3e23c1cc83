/** Writes documents for events, as `GET` of each of them answers to the user of the fiber. */
import * as Effect from "effect/Effect"
import type { Document } from "../../Repository/DocumentStore.ts"
import { identifierOf } from "../../Repository/internal.ts"
import type { Door } from "../expansion/embeddable.ts"
import { type HandlerFailure, isRefusal } from "../response/handlerFailures.ts"
import { logUnreadable } from "../response/representation.ts"

/**
 * The JSON text of a document by its identifier; `undefined` if the user may not read it, or there is none. `before` is what a
 * deleted one was.
 */
export const renderedThrough = (
  door: Door,
  text: string,
  before: Document | undefined
): Effect.Effect<string | undefined, HandlerFailure> =>
  Effect.gen(function*() {
    const entered = yield* door.enter(text)
    if (entered === undefined) return undefined
    const { afterEach, beforeEach, documents, limits, model, representations } = entered.embeddable
    const id = identifierOf(model).parse(text)
    if (id === undefined) return undefined
    return yield* entered.within(Effect.gen(function*() {
      yield* beforeEach?.(id) ?? Effect.void
      const document = before ?? (yield* documents.findById(id, { timeLimit: limits.queryTimeout }))
      if (document === undefined) return undefined
      const { isShown, textOf } = yield* Effect.withFiber((fiber) => Effect.succeed(representations(fiber)))
      if (!isShown(document)) return undefined
      yield* afterEach?.(document) ?? Effect.void
      const written = textOf(document)
      if (written === undefined) yield* logUnreadable(model, [document])
      return written
    }))
  }).pipe(Effect.catchIf(isRefusal, () => Effect.undefined))
