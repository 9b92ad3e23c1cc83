/**
 * What is said of an operation or an action. `Operation` exports it.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type * as Model from "../../Model/Model.ts"
import type { ServiceError } from "../ServiceError.ts"
import type { Method } from "./standardEndpoints.ts"

/**
 * How an operation is exposed. What is not said is derived: the method is `POST` where there is a payload and `GET`
 * where there is none, and the path is `./` and the operation's name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly method?: Method | undefined
  /**
   * `./x` or `x` is below the service's own segment, `./` the segment itself, `/x` below the `urlBase`. Parameters are
   * written `:user_id` or `{user_id}`. An action's is below the identifier of the document.
   */
  readonly path?: string | undefined
  /** The arguments, by their names. */
  readonly payload?: Schema.Struct.Fields | undefined
  /** The one argument, where it is a model: callers send what they may create of it, handlers get an instance. */
  readonly requestModel?: Model.Any | undefined
  /** The parameters of the query, by their names. */
  readonly queryParams?: Schema.Struct.Fields | undefined
  /**
   * What is given back. A model is answered as a model, a list as a collection, any other object as it is, and any other
   * value as `OperationResult`. Defaults to nothing, whose `result` is `null`.
   */
  readonly success?: Schema.Top | undefined
  /** The same as `success`, where it is a model or a list of models. */
  readonly responseModel?: Schema.Top | undefined
  /** The status of its answer: created, accepted to be done later, or 200, the default. */
  readonly status?: 200 | 201 | 202 | undefined
  /**
   * The `Location` of its answer (RFC 9110, section 10.2.2), with fields of the result in braces: `/api/v1/jobs/{id}`. A
   * result that is no object is `{result}`.
   */
  readonly location?: string | undefined
  /** The errors of the application's own that it may fail with. */
  readonly error?: ServiceError.Any | ReadonlyArray<ServiceError.Any> | undefined
  /** One line for the documentation. */
  readonly summary?: string | undefined
  /** Markdown for the documentation. */
  readonly description?: string | undefined
  /** Tags of the documentation, behind those of the registration. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Marks the operation in the documentation; it works as before. */
  readonly deprecated?: boolean | undefined
}
