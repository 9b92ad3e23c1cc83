/**
 * Errors of the REST interface, and the one table that says which failure becomes which of them.
 *
 * On the wire each is an `ErrorMessage` (`_type`, `code`, `message`), told apart by its status; in a program each is a
 * class of its own, for `Effect.catchTag`.
 *
 * @since 0.1.0
 */
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { type ModelError, Problem } from "../Model/ModelError.ts"
import type { DocumentNotFound, StoreError, VersionConflict } from "../Repository/RepositoryError.ts"

/**
 * Status 400: the body or a parameter can't be understood or is not valid. `errors` names every problem.
 *
 * @category errors
 * @since 0.1.0
 */
export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", {
  message: Schema.String,
  errors: Schema.Array(Problem)
}) {}

/**
 * Status 403: the caller may not do this, or the query asks for what no caller from outside may have. The message names
 * it.
 *
 * @category errors
 * @since 0.1.0
 */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", { message: Schema.String }) {}

/**
 * Status 404: there is no document with this identifier, or no such route.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {}

/**
 * Status 405: the route is there, but not with this method. The `Allow` header has those that are.
 *
 * @category errors
 * @since 0.1.0
 */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  message: Schema.String
}) {}

/**
 * Status 406: the answer exists in none of the content types that the request accepts.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAcceptable extends Schema.TaggedError<NotAcceptable>()("NotAcceptable", { message: Schema.String }) {}

/**
 * Status 409: a unique value is taken, or somebody else wrote in between.
 *
 * @category errors
 * @since 0.1.0
 */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", { message: Schema.String }) {}

/**
 * Status 412: the document is not, or no longer, the one that the request's precondition (`If-Match`) names.
 *
 * @category errors
 * @since 0.1.0
 */
export class PreconditionFailed extends Schema.TaggedError<PreconditionFailed>()("PreconditionFailed", {
  message: Schema.String
}) {}

/**
 * Status 413: the body is larger than the server takes.
 *
 * @category errors
 * @since 0.1.0
 */
export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("PayloadTooLarge", {
  message: Schema.String
}) {}

/**
 * Status 415: the body is of a content type that the route does not take.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()("UnsupportedMediaType", {
  message: Schema.String
}) {}

/**
 * Status 500: a defect. The message carries the identifier of the request under which the cause is logged, and nothing
 * of the inside.
 *
 * @category errors
 * @since 0.1.0
 */
export class InternalServerError extends Schema.TaggedError<InternalServerError>()("InternalServerError", {
  message: Schema.String
}) {}

/**
 * Status 501: the store at hand can't do this.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotImplemented extends Schema.TaggedError<NotImplemented>()("NotImplemented", {
  message: Schema.String
}) {}

/**
 * Status 503: the store does not answer, which is worth a retry, or a query took too long.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()("ServiceUnavailable", {
  message: Schema.String
}) {}

/**
 * Status 304: the document is the one that the request's `If-None-Match` names. The answer has no body.
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
  | Forbidden
  | NotFound
  | MethodNotAllowed
  | NotAcceptable
  | Conflict
  | PreconditionFailed
  | PayloadTooLarge
  | UnsupportedMediaType
  | InternalServerError
  | NotImplemented
  | ServiceUnavailable

/**
 * The status of each error.
 *
 * @category models
 * @since 0.1.0
 */
export const statusOf = {
  BadRequest: 400,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  Conflict: 409,
  PreconditionFailed: 412,
  PayloadTooLarge: 413,
  UnsupportedMediaType: 415,
  InternalServerError: 500,
  NotImplemented: 501,
  ServiceUnavailable: 503
} as const

/**
 * Failures of repositories and models that a request may run into.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure = ModelError | StoreError | DocumentNotFound | VersionConflict

/**
 * The error that a failure becomes.
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
    case "DocumentNotFound":
      return new NotFound({ message })
    case "DuplicateKey":
    case "VersionConflict":
      return new Conflict({ message })
    case "Unsupported":
      return new NotImplemented({ message })
    case "QueryTimeout":
      return new ServiceUnavailable({ message: "The query took too long and was stopped" })
    case "StoreUnavailable":
      return new ServiceUnavailable({ message: "The store is unavailable, try again later" })
  }
}

/**
 * The wire form of each error, as endpoints declare it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Wire = {
  BadRequest: wireOf(BadRequest, 400, { errors: Schema.Array(Problem) }),
  Forbidden: wireOf(Forbidden, 403),
  NotFound: wireOf(NotFound, 404),
  NotAcceptable: wireOf(NotAcceptable, 406),
  Conflict: wireOf(Conflict, 409),
  PreconditionFailed: wireOf(PreconditionFailed, 412),
  PayloadTooLarge: wireOf(PayloadTooLarge, 413),
  UnsupportedMediaType: wireOf(UnsupportedMediaType, 415),
  InternalServerError: wireOf(InternalServerError, 500),
  NotImplemented: wireOf(NotImplemented, 501),
  ServiceUnavailable: wireOf(ServiceUnavailable, 503)
}

/**
 * {@link NotModified} on the wire: an answer without a body.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NotModifiedWire: Schema.Codec<NotModified, void> = Schema.toType(NotModified).pipe(
  HttpApiSchema.asNoContent({ decode: () => new NotModified() }),
  HttpApiSchema.status(304)
)

/**
 * An error on the wire: its class in a program, an `ErrorMessage` in a body.
 *
 * @category models
 * @since 0.1.0
 */
export interface WireOf<S extends Schema.Top, Code extends number>
  extends Schema.Codec<S["Type"], { readonly _type: "ErrorMessage"; readonly code: Code; readonly message: string }>
{}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function wireOf<S extends Schema.Top & (new(fields: never) => HttpError), const Code extends number>(
  error: S,
  code: Code,
  more: Schema.Struct.Fields = {}
): WireOf<S, Code> {
  const body = Schema.Struct({
    _type: Schema.tag("ErrorMessage"),
    code: Schema.Literal(code),
    message: Schema.String,
    ...more
  })
  const wire = body.pipe(
    Schema.decodeTo(Schema.toType(error), {
      // `message` and `more` are the fields of the class, which `S` can't say of its own constructor.
      decode: SchemaGetter.transform((fields) => new error(fields as never) as S["Type"]),
      encode: SchemaGetter.transform((value) =>
        Object.fromEntries([
          ["_type", "ErrorMessage"],
          ["code", code],
          ...["message", ...Object.keys(more)].map((key) => [key, Reflect.get(Object(value), key)])
        ]) as never
      )
    }),
    HttpApiSchema.status(code)
  )
  return wire
}
