/** The classes of the errors of the REST interface. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Text } from "../../internal/text.ts"
import { Problem } from "../../Model/ModelError.ts"

/** The fields of every error. Without `text`, or with a message that differs from it, the message is sent as it is. */
const said = { message: Schema.String, text: Schema.optionalKey(Text) }

/**
 * Status 400: the body or a parameter can't be parsed or is not valid. `errors` lists every problem.
 *
 * @category errors
 * @since 0.1.0
 */
export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", {
  ...said,
  errors: Schema.Array(Problem).pipe(Schema.withConstructorDefault(Effect.succeed([])))
}) {}

/**
 * Status 401: the request has no credentials and needs some, or has credentials that are not valid. The
 * `WWW-Authenticate` header lists the schemes of the service.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", said) {}

/**
 * Status 403: the caller has no permission, or the query uses something that is forbidden to all callers. The message
 * names it.
 *
 * @category errors
 * @since 0.1.0
 */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", said) {}

/**
 * Status 404: no document has this identifier, or no route matches.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", said) {}

/**
 * Status 405: the route does not support this method. The `Allow` header lists the supported ones.
 *
 * @category errors
 * @since 0.1.0
 */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", said) {}

/**
 * Status 406: the response is not available in any content type that the request accepts.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAcceptable extends Schema.TaggedError<NotAcceptable>()("NotAcceptable", said) {}

/**
 * Status 409: a unique value is taken, or a concurrent write changed the document.
 *
 * @category errors
 * @since 0.1.0
 */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", said) {}

/**
 * Status 410: what was at this place of a stream of changes is no longer kept. The client has to begin anew.
 *
 * @category errors
 * @since 0.1.0
 */
export class Gone extends Schema.TaggedError<Gone>()("Gone", said) {}

/**
 * Status 412: the stored document does not match the request's precondition (`If-Match`).
 *
 * @category errors
 * @since 0.1.0
 */
export class PreconditionFailed extends Schema.TaggedError<PreconditionFailed>()("PreconditionFailed", said) {}

/**
 * Status 413: the body exceeds the server's limit.
 *
 * @category errors
 * @since 0.1.0
 */
export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("PayloadTooLarge", said) {}

/**
 * Status 415: the route does not support the content type of the body.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()("UnsupportedMediaType", said) {}

/**
 * Status 422: the request can be read, and asks for what can't be: an `Idempotency-Key` was used for another request before.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnprocessableContent extends Schema.TaggedError<UnprocessableContent>()("UnprocessableContent", said) {}

/**
 * Status 429: the caller has sent too many requests, or there were too many failed attempts to sign in. `retry_after` is the
 * number of seconds after which a retry is answered, as in the header `Retry-After`.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  ...said,
  retry_after: Schema.Int
}) {}

/**
 * Status 500: a defect. The message contains the request identifier under which the cause is logged, and no internal
 * details.
 *
 * @category errors
 * @since 0.1.0
 */
export class InternalServerError extends Schema.TaggedError<InternalServerError>()("InternalServerError", said) {}

/**
 * Status 501: the store does not support the operation.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotImplemented extends Schema.TaggedError<NotImplemented>()("NotImplemented", said) {}

/**
 * Status 503: the store does not respond or the credentials can't be checked, which is worth a retry, or a query exceeded
 * its timeout.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()("ServiceUnavailable", said) {}

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
