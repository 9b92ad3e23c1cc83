/**
 * A model as a REST resource: its methods, actions and hooks.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import * as Action from "./Action.ts"
import type * as Endpoint from "./Endpoint.ts"
import type * as Hook from "./Hook.ts"
import type { responses } from "./HttpError.ts"
import type * as Operation from "./Operation.ts"
import type { ServiceError } from "./ServiceError.ts"

const typeId = "~appkernel/Resource"

/**
 * The methods of a registration. `GET` adds the collection, single documents, `aggregate`, `schema` and `meta`.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = Endpoint.Method

/**
 * The options of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Methods extends ReadonlyArray<Method>> {
  /** Defaults to `["GET"]`: read-only. */
  readonly methods?: Methods | undefined
  /**
   * Whether a before-hook and its write form one transaction of the store. The hook may then run several times if
   * others write what it reads. Defaults to false.
   */
  readonly transactional?: boolean | undefined
}

/**
 * A model that a resource can be made of. Hooks belong to the resource; as static members of the model they would never
 * run.
 *
 * @category models
 * @since 0.1.0
 */
export type Hookless = {
  readonly [N in "hooks" | Hook.Name]?: "Hooks stand on the resource: Resource.make(Model, { methods }).beforePost(…)"
}

/**
 * A resource under construction: every action and hook returns a new one whose type includes it. `Actions` are the
 * endpoints of its actions, `E` the errors of hooks by method, and `R` the services that handlers and hooks need.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resource<
  M extends Model.Any,
  Methods extends Method,
  out Actions extends HttpApiEndpoint.Constraint,
  out E extends Endpoint.ByMethod.Errors,
  out R
> extends Hooks<M, Methods, Actions, E, R> {
  readonly [typeId]: { readonly actions: () => Actions; readonly errors: () => E; readonly services: () => R }
  readonly model: M
  readonly methods: ReadonlyArray<Methods>
  readonly transactional: boolean
  readonly actions: ReadonlyArray<Operation.Any>
  readonly hooks: ReadonlyArray<AnyHook>
  /** Adds an action: a value of `Action.make`, or its parts. */
  readonly action: {
    <const N extends string, const O extends Action.Options, R2 = never>(
      name: N,
      options: O,
      handler: Action.Handler<M, O, R2>
    ): Resource<M, Methods, Actions | Action.Endpoint<M, N, O>, E, R | R2>
    <N extends string, O extends Action.Options, R2>(
      action: Action.Action<M, N, O, R2>
    ): Resource<M, Methods, Actions | Action.Endpoint<M, N, O>, E, R | R2>
  }
}

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
  readonly [N in Hook.Name]: MethodOf<N> extends Methods
    ? <R2 = never, const Errors extends ReadonlyArray<ServiceError.Any> = readonly []>(
      hook: Hook.ByName<M, N, Errors[number]["Type"], R2>,
      options?: Hook.Options<Errors>
    ) => Resource<M, Methods, Actions, AddError<E, MethodOf<N>, ErrorsOf<Errors>>, R | R2>
    : (hook: `${N} never runs: ${MethodOf<N>} is not among the methods of the resource`) => never
}

/**
 * Any resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any {
  readonly [typeId]: unknown
  readonly model: Model.Any
  readonly methods: ReadonlyArray<Method>
  readonly transactional: boolean
  readonly actions: ReadonlyArray<Operation.Any>
  readonly hooks: ReadonlyArray<AnyHook>
}

/**
 * A hook of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyHook {
  readonly name: Hook.Name
  readonly hook: Hook.ByName<Model.Any, Hook.Name, unknown, unknown>
  readonly errors: ReadonlyArray<ServiceError.Any>
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
  makeResource({
    model,
    methods: [...new Set(options?.methods ?? ["GET" as const])],
    transactional: options?.transactional ?? false,
    actions: [],
    hooks: []
  }) as never

/**
 * The method of a hook.
 *
 * @internal
 */
export const methodOfHook = (name: Hook.Name): Method => hookMethods[name]

/** @internal */
export const isResource = (u: unknown): u is Any => typeof u === "object" && u !== null && typeId in u

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type MethodOf<N extends Hook.Name> = N extends `${"before" | "after"}${infer Rest}` ? Extract<Uppercase<Rest>, Method>
  : never

type ErrorsOf<Errors extends ReadonlyArray<ServiceError.Any>> =
  | (Errors extends readonly [] ? never : ServiceError.Response<Errors[number]>)
  // The failures that hooks need not declare.
  | (typeof responses)["BadRequest" | "NotFound" | "Conflict"]

type AddError<E extends Endpoint.ByMethod.Errors, M extends Method, Error extends Schema.Top> = {
  readonly [K in Method]: K extends M ? E[K] | Error : E[K]
}

const hookMethods: { readonly [N in Hook.Name]: Method } = {
  beforeGet: "GET",
  afterGet: "GET",
  beforePost: "POST",
  afterPost: "POST",
  beforePut: "PUT",
  afterPut: "PUT",
  beforePatch: "PATCH",
  afterPatch: "PATCH",
  beforeDelete: "DELETE",
  afterDelete: "DELETE"
}

// The keys are the hook names.
/** @internal */
export const hookNames = Object.keys(hookMethods) as ReadonlyArray<Hook.Name>

const makeResource = (parts: Omit<Any, typeof typeId>): Any => {
  const action = (first: string | Operation.Any, options?: Action.Options, handler?: Operation.Any["handler"]) => {
    const added = typeof first === "string"
      // The overloads declare that a name is followed by the other two parts.
      ? Action.make(parts.model, first, options ?? {}, handler as never)
      : first
    return makeResource({ ...parts, actions: [...parts.actions, added] })
  }
  const hooks = hookNames.map((name) => [
    name,
    (hook: AnyHook["hook"], options?: Hook.Options<ReadonlyArray<ServiceError.Any>>) =>
      makeResource({ ...parts, hooks: [...parts.hooks, { name, hook, errors: options?.error ?? [] }] })
  ])
  // The type-level property is never read.
  return { [typeId]: undefined, ...parts, ...Object.fromEntries([...hooks, ["action", action]]) }
}
