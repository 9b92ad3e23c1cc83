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
import { type ErrorMembers, errorResponse } from "../internal/errorMessage.ts"
import { englishOf, type Given, textOfKey } from "../internal/texts.ts"
import { type ModelError, Problem } from "../Model/ModelError.ts"
import type { DeleteError, DocumentNotFound, VersionConflict, WriteError } from "../Repository/RepositoryError.ts"
import {
  BadRequest,
  Conflict,
  Forbidden,
  Gone,
  InternalServerError,
  MethodNotAllowed,
  NotAcceptable,
  NotFound,
  NotImplemented,
  NotModified,
  PayloadTooLarge,
  PreconditionFailed,
  ServiceUnavailable,
  TooManyRequests,
  Unauthorized,
  UnprocessableContent,
  UnsupportedMediaType
} from "./errors/errorClasses.ts"
import type { errorKeys } from "./errors/errorKeys.ts"
import { fromCallFailure, type UpstreamError } from "./UpstreamError.ts"

export * from "./errors/errorClasses.ts"

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
  | UnprocessableContent
  | TooManyRequests
  | InternalServerError
  | NotImplemented
  | ServiceUnavailable
  | UpstreamError

/** What a row says of the error with a tag. */
interface Row<T> {
  readonly error: { readonly Type: Extract<HttpError, { readonly _tag: T }> }
}

const row = <S extends Schema.Top, const Status extends number>(
  error: S,
  status: Status,
  members: ErrorMembers = {}
) => ({ error, status, response: responseOf(error, status, members) })

/**
 * The errors but `UpstreamError`, which has the status of the failed call: the class and the status of each, and the schema
 * of its response.
 *
 * @category models
 * @since 0.1.0
 */
export const table = {
  BadRequest: row(BadRequest, 400, { errors: Schema.Array(Problem) }),
  Unauthorized: row(Unauthorized, 401),
  Forbidden: row(Forbidden, 403),
  NotFound: row(NotFound, 404),
  MethodNotAllowed: row(MethodNotAllowed, 405),
  NotAcceptable: row(NotAcceptable, 406),
  Conflict: row(Conflict, 409),
  Gone: row(Gone, 410),
  PreconditionFailed: row(PreconditionFailed, 412),
  PayloadTooLarge: row(PayloadTooLarge, 413),
  UnsupportedMediaType: row(UnsupportedMediaType, 415),
  UnprocessableContent: row(UnprocessableContent, 422),
  TooManyRequests: row(TooManyRequests, 429, { retry_after: Schema.Int }),
  InternalServerError: row(InternalServerError, 500),
  NotImplemented: row(NotImplemented, 501),
  ServiceUnavailable: row(ServiceUnavailable, 503)
} satisfies { readonly [K in Exclude<HttpError["_tag"], "UpstreamError">]: Row<K> }

/** The tag of an error with a status of its own. @internal */
export type Tag = keyof typeof table

/** A key with which the engine says an error. @internal */
export type KeyOf<T extends Tag> = (typeof errorKeys)[T][number]

/** A column of the table. */
const columnOf = <K extends "status" | "response">(name: K): { readonly [T in Tag]: (typeof table)[T][K] } =>
  // The rows have their own types.
  Object.fromEntries(Object.entries(table).map(([tag, row]) => [tag, row[name]])) as never

/**
 * The status of each error but `UpstreamError`, which has that of the failed call.
 *
 * @category models
 * @since 0.1.0
 */
export const statusOf: { readonly [T in keyof typeof table]: (typeof table)[T]["status"] } = columnOf("status")

/**
 * The schemas of the errors' responses, for the declarations of endpoints: each has the status of its error, and decodes
 * the body to the error's class.
 *
 * @category schemas
 * @since 0.1.0
 */
export const responses: { readonly [T in keyof typeof table]: (typeof table)[T]["response"] } = columnOf("response")

/** Whether the value is an error of the REST interface. @internal */
export const isHttpError = (error: { readonly _tag: string }): error is HttpError =>
  error._tag === "UpstreamError" || Object.hasOwn(table, error._tag)

/** An error of the engine with the message of a key. @internal */
export const errorOf = <T extends Exclude<Tag, "TooManyRequests">, K extends KeyOf<T>>(
  tag: T,
  key: K,
  ...args: Given<K>
): Extract<HttpError, { readonly _tag: T }> => {
  const text = textOfKey(key, ...args)
  // Each of these classes needs a message only, and makes errors of its tag.
  return new table[tag].error({ message: englishOf(text), text }) as never
}

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

/** The error that each failure is answered as. @internal */
export const failures: { readonly [F in Failure as F["_tag"]]: (failure: F) => HttpError } = {
  PropertyRequiredException: ({ message, problems }) => new BadRequest({ message, errors: problems }),
  ValidationException: ({ message, problems }) => new BadRequest({ message, errors: problems }),
  QueryRejected: ({ advice }) =>
    advice === undefined
      ? errorOf("BadRequest", "errors.QueryRejected")
      : errorOf("BadRequest", "errors.QueryAdvice", { advice }),
  AccessDenied: () => errorOf("Forbidden", "errors.Denied"),
  FileQuotaExceeded: ({ field, limit, model }) =>
    field === undefined
      ? errorOf("PayloadTooLarge", "errors.FileQuota", { model: { model }, limit })
      : errorOf("PayloadTooLarge", "errors.FileQuotaBy", { model: { model }, field: { model, field }, limit }),
  DocumentNotFound: ({ id, model }) => errorOf("NotFound", "errors.DocumentNotFound", { model: { model }, id }),
  DocumentReferenced: ({ by, field, id, model }) =>
    errorOf("Conflict", "errors.DocumentReferenced", {
      model: { model },
      id,
      by: { model: by },
      field: { model: by, field }
    }),
  DuplicateKey: ({ collection: model, fields }) =>
    fields.length === 0
      ? errorOf("Conflict", "errors.DuplicateValue", { model: { model } })
      : errorOf("Conflict", "errors.DuplicateKey", {
        model: { model },
        fields: fields.map((field) => ({ model, field: field === "_id" ? "id" : field }))
      }),
  VersionConflict: ({ expected, id, model }) =>
    errorOf("Conflict", "errors.VersionConflict", { model: { model }, id, expected }),
  Unsupported: ({ feature }) => errorOf("NotImplemented", "errors.Unsupported", { feature }),
  QueryTimeout: () => errorOf("ServiceUnavailable", "errors.QueryTimeout"),
  StoreUnavailable: () => errorOf("ServiceUnavailable", "errors.StoreUnavailable"),
  DataDamaged: () => errorOf("InternalServerError", "errors.DataDamaged"),
  RequestHandlingException: (failure) => fromCallFailure(failure),
  CircuitOpenError: (failure) => fromCallFailure(failure)
}

/**
 * Maps a failure to an error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromFailure = (failure: Failure): HttpError => {
  // Each row takes the failure of its tag.
  const answer: (failure: Failure) => HttpError = Reflect.get(Object(failures), failure._tag)
  return answer(failure)
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
  more: ErrorMembers = {}
): ResponseOf<S, Code> {
  return errorResponse<S, ResponseOf<S, Code>["Encoded"]>(
    error,
    { code: Schema.Literal(code), message: Schema.String, ...more },
    { code }
  ).pipe(HttpApiSchema.status(code))
}
