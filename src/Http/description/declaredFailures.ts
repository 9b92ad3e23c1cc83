import { Wire } from "../HttpError.ts"

/**
 * The failures of every call.
 *
 * @internal
 */
export const failures = [
  Wire.NotAcceptable,
  Wire.NotImplemented,
  Wire.ServiceUnavailable,
  Wire.InternalServerError
] as const

/**
 * The failures of every call with a body.
 *
 * @internal
 */
export const bodyFailures = [
  Wire.BadRequest,
  Wire.PayloadTooLarge,
  Wire.UnsupportedMediaType,
  ...failures
] as const
