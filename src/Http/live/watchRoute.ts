/**
 * The changes of several collections over one connection: the lists that the own streams of these collections would answer, with
 * the rights to each of them, in one answer.
 */
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { textOfKey } from "../../internal/texts.ts"
import { errorOf } from "../HttpError.ts"
import type { Parameters } from "../query/urlQuery.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import type { BadRequestResponder, ErrorResponses } from "../response/translatedResponses.ts"
import type { Asked } from "./changesRequest.ts"
import { answered, Asking } from "./changesRoute.ts"

/** The stream of one collection, after all checks. */
export interface Watchable {
  /** The path of the stream. */
  readonly path: string
  /** Whether the caller may list the collection. */
  readonly isAllowed: Effect.Effect<boolean, HandlerFailure, HttpServerRequest.HttpServerRequest>
  readonly respond: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
}

export const watchRoute = (
  collections: ReadonlyMap<string, Watchable>,
  respondBadRequest: BadRequestResponder,
  errorResponses: ErrorResponses
): (parameters: Parameters, fiber: Fiber.Fiber<unknown, unknown>) => ResponseEffect =>
({ watch, ...parameters }, fiber) => {
  const names = [...new Set([watch ?? []].flat().flatMap((text) => text.split(",")))]
  // Callers may send any number of other names.
  const known = names.filter((name) => collections.has(name))
  const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
  const allowedOf = (asked: Iterable<string>) =>
    Effect.filter(asked, (name) => {
      const collection = collections.get(name)
      return collection === undefined ? Effect.succeed(false) : Effect.provideService(
        collection.isAllowed,
        HttpServerRequest.HttpServerRequest,
        request.modify({ url: `${collection.path}?${parametersOf(name, known, parameters).url}` })
      )
    })
  const ask = ([name = "", ...others]: ReadonlyArray<string>, lists: ReadonlyArray<Asked>): ResponseEffect => {
    // Its name is known.
    const { path, respond } = collections.get(name)!
    const { parsed, url } = parametersOf(name, known, parameters)
    return respond.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request.modify({ url: `${path}?${url}` })),
      Effect.provideService(HttpServerRequest.ParsedSearchParams, parsed),
      // The others are asked for within the request for the first, so all that it has lasts as long as the answer.
      Effect.provideService(Asking, (list, context) => {
        const all = Arr.append(lists, list)
        return others.length === 0 ? answered(all, context) : ask(others, all)
      })
    )
  }
  return Effect.gen(function*() {
    // Before anything else is said: what is said of a collection would tell that it is there.
    if (names.length > 0 && (yield* allowedOf(known)).length === names.length) return yield* ask(names, [])
    const allowed = yield* allowedOf(collections.keys())
    const denied = [...known, ...collections.keys()].find((name) => !allowed.includes(name))
    const some = allowed.join(", ")
    if (denied === undefined || some !== "" && (names.length === 0 || names.includes(""))) {
      const message = `must be some of ${some}, separated by commas`
      return yield* respondBadRequest([{ field: "watch", validator: "Parameter", message }])
    }
    // A name that is not there has the refusal of one that the caller may not know.
    const { path, respond } = collections.get(denied)!
    const refusal = yield* respond.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request.modify({ url: path })),
      Effect.provideService(Asking, () => Effect.fail(errorOf("Forbidden", "errors.Denied")))
    )
    const { headers, status } = refusal
    if (some === "" || status !== 401 && status !== 403) return refusal
    const challenge = headers["www-authenticate"]
    return yield* errorResponses.sentence(
      status === 401 ? "Unauthorized" : "Forbidden",
      textOfKey("errors.WatchDenied", { allowed: some }),
      challenge === undefined ? {} : { "www-authenticate": challenge }
    )
  })
}

// internal

/** The parameters for all collections, and those that have the name of this one before them. */
const parametersOf = (name: string, names: ReadonlyArray<string>, parameters: Parameters) => {
  const own = new Map<string, Array<string>>()
  for (const [key, value = []] of Object.entries(parameters)) {
    const of = names.find((one) => key.startsWith(`${one}.`))
    if (of !== undefined && of !== name) continue
    const ownKey = of === undefined ? key : key.slice(name.length + 1)
    own.set(ownKey, [...own.get(ownKey) ?? [], ...[value].flat()])
  }
  const entries = [...own]
  return {
    url: new URLSearchParams(entries.flatMap(([key, values]) => values.map((value) => [key, value]))).toString(),
    parsed: Object.fromEntries(entries.map(([key, values]) => [key, values.length === 1 ? values[0]! : values]))
  }
}
