/**
 * What runs around the standard methods of a resource.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Model from "../Model/Model.ts"
import type { Method } from "./Endpoint.ts"
import type * as Operation from "./Operation.ts"
import type { ServiceError } from "./ServiceError.ts"

/**
 * The hooks of a resource: one before and one after each method.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = `${"before" | "after"}${Capitalize<Lowercase<Method>>}`

/**
 * What a hook learns of the request beside the model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request<M extends Model.Any> {
  /** The identifier in the URL; none when the request is about the collection. */
  readonly id: Option.Option<Model.Id<M>>
  /** The stored model that is changed, replaced or removed; none where there is none yet. */
  readonly previous: Option.Option<M["Type"]>
}

/**
 * Runs before a write. It may fail, which is the answer, or give back a changed model, which is looked at as a sent one
 * is and then written in the place of the other; of a document that is there, the identifier and the version stay as they
 * are. Before a removal it sees what is removed, and what it gives back is not looked at.
 *
 * It may run several times for one request, as others write in between: a patch is written only to what the hook has seen,
 * and so is a `PUT` or `DELETE` of a model with a version, or of a `transactional` resource.
 *
 * @category models
 * @since 0.1.0
 */
export type Before<M extends Model.Any, E, R> = (
  model: M["Type"],
  request: Request<M>
) => Effect.Effect<M["Type"] | void, E | Operation.CommonFailure, R>

/**
 * Runs before something is read. It may fail, which is the answer.
 *
 * @category models
 * @since 0.1.0
 */
export type BeforeGet<M extends Model.Any, E, R> = (
  request: Request<M>
) => Effect.Effect<void, E | Operation.CommonFailure, R>

/**
 * Runs after something was written, removed or read, for a page with each of its models in turn. It may fail, which is
 * the answer but undoes nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type After<M extends Model.Any, E, R> = (
  model: M["Type"],
  request: Request<M>
) => Effect.Effect<void, E | Operation.CommonFailure, R>

/**
 * The type of a hook by its name.
 *
 * @category models
 * @since 0.1.0
 */
export type ByName<M extends Model.Any, N extends Name, E, R> = N extends "beforeGet" ? BeforeGet<M, E, R>
  : N extends `before${string}` ? Before<M, E, R>
  : After<M, E, R>

/**
 * The errors of the application's own that a hook may fail with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<E extends ReadonlyArray<ServiceError.Any>> {
  readonly error?: E | undefined
}
