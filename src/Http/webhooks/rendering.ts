/** Writes documents for events, as `GET` of each of them answers to the user of the fiber. */
import * as Effect from "effect/Effect"
import type { Document } from "../../Repository/DocumentStore.ts"
import { identifierOf } from "../../Repository/internal.ts"
import type { Door } from "../expansion/embeddable.ts"
import { type HandlerFailure, isRefusal } from "../response/handlerFailures.ts"
import { logUnreadable } from "../response/representation.ts"

/** What an event is about. */
export interface Subject {
  /** The identifier of the document, in its form in URLs. */
  readonly id: string
  /** What a deleted document was. */
  readonly before: Document | undefined
  /** The fields that have changed, and of nested ones their parts; `undefined` if it is no update. */
  readonly changed: ReadonlyArray<string> | undefined
}

/**
 * The JSON text of a document; `undefined` if the user may not read it, there is none, or the user sees none of the fields that have
 * changed. It dies of one that does not fit the model, which is no refusal: another version of the service may write it.
 */
export const renderedThrough = (
  door: Door,
  { before, changed, id: text }: Subject
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
      const { isShown, shows, textOf } = yield* Effect.withFiber((fiber) => Effect.succeed(representations(fiber)))
      if (!isShown(document) || changed?.some((field) => shows(document, field)) === false) return undefined
      yield* afterEach?.(document) ?? Effect.void
      const written = textOf(document)
      if (written !== undefined) return written
      yield* logUnreadable(model, [document])
      return yield* Effect.die(new Error("The document does not fit the model"))
    }))
  }).pipe(Effect.catchIf(isRefusal, () => Effect.undefined))
