/** Turns failures of handlers, hooks and calls to other services into those that callers may see. */
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { callBehind, type RequestHandlingException } from "../../Client/ClientError.ts"
import type { BulkInsertFailed, DocumentInvalid } from "../../Repository/RepositoryError.ts"
import { errorOf, type Failure, failures, type HttpError, isHttpError } from "../HttpError.ts"
import { messageOf, rejectionOf } from "../messages/message.ts"
import { type Instance, isServiceError, serviceErrorTypeId } from "../ServiceError.ts"
import {
  type CallError,
  fromCallFailure,
  isForCallers,
  requiredHeadersOf,
  UpstreamError,
  withoutStatus
} from "../UpstreamError.ts"
import type { ErrorResponses } from "./translatedResponses.ts"

/** The failures of an application's own code: its declared errors and those of the engine. */
export type HandlerFailure = HttpError | Failure | DocumentInvalid | BulkInsertFailed | Instance

/** The result of a route's handler. */
export type ResponseEffect = Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure>

/** Whether a failure says that the caller may not have something, or that it is not there. */
export const isRefusal = (error: HandlerFailure): boolean =>
  isServiceError(error)
    ? refusals.has(error[serviceErrorTypeId].status)
    : error._tag === "Forbidden" || error._tag === "NotFound" || error._tag === "Unauthorized" ||
      error._tag === "DocumentNotFound" || error._tag === "AccessDenied"

const refusals: ReadonlySet<number> = new Set([401, 403, 404])

/** Handles failures of an application's code: declared errors respond, invalid stored documents are defects. */
export const handleFailures = <R>(
  effect: Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure, R>,
  errorResponses: ErrorResponses
): Effect.Effect<HttpServerResponse.HttpServerResponse, HttpError | Failure, R> =>
  Effect.catch(effect, (failure): Effect.Effect<HttpServerResponse.HttpServerResponse, HttpError | Failure> => {
    const error = failureBehind(failure)
    if (isServiceError(error)) return errorResponses.serviceError(error, error[serviceErrorTypeId].status)
    if (isUpstreamFailure(error)) return toldToCallers(error)
    switch (error._tag) {
      case "DocumentInvalid":
        return Effect.die(error)
      case "BulkInsertFailed": {
        const [first] = error.failures
        return Effect.fail(
          first?.error._tag === "AccessDenied" || first?.error._tag === "FileQuotaExceeded" ?
            first.error :
            errorOf("Conflict", "errors.NotAllInserted", {
              model: { model: error.collection },
              rejection: messageOf(rejectionOf(first?.index ?? 0, first?.error))
            })
        )
      }
      default:
        // An undeclared error is a defect, since clients don't expect it.
        return isHttpError(error) || Object.hasOwn(failures, error._tag) ? Effect.fail(error) : Effect.die(error)
    }
  })

/** Passes on the declared statuses of failed calls, even 401 and 403. A call without an answer is logged. */
export const passOn =
  (statuses: ReadonlySet<number>) => (error: HandlerFailure): Effect.Effect<never, HandlerFailure> => {
    const failure = failureBehind(error)
    const isDeclared = isCallError(failure)
      ? statuses.has(failure.statusCode)
      : failure instanceof UpstreamError && statuses.has(failure.code)
    if (!isDeclared) return Effect.fail(error)
    const passed = isCallError(failure) ? fromCallFailure(failure, true) : failure
    declared.add(passed)
    return isCallError(failure) && failure._tag === "RequestHandlingException" && failure.reason._tag !== "Status"
      ? Effect.andThen(logged(failure), Effect.fail(passed))
      : Effect.fail(passed)
  }

// internal

/** The failed call, if a typed client turned it into one of the engine's errors. */
const failureBehind = (error: HandlerFailure): HandlerFailure => isHttpError(error) ? callBehind(error) ?? error : error

/** Whether a call to another service failed. */
const isUpstreamFailure = (failure: HandlerFailure): failure is CallError | UpstreamError =>
  failure instanceof UpstreamError || isCallError(failure)

/** Removes the status of a failed call unless it is for callers. Logs an error that this service or its network made. */
const toldToCallers = (failure: CallError | UpstreamError): Effect.Effect<never, CallError | UpstreamError> => {
  if (failure._tag === "CircuitOpenError") return Effect.fail(failure)
  if (failure instanceof UpstreamError) {
    const isTold = (declared.has(failure) || isForCallers(failure.code)) && requiredHeadersOf(failure) !== undefined
    return Effect.fail(isTold ? failure : withoutStatus(failure.upstream_service))
  }
  const { statusCode } = failure
  if (isForCallers(statusCode) && statusCode < 500) return Effect.fail(failure)
  return Effect.andThen(logged(failure), Effect.fail(failure))
}

const logged = ({ message, reason, statusCode, upstreamService }: RequestHandlingException): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning(`A call to ${upstreamService} failed: ${message}`), {
    upstream_service: upstreamService,
    status: statusCode,
    reason: reason._tag
  })

/** The errors whose status is declared. */
const declared = new WeakSet<HandlerFailure>()

const isCallError = (failure: HandlerFailure): failure is CallError =>
  failure._tag === "RequestHandlingException" || failure._tag === "CircuitOpenError"
