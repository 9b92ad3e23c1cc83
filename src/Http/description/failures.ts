import { Wire } from "../HttpError.ts"

/**
 * What every call can fail with.
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
 * What every call with a body can fail with.
 *
 * @internal
 */
export const bodyFailures = [
  Wire.BadRequest,
  Wire.PayloadTooLarge,
  Wire.UnsupportedMediaType,
  ...failures
] as const
