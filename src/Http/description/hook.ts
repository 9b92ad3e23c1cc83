/**
 * Hooks run before and after the standard methods of a resource.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Model from "../../Model/Model.ts"
import type { Method } from "./endpoint.ts"
import type { OwnErrors } from "./ownErrors.ts"

/**
 * The names of a resource's hooks: one before and one after each method.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = `${"before" | "after"}${Capitalize<Lowercase<Method>>}`

/**
 * The request of a hook, besides the model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request<M extends Model.Any> {
  /** The identifier in the URL; none if the request addresses the collection. */
  readonly id: Option.Option<Model.Id<M>>
  /** The stored model that is changed, replaced or removed; none if there is no such model yet. */
  readonly previous: Option.Option<M["Type"]>
}

/**
 * A hook that runs before a write. A failure becomes the response. A returned model is validated like input, then
 * written in place of the given one; the identifier and version of an existing document stay unchanged. A hook before a
 * removal receives the removed model, and its result is ignored.
 *
 * It may run several times for one request if other requests write concurrently. A patch is written only to the
 * document that the hook has received. The same holds for a `PUT` or `DELETE` of a model with a version or of a
 * `transactional` resource.
 *
 * @category models
 * @since 0.1.0
 */
export type Before<M extends Model.Any, E, R> = (
  model: M["Type"],
  request: Request<M>
) => Effect.Effect<M["Type"] | void, E, R>

/**
 * A hook that runs before a read. A failure becomes the response.
 *
 * @category models
 * @since 0.1.0
 */
export type BeforeGet<M extends Model.Any, E, R> = (
  request: Request<M>
) => Effect.Effect<void, E, R>

/**
 * A hook that runs after a write, a removal or a read; for a page, once for each of its models. A failure becomes the
 * response but undoes nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type After<M extends Model.Any, E, R> = (
  model: M["Type"],
  request: Request<M>
) => Effect.Effect<void, E, R>

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
 * A hook by its name, with what it returns.
 *
 * @category models
 * @since 0.1.0
 */
export type Returning<M extends Model.Any, N extends Name, Result> = N extends "beforeGet"
  ? (request: Request<M>) => Result
  : (model: M["Type"], request: Request<M>) => Result

/**
 * What a hook returns by its name, whatever it fails with and needs.
 *
 * @category models
 * @since 0.1.0
 */
export type ResultFor<M extends Model.Any, N extends Name> = ReturnType<ByName<M, N, unknown, unknown>>

/**
 * The application's own errors that a hook may fail with, one class or several, and the statuses of failed calls to other
 * services that are passed on to callers: see `UpstreamError.of`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<E extends OwnErrors> {
  readonly error?: E | undefined
}
