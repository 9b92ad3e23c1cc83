/** The framework's errors that every action and operation declares, for OpenAPI and typed clients. */
import { responses } from "../HttpError.ts"

/** The failures of every call. */
export const failures = [
  responses.NotAcceptable,
  responses.NotImplemented,
  responses.ServiceUnavailable,
  responses.InternalServerError
] as const

/** The failures of every call with a body. */
export const bodyFailures = [
  responses.BadRequest,
  responses.PayloadTooLarge,
  responses.UnsupportedMediaType,
  ...failures
] as const
