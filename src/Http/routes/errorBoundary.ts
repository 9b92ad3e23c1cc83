/** Converts the failures and defects of a route into responses. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { textOfKey } from "../../internal/texts.ts"
import type { Failure, HttpError } from "../HttpError.ts"
import { messageOf, problemsIn, textIn } from "../messages/message.ts"
import { requestIdOf } from "../request/requestId.ts"
import { handleFailures, type HandlerFailure } from "../response/handlerFailures.ts"
import type { BadRequestResponder, ErrorResponses } from "../response/translatedResponses.ts"

/** Converts every outcome of a route into a response, by one table. `respondBadRequest` words problems of fields. */
export const withErrorResponses = <R>(
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, HandlerFailure, R>,
  respondBadRequest: BadRequestResponder,
  errorResponses: ErrorResponses
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest> =>
  Effect.catchCause(
    handler,
    (cause) => ofEngine(handleFailures(Effect.failCause(cause), errorResponses), respondBadRequest, errorResponses)
  )

/** The engine's response to its own failures and to defects. */
const ofEngine = (
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, HttpError | Failure>,
  respondBadRequest: BadRequestResponder,
  errorResponses: ErrorResponses
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.catchCause(handler, (cause) => {
    const failure = Cause.findErrorOption(cause)
    // This request was interrupted by its own code; one whose client disconnected does not get here.
    if (failure._tag === "None") return defectResponse(cause, errorResponses)
    const error = failure.value
    switch (error._tag) {
      case "DataDamaged":
        return defectResponse(cause, errorResponses)
      case "PropertyRequiredException":
      case "ValidationException":
        return respondBadRequest(error.problems)
      case "BadRequest":
        return respondBadRequest(
          problemsIn(error),
          error.errors.length > 0 && textIn(error) !== undefined ? undefined : messageOf(error)
        )
      default:
        return errorResponses.failure(error)
    }
  })

/** Logs the complete cause. The response contains only the identifier under which it is logged. */
export const defectResponse = Effect.fnUntraced(function*(cause: Cause.Cause<unknown>, errorResponses: ErrorResponses) {
  const requestId = requestIdOf(yield* HttpServerRequest.HttpServerRequest)
  yield* Effect.annotateLogs(Effect.logError("A request could not be handled", cause), "request_id", requestId)
  const said = textOfKey("errors.InternalServerError", { id: requestId })
  return yield* errorResponses.sentence("InternalServerError", said, { "x-request-id": requestId })
})
