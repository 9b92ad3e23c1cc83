/**
 * Where a stream of changes begins: at a place, or with all documents of the list.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { Problem } from "../../Model/ModelError.ts"
import type { Position } from "../../Repository/DocumentStore.ts"
import { listAt } from "../../Repository/evaluation.ts"
import { type AccessDecision, documentOperationsOf } from "../../Repository/introspection.ts"
import type { PositionGone, ReadError } from "../../Repository/RepositoryError.ts"
import { Gone } from "../HttpError.ts"
import { englishOf, translatable } from "../messages/message.ts"
import type { CallFailure } from "../response/callFailures.ts"
import type { Asked, ChangesContext } from "./changesRequest.ts"
import { controlMessage, readOffset, stateMessage } from "./messages.ts"

/** @internal */
export interface Start {
  /** What comes before the changes. */
  readonly first: ReadonlyArray<string>
  readonly position: Position
}

/** @internal */
export interface Begun extends Asked, Start, ChangesContext {
  readonly scope: Scope.Scope
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** Decides again on the request. `undefined`: everybody may see everything. */
  readonly decide: Effect.Effect<Decided> | undefined
}

/** @internal */
export type Decided =
  | { readonly decision: AccessDecision }
  | { readonly response: HttpServerResponse.HttpServerResponse }

/**
 * Finds the place, and what to tell before the changes after it.
 *
 * @internal
 */
export const begin = (
  context: ChangesContext,
  asked: Asked,
  offset: string | undefined
): Effect.Effect<Result.Result<Start, Problem>, CallFailure> => {
  const { changes } = context.live.store
  if (offset === "now") return Effect.map(changes.end, (position) => Result.succeed({ first: [], position }))
  if (offset === undefined || offset === "-1") return state(context, asked, [])
  const place = readOffset(offset)
  if (place === undefined) {
    return Effect.succeed(
      Result.fail(new Problem({ field: "offset", validator: "Parameter", message: "is not a place in these changes" }))
    )
  }
  if (place.rights !== asked.rights) return state(context, asked, [controlMessage("reset")])
  return Effect.as(
    unlessGone(changes.read([context.model.modelName], { after: place.position, limit: 1 })),
    Result.succeed({ first: [], position: place.position })
  )
}

/** @internal */
export const unlessGone = <A>(effect: Effect.Effect<A, ReadError | PositionGone>): Effect.Effect<A, ReadError | Gone> =>
  Effect.catchTag(effect, "PositionGone", () => Effect.fail(gone))

const gone = translatable(new Gone({ message: englishOf("errors.PositionGone") }), "errors.PositionGone")

/** The documents of the list as they are at a place, as messages. */
const state = Effect.fnUntraced(function*(
  { limits, live, model, repository }: ChangesContext,
  { query, seen }: Asked,
  before: ReadonlyArray<string>
): Effect.fn.Return<Result.Result<Start, Problem>, CallFailure> {
  const { find, lifted } = documentOperationsOf(repository)
  const list = yield* unlessGone(listAt(live.store, {
    modelName: model.modelName,
    find: find({
      filter: query.filter,
      sort: { _id: 1 },
      limit: limits.maxResults + 1,
      timeLimit: limits.queryTimeout
    }),
    lifted,
    sees: seen.sees
  }))
  const texts = list.documents.flatMap((document) => {
    const text = seen.textOf(document)
    return text === undefined ? [] : [stateMessage(seen, document, text)]
  })
  let length = 0
  for (const text of texts) length += text.length
  // A list that was cut is not whole, though documents have left it since.
  return Math.max(list.found, texts.length) > limits.maxResults || length > limits.maxPageBytes
    ? Result.fail(
      new Problem({
        field: "offset",
        validator: "Limit",
        message: `would begin with more than ${limits.maxResults} documents or ${limits.maxPageBytes} bytes: ` +
          "narrow the list, or begin with offset=now"
      })
    )
    : Result.succeed({
      first: [...before, controlMessage("snapshot-start"), ...texts, controlMessage("snapshot-end")],
      position: list.position
    })
})
