import type * as Schema from "effect/Schema"
import { responseOf, type ServiceError, serviceErrorTypeId } from "../ServiceError.ts"
import { isUpstreamStatuses, type UpstreamError, upstreamResponseOf, upstreamStatusesTypeId } from "../UpstreamError.ts"

/**
 * What an operation, an action or a hook declares that it fails with: an error of the application, or the statuses of failed
 * calls to other services.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnError = ServiceError.Any | UpstreamError.Statuses

/**
 * One or several of them.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnErrors = OwnError | ReadonlyArray<OwnError>

/**
 * The application's errors among them.
 *
 * @category models
 * @since 0.1.0
 */
export type ClassOf<E> = Extract<EachOf<E>, ServiceError.Any>

/**
 * The schemas of their responses.
 *
 * @category models
 * @since 0.1.0
 */
export type ResponseOf<E> =
  | ([ClassOf<E>] extends [never] ? never : ServiceError.Response<ClassOf<E>>)
  | ([Extract<EachOf<E>, UpstreamError.Statuses>] extends [never] ? never : UpstreamError.Response)

/** @internal */
export const listOf = (errors: OwnErrors): ReadonlyArray<OwnError> => isOne(errors) ? [errors] : errors

/**
 * The schemas of the responses, as endpoints declare them.
 *
 * @internal
 */
export const responsesOf = (errors: ReadonlyArray<OwnError>): ReadonlyArray<Schema.Top> => [
  ...classesIn(errors).map(responseOf),
  ...Array.from(upstreamStatusesIn(errors), upstreamResponseOf)
]

/**
 * The application's errors among them.
 *
 * @internal
 */
export const classesIn = (errors: ReadonlyArray<OwnError>): ReadonlyArray<ServiceError.Any> =>
  errors.filter((error): error is ServiceError.Any => !isUpstreamStatuses(error))

/**
 * The statuses of failed calls among them.
 *
 * @internal
 */
export const upstreamStatusesIn = (errors: ReadonlyArray<OwnError>): ReadonlySet<number> =>
  new Set(errors.flatMap((error) => isUpstreamStatuses(error) ? error[upstreamStatusesTypeId] : []))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type EachOf<E> = E extends ReadonlyArray<infer One> ? One : E

const isOne = (errors: OwnErrors): errors is OwnError => serviceErrorTypeId in errors || isUpstreamStatuses(errors)
