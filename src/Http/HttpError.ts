/**
 * The errors of the REST interface, and the table that maps failures to them.
 *
 * In a response each error is an `ErrorMessage` (`_type`, `code`, `message`), identified by its status. In the program
 * each is a class for `Effect.catchTag`.
 *
 * @since 0.1.0
 */
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import type { CircuitOpenError, RequestHandlingException } from "../Client/ClientError.ts"
import { errorResponse, type Members } from "../internal/errorMessage.ts"
import { type ModelError, Problem } from "../Model/ModelError.ts"
import type { DeleteError, DocumentNotFound, VersionConflict, WriteError } from "../Repository/RepositoryError.ts"
import { fromCallFailure, type UpstreamError } from "./UpstreamError.ts"

/**
 * Status 400: the body or a parameter can't be parsed or is not valid. `errors` lists every problem.
 *
 * @category errors
 * @since 0.1.0
 */
export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", {
  message: Schema.String,
  errors: Schema.Array(Problem)
}) {}

/**
 * Status 401: the request has no credentials and needs some, or has credentials that are not valid. The
 * `WWW-Authenticate` header lists the schemes of the service.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", { message: Schema.String }) {}

/**
 * Status 403: the caller has no permission, or the query uses something that is forbidden to all callers. The message
 * names it.
 *
 * @category errors
 * @since 0.1.0
 */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", { message: Schema.String }) {}

/**
 * Status 404: no document has this identifier, or no route matches.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {}

/**
 * Status 405: the route does not support this method. The `Allow` header lists the supported ones.
 *
 * @category errors
 * @since 0.1.0
 */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  message: Schema.String
}) {}

/**
 * Status 406: the response is not available in any content type that the request accepts.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAcceptable extends Schema.TaggedError<NotAcceptable>()("NotAcceptable", { message: Schema.String }) {}

/**
 * Status 409: a unique value is taken, or a concurrent write changed the document.
 *
 * @category errors
 * @since 0.1.0
 */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", { message: Schema.String }) {}

/**
 * Status 410: what was at this place of a stream of changes is no longer kept. The client has to begin anew.
 *
 * @category errors
 * @since 0.1.0
 */
export class Gone extends Schema.TaggedError<Gone>()("Gone", { message: Schema.String }) {}

/**
 * Status 412: the stored document does not match the request's precondition (`If-Match`).
 *
 * @category errors
 * @since 0.1.0
 */
export class PreconditionFailed extends Schema.TaggedError<PreconditionFailed>()("PreconditionFailed", {
  message: Schema.String
}) {}

/**
 * Status 413: the body exceeds the server's limit.
 *
 * @category errors
 * @since 0.1.0
 */
export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("PayloadTooLarge", {
  message: Schema.String
}) {}

/**
 * Status 415: the route does not support the content type of the body.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()("UnsupportedMediaType", {
  message: Schema.String
}) {}

/**
 * Status 429: the caller has sent too many requests, or there were too many failed attempts to sign in. `retry_after` is the
 * number of seconds after which a retry is answered, as in the header `Retry-After`.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  message: Schema.String,
  retry_after: Schema.Int
}) {}

/**
 * Status 500: a defect. The message contains the request identifier under which the cause is logged, and no internal
 * details.
 *
 * @category errors
 * @since 0.1.0
 */
export class InternalServerError extends Schema.TaggedError<InternalServerError>()("InternalServerError", {
  message: Schema.String
}) {}

/**
 * Status 501: the store does not support the operation.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotImplemented extends Schema.TaggedError<NotImplemented>()("NotImplemented", {
  message: Schema.String
}) {}

/**
 * Status 503: the store does not respond or the credentials can't be checked, which is worth a retry, or a query exceeded
 * its timeout.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()("ServiceUnavailable", {
  message: Schema.String
}) {}

/**
 * Status 304: the document matches the request's `If-None-Match`. The response has no body.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotModified extends Schema.TaggedError<NotModified>()("NotModified", {}) {
  override get message(): string {
    return "The document has not changed"
  }
}

/**
 * Any error of the REST interface.
 *
 * @category errors
 * @since 0.1.0
 */
export type HttpError =
  | BadRequest
  | Unauthorized
  | Forbidden
  | NotFound
  | MethodNotAllowed
  | NotAcceptable
  | Conflict
  | Gone
  | PreconditionFailed
  | PayloadTooLarge
  | UnsupportedMediaType
  | TooManyRequests
  | InternalServerError
  | NotImplemented
  | ServiceUnavailable
  | UpstreamError

/**
 * The status of each error but `UpstreamError`, which has that of the failed call.
 *
 * @category models
 * @since 0.1.0
 */
export const statusOf = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  Conflict: 409,
  Gone: 410,
  PreconditionFailed: 412,
  PayloadTooLarge: 413,
  UnsupportedMediaType: 415,
  TooManyRequests: 429,
  InternalServerError: 500,
  NotImplemented: 501,
  ServiceUnavailable: 503
} as const

/**
 * The failures of repositories, models and calls to other services that a request may cause.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure =
  | ModelError
  | WriteError
  | DeleteError
  | DocumentNotFound
  | VersionConflict
  | RequestHandlingException
  | CircuitOpenError

/** The tags of all failures. @internal */
export const failures: { readonly [K in Failure["_tag"]]: true } = {
  PropertyRequiredException: true,
  ValidationException: true,
  QueryRejected: true,
  AccessDenied: true,
  DocumentNotFound: true,
  DocumentReferenced: true,
  DuplicateKey: true,
  VersionConflict: true,
  Unsupported: true,
  QueryTimeout: true,
  StoreUnavailable: true,
  DataDamaged: true,
  RequestHandlingException: true,
  CircuitOpenError: true
}

/** Whether the value is an error of the REST interface. @internal */
export const isHttpError = (error: { readonly _tag: string }): error is HttpError =>
  error._tag === "UpstreamError" || Object.hasOwn(statusOf, error._tag)

/**
 * Maps a failure to an error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromFailure = (failure: Failure): HttpError => {
  const { message } = failure
  switch (failure._tag) {
    case "PropertyRequiredException":
    case "ValidationException":
      return new BadRequest({ message, errors: failure.problems })
    case "QueryRejected":
      return new BadRequest({
        message: failure.advice === undefined
          ? "The store can't take what the request asks for or sends"
          : `The store can't do what the request asks for: ${failure.advice}`,
        errors: []
      })
    case "AccessDenied":
      return new Forbidden({ message: "You are not allowed to do this" })
    case "DocumentNotFound":
      return new NotFound({ message })
    case "DocumentReferenced":
    case "DuplicateKey":
    case "VersionConflict":
      return new Conflict({ message })
    case "Unsupported":
      return new NotImplemented({ message })
    case "QueryTimeout":
      return new ServiceUnavailable({ message: "The query took too long and was stopped" })
    case "StoreUnavailable":
      return new ServiceUnavailable({ message: "The store is unavailable, try again later" })
    case "DataDamaged":
      return new InternalServerError({ message: "Stored data is damaged" })
    case "RequestHandlingException":
    case "CircuitOpenError":
      return fromCallFailure(failure)
  }
}

/**
 * The schemas of the errors' responses, for the declarations of endpoints: each has the status of its error, and decodes
 * the body to the error's class.
 *
 * @category schemas
 * @since 0.1.0
 */
export const responses = {
  BadRequest: responseOf(BadRequest, 400, { errors: Schema.Array(Problem) }),
  Unauthorized: responseOf(Unauthorized, 401),
  Forbidden: responseOf(Forbidden, 403),
  NotFound: responseOf(NotFound, 404),
  NotAcceptable: responseOf(NotAcceptable, 406),
  Conflict: responseOf(Conflict, 409),
  Gone: responseOf(Gone, 410),
  PreconditionFailed: responseOf(PreconditionFailed, 412),
  PayloadTooLarge: responseOf(PayloadTooLarge, 413),
  UnsupportedMediaType: responseOf(UnsupportedMediaType, 415),
  TooManyRequests: responseOf(TooManyRequests, 429, { retry_after: Schema.Int }),
  InternalServerError: responseOf(InternalServerError, 500),
  NotImplemented: responseOf(NotImplemented, 501),
  ServiceUnavailable: responseOf(ServiceUnavailable, 503)
}

/**
 * The schema of the response for {@link NotModified}, which has no body.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NotModifiedResponse: Schema.Codec<NotModified, void> = Schema.toType(NotModified).pipe(
  HttpApiSchema.asNoContent({ decode: () => new NotModified() }),
  HttpApiSchema.status(304)
)

/**
 * The schema of an error's response: the error's class in the program, an `ErrorMessage` in the body.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResponseOf<S extends Schema.Top, Code extends number>
  extends Schema.Codec<S["Type"], { readonly _type: "ErrorMessage"; readonly code: Code; readonly message: string }>
{}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function responseOf<S extends Schema.Top, const Code extends number>(
  error: S,
  code: Code,
  more: Members = {}
): ResponseOf<S, Code> {
  return errorResponse<S, ResponseOf<S, Code>["Encoded"]>(
    error,
    { code: Schema.Literal(code), message: Schema.String, ...more },
    { code }
  ).pipe(HttpApiSchema.status(code))
}
