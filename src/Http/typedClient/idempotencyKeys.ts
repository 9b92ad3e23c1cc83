/** Sends writes with an `Idempotency-Key`, and requests again that have no answer yet. */
import * as Context from "effect/Context"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { isRepeatable } from "../../internal/readOnce.ts"
import { StandardOf } from "../description/standardEndpoints.ts"

/** Adds a key to each write that has none, but for what takes none. It is the same for all tries. */
export const withKeys = (client: HttpClient.HttpClient, key = randomKey): HttpClient.HttpClient =>
  HttpClient.mapRequestEffect(
    client,
    (request) =>
      Effect.flatMap(
        takesKey(request),
        (takesKey) =>
          takesKey && request.method !== "GET" && request.method !== "QUERY" && request.headers[keyHeader] === undefined
            ? Effect.map(key, (key) =>
              HttpClientRequest.setHeader(request, keyHeader, `"${key.replaceAll(/["\\]/gu, "\\$&")}"`))
            : Effect.succeed(request)
      )
  )

/** Sends a request, but for a write without a key, again while nothing answers it, or the answer says that there is another one later. */
export const sentAgain = (client: HttpClient.HttpClient, times: number): HttpClient.HttpClient =>
  HttpClient.transform(
    client,
    (call, request) =>
      Effect.flatMap(takesKey(request), (takesKey) =>
        takesKey && isRepeatable(request.body)
          ? call.pipe(
            Effect.flatMap((response) => isForLater(response) ? Effect.fail(response) : Effect.succeed(response)),
            Effect.retry({
              schedule,
              times,
              while: (error) => isResponse(error) || HttpClient.isTransientError(error)
            }),
            // After the last try it is the answer.
            Effect.catchIf(isResponse, (response) => Effect.succeed(response))
          )
          : call)
  )

// internal

/** What has files takes no key, nor do writes of many documents. What a stream reads from may be read once only. */
const takesKey = ({ body: { _tag } }: HttpClientRequest.HttpClientRequest): Effect.Effect<boolean> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed(
      Context.getOrUndefined(context, StandardOf) === undefined && _tag !== "Stream" && _tag !== "FormData"
    )
  )

const keyHeader = "idempotency-key"

const randomKey: Effect.Effect<string> = Effect.map(WebCrypto.WebCrypto, (crypto) => crypto.randomUUID())

type Response = HttpClientResponse.HttpClientResponse

const isResponse = (u: unknown): u is Response => Predicate.hasProperty(u, HttpClientResponse.TypeId)

const isForLater = (response: Response): boolean =>
  HttpClient.isTransientResponse(response) || response.status === 409 && "retry-after" in response.headers

const schedule = Schedule.exponential("100 millis").pipe(
  Schedule.modifyDelay(({ duration, input }) => Effect.succeed(Duration.max(duration, waitFor(input))))
)

/** What the service asks for, up to a minute. */
const waitFor = (failure: unknown): Duration.Duration => {
  const seconds = isResponse(failure) ? Number(failure.headers["retry-after"]) : 0
  return Duration.seconds(Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 60) : 0)
}
