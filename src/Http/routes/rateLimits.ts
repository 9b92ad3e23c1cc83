/** Limits requests by client address and by caller, answers 429, and adds the `RateLimit` headers. */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as Record from "effect/Record"
import { ClientAddressSource, countedAddressOf } from "../../internal/clientAddress.ts"
import { DeclarationError } from "../../internal/declarationError.ts"
import { makeQuotas, type Quota, type Quotas, type Rate } from "../../internal/rateLimiter.ts"
import { tooManyRequestsAfter } from "../messages/message.ts"
import type { RateLimits } from "../RateLimits.ts"
import type { ErrorResponses } from "../response/translatedResponses.ts"

type Answered<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

type Limited = <E, R>(handler: Answered<E, R>) => Answered<E, R | HttpServerRequest.HttpServerRequest>

/** Answers 429 to requests beyond the limits. */
export interface RateLimiter {
  /** Limits the requests of an address. It runs before routing and all that follows. */
  readonly limitAddress: Limited
  /** Limits the requests of a caller to a route. It runs after authentication. */
  readonly limitCaller: (route: { readonly method: string; readonly path: string }) => Limited
  /** Replaces the limits of addresses and of callers. The counts stay. */
  readonly change: (limits: Pick<RateLimits, "perAddress" | "perCaller">) => void
}

/** Limits the requests to a service. `known` are its routes. */
export const makeRateLimiter = Effect.fnUntraced(function*(
  { perAddress = defaultRate, perCaller, routes = {} }: RateLimits,
  known: ReadonlyArray<{ readonly method: string; readonly path: string }>,
  errorResponses: ErrorResponses
) {
  const byRoute = new Map(Object.entries(routes).map(([route, rate]) => [bracesGone(route), rate]))
  const names = new Set(known.map((route) => nameOf(route)))
  for (const [name, rate] of [["perAddress", perAddress], ["perCaller", perCaller], ...byRoute] as const) {
    const problem = rate === undefined ? undefined : rateProblem(rate)
    if (problem !== undefined) return yield* Effect.die(new DeclarationError(`The rate limit ${name} ${problem}`))
  }
  for (const name of byRoute.keys()) {
    if (!names.has(name)) return yield* Effect.die(new DeclarationError(`The rate limit ${name} is of no route`))
  }
  const limit = limitedBy(yield* makeQuotas, errorResponses)
  const changes: Array<() => void> = []
  let current: Pick<RateLimits, "perAddress" | "perCaller"> = { perAddress, perCaller }
  const limited = (policies: () => ReadonlyArray<Policy>): Limited => {
    let limits = limit(policies())
    changes.push(() => {
      limits = limit(policies())
    })
    return (handler) => Effect.suspend(() => limits(handler))
  }
  const limiter: RateLimiter = {
    limitAddress: limited(() => [{ name: "address", rate: current.perAddress ?? defaultRate, keyOf: addressKey }]),
    limitCaller: (route) => {
      const rate = byRoute.get(nameOf(route))
      const name = nameOf(route)
      return limited(() => [
        ...current.perCaller === undefined ? [] : [{ name: "caller", rate: current.perCaller, keyOf: callerKey }],
        ...rate === undefined
          ? []
          : [{ name: "route", rate, keyOf: (caller: Caller) => `${callerKey(caller)} ${name}` }]
      ])
    },
    change: (next) => {
      current = next
      for (const change of changes) change()
    }
  }
  return limiter
})

const defaultRate: Rate = { limit: 600, window: "1 minute" }

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`

const bracesGone = (route: string): string => route.replaceAll(/\{(\w+)\}/gu, ":$1")

const rateProblem = ({ limit, window }: Rate): string | undefined =>
  !Number.isSafeInteger(limit) || limit < 1
    ? "needs a whole number of requests from 1"
    : Duration.toMillis(Duration.fromInputUnsafe(window)) < 1_000
    ? "needs a window of at least a second"
    : undefined

interface Caller {
  readonly subject: string | undefined
  readonly address: string
}

const addressKey = ({ address }: Caller): string => `rate:address:${address}`

const callerKey = ({ address, subject }: Caller): string =>
  subject === undefined ? `rate:caller:${address}` : `rate:user:${subject}`

interface Policy {
  /** The name of the policy in the headers. */
  readonly name: string
  readonly rate: Rate
  readonly keyOf: (caller: Caller) => string
}

/** Prepares what all requests share, before it gets a handler, since each caller has another handler. */
const limitedBy = ({ take }: Quotas, errorResponses: ErrorResponses) => (policies: ReadonlyArray<Policy>): Limited => {
  if (policies.length === 0) return (handler) => handler
  const policyHeader = policies.map(({ name, rate: { limit, window } }) =>
    `"${name}";q=${limit};w=${secondsOf(Duration.toMillis(Duration.fromInputUnsafe(window)))}`
  ).join(", ")
  const headersOf = (quotas: ReadonlyArray<Quota>) => ({
    "ratelimit-policy": policyHeader,
    "ratelimit": quotas.map(({ remaining, resetAfter }, i) =>
      `"${policies[i]!.name}";r=${remaining};t=${secondsOf(resetAfter)}`
    ).join(", ")
  })
  const takeAll = (caller: Caller) => Effect.forEach(policies, ({ keyOf, rate }) => take(keyOf(caller), rate))
  const refusals = policies.map(({ name }) =>
    Metric.counter("appkernel.rate_limit.refused", {
      description: "Requests that were refused because there were too many of their address or caller",
      attributes: { policy: name },
      incremental: true
    })
  )
  return (handler) =>
    Effect.withFiber((fiber) =>
      Effect.flatMap(Effect.flatMap(callerOf(fiber), takeAll), (quotas) => {
        const wait = Math.max(...quotas.map(({ isExceeded, retryAfter }) => isExceeded ? retryAfter : 0))
        const exceeded = quotas.findIndex(({ isExceeded }) => isExceeded)
        const answer = wait === 0
          ? handler
          : Effect.andThen(
            Metric.update(refusals[exceeded]!, 1),
            errorResponses.failure(tooManyRequestsAfter("errors.TooManyRequests", wait))
          )
        return Effect.map(answer, (response) => withHeaders(response, headersOf(quotas)))
      })
    )
}

const callerOf = (fiber: Fiber.Fiber<unknown, unknown>): Effect.Effect<Caller> =>
  Effect.map(
    fiber.getRef(ClientAddressSource),
    (address = "unknown") => ({ address: countedAddressOf(address), subject: currentUserIdOf(fiber) })
  )

const secondsOf = (millis: number): number => Math.ceil(millis / 1_000)

/** Adds the headers of policies. Those of addresses are added last, and come first. */
const withHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  own: { readonly [name: string]: string }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(
    response,
    Record.map(own, (value, name) => {
      const inner = response.headers[name]
      return inner === undefined ? value : `${value}, ${inner}`
    })
  )
