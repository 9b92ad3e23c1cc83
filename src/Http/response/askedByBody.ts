/** Reads with their parameters in the body, for queries that are too long for a URL. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import { errorOf } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import type { Parameters } from "../query/urlQuery.ts"
import { readQuery } from "../request/body.ts"
import type { HandlerFailure } from "./handlerFailures.ts"

/**
 * The handler of a `GET`, which a request may also ask with its parameters in the body: by the method `QUERY` (RFC 10008), or by
 * `POST` at a path of its own. They are written as in a URL, or as a JSON object, and count beside those of the URL.
 */
export const askedByBody = <R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure, R>,
  limits: Limits
): Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure, R> =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, HandlerFailure, R>((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    if (request.method !== "QUERY" && request.method !== "POST" || read.has(request.source)) return handler
    // What watches several collections asks the handler of each, with the parameters for it.
    read.add(request.source)
    // The router adds the parameters of the URL to the context.
    const search = Context.getUnsafe(fiber.context, HttpServerRequest.ParsedSearchParams) as Parameters
    return Effect.flatMap(readQuery(request, limits), (body) => {
      const asked = parametersOf(body)
      if (asked === undefined) return Effect.fail(errorOf("BadRequest", "errors.BodyNotParameters"))
      return countOf(asked) > limits.maxFields
        ? Effect.fail(errorOf("PayloadTooLarge", "errors.TooManyFields", { limit: limits.maxFields }))
        : Effect.provideService(handler, HttpServerRequest.ParsedSearchParams, merged(search, asked))
    })
  })

// internal

const read = new WeakSet<object>()

type Asked = { readonly [name: string]: string | Array<string> }

/** The parameters of a JSON object; `undefined` if a value can't be the text of one. */
const parametersOf = (body: unknown): Asked | undefined => {
  if (!Predicate.isObject(body) || Array.isArray(body)) return undefined
  const entries = Object.entries(body).map(([name, value]) => [name, textsOf(name, value)] as const)
  return entries.every(([, texts]) => texts !== undefined)
    // It was just tested. An empty list is no parameter.
    ? Object.fromEntries(entries.filter(([, texts]) => !Array.isArray(texts) || texts.length > 0)) as Asked
    : undefined
}

/** A list is a repeated parameter. */
const countOf = (asked: Asked): number =>
  Object.values(asked).reduce((count, texts) => count + (typeof texts === "string" ? 1 : texts.length), 0)

const textsOf = (name: string, value: unknown): string | Array<string> | undefined => {
  if (typeof value === "string") return value
  if (json.has(name)) return JSON.stringify(value)
  if (!Array.isArray(value)) return isPlain(value) ? JSON.stringify(value) : undefined
  return value.every((one) => typeof one === "string" || isPlain(one))
    ? value.map((one) => typeof one === "string" ? one : JSON.stringify(one))
    : undefined
}

/** The parameters whose texts are JSON: in a JSON object they may be a part of it. */
const json: ReadonlySet<string> = new Set(["query", "pipe"])

/** Whether it is `null`, a number or a boolean. */
const isPlain = (value: unknown): boolean =>
  value === null || typeof value === "number" || typeof value === "boolean" ||
  // A number as it is written.
  typeof value === "object" && Object.getPrototypeOf(value) === null

const merged = (url: Parameters, body: Asked): Asked => {
  const all = new Map<string, Array<string>>()
  for (const [name, value = []] of [...Object.entries(url), ...Object.entries(body)]) {
    all.set(name, [...all.get(name) ?? [], ...typeof value === "string" ? [value] : value])
  }
  return Object.fromEntries(Array.from(all, ([name, values]) => [name, values.length === 1 ? values[0]! : values]))
}
