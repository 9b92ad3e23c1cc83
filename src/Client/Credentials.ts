/**
 * The credentials that a client sends.
 *
 * **Details**
 *
 * All of them are `Redacted`, and they are sent to the service of the client only. {@link tokens} signs in and keeps its
 * tokens fresh. {@link forwarded} passes those of the request on that is being answered.
 *
 * @since 0.1.0
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { repeatable, take } from "../internal/readOnce.ts"

const typeId = "~appkernel/Client/Credentials"

/**
 * Credentials: {@link bearer}, {@link basic}, {@link apiKey} or {@link tokens}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Credentials {
  readonly [typeId]: typeof typeId
  /** @internal */
  readonly send: (service: Service) => Send
}

/**
 * A bearer token, or an effect that has it ready, which runs for each request.
 *
 * **Example** (Calling as somebody)
 *
 * ```ts check
 * import { Effect, Redacted, Schema } from "effect"
 * import { FetchHttpClient } from "effect/http"
 * import { Credentials, KernelClient, KernelEngine, Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const engine = KernelEngine.make("notes").register(Note, { urlBase: "/api/v1" })
 *
 * export const notesOf = (token: Redacted.Redacted<string>) =>
 *   Effect.gen(function*() {
 *     const credentials = Credentials.bearer(token)
 *     const client = yield* KernelClient.make(engine, { baseUrl: "https://notes.example", credentials })
 *     return yield* client.notes.list()
 *   }).pipe(Effect.provide(FetchHttpClient.layer))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const bearer = (token: Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>>): Credentials => {
  const ready = Redacted.isRedacted(token) ? Effect.succeed(token) : token
  return make(() => (request, execute) => Effect.flatMap(ready, (token) => execute(withToken(request, token))))
}

/**
 * A name and a password, sent with each request (RFC 7617). The name has no colon.
 *
 * @category constructors
 * @since 0.1.0
 */
export const basic = (options: {
  readonly username: string
  readonly password: Redacted.Redacted<string>
}): Credentials => {
  const pair = Base64.encode(`${options.username}:${Redacted.value(options.password)}`)
  return withHeader("authorization", Redacted.make(`Basic ${pair}`))
}

/**
 * An API key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const apiKey = (key: Redacted.Redacted<string>): Credentials => withHeader("x-api-key", key)

/**
 * The credentials of the request that is being answered: its `Authorization` and `X-API-Key`. None outside of requests. The
 * service that is called can act as the caller, so it has to be trusted with that.
 *
 * @category constructors
 * @since 0.1.0
 */
export const forwarded: Credentials = {
  [typeId]: typeId,
  send: () => (request, execute) =>
    Effect.withFiber((fiber) => {
      const inbound = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
      return execute(
        ["authorization", "x-api-key"].reduce((request, name) => {
          const value = inbound?.headers[name]
          return value === undefined ? request : HttpClientRequest.setHeader(request, name, value)
        }, request)
      )
    })
}

/**
 * Options of {@link tokens}.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenOptions {
  /**
   * The path of the service `Tokens`: `/api/v1/token`. It begins at the origin of the service that is called, whatever the path
   * of its root address.
   */
  readonly path: `/${string}`
  /** Who signs in. */
  readonly account?: { readonly username: string; readonly password: Redacted.Redacted<string> } | undefined
  /** A refresh token of an earlier sign-in. */
  readonly refreshToken?: Redacted.Redacted<string> | undefined
  /** Runs with each new refresh token, which counts once: a program that restarts goes on with the last one. */
  readonly onRefresh?: ((refreshToken: Redacted.Redacted<string>) => Effect.Effect<void>) | undefined
  /** How long before its end a token is renewed. Defaults to 30 seconds. */
  readonly renewBefore?: Duration.Input | undefined
}

/**
 * Tokens of the service `Tokens`: signs in before the first request, renews the access token before it ends, and, when the
 * service answers 401, once more for this request. A request that was answered 401 has changed nothing, so it is sent again,
 * unless its payload can be read once only: then the request fails. A sign-in follows no redirect to another origin. All
 * calls with these credentials to one origin share a sign-in, whichever client makes them. They wait for one renewal, and
 * fail with it if it fails; the next call begins another one. It fails if it takes longer than 10 seconds.
 *
 * **Details**
 *
 * Where a sign-in can't be renewed, the account signs in anew. Without an account, or when the service refuses it, requests
 * are sent without credentials for 30 seconds, so that they fail with `Unauthorized` where some are needed. Then it is asked
 * again. An interrupted request leaves a renewal running, since its refresh token does not count a second time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const tokens = (options: TokenOptions): Credentials => {
  const renewBefore = Duration.toMillis(Duration.fromInputUnsafe(options.renewBefore ?? "30 seconds"))
  const signIns = new Map<string, SignIn>()
  return make((service) => {
    const signIn = signIns.get(service.origin) ??
      {
        current: { refreshToken: options.refreshToken, access: undefined, until: -Infinity, isRefused: false },
        renewal: undefined
      }
    signIns.set(service.origin, signIn)

    const grant = (sent: { readonly [name: string]: string }) => {
      const request = HttpClientRequest.bodyJsonUnsafe(
        HttpClientRequest.post(`${service.origin}${options.path}`),
        sent
      )
      return Effect.timeoutOrElse(Effect.flatMap(service.execute(request), read), {
        duration: grantTimeout,
        orElse: () => Effect.fail(tooLate(request))
      })
    }
    const renewOnce = Effect.fnUntraced(function*({ refreshToken }: SessionTokens) {
      const renewed = refreshToken === undefined
        ? undefined
        : yield* grant({ grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) })
      const { account } = options
      const issued = renewed ?? (account === undefined ? undefined : yield* grant({
        grant_type: "password",
        username: account.username,
        password: Redacted.value(account.password)
      }))
      const now = monotonicMillis(yield* Clock.Clock)
      if (issued === undefined) {
        return signIn.current = {
          refreshToken: undefined,
          access: undefined,
          until: now + refusalTime,
          isRefused: true
        }
      }
      const current = signIn.current = {
        refreshToken: issued.refresh_token,
        access: issued.access_token,
        until: now + issued.expires_in * 1_000 - renewBefore,
        isRefused: false
      }
      if (options.onRefresh !== undefined) yield* options.onRefresh(issued.refresh_token)
      return current
    })
    /** Nothing interrupts a renewal, since its refresh token does not count a second time. */
    const renew = (used: SessionTokens): Effect.Effect<SessionTokens, HttpClientError.HttpClientError> =>
      Effect.uninterruptibleMask((restore) => {
        const { current, renewal } = signIn
        if (current !== used) return Effect.succeed(current)
        if (renewal !== undefined) {
          const ended = Deferred.await(renewal.ended)
          // A renewal that is done with the service may still run `onRefresh`.
          return renewal.used === used ? restore(ended) : Effect.andThen(restore(Effect.exit(ended)), renew(used))
        }
        const ended = Deferred.makeUnsafe<SessionTokens, HttpClientError.HttpClientError>()
        signIn.renewal = { used, ended }
        const renewed = Effect.onExit(renewOnce(used), (exit) =>
          Effect.sync(() => {
            signIn.renewal = undefined
            Deferred.doneUnsafe(ended, exit)
          }))
        return Effect.andThen(Effect.forkDetach(renewed), restore(Deferred.await(ended)))
      })

    return (request, execute) => {
      const sendWith = ({ access }: SessionTokens) =>
        execute(access === undefined ? request : withToken(request, access))
      return Effect.flatMap(Clock.Clock, (clock) => {
        const { current } = signIn
        const ready = monotonicMillis(clock) < current.until ? Effect.succeed(current) : renew(current)
        return Effect.flatMap(
          ready,
          (used) =>
            Effect.flatMap(sendWith(used), (response) =>
              response.status !== 401 || used.isRefused
                ? Effect.succeed(response)
                : Effect.flatMap(
                  renew(used),
                  (renewed) => renewed.access === undefined ? Effect.succeed(response) : sendWith(renewed)
                ))
        )
      })
    }
  })
}

/** A client that sends credentials to the service at `baseUrl`. @internal */
export const attach = (
  { send }: Credentials,
  client: HttpClient.HttpClient,
  baseUrl: URL | string | undefined
): HttpClient.HttpClient => {
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    take(request.body) ? client.postprocess(Effect.succeed(request)) : Effect.fail(notRepeatable(request))
  const sent = send({
    execute: (request) => withoutRedirects(client.execute(request)),
    origin: baseUrl === undefined ? "" : URL.parse(baseUrl)?.origin ?? ""
  })
  return HttpClient.makeWith(
    (prepared) => Effect.flatMap(prepared, (request) => sent(repeatable(request), execute)),
    client.preprocess
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Sends a request with credentials, as `execute` sends it without. */
type Send = <A extends { readonly status: number }, E>(
  request: HttpClientRequest.HttpClientRequest,
  execute: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<A, E>
) => Effect.Effect<A, E | HttpClientError.HttpClientError>

interface Service {
  readonly execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
  /** Empty for that of the page. */
  readonly origin: string
}

/** The sign-in at one origin. */
interface SignIn {
  current: SessionTokens
  /** The renewal that runs, and the tokens that it replaces. */
  renewal: {
    readonly used: SessionTokens
    readonly ended: Deferred.Deferred<SessionTokens, HttpClientError.HttpClientError>
  } | undefined
}

/** The tokens of a sign-in, a new object after each renewal. */
interface SessionTokens {
  readonly refreshToken: Redacted.Redacted<string> | undefined
  readonly access: Redacted.Redacted<string> | undefined
  /** When the access token is renewed, or one is asked for again, in monotonic milliseconds. */
  readonly until: number
  /** Whether the service has refused to renew and to sign in. */
  readonly isRefused: boolean
}

/** The time for a sign-in or a renewal. */
const grantTimeout = "10 seconds"

/** The milliseconds for which a refusal to sign in holds: the account may be made meanwhile. */
const refusalTime = 30_000

const tooLate = (request: HttpClientRequest.HttpClientRequest): HttpClientError.HttpClientError => {
  const description = "no token arrived in time"
  return new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, description, cause: new Cause.TimeoutError(description) })
  })
}

const notRepeatable = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.EncodeError({ request, description: "the payload can be read once only" })
  })

/** Has `fetch` follow no redirect, which would pass a password on. */
const withoutRedirects = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(call, (context: Context.Context<R>) =>
    Context.add(context, FetchHttpClient.RequestInit, {
      ...Context.getOrUndefined(context, FetchHttpClient.RequestInit),
      redirect: "manual"
    }))

const make = (send: Credentials["send"]): Credentials => ({ [typeId]: typeId, send })

const withHeader = (name: string, value: Redacted.Redacted<string>): Credentials =>
  make(() => (request, execute) => execute(HttpClientRequest.setHeader(request, name, Redacted.value(value))))

const withToken = (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted<string>) =>
  HttpClientRequest.setHeader(request, "authorization", `Bearer ${Redacted.value(token)}`)

const Issued = Schema.Struct({
  access_token: Schema.Redacted(Schema.String),
  expires_in: Schema.Finite,
  refresh_token: Schema.Redacted(Schema.String)
})

const decodeIssued = SchemaParser.decodeUnknownExit(Schema.toCodecJson(Issued))

/** `undefined` if the service refuses the grant (RFC 6749, section 5.2). */
const read = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<typeof Issued.Type | undefined, HttpClientError.HttpClientError> => {
  const { request, status } = response
  if (status === 400 || status === 401) return Effect.undefined
  if (status !== 200) {
    return Effect.fail(
      new HttpClientError.HttpClientError({ reason: new HttpClientError.StatusCodeError({ request, response }) })
    )
  }
  return Effect.flatMap(response.json, (body) => {
    const issued = decodeIssued(body)
    return issued._tag === "Success" ? Effect.succeed(issued.value) : Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.DecodeError({ request, response, description: "it has no tokens" })
      })
    )
  })
}
