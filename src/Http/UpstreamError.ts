/**
 * The error of a service that needed another one, which failed.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import {
  type CircuitOpenError,
  type Reason,
  type RequestHandlingException,
  requiredHeader
} from "../Client/ClientError.ts"
import { errorResponse } from "../internal/errorMessage.ts"
import { Text } from "../internal/text.ts"
import { englishOf, textOfKey } from "../internal/texts.ts"
import type { ServiceError } from "./ServiceError.ts"

/** Marks what {@link UpstreamError.of} makes. */
export const upstreamStatusesTypeId = "~appkernel/UpstreamStatuses"

/**
 * A call to another service failed, and the response has the status of that failure: `code`. `upstream_service` is the
 * service that failed. `retry_after` is the number of seconds after which a retry may succeed, as in the header `Retry-After`.
 *
 * A handler or a hook fails with it by itself whenever a call that it makes fails with `RequestHandlingException` or
 * `CircuitOpenError`. Statuses that are about this service and not about its caller, 401, 403, 407 and 426, become 502, unless
 * they are declared by {@link UpstreamError.of}.
 *
 * A status that requires a header is passed on with that of the other service. Without one, a 401 and a 407 ask for
 * credentials of that service, a 405 has an empty `Allow`, and a 426 becomes 502.
 *
 * **Example** (Statuses that callers get)
 *
 * ```ts check
 * import { Effect, Schema } from "effect"
 * import { ClientError, Service, UpstreamError } from "appkernel"
 *
 * declare const rateOf: (currency: string) => Effect.Effect<number, ClientError.RequestHandlingException>
 *
 * export const Rates = Service.make("RateService")
 *   .operation("rate", { path: "./{currency}", success: Schema.Finite, error: UpstreamError.of(404, 503) }, ({ params }) =>
 *     rateOf(params.currency))
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class UpstreamError extends Schema.TaggedError<UpstreamError>()("UpstreamError", {
  code: Schema.Int,
  message: Schema.String,
  text: Schema.optionalKey(Text),
  upstream_service: Schema.String,
  retry_after: Schema.optionalKey(Schema.Int),
  /** The header that the status requires, such as `www-authenticate` of a 401. It is not in the body. */
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
}) {
  /**
   * Declares the statuses of failed calls that clients expect, in the option `error` of an operation, an action or a hook: they
   * are in the OpenAPI document, typed clients fail with `UpstreamError`, and 401, 403, 407 and 426 are passed on.
   */
  static readonly of = (
    ...statuses: readonly [UpstreamError.Status, ...ReadonlyArray<UpstreamError.Status>]
  ): UpstreamError.Statuses => ({
    [upstreamStatusesTypeId]: statuses
  })
}

/**
 * Types of {@link UpstreamError}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace UpstreamError {
  /** The statuses that can be declared. */
  export type Status = ServiceError.Status | 407

  /** The statuses that an operation or a hook passes on. */
  export interface Statuses {
    readonly [upstreamStatusesTypeId]: ReadonlyArray<number>
  }

  /** The schema of the error's response: the error's class in the program, an `ErrorMessage` in the body. */
  export interface Response extends
    Schema.Codec<
      UpstreamError,
      {
        readonly _type: "ErrorMessage"
        readonly code: number
        readonly message: string
        readonly upstream_service: string
        readonly retry_after?: number
      }
    >
  {}
}

/** @internal */
export const isUpstreamStatuses = (u: unknown): u is UpstreamError.Statuses =>
  Predicate.hasProperty(u, upstreamStatusesTypeId)

/** The schema of the response with the status, as endpoints declare it. @internal */
export const upstreamResponseOf = (status: number): UpstreamError.Response =>
  responseSchema.pipe(HttpApiSchema.status(status))

/**
 * The error that a caller gets for a failed call. `isDeclared` says whether the operation declares the status.
 *
 * @internal
 */
export const fromCallFailure = (failure: CallError, isDeclared = false): UpstreamError => {
  const { statusCode, upstreamService } = failure
  const isPassedOn = isDeclared || isForCallers(statusCode)
  const { headers, retryAfter }: Answered = failure._tag === "CircuitOpenError"
    ? { retryAfter: failure.retryAfter }
    : failure.reason._tag === "Status"
    ? failure.reason
    : {}
  return new UpstreamError({
    code: isPassedOn ? statusCode : 502,
    ...saidOf(failure, isDeclared),
    upstream_service: upstreamService,
    ...(retryAfter === undefined || !isPassedOn ? {} : { retry_after: secondsOf(retryAfter) }),
    ...(headers === undefined || !isPassedOn ? {} : { headers })
  })
}

/** The failures of a call to another service. @internal */
export type CallError = RequestHandlingException | CircuitOpenError

/** The error of a service that failed, without the status of the call. @internal */
export const withoutStatus = (service: string): UpstreamError =>
  new UpstreamError({
    code: 502,
    ...saying(textOfKey("errors.UpstreamFailed", { service })),
    upstream_service: service
  })

/**
 * Whether a caller can do something with the status. 401, 403 and 407 are about the credentials of this service, and 426 is
 * about its connection.
 *
 * @internal
 */
export const isForCallers = (status: number): boolean =>
  status >= 400 && status < 600 && status !== 401 && status !== 403 && status !== 407 &&
  status !== 426

/** The header that the status requires (RFC 9110); `undefined` if there is none to be told. @internal */
export const requiredHeadersOf = (
  { code, headers, upstream_service: service }: UpstreamError
): { readonly [name: string]: string } | undefined => {
  const name = requiredHeader.get(code)
  if (name === undefined) return {}
  const value = headers?.[name] ?? (name === "upgrade" ? undefined : name === "allow" ? "" : challengeOf(service))
  if (value === undefined) return undefined
  return name === "upgrade" ? { upgrade: value, connection: "upgrade" } : { [name]: value }
}

/** The whole number of seconds for `Retry-After`. @internal */
export const secondsOf = (duration: Duration.Duration): number => Math.max(1, Math.ceil(Duration.toSeconds(duration)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What a failed call tells besides its status. */
type Answered = Partial<Pick<Reason & { readonly _tag: "Status" }, "headers" | "retryAfter">>

/** The message of an error, with the text that it stands for. */
interface Said {
  readonly message: string
  readonly text?: Text
}

const saying = (text: Text): Said => ({ message: englishOf(text), text })

/** The message that the upstream has for callers, if it has one for those of this service. Nothing else of its answer is shown. */
const saidOf = (failure: CallError, isDeclared: boolean): Said => {
  const service = failure.upstreamService
  if (failure._tag === "CircuitOpenError") {
    return saying(textOfKey("errors.UpstreamUnavailable", { service, retry_after: secondsOf(failure.retryAfter) }))
  }
  const { message, reason, statusCode } = failure
  if (!answered.has(reason._tag)) return saying(textOfKey("errors.UpstreamSilent", { service }))
  const isErrorMessage = reason._tag === "Status" &&
    Reflect.get(Object(reason.body), "_type") === "ErrorMessage"
  return isErrorMessage && (isDeclared || isForCallers(statusCode))
    ? { message }
    : saying(textOfKey("errors.UpstreamFailed", { service }))
}

/** The reasons of calls that were answered. */
const answered: ReadonlySet<Reason["_tag"]> = new Set(
  [
    "Status",
    "InvalidAnswer",
    "TooManyRedirects",
    "NotRepeatable",
    "InvalidRequest"
  ] as const
)

/** Credentials that only that service can check. */
const challengeOf = (service: string) => `Upstream realm="${service.replace(/[^ !#-[\]-~]/gu, "_")}"`

const responseSchema = errorResponse<typeof UpstreamError, UpstreamError.Response["Encoded"]>(UpstreamError, {
  code: Schema.Int,
  message: Schema.String,
  upstream_service: Schema.String,
  retry_after: Schema.optionalKey(Schema.Int)
}).pipe(Schema.annotate({ description: "A service behind this one failed: `upstream_service`" }))
