/**
 * The one way in which a call goes out: through the breaker, over a connection of the pool, along redirects, to an answer of
 * 2xx or a failure.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { deadlineOf } from "../../internal/deadline.ts"
import { discarding, repeatable, take } from "../../internal/readOnce.ts"
import type { Admission } from "../breaker/admission.ts"
import { outcomeOfStatus } from "../breaker/circuit.ts"
import * as CircuitBreaker from "../CircuitBreaker.ts"
import type { CircuitOpenError, RequestHandlingException } from "../ClientError.ts"
import type * as Credentials from "../Credentials.ts"
import { serviceOf, urlWithin } from "./address.ts"
import { accepted, type Answer, errorBody, isSuccess } from "./answer.ts"
import { withBodyHeaders } from "./bodies.ts"
import type { Compression } from "./compression.ts"
import { type Credentialed, makeCredentialed } from "./credentialed.ts"
import { failureBy, failureOf, markSent, markUnsent } from "./failures.ts"
import { headersForOtherOrigin, maxRedirects, redirectOf, type Redirects, withoutBodyHeaders } from "./redirects.ts"
import { rejectedResponse } from "./rejection.ts"
import { responseOf } from "./respond.ts"
import { inTime, keyed, retried, type Retries } from "./retries.ts"
import { type Body, type Message, type RawAnswer, type RawHeaders, transmit, type Wire } from "./transport.ts"

/** How one call is made. */
export interface CallOptions {
  /** The name of the service, for errors. */
  readonly upstream: string
  /** The time to wait for the head of the answer, and for each further part of its body, in milliseconds. */
  readonly readTimeout: number
  /** The time to send the body, in milliseconds. Defaults to that of the configuration. */
  readonly writeTimeout?: number | undefined
  /** Headers that the request may replace, by names in lower case. Defaults to {@link Exchange.baseHeaders}. */
  readonly defaultHeaders?: { readonly [name: string]: string } | undefined
  /** The credentials of the call. They are sent to the root's origin only. */
  readonly credentials?: Credentials.Credentials | undefined
  /** Whether `writeTimeout` limits the wait for each part of the body to be taken instead of the whole. Defaults to false. */
  readonly isWritePerPart?: boolean | undefined
  /** Which redirects are followed. Defaults to {@link Shared.redirects}. */
  readonly redirects?: Redirects | undefined
  /** When the call is tried again. The circuit breaker counts each try. Defaults to never. */
  readonly retries?: Retries | undefined
  /** Sent as `Idempotency-Key`, with each try; `true` for a random one. Defaults to none. */
  readonly idempotencyKey?: string | true | undefined
}

export type CallError = RequestHandlingException | CircuitOpenError

/** Makes calls to the services under one root address. */
export interface Exchange {
  /** What all requests say unless they say otherwise. */
  readonly baseHeaders: { readonly [name: string]: string }
  /** Runs what prepares and makes a call: within the deadline, and not while the breaker is open. */
  readonly prepared: <A, E, R>(call: Effect.Effect<A, E, R>, upstream: string) => Effect.Effect<A, E | CallError, R>
  /** Makes a call and reads its answer, until when it has the connection. A failure of `read` is one of the call. */
  readonly run: <A, E, R>(
    request: HttpClientRequest.HttpClientRequest,
    options: CallOptions,
    read: (answer: Answer) => Effect.Effect<A, E | RequestHandlingException, R>
  ) => Effect.Effect<A, E | CallError, R>
  /** Makes a call and reads its answer as a whole, whatever its status. */
  readonly respond: (
    request: HttpClientRequest.HttpClientRequest,
    options: CallOptions
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, CallError>
}

/** What sends the calls of a client. */
export interface Sender extends Wire {
  /** A body in the form that undici sends. */
  readonly bodyOf: (body: HttpBody.HttpBody) => Effect.Effect<Body>
}

/** What all calls of a client share. */
export interface Shared {
  /** It is made for the first call. Fails if it can't be loaded. */
  readonly sender: Effect.Effect<Sender, Cause.UnknownError>
  readonly connectTimeout: number
  readonly writeTimeout: number
  readonly poolTimeout: number
  readonly maxResponseSize: number
  readonly compression: Compression
  /** Which redirects are followed by calls that don't say. */
  readonly redirects: Redirects
}

export const makeExchange = (
  shared: Shared,
  root: string,
  breaker: CircuitBreaker.CircuitBreaker | undefined
): Exchange => {
  const { origin } = new URL(root)
  /** The URLs by address. Calls share them, so nothing changes a URL. */
  const located = new BoundedCache<URL | undefined>(16)
  const locate = (address: string) => located.getOrMake(address, () => urlWithin(root, address))
  const credentialed = makeCredentialed(origin, (request) => {
    const options = { upstream: serviceOf(request.url), readTimeout: Infinity, redirects: "SameOrigin" } as const
    return Effect.map(
      received(
        shared,
        (opened) =>
          send(shared, (address) => urlWithin(origin, address), request, options, noCredentials, opened, undefined),
        options
      ),
      ({ bytes, headers, status }) => responseOf(request, status, headers, bytes)
    )
  })
  const guarded = <A, E, R>(
    upstream: string,
    callOf: (admission: Admission | undefined) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | CircuitOpenError, R> =>
    breaker === undefined ? callOf(undefined) : Effect.withFiber((fiber) => {
      const deadline = deadlineOf(fiber)
      return breaker.calls.run(
        upstream,
        callOf,
        deadline === undefined ?
          CircuitBreaker.outcomeOfCall :
          (exit, admission) =>
            Exit.hasInterrupts(exit) && admission.wasSilent(deadline, fairTime)
              ? "Failure"
              : CircuitBreaker.outcomeOfCall(exit)
      )
    })
  const made = <A, E, R>(
    given: HttpClientRequest.HttpClientRequest,
    { idempotencyKey, retries, upstream }: CallOptions,
    callOf: (
      request: HttpClientRequest.HttpClientRequest,
      admission: Admission | undefined
    ) => Effect.Effect<A, E | CallError, R>
  ): Effect.Effect<A, E | CallError, R> => {
    const unkeyed = repeatable(given)
    return discarding(
      given.body,
      inTime(
        idempotencyKey === undefined && retries === undefined
          ? guarded(upstream, (admission) => callOf(unkeyed, admission))
          : Effect.flatMap(keyed(unkeyed, idempotencyKey), (request) => {
            const call = guarded(upstream, (admission) => callOf(request, admission))
            return retries === undefined ? call : retried(call, request, retries)
          }),
        upstream
      )
    )
  }
  return {
    baseHeaders: shared.compression.baseHeaders,
    prepared: (call, upstream) =>
      inTime(breaker === undefined ? call : Effect.andThen(breaker.calls.check(upstream), call), upstream),
    run: (request, options, read) =>
      made(request, options, (request, admission) =>
        closing((opened) =>
          Effect.flatMap(
            send(shared, locate, request, options, credentialed, opened, admission),
            (located) =>
              Effect.flatMap(
                accepted(
                  located.raw,
                  shared.compression.decoded(located.raw, options.upstream),
                  options.upstream,
                  shared.maxResponseSize
                ),
                read
              )
          )
        )),
    respond: (request, options) =>
      Effect.suspend(() => {
        let response: HttpClientResponse.HttpClientResponse | undefined
        const callOf = (request: HttpClientRequest.HttpClientRequest, admission: Admission | undefined) =>
          Effect.flatMap(
            received(
              shared,
              (opened) => send(shared, locate, request, options, credentialed, opened, admission),
              options
            ),
            ({ bytes, headers, status }) => {
              response = responseOf(request, status, headers, bytes)
              return isSuccess(status) ? Effect.succeed(response) : rejectedResponse(response, options.upstream)
            }
          )
        // To the breaker and to retries, any other status than 2xx is a failure.
        return Effect.catch(made(request, options, callOf), (error) => {
          const isAnswer = error._tag === "RequestHandlingException" && error.reason._tag === "Status"
          return isAnswer && response !== undefined ? Effect.succeed(response) : Effect.fail(error)
        })
      })
  }
}

// internal

/** A service that has not begun to answer in this time until the deadline of a call counts as failed, in milliseconds. */
const fairTime = 1_000

/** An answer whose body is not decompressed. */
interface Located {
  readonly raw: RawAnswer
  readonly status: number
  readonly headers: RawHeaders
}

/** Takes the current try of a call: it has one at a time. */
type Opened = (one: { readonly close: () => void }) => void

/** Closes what `use` opens when it ends. A try counts as open from its beginning, so an interruption leaves none open. */
const closing = <A, E, R>(use: (opened: Opened) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let last: { readonly close: () => void } | undefined
    const opened: Opened = (one) => {
      last = one
    }
    return Effect.onExit(use(opened), () => Effect.sync(() => last?.close()))
  })

/** The whole body of an answer. The status of an error says what it is, also without a readable body. */
const received = (
  { compression, maxResponseSize }: Shared,
  sent: (opened: Opened) => Effect.Effect<Located, CallError>,
  { upstream }: CallOptions
) =>
  closing((opened) =>
    Effect.flatMap(
      sent(opened),
      ({ headers, raw, status }) => {
        const body = compression.decoded(raw, upstream)
        return Effect.map(
          isSuccess(status) ? body.bytes(maxResponseSize) : errorBody(body, maxResponseSize),
          (bytes = new Uint8Array(0)) => ({ headers, status, bytes })
        )
      }
    )
  )

/** Files are short where connections are. All else is a fault of the program. */
const unloaded = (upstream: string, cause: unknown): Effect.Effect<never, RequestHandlingException> => {
  const failure = failureOf(upstream, cause)
  if (failure.reason._tag !== "TooManyFiles") return Effect.die(cause)
  markUnsent(failure)
  return Effect.fail(failure)
}

const noCredentials: Credentialed = (_, request, execute) => execute(request)

/** Sends a request and follows redirects. */
const send = (
  shared: Shared,
  locate: (address: string) => URL | undefined,
  request: HttpClientRequest.HttpClientRequest,
  options: CallOptions,
  credentialed: Credentialed,
  opened: Opened,
  admission: Admission | undefined
): Effect.Effect<Located, CallError> => {
  const within = locate(request.url)
  const url = request.urlParams.params.length === 0 ? within : Option.getOrUndefined(HttpClientRequest.toUrl(request))
  if (within === undefined || url === undefined) return Effect.fail(failureBy(options.upstream, "InvalidRequest"))
  const sendWith = (trace: Message["headers"] | undefined) => {
    const { credentials, defaultHeaders = shared.compression.baseHeaders, redirects = shared.redirects, upstream } =
      options
    const limits = {
      pool: shared.poolTimeout,
      connect: shared.connectTimeout,
      write: options.writeTimeout ?? shared.writeTimeout,
      read: options.readTimeout,
      isWritePerPart: options.isWritePerPart === true
    }
    const execute = ({ body, headers: own, method }: HttpClientRequest.HttpClientRequest) => {
      const headers = trace === undefined && own === Headers.empty
        ? defaultHeaders
        : { ...defaultHeaders, ...trace, ...own }
      const head = { method, url, headers, upstream, limits, redirects, admission }
      const sent = Effect.flatMap(
        Effect.catch(shared.sender, ({ cause }) => unloaded(upstream, cause)),
        (sender) => follow(sender, head, body, 0, opened)
      )
      return admission?.isProbe === true
        ? Effect.tap(sent, ({ status }) => admission.answered(outcomeOfStatus(status)))
        : sent
    }
    return credentials === undefined
      ? execute(request)
      : credentialed(credentials, request, (request) => Effect.flatMap(execute(request), bufferUnauthorized), upstream)
  }
  const { method } = request
  return Effect.withFiber((fiber) =>
    isTraced(fiber)
      ? Effect.useSpan(
        method,
        {
          kind: "client",
          attributes: {
            "http.request.method": method,
            "server.address": url.hostname,
            "server.port": Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port)
          }
        },
        (span) =>
          Effect.tap(
            sendWith(HttpTraceContext.toHeaders(span)),
            ({ status }) => Effect.sync(() => span.attribute("http.response.status_code", status))
          )
      )
      : sendWith(passedTrace(fiber))
  )
}

/** Whether a span is recorded: it is part of another one, or there is a tracer that exports. */
const isTraced = ({ context }: Fiber.Fiber<unknown, unknown>): boolean =>
  context.mapUnsafe.has(Tracer.ParentSpanKey) || context.mapUnsafe.has(Tracer.TracerKey)

/** The trace context of the inbound request, passed on unchanged where no tracer exports spans. */
const passedTrace = ({ context }: Fiber.Fiber<unknown, unknown>): Message["headers"] | undefined => {
  const inbound = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)?.headers
  if (inbound?.["traceparent"] === undefined && inbound?.["b3"] === undefined) return undefined
  return Object.fromEntries(Object.entries(inbound).filter(([name]) => traceHeaders.has(name)))
}

const traceHeaders: ReadonlySet<string> = new Set(["traceparent", "tracestate", "b3"])

/** Reads the body of a 401, which returns the connection: the request may be sent once more with other credentials. */
const bufferUnauthorized = (located: Located): Effect.Effect<Located> => {
  if (located.status !== 401) return Effect.succeed(located)
  const { headers, raw, status } = located
  return Effect.onExit(
    Effect.map(errorBody(raw, maxUnauthorized), (body = new Uint8Array(0)): Located => {
      const read = { status, headers, bytes: () => Effect.succeed(body), stream: Stream.succeed(body), close: () => {} }
      return { ...located, raw: read }
    }),
    () => Effect.sync(() => raw.close())
  )
}

/** The bytes of a 401 that are kept. */
const maxUnauthorized = 65_536

/** A request without its body, and which redirects it follows. */
interface Head extends Omit<Message, "body"> {
  readonly redirects: Redirects
}

const follow = (
  sender: Sender,
  head: Head,
  body: HttpBody.HttpBody,
  redirects: number,
  opened: Opened
): Effect.Effect<Located, CallError> => {
  const sent = body._tag === "Empty"
    ? transmit(sender, { ...head, body: null }, opened)
    : !take(body)
    ? Effect.fail(failureBy(head.upstream, "NotRepeatable"))
    : Effect.flatMap(
      sender.bodyOf(body),
      (sent) => transmit(sender, { ...head, headers: withBodyHeaders(head.headers, body), body: sent }, opened)
    )
  return Effect.flatMap(sent, (raw) => {
    const redirect = redirectOf(raw, head, head.redirects)
    if (redirect === undefined) {
      return Effect.succeed({ raw, status: raw.status, headers: raw.headers })
    }
    raw.close()
    if (redirects >= maxRedirects) return Effect.fail(failureBy(head.upstream, "TooManyRedirects"))
    const { keepsBody, method, url } = redirect
    const headers = keepsBody ? head.headers : withoutBodyHeaders(head.headers)
    const further = follow(
      sender,
      {
        ...head,
        method,
        url,
        headers: url.origin === head.url.origin ? headers : headersForOtherOrigin(headers),
        // It was sent, and goes on.
        admission: undefined
      },
      keepsBody ? body : HttpBody.empty,
      redirects + 1,
      opened
    )
    return Effect.tapError(further, (error) => Effect.sync(() => markSent(error)))
  })
}
