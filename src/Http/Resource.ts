/**
 * A model as a REST resource: the description of its endpoints, and the handlers and hooks that implement them.
 *
 * `make` makes both at once. `describe` makes a description that a client or a browser can load, and `implement` its
 * implementation for the server.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as Schema from "effect/Schema"
import type * as Grant from "../Access/Grant.ts"
import type * as Permission from "../Access/Permission.ts"
import type * as Model from "../Model/Model.ts"
import type * as Query from "../Repository/Query.ts"
import type * as Action from "./Action.ts"
import type * as Endpoint from "./description/endpoint.ts"
import type * as Hook from "./description/hook.ts"
import type { ClassOf, OwnErrors } from "./description/ownErrors.ts"
import type * as Operation from "./Operation.ts"
import {
  type AnyDescription,
  describe,
  type Description,
  type ErrorsOf,
  type Hookless,
  type Method,
  type MethodOptions
} from "./resource/description.ts"
import {
  type HookOptions,
  type Implementation,
  makeImplemented,
  makeResource,
  noParts,
  transactionalOf
} from "./resource/implementation.ts"

export type {
  /**
   * The types of the standard endpoints.
   *
   * @category models
   * @since 0.1.0
   */
  Endpoint,
  /**
   * The types of hooks.
   *
   * @category models
   * @since 0.1.0
   */
  Hook
}

export {
  type AnyDescription,
  type Declared,
  type DeclaredErrors,
  describe,
  type DescribeOptions,
  type Description,
  type ErrorsAt,
  type ErrorsOf,
  type Hookless,
  type Method,
  type MethodOptions
} from "./resource/description.ts"

export type { ClassOf, OwnError, OwnErrors } from "./description/ownErrors.ts"

export { type Any, type AnyHook, type HookOptions, type Implementation } from "./resource/implementation.ts"

/** @internal */
export { isDescription } from "./resource/description.ts"

/** @internal */
export { hookNames, isResource, methodOfHook } from "./resource/implementation.ts"

/**
 * The options of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Methods extends ReadonlyArray<Method>> extends MethodOptions<Methods>, HookOptions {}

/**
 * A resource under construction: every action and hook returns a new one whose type includes it. `Actions` are the
 * endpoints of its actions, `E` the errors of hooks by method, and `R` the services that handlers and hooks need.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resource<
  in out M extends Model.Any,
  in out Methods extends Method,
  in out Actions extends HttpApiEndpoint.Constraint,
  in out E extends Endpoint.ByMethod.Errors,
  out R
> extends
  Implementation<M, Methods, Actions, E, R>,
  Hooks<M, Methods, Actions, E, R>,
  Access<M, Methods, Actions, E, R>
{
  /** Adds an action: a value of `Action.make`, or its parts. */
  readonly action: {
    <
      const N extends string,
      const O extends Action.Options,
      Result extends Operation.Operation.ResultFor<O> = never
    >(
      name: N,
      options: O & Operation.Operation.Checked<O, Action.Options>,
      handler:
        & ((model: M["Type"], request: Operation.Request<O>) => Result)
        & Operation.Operation.FailsWith<Result, Operation.Operation.DeclaredErrorOf<O>>
        & Operation.Operation.WithoutUser<Result, O>
    ): Resource<
      M,
      Methods,
      Actions | Action.Endpoint<M, N, O>,
      E,
      R | Effect.Services<Result> | Operation.Operation.PermissionServicesOf<O>
    >
    <N extends string, O extends Action.Options, R2>(
      action: Action.Action<M, N, O, R2>
    ): Resource<M, Methods, Actions | Action.Endpoint<M, N, O>, E, R | R2>
  }
}

/**
 * The methods that add rules, which hold with security enabled: without one, nobody may do anything. Several rules for one
 * method are alternatives.
 *
 * @category models
 * @since 0.1.0
 */
export interface Access<
  in out M extends Model.Any,
  in out Methods extends Method,
  in out Actions extends HttpApiEndpoint.Constraint,
  in out E extends Endpoint.ByMethod.Errors,
  out R
> {
  /** Denies everything to everybody: takes the rules away that were added before. */
  readonly denyAll: () => Resource<M, Methods, Actions, E, R>
  /**
   * Admits holders of a permission to methods, and to actions by their names. Defaults to all methods, and the actions
   * without a rule of their own.
   */
  readonly require: <
    const P extends Permission.OneOrMore | string,
    On extends Methods | Actions["identifier"] = Methods
  >(
    permission: Permission.Given<P>,
    methods?: On | ReadonlyArray<On>
  ) => Resource<M, Methods, Actions, Opened<E, P, On>, R | Permission.ServicesOf<P>>
  /** Like `require`, for some documents and some of their fields. */
  readonly grant: <
    const P extends Permission.OneOrMore | string,
    On extends Methods | Actions["identifier"] = Methods,
    R2 = never,
    const Hidden extends Query.Path<M> = never
  >(
    permission: Permission.Given<P>,
    options: Grant.Options<M, On, Grant.Me<P>, R2, Hidden>
  ) => Resource<M, Methods, Actions, Hiding<Opened<E, P, On>, Hidden>, R | R2 | Permission.ServicesOf<P>>
  /**
   * Limits all callers to some documents, whatever the other rules say: those of their tenant, say. For callers without
   * credentials no document matches.
   */
  readonly restrict: <R2 = never>(
    rows: Grant.Rows<M, Permission.Caller, R2>
  ) => Resource<M, Methods, Actions, E, R | R2>
}

/**
 * The methods that add rules to the implementation of a description. Only what the description calls `anonymous` may
 * admit callers without credentials.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeclaredAccess<
  in out M extends Model.Any,
  in out Methods extends Method,
  in out Actions extends HttpApiEndpoint.Constraint,
  in out E extends Endpoint.ByMethod.Errors,
  out R
> {
  /** Denies everything to everybody: takes the rules away that were added before. */
  readonly denyAll: () => Implemented<M, Methods, Actions, E, R>
  /** Admits holders of a permission to methods, and to actions by their names: see `Access`. */
  readonly require: <
    const P extends Permission.OneOrMore | string,
    On extends Methods | Actions["identifier"] = Methods
  >(
    permission:
      & Permission.Given<P>
      & Operation.Operation.DeclaredOpen<P, On, E["open"] | Operation.Operation.OpenIn<Actions>>,
    methods?: On | ReadonlyArray<On>
  ) => Implemented<M, Methods, Actions, E, R | Permission.ServicesOf<P>>
  /** Like `require`, for some documents and some of their fields. */
  readonly grant: <
    const P extends Permission.OneOrMore | string,
    On extends Methods | Actions["identifier"] = Methods,
    R2 = never,
    const Hide extends Query.Path<M> = never
  >(
    permission:
      & Permission.Given<P>
      & Operation.Operation.DeclaredOpen<P, On, E["open"] | Operation.Operation.OpenIn<Actions>>,
    options: Grant.Options<M, On, Grant.Me<P>, R2, Hide> & Operation.Operation.DeclaredHidden<Hide, E["hidden"]>
  ) => Implemented<M, Methods, Actions, E, R | R2 | Permission.ServicesOf<P>>
  /** Limits everybody to some documents: see `Access`. */
  readonly restrict: <R2 = never>(
    rows: Grant.Rows<M, Permission.Caller, R2>
  ) => Implemented<M, Methods, Actions, E, R | R2>
}

/**
 * The description's part of a rule: methods that admit callers without credentials.
 *
 * @category models
 * @since 0.1.0
 */
export type Opened<E extends Endpoint.ByMethod.Errors, P, On> = Permission.IsOpen<P> extends true
  ? { readonly [K in Method | "open" | "hidden"]: K extends "open" ? E["open"] | Extract<On, Method> : E[K] }
  : E

/**
 * The description's part of a grant: fields that it hides.
 *
 * @category models
 * @since 0.1.0
 */
export type Hiding<E extends Endpoint.ByMethod.Errors, Fields extends string> = [Fields] extends [never] ? E
  : { readonly [K in Method | "open" | "hidden"]: K extends "hidden" ? E["hidden"] | Fields : E[K] }

/**
 * The methods that add hooks. Each adds a hook after the existing ones of the same name. A hook of an unregistered
 * method would never run: its type rejects it, and the start fails.
 *
 * @category models
 * @since 0.1.0
 */
export type Hooks<
  M extends Model.Any,
  Methods extends Method,
  Actions extends HttpApiEndpoint.Constraint,
  E extends Endpoint.ByMethod.Errors,
  R
> = {
  readonly [N in Hook.Name]: MethodOf<N> extends Methods ?
    <Result extends Hook.ResultFor<M, N> = never, const Errors extends OwnErrors = readonly []>(
      hook:
        & Hook.Returning<M, N, Result>
        & Operation.Operation.FailsWith<Result, ClassOf<Errors>["Type"] | Operation.CommonFailure>,
      options?: Hook.Options<Errors>
    ) => Resource<M, Methods, Actions, AddError<E, MethodOf<N>, ErrorsOf<Errors>>, R | Effect.Services<Result>>
    : (hook: `${N} never runs: ${MethodOf<N>} is not among the methods of the resource`) => never
}

/**
 * The implementation of a description, to which hooks can be added. They fail only with what the description declares.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implemented<
  in out M extends Model.Any,
  in out Methods extends Method,
  in out Actions extends HttpApiEndpoint.Constraint,
  in out E extends Endpoint.ByMethod.Errors,
  out R
> extends
  Implementation<M, Methods, Actions, E, R>,
  DeclaredHooks<M, Methods, Actions, E, R>,
  DeclaredAccess<M, Methods, Actions, E, R>
{}

/**
 * The methods that add hooks to the implementation of a description.
 *
 * @category models
 * @since 0.1.0
 */
export type DeclaredHooks<
  M extends Model.Any,
  Methods extends Method,
  Actions extends HttpApiEndpoint.Constraint,
  E extends Endpoint.ByMethod.Errors,
  R
> = {
  readonly [N in Hook.Name]: MethodOf<N> extends Methods ? <Result extends Hook.ResultFor<M, N> = never>(
      hook: Hook.Returning<M, N, Result> & Operation.Operation.FailsWith<Result, DeclaredError<E[MethodOf<N>]>>
    ) => Implemented<M, Methods, Actions, E, R | Effect.Services<Result>>
    : (hook: `${N} never runs: ${MethodOf<N>} is not among the methods of the resource`) => never
}

/**
 * Makes a resource of a model. It is read-only unless `methods` adds more.
 *
 * **Example** (A hook)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Resource } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const Notes = Resource.make(Note, { methods: ["GET", "POST"] })
 *   .afterPost((note) => Effect.logInfo(`There is a note ${note.id}`))
 *
 * Notes.hooks.map(({ name }) => name) // => ["afterPost"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  M extends Model.Any & Hookless,
  const Methods extends ReadonlyArray<Method> = readonly ["GET"]
>(
  model: M,
  options?: Options<Methods>
): Resource<M, Methods[number], never, Endpoint.ByMethod.NoErrors, never> =>
  // The default of `Methods` is that of `methods`.
  makeResource({ ...noParts, description: describe(model, options), ...transactionalOf(options) }) as never

/**
 * Implements a description: `handlers` has a handler for each of its actions, and the result takes hooks. A description
 * without actions needs none.
 *
 * **Example** (An implementation)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Repository, Resource } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const NotesApi = Resource.describe(Note, { methods: ["GET", "POST"] })
 *   .action("append", { payload: { text: Schema.String }, success: Note })
 *
 * export const Notes = Resource.implement(NotesApi, {
 *   append: (note, { payload }) =>
 *     Effect.gen(function*() {
 *       const notes = yield* Repository.for(Note)
 *       return yield* notes.patch(note.id, { text: note.text + payload.text })
 *     })
 * }).afterPost((note) => Effect.logInfo(`There is a note ${note.id}`))
 *
 * Notes.hooks.map(({ name }) => name) // => ["afterPost"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const implement: {
  <M extends Model.Any, Methods extends Method, E extends Endpoint.ByMethod.Errors>(
    description: Description<M, Methods, never, E>
  ): Implemented<M, Methods, never, E, never>
  <
    M extends Model.Any,
    Methods extends Method,
    Actions extends HttpApiEndpoint.Constraint,
    E extends Endpoint.ByMethod.Errors,
    Results extends { readonly [K in Actions["identifier"]]: unknown }
  >(
    description: Description<M, Methods, Actions, E>,
    handlers: Action.Handlers<M, Actions, Results>,
    options?: HookOptions
  ): Implemented<M, Methods, Actions, E, Operation.Operation.ServicesOf<Results>>
} = (description: AnyDescription, handlers: object = {}, options?: HookOptions) =>
  // The type declares the handlers' types and services.
  makeImplemented({
    ...noParts,
    description,
    handlers: new Map(Object.entries(handlers)),
    ...transactionalOf(options)
  }) as never

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type MethodOf<N extends Hook.Name> = N extends `${"before" | "after"}${infer Rest}` ? Extract<Uppercase<Rest>, Method>
  : never

type AddError<E extends Endpoint.ByMethod.Errors, M extends Method, Error extends Schema.Top> = {
  readonly [K in Method | "open" | "hidden"]: K extends "open" | "hidden" ? E[K] : K extends M ? E[K] | Error : E[K]
}

/** What the hooks of a method may fail with: nothing, if the description lists no errors for it. */
type DeclaredError<W extends Schema.Top> = [W] extends [never] ? never : W["Type"] | Operation.CommonFailure
