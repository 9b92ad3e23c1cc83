/**
 * The errors of calls to other services.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/**
 * Why a call failed. Its tag can be caught by `Effect.catchReason`.
 *
 * | Tag | |
 * |---|---|
 * | `Status` | the upstream answered with another status than 2xx |
 * | `Refused` | nothing accepts connections at the address |
 * | `Unreachable` | there is no route to the address |
 * | `Reset` | the connection ended before the answer was complete |
 * | `Dns` | the name of the host has no address |
 * | `Tls` | no secure connection: the certificate is not trusted, or the protocols differ |
 * | `Timeout` | connecting, sending or waiting took too long |
 * | `TooManyRedirects` | more than 20 redirects |
 * | `NotRepeatable` | a redirect or a 401 asks for the request again, whose payload can be read once only |
 * | `InvalidAnswer` | the answer is no valid HTTP, is too large, or is not what the caller expects |
 * | `InvalidRequest` | the request can't be sent: its URL or a header is malformed |
 * | `PoolTimeout` | no connection was free in time |
 * | `PoolFull` | too many calls wait for a connection already |
 * | `TooManyFiles` | this process or its system can open no further socket |
 * | `Closed` | the client is shut down |
 *
 * A call that a circuit breaker refuses fails with {@link CircuitOpenError}, and one that is interrupted has no failure.
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.TaggedUnion({
  Status: {
    /** The status of the answer. */
    statusCode: Schema.Int,
    /** When the upstream asks to try again, as its `Retry-After` header says. */
    retryAfter: Schema.optionalKey(Schema.Duration),
    /**
     * The header of the answer that its status requires (RFC 9110): `www-authenticate` of a 401, `allow` of a 405,
     * `proxy-authenticate` of a 407, `upgrade` of a 426.
     */
    headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    /** The body of the answer, if it had one: JSON as its value, anything else as `{ result: text }`. */
    body: Schema.optionalKey(Schema.Unknown)
  },
  Refused: {},
  Unreachable: {},
  Reset: {},
  Dns: {},
  Tls: {},
  Timeout: {},
  TooManyRedirects: {},
  NotRepeatable: {},
  InvalidAnswer: {},
  InvalidRequest: {},
  PoolTimeout: {},
  PoolFull: {},
  TooManyFiles: {},
  Closed: {}
})

/**
 * Why a call failed.
 *
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * Occurs when the upstream answers a call with another status than 2xx, or does not answer it: `reason` says which. A retry may
 * succeed for statuses from 500 and failures of the network; whether it is safe depends on the method.
 *
 * **Example** (A fallback for a service that does not answer in time)
 *
 * ```ts check
 * import { ClientError } from "appkernel"
 * import { Effect } from "effect"
 *
 * declare const rate: Effect.Effect<number, ClientError.RequestHandlingException>
 *
 * export const rateOrOne = Effect.catchReason(rate, "RequestHandlingException", "Timeout", () => Effect.succeed(1))
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class RequestHandlingException
  extends Schema.TaggedError<RequestHandlingException>()("RequestHandlingException", {
    /** The `message` of an `ErrorMessage`, otherwise a sentence of the client's own, without anything of the answer. */
    message: Schema.String,
    /** The service that failed: as the answer names it, otherwise the last segment of the URL's path. */
    upstreamService: Schema.String,
    reason: Reason
  })
{
  /** The status for a caller who needed the call: that of the answer, and 500 if there was none. */
  readonly statusCode: number = this.reason._tag === "Status" ? this.reason.statusCode : 500
}

/**
 * Occurs when a circuit breaker refuses a call: too many calls in a row failed, or, while the breaker is half open, as many
 * probes as it allows are running. A call that waits for a connection when the breaker opens fails with it at once. The
 * service did nothing. A retry after `retryAfter` may be let through.
 *
 * @category errors
 * @since 0.1.0
 */
export class CircuitOpenError extends Schema.TaggedError<CircuitOpenError>()("CircuitOpenError", {
  /** The service that is not called: as in a `RequestHandlingException`, or by the name of a breaker of one's own. */
  upstreamService: Schema.String,
  retryAfter: Schema.Duration
}) {
  /** The status of an answer to a caller who needed the call. */
  readonly statusCode = 503

  override get message(): string {
    return `${this.upstreamService} is not called, because too many calls to it failed; try again in ${
      Math.max(1, Math.ceil(Duration.toSeconds(this.retryAfter)))
    } s`
  }
}

/**
 * The header that a response with a status must have (RFC 9110, sections 15.5.2, 15.5.6, 15.5.8 and 15.5.22).
 *
 * @internal
 */
export const requiredHeader: ReadonlyMap<number, string> = new Map([
  [401, "www-authenticate"],
  [405, "allow"],
  [407, "proxy-authenticate"],
  [426, "upgrade"]
])

/** Remembers of which failed call a typed client made an error of the service. @internal */
export const rememberCall = (error: object, call: RequestHandlingException): void => {
  calls.set(error, call)
}

/** The failed call that a typed client made the error of; `undefined` for any other error. @internal */
export const callBehind = (error: object): RequestHandlingException | undefined => calls.get(error)

const calls = new WeakMap<object, RequestHandlingException>()

/** Notes that the service has answered with 2xx before the failure: its body can't be used. @internal */
export const markAnswered = <E extends RequestHandlingException>(error: E): E => {
  answered.add(error)
  return error
}

/** @internal */
export const wasAnswered = (error: RequestHandlingException): boolean => answered.has(error)

const answered = new WeakSet<RequestHandlingException>()
