/**
 * A model as a REST resource: the description of its endpoints, and the handlers and hooks that implement them.
 *
 * `make` makes both at once. `describe` makes a description that a client or a browser can load, and `implement` its
 * implementation for the server.
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

const descriptionTypeId = "~appkernel/Resource/Description"

/**
 * The methods of a registration. `GET` adds the collection, single documents, `aggregate`, `schema` and `meta`.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = Endpoint.Method

/**
 * The methods of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface MethodOptions<Methods extends ReadonlyArray<Method>> {
  /** Defaults to `["GET"]`: read-only. */
  readonly methods?: Methods | undefined
}

/**
 * The options of an implementation.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookOptions {
  /**
   * Whether a before-hook and its write form one transaction of the store. The hook may then run several times if
   * others write what it reads. Defaults to false.
   */
  readonly transactional?: boolean | undefined
}

/**
 * The options of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Methods extends ReadonlyArray<Method>> extends MethodOptions<Methods>, HookOptions {}

/**
 * The application's own errors of one method: one class or several.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnErrors = ServiceError.Any | ReadonlyArray<ServiceError.Any>

/**
 * The options of a description.
 *
 * @category models
 * @since 0.1.0
 */
export interface DescribeOptions<
  Methods extends ReadonlyArray<Method>,
  Errors extends { readonly [K in Method]?: OwnErrors }
> extends MethodOptions<Methods> {
  /**
   * The application's own errors that hooks fail with, by method. The hooks of a method that is listed, be it with an
   * empty list, may also fail with what handlers need not declare. Those of other methods must not fail.
   */
  readonly errors?:
    | Errors & { readonly [K in Exclude<keyof Errors, Methods[number]>]: `${K & string} is not among the methods` }
    | undefined
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
 * The description of a resource: every action returns a new one whose type includes it. `Actions` are the endpoints of
 * its actions, and `E` the errors of hooks by method.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description<
  in out M extends Model.Any,
  in out Methods extends Method,
  in out Actions extends HttpApiEndpoint.Constraint,
  in out E extends Endpoint.ByMethod.Errors
> extends AnyDescription {
  readonly [descriptionTypeId]: { readonly actions: () => Actions; readonly errors: () => E }
  readonly model: M
  readonly methods: ReadonlyArray<Methods>
  /** Adds the description of an action. */
  readonly action: <const N extends string, const O extends Action.Options>(
    name: N,
    options: O & Operation.Checked<O, Action.Options>
  ) => Description<M, Methods, Actions | Action.Endpoint<M, N, O>, E>
}

/**
 * Any description.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyDescription {
  readonly [descriptionTypeId]: unknown
  readonly model: Model.Any
  readonly methods: ReadonlyArray<Method>
  readonly actions: ReadonlyArray<Operation.Described>
  /** The application's own errors of hooks. A method without an entry has no hooks that fail. */
  readonly errors: { readonly [K in Method]?: ReadonlyArray<ServiceError.Any> }
}

/**
 * A description with its handlers and hooks. `R` are the services that these need.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implementation<
  in out M extends Model.Any,
  in out Methods extends Method,
  in out Actions extends HttpApiEndpoint.Constraint,
  in out E extends Endpoint.ByMethod.Errors,
  out R
> extends Any {
  readonly [typeId]: { readonly services: () => R }
  readonly description: Description<M, Methods, Actions, E>
}

/**
 * Any implementation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any {
  readonly [typeId]: unknown
  readonly description: AnyDescription
  readonly handlers: Operation.Handlers
  readonly hooks: ReadonlyArray<AnyHook>
  readonly transactional: boolean
}

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
> extends Implementation<M, Methods, Actions, E, R>, Hooks<M, Methods, Actions, E, R> {
  /** Adds an action: a value of `Action.make`, or its parts. */
  readonly action: {
    <const N extends string, const O extends Action.Options, R2 = never>(
      name: N,
      options: O & Operation.Checked<O, Action.Options>,
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
  readonly [N in Hook.Name]: MethodOf<N> extends Methods ? <R2 = never, const Errors extends OwnErrors = readonly []>(
      hook: Hook.ByName<M, N, ClassOf<Errors>["Type"] | Operation.CommonFailure, R2>,
      options?: Hook.Options<Errors>
    ) => Resource<M, Methods, Actions, AddError<E, MethodOf<N>, ErrorsOf<Errors>>, R | R2>
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
> extends Implementation<M, Methods, Actions, E, R>, DeclaredHooks<M, Methods, Actions, E, R> {}

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
  readonly [N in Hook.Name]: MethodOf<N> extends Methods ? <R2 = never>(
      hook: Hook.ByName<M, N, DeclaredError<E[MethodOf<N>]>, R2>
    ) => Implemented<M, Methods, Actions, E, R | R2>
    : (hook: `${N} never runs: ${MethodOf<N>} is not among the methods of the resource`) => never
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
 * Describes a resource without implementing it. It is read-only unless `methods` adds more. It loads neither a store nor
 * a server, so clients can share it.
 *
 * **Example** (A description)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model, Resource, ServiceError } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * class TooLong extends ServiceError<TooLong>()("TooLong", { status: 422 }) {}
 *
 * export const NotesApi = Resource.describe(Note, { methods: ["GET", "POST"], errors: { POST: TooLong } })
 *   .action("append", { payload: { text: Schema.String }, success: Note, error: TooLong })
 *
 * NotesApi.actions.map(({ name }) => name) // => ["append"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const describe = <
  M extends Model.Any & Hookless,
  const Methods extends ReadonlyArray<Method> = readonly ["GET"],
  const Errors extends { readonly [K in Method]?: OwnErrors } = {}
>(
  model: M,
  options?: DescribeOptions<Methods, Errors>
): Description<M, Methods[number], never, DeclaredErrors<Errors>> => {
  const declared = Object.entries<OwnErrors>(options?.errors ?? {}).map(([method, errors]) => [method, listOf(errors)])
  return makeDescription({
    model,
    methods: [...new Set(options?.methods ?? ["GET" as const])],
    actions: [],
    errors: Object.fromEntries(declared)
    // The default of `Methods` is that of `methods`.
  }) as never
}

/**
 * Implements a description: `handlers` has a handler for each of its actions, and the result takes hooks.
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
export const implement = <
  M extends Model.Any,
  Methods extends Method,
  Actions extends HttpApiEndpoint.Constraint,
  E extends Endpoint.ByMethod.Errors,
  H extends Action.Handlers<M, Actions>
>(
  description: Description<M, Methods, Actions, E>,
  handlers: H & { readonly [K in Exclude<keyof H, keyof Action.Handlers<M, Actions>>]: Operation.Surplus<K> },
  options?: HookOptions
): Implemented<M, Methods, Actions, E, Operation.ServicesOf<H>> =>
  // The type declares the handlers' types and services.
  makeImplemented({
    description,
    handlers: new Map(Object.entries(handlers)),
    hooks: [],
    transactional: options?.transactional ?? false
  }) as never

/**
 * The method of a hook.
 *
 * @internal
 */
export const methodOfHook = (name: Hook.Name): Method => hookMethods[name]

/** @internal */
export const isResource = (u: unknown): u is Any => typeof u === "object" && u !== null && typeId in u

/** @internal */
export const isDescription = (u: unknown): u is AnyDescription =>
  typeof u === "object" && u !== null && descriptionTypeId in u

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type MethodOf<N extends Hook.Name> = N extends `${"before" | "after"}${infer Rest}` ? Extract<Uppercase<Rest>, Method>
  : never

type ClassOf<Errors> = Errors extends ReadonlyArray<infer One extends ServiceError.Any> ? One
  : Extract<Errors, ServiceError.Any>

type ErrorsOf<Errors> =
  | (Errors extends readonly [] ? never : ServiceError.Response<ClassOf<Errors>>)
  // The failures that hooks need not declare.
  | (typeof responses)["BadRequest" | "NotFound" | "Conflict"]

type AddError<E extends Endpoint.ByMethod.Errors, M extends Method, Error extends Schema.Top> = {
  readonly [K in Method]: K extends M ? E[K] | Error : E[K]
}

type DeclaredErrors<Errors> = keyof Errors extends never ? Endpoint.ByMethod.NoErrors : Declared<Errors>

/** An interface, so that messages of the compiler show its name. */
interface Declared<Errors> {
  readonly GET: ErrorsAt<Errors, "GET">
  readonly POST: ErrorsAt<Errors, "POST">
  readonly PUT: ErrorsAt<Errors, "PUT">
  readonly PATCH: ErrorsAt<Errors, "PATCH">
  readonly DELETE: ErrorsAt<Errors, "DELETE">
}

type ErrorsAt<Errors, M extends Method> = Errors extends { readonly [_ in M]: infer Own } ? ErrorsOf<Own> : never

/** What the hooks of a method may fail with: nothing, if the description lists no errors for it. */
type DeclaredError<W extends Schema.Top> = [W] extends [never] ? never : W["Type"] | Operation.CommonFailure

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

const listOf = (errors: OwnErrors): ReadonlyArray<ServiceError.Any> => "ast" in errors ? [errors] : errors

const makeDescription = (parts: Omit<AnyDescription, typeof descriptionTypeId>): AnyDescription => {
  const action = (name: string, options: Action.Options) =>
    makeDescription({ ...parts, actions: [...parts.actions, { name, options }] })
  // The type-level property is never read.
  const description = { [descriptionTypeId]: undefined, ...parts, action }
  return description
}

type Parts = Omit<Any, typeof typeId>

const noParts = { handlers: new Map(), hooks: [] }

const transactionalOf = (options: HookOptions | undefined) => ({ transactional: options?.transactional ?? false })

const makeResource = (parts: Parts): Any => {
  const { description, handlers } = parts
  const action = (first: string | Operation.Any, options?: Action.Options, handler?: Operation.Any["handler"]) => {
    const added = typeof first === "string"
      // The overloads declare that a name is followed by the other two parts.
      ? Action.make(description.model, first, options ?? {}, handler as never)
      : first
    return makeResource({
      ...parts,
      description: makeDescription({ ...description, actions: [...description.actions, added] }),
      handlers: new Map([...handlers, [added.name, added.handler]])
    })
  }
  const withHook = (name: Hook.Name) => (hook: AnyHook["hook"], options?: Hook.Options<OwnErrors>) => {
    const method = hookMethods[name]
    const errors = [...new Set([...description.errors[method] ?? [], ...listOf(options?.error ?? [])])]
    return makeResource({
      ...parts,
      description: makeDescription({ ...description, errors: { ...description.errors, [method]: errors } }),
      hooks: [...parts.hooks, { name, hook }]
    })
  }
  // The type-level property is never read.
  const resource = { [typeId]: undefined, ...parts, action, ...byHook(withHook) }
  return resource
}

const makeImplemented = (parts: Parts): Any => ({
  // The type-level property is never read.
  [typeId]: undefined,
  ...parts,
  ...byHook((name) => (hook: AnyHook["hook"]) => makeImplemented({ ...parts, hooks: [...parts.hooks, { name, hook }] }))
})

const byHook = (withHook: (name: Hook.Name) => unknown) =>
  Object.fromEntries(hookNames.map((name) => [name, withHook(name)]))
