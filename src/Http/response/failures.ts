import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { BulkInsertFailed, DocumentInvalid } from "../../Repository/RepositoryError.ts"
import { Conflict, type Failure, failures, type HttpError, statusOf } from "../HttpError.ts"
import { type Instance, isServiceError, serviceErrorTypeId } from "../ServiceError.ts"
import type { ErrorResponses } from "./translation.ts"

/**
 * What an application's own code may fail with: what it declares, and what the engine may.
 *
 * @internal
 */
export type CallFailure = HttpError | Failure | DocumentInvalid | BulkInsertFailed | Instance

/**
 * What a route answers, or fails with.
 *
 * @internal
 */
export type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, CallFailure>

/**
 * Answers what an application's own code fails with: its declared errors as they say, a stored document that is not one
 * of its model as a defect, and leaves what the engine itself fails with to the engine.
 *
 * @internal
 */
export const settled = <R>(
  effect: Effect.Effect<HttpServerResponse.HttpServerResponse, CallFailure, R>,
  errorResponses: ErrorResponses
): Effect.Effect<HttpServerResponse.HttpServerResponse, HttpError | Failure, R> =>
  Effect.catch(effect, (error): Effect.Effect<HttpServerResponse.HttpServerResponse, HttpError | Failure> => {
    if (isServiceError(error)) return errorResponses.serviceError(error, error[serviceErrorTypeId].status)
    switch (error._tag) {
      case "DocumentInvalid":
        return Effect.die(error)
      case "BulkInsertFailed":
        return Effect.fail(new Conflict({ message: error.message }))
      default:
        // An error past what types allow is nothing that callers were told of.
        return Object.hasOwn(answerable, error._tag) ? Effect.fail(error) : Effect.die(error)
    }
  })

const answerable = { ...statusOf, ...failures }
