import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { BulkInsertFailed, DocumentInvalid } from "../../Repository/RepositoryError.ts"
import { Conflict, type Failure, failures, type HttpError, isHttpError } from "../HttpError.ts"
import { type Instance, isServiceError, serviceErrorTypeId } from "../ServiceError.ts"
import type { ErrorResponses } from "./translation.ts"
import { failureBehind, isUpstreamFailure, toldToCallers } from "./upstreamFailure.ts"

/**
 * The failures of an application's own code: its declared errors and those of the engine.
 *
 * @internal
 */
export type CallFailure = HttpError | Failure | DocumentInvalid | BulkInsertFailed | Instance

/**
 * The result of a route's handler.
 *
 * @internal
 */
export type ResponseEffect = Effect.Effect<HttpServerResponse.HttpServerResponse, CallFailure>

/**
 * Handles the failures of an application's own code: declared errors become their responses, an invalid stored document
 * becomes a defect, and the engine's failures are passed on.
 *
 * @internal
 */
export const handleCallFailures = <R>(
  effect: Effect.Effect<HttpServerResponse.HttpServerResponse, CallFailure, R>,
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
          first?.error._tag === "AccessDenied" ? first.error : new Conflict({ message: error.message })
        )
      }
      default:
        // An undeclared error is a defect, since clients don't expect it.
        return isHttpError(error) || Object.hasOwn(failures, error._tag) ? Effect.fail(error) : Effect.die(error)
    }
  })
