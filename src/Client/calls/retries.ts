/** Further tries of calls that failed, and the deadline of all of them. */
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { millisLeft } from "../../internal/deadline.ts"
import { isRepeatable } from "../../internal/readOnce.ts"
import { transientStatuses } from "../../internal/transientStatuses.ts"
import { type CircuitOpenError, type Reason, RequestHandlingException } from "../ClientError.ts"
import { failure, wasSent } from "./failures.ts"
import { idempotencyKey, isIdempotent } from "./idempotent.ts"

/** When a call is tried again: the schedule gets the failures. */
export type Retries = Schedule.Schedule<unknown, RequestHandlingException>

/**
 * Tries a call again by a schedule, if its failure may pass and sending the request twice does no harm. It waits for as long as
 * the service asks, if that is not too long. It gives up if the deadline would pass before the next try.
 */
export const retried = <A, E, R>(
  call: Effect.Effect<A, E | RequestHandlingException | CircuitOpenError, R>,
  request: HttpClientRequest.HttpClientRequest,
  retries: Retries
): Effect.Effect<A, E | RequestHandlingException | CircuitOpenError, R> => {
  if (!isRepeatable(request.body)) return call
  const isSafe = isIdempotent(request)
  return Effect.flatMap(Schedule.toStep(retries), (step) => {
    const tried: typeof call = Effect.catch(
      call,
      (error) =>
        error instanceof RequestHandlingException && isTransient(error) &&
          (isSafe || !wasSent(error))
          ? Effect.flatMap(waitFor(error, step), (isDue) => isDue ? tried : Effect.fail(error))
          : Effect.fail(error)
    )
    return tried
  })
}

/** A request with an idempotency key; `true` for a random one. */
export const keyed = (
  request: HttpClientRequest.HttpClientRequest,
  key: string | true | undefined
): Effect.Effect<HttpClientRequest.HttpClientRequest> =>
  key === undefined
    ? Effect.succeed(request)
    : Effect.map(
      WebCrypto.WebCrypto,
      (crypto) => HttpClientRequest.setHeader(request, idempotencyKey, key === true ? crypto.randomUUID() : key)
    )

/** Ends a call at the current deadline, and does not begin it after that. */
export const inTime = <A, E, R>(
  call: Effect.Effect<A, E, R>,
  upstream: string
): Effect.Effect<A, E | RequestHandlingException, R> =>
  Effect.flatMap(millisLeft, (left): Effect.Effect<A, E | RequestHandlingException, R> => {
    if (left === undefined) return call
    if (left === 0) return Effect.fail(failure(upstream, "Timeout", "was not called, since no time is left"))
    return Effect.timeoutOrElse(call, {
      duration: left,
      orElse: () => Effect.fail(failure(upstream, "Timeout", "did not answer in the time that was left"))
    })
  })

// internal

/** How much longer than the service asks some callers wait. */
const spread = 0.25

/** In milliseconds. A service that asks for a longer wait is not called again. */
const maxRetryAfter = 60_000

const transientReasons: ReadonlySet<Reason["_tag"]> = new Set([
  "Refused",
  "Unreachable",
  "Dns",
  "Reset",
  "Timeout",
  "TooManyFiles"
])

const isTransient = ({ reason }: RequestHandlingException): boolean =>
  reason._tag === "Status"
    ? transientStatuses.has(reason.statusCode) && !isPassedOn(reason.body)
    : transientReasons.has(reason._tag)

/**
 * Whether the body reports a failed call of the called service to another one. The called service has retried that call
 * itself.
 */
const isPassedOn = (body: unknown): boolean =>
  Predicate.hasProperty(body, "_type") && body._type === "ErrorMessage" && "upstream_service" in body

type Step = Effect.Success<ReturnType<typeof Schedule.toStep<unknown, RequestHandlingException, never, never>>>

/** Waits for the next try. Whether there is one. */
const waitFor = (error: RequestHandlingException, step: Step): Effect.Effect<boolean> =>
  Effect.clockWith((clock) =>
    Effect.flatMap(
      Pull.catchDone(step(clock.currentTimeMillisUnsafe(), error), () => Effect.undefined),
      (next) => {
        const { reason } = error
        const asked = reason._tag === "Status" && reason.retryAfter ? Duration.toMillis(reason.retryAfter) : 0
        if (next === undefined || asked > maxRetryAfter) return Effect.succeed(false)
        return Effect.flatMap(Effect.all([millisLeft, Random.next]), ([left, random]) => {
          // Callers who are asked to wait for the same time do not come back at the same time.
          const wait = Math.max(Duration.toMillis(next[1]), asked * (1 + spread * random))
          return left !== undefined && wait >= left ? Effect.succeed(false) : Effect.as(Effect.sleep(wait), true)
        })
      }
    )
  )
