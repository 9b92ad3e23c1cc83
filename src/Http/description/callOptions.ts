/**
 * The options of an operation or an action. `Operation` exports them.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type * as Model from "../../Model/Model.ts"
import type { ServiceError } from "../ServiceError.ts"
import type { Method } from "./standardEndpoints.ts"

/**
 * The options of an operation. Missing ones are derived: the method is `POST` with a payload and `GET` without one, and
 * the path is `./` followed by the operation's name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly method?: Method | undefined
  /**
   * `./x` or `x` is below the service's own segment, `./` is the segment itself, and `/x` is below the `urlBase`.
   * Parameters are written as `:user_id` or `{user_id}`. An action's path is below the identifier of the document.
   */
  readonly path?: string | undefined
  /** The arguments by name. */
  readonly payload?: Schema.Struct.Fields | undefined
  /** A model as the only argument: callers send its `create` form, and handlers get an instance. */
  readonly requestModel?: Model.Any | undefined
  /** The parameters of the query by name. */
  readonly queryParams?: Schema.Struct.Fields | undefined
  /**
   * The result. A model is sent in its wire form, a list as a collection, any other object unchanged, and any other
   * value in an `OperationResult`. Defaults to no result; its `result` is `null`.
   */
  readonly success?: Schema.Top | undefined
  /** The same as `success`, for a model or a list of models. */
  readonly responseModel?: Schema.Top | undefined
  /** The status of the response: 201 for created, 202 for accepted, or 200, the default. */
  readonly status?: 200 | 201 | 202 | undefined
  /**
   * The `Location` of the response (RFC 9110, section 10.2.2), with fields of the result in braces:
   * `/api/v1/jobs/{id}`. For a result that is no object, `{result}` is the result itself.
   */
  readonly location?: string | undefined
  /** The application's own errors that the operation may fail with. */
  readonly error?: ServiceError.Any | ReadonlyArray<ServiceError.Any> | undefined
  /** One line for the documentation. */
  readonly summary?: string | undefined
  /** Markdown for the documentation. */
  readonly description?: string | undefined
  /** The tags in the documentation, after those of the registration. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Marks the operation as deprecated in the documentation. Its behaviour does not change. */
  readonly deprecated?: boolean | undefined
}
