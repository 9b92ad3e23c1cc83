/**
 * What calls have besides their own options: the headers of the client and of the proxy, the language of the request that is
 * being answered, and the credentials for the service.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { discarding } from "../../internal/readOnce.ts"
import type { Credentials } from "../Credentials.ts"
import type { CallError, CallOptions, Exchange } from "./exchange.ts"

interface Headers {
  readonly [name: string]: string
}

export interface CallDefaults {
  /** Headers of all calls of the client. */
  readonly headers: Headers
  /** Headers of all calls of the proxy, which replace those of the client. */
  readonly getHeaders: Effect.Effect<Headers, CallError> | undefined
  /** The credentials of calls that have none of their own. */
  readonly credentials: Credentials | undefined
}

export const withCallDefaults = (exchange: Exchange, { credentials, getHeaders, headers }: CallDefaults): Exchange => {
  const shared = lowerCased(headers)
  /** Without headers of the proxy, they differ by the language only. */
  const byLanguage = new BoundedCache<Headers>(20)
  const defaultsIn = (language: string) =>
    byLanguage.getOrMake(language, () => ({ ...exchange.baseHeaders, "accept-language": language, ...shared }))
  const withDefaults = <A, E, R>(
    { body }: HttpClientRequest.HttpClientRequest,
    options: CallOptions,
    call: (options: CallOptions) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | CallError, R> =>
    Effect.withFiber((fiber) => {
      const defaults = defaultsIn(languageOf(fiber))
      const callWith = (defaultHeaders: Headers) =>
        call({ ...options, credentials: options.credentials ?? credentials, defaultHeaders })
      return getHeaders === undefined
        ? callWith(defaults)
        : discarding(
          body,
          exchange.prepared(
            Effect.flatMap(getHeaders, (own) => callWith({ ...defaults, ...lowerCased(own) })),
            options.upstream
          )
        )
    })
  return {
    baseHeaders: exchange.baseHeaders,
    prepared: exchange.prepared,
    run: (request, options, read) => withDefaults(request, options, (options) => exchange.run(request, options, read)),
    respond: (request, options) => withDefaults(request, options, (options) => exchange.respond(request, options))
  }
}

// internal

const lowerCased = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const languageOf = (fiber: Fiber.Fiber<unknown, unknown>): string =>
  Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)?.headers["accept-language"] ?? "en"
