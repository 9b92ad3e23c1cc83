/**
 * The errors that actions, operations and hooks declare, with the types and response schemas that follow from them.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import { responses, TooManyRequests } from "../HttpError.ts"
import { responseOf, type ServiceError, serviceErrorTypeId } from "../ServiceError.ts"
import { isUpstreamStatuses, type UpstreamError, upstreamResponseOf, upstreamStatusesTypeId } from "../UpstreamError.ts"

/**
 * What an operation, an action or a hook declares that it fails with: an error of the application, the statuses of failed calls
 * to other services, or that it limits how often it is called.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnError = ServiceError.Any | UpstreamError.Statuses | typeof TooManyRequests

/**
 * One or several of them.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnErrors = OwnError | ReadonlyArray<OwnError>

/**
 * The errors among them that a handler fails with.
 *
 * @category models
 * @since 0.1.0
 */
export type ClassOf<E> = Extract<EachOf<E>, ServiceError.Any | typeof TooManyRequests>

/**
 * The schemas of their responses.
 *
 * @category models
 * @since 0.1.0
 */
export type ResponseOf<E> =
  | ([Extract<EachOf<E>, ServiceError.Any>] extends [never] ? never
    : ServiceError.Response<Extract<EachOf<E>, ServiceError.Any>>)
  | ([Extract<EachOf<E>, typeof TooManyRequests>] extends [never] ? never : (typeof responses)["TooManyRequests"])
  | ([Extract<EachOf<E>, UpstreamError.Statuses>] extends [never] ? never : UpstreamError.Response)

/** @internal */
export const errorList = (errors: OwnErrors): ReadonlyArray<OwnError> => isOne(errors) ? [errors] : errors

/** The schemas of the responses, as endpoints declare them. @internal */
export const responsesOf = (errors: ReadonlyArray<OwnError>): ReadonlyArray<Schema.Top> => [
  ...classesIn(errors).map(responseOf),
  ...(errors.some(isTooManyRequests) ? [responses.TooManyRequests] : []),
  ...Array.from(upstreamStatusesIn(errors), upstreamResponseOf)
]

/** The application's errors among them. @internal */
export const classesIn = (errors: ReadonlyArray<OwnError>): ReadonlyArray<ServiceError.Any> =>
  errors.filter((error): error is ServiceError.Any => serviceErrorTypeId in error)

/** The statuses of failed calls among them. @internal */
export const upstreamStatusesIn = (errors: ReadonlyArray<OwnError>): ReadonlySet<number> =>
  new Set(errors.flatMap((error) => isUpstreamStatuses(error) ? error[upstreamStatusesTypeId] : []))

// internal

type EachOf<E> = E extends ReadonlyArray<infer One> ? One : E

const isOne = (errors: OwnErrors): errors is OwnError =>
  serviceErrorTypeId in errors || isUpstreamStatuses(errors) || isTooManyRequests(errors)

const isTooManyRequests = (error: OwnErrors): error is typeof TooManyRequests => error === TooManyRequests
