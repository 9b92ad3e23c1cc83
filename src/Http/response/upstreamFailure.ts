import * as Effect from "effect/Effect"
import { callBehind } from "../../Client/ClientError.ts"
import { isHttpError } from "../HttpError.ts"
import { englishOf, translatable, translationOfCall } from "../messages/message.ts"
import { type CallError, fromCallFailure, isForCallers, UpstreamError } from "../UpstreamError.ts"
import type { CallFailure } from "./callFailures.ts"

/**
 * Passes on the declared statuses of failed calls to other services, those about this service's own credentials included.
 *
 * @internal
 */
export const passOn = (statuses: ReadonlySet<number>) => (error: CallFailure): CallFailure => {
  const failure = failureBehind(error)
  const isDeclared = isCallError(failure)
    ? statuses.has(failure.statusCode)
    : failure instanceof UpstreamError && statuses.has(failure.code)
  if (!isDeclared) return error
  const passed = isCallError(failure) ? fromDeclared(failure) : failure
  declared.add(passed)
  return passed
}

/**
 * The failed call, if a typed client made one of the engine's errors of it: for this service it is the failure of another one.
 *
 * @internal
 */
export const failureBehind = (error: CallFailure): CallFailure =>
  isHttpError(error) ? callBehind(error) ?? error : error

/**
 * Whether a handler fails with it because it called another service.
 *
 * @internal
 */
export const isUpstreamFailure = (failure: CallFailure): failure is CallError | UpstreamError =>
  failure instanceof UpstreamError || isCallError(failure)

/**
 * What callers are told of a failed call. An error of this service's own making, or of its network, is logged.
 *
 * @internal
 */
export const toldToCallers = (failure: CallError | UpstreamError): Effect.Effect<never, CallError | UpstreamError> => {
  if (failure._tag === "CircuitOpenError") return Effect.fail(failure)
  if (failure instanceof UpstreamError) {
    return Effect.fail(declared.has(failure) || isForCallers(failure.code) ? failure : withoutStatus(failure))
  }
  const { message, reason, statusCode, upstreamService } = failure
  if (isForCallers(statusCode) && statusCode < 500) return Effect.fail(failure)
  return Effect.andThen(
    Effect.annotateLogs(Effect.logWarning(`A call to ${upstreamService} failed: ${message}`), {
      upstream_service: upstreamService,
      status: statusCode,
      reason
    }),
    Effect.fail(failure)
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The errors whose status is declared. */
const declared = new WeakSet<CallFailure>()

const isCallError = (failure: CallFailure): failure is CallError =>
  failure._tag === "RequestHandlingException" || failure._tag === "CircuitOpenError"

const fromDeclared = (failure: CallError): UpstreamError => {
  const error = fromCallFailure(failure, true)
  const said = translationOfCall(failure, true)
  return said === undefined ? error : translatable(error, said.key, said.args)
}

const withoutStatus = ({ upstream_service: service }: UpstreamError): UpstreamError =>
  translatable(
    new UpstreamError({
      code: 502,
      message: englishOf("errors.UpstreamFailed", { service }),
      upstream_service: service
    }),
    "errors.UpstreamFailed",
    { service }
  )
