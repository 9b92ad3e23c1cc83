/**
 * The description of a resource: its model, its methods, its actions and the errors of its hooks, without anything that
 * implements them. `Resource` exports it.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Predicate from "effect/Predicate"
import type * as Model from "../../Model/Model.ts"
import type * as Query from "../../Repository/Query.ts"
import type * as Action from "../Action.ts"
import type * as Endpoint from "../description/endpoint.ts"
import type * as Hook from "../description/hook.ts"
import { errorList, type OwnError, type OwnErrors, type ResponseOf } from "../description/ownErrors.ts"
import type { responses } from "../HttpError.ts"
import type * as Operation from "../Operation.ts"
import { isOpen } from "./rules.ts"

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
 * The options of a description.
 *
 * @category models
 * @since 0.1.0
 */
export interface DescribeOptions<
  Methods extends ReadonlyArray<Method>,
  Errors extends { readonly [K in Method]?: OwnErrors },
  Open extends Methods[number] = never,
  Hidden extends string = never
> extends MethodOptions<Methods> {
  /**
   * The fields that rules of the implementation may hide from some callers, as dotted paths: clients find them missing.
   * Defaults to none.
   */
  readonly hidden?: ReadonlyArray<Hidden> | undefined
  /**
   * The methods that callers without credentials may call, if the rules of the implementation admit them. `GET` stands for
   * `schema` and `meta` as well. Defaults to none.
   */
  readonly anonymous?: ReadonlyArray<Open> | undefined
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
  readonly action: <const N extends string, const O extends Omit<Action.Options, "require">>(
    name: N,
    options: O & Operation.Operation.Checked<O, Omit<Action.Options, "require">>
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
  readonly errors: { readonly [K in Method]?: ReadonlyArray<OwnError> }
  /** The methods that callers without credentials may call, if the implementation admits them. */
  readonly anonymous: ReadonlyArray<Method>
  /** The fields that rules may hide from some callers, as dotted paths. */
  readonly hidden: ReadonlyArray<string>
}

/**
 * The errors in the responses of a method whose hooks fail with the errors.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorsOf<Errors> =
  | ResponseOf<Errors>
  // The failures that hooks need not declare.
  | (typeof responses)["BadRequest" | "NotFound" | "Conflict"]

/**
 * The errors of hooks by method, as the option `errors` declares them.
 *
 * @category models
 * @since 0.1.0
 */
export type DeclaredErrors<Errors, Open extends Method, Hidden extends string> = [keyof Errors | Open | Hidden] extends
  [never] ? Endpoint.ByMethod.NoErrors : Declared<Errors, Open, Hidden>

/**
 * The errors of hooks by method. It is an interface, so that messages of the compiler show its name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Declared<Errors, Open extends Method, Hidden extends string> {
  readonly GET: ErrorsAt<Errors, "GET">
  readonly POST: ErrorsAt<Errors, "POST">
  readonly PUT: ErrorsAt<Errors, "PUT">
  readonly PATCH: ErrorsAt<Errors, "PATCH">
  readonly DELETE: ErrorsAt<Errors, "DELETE">
  readonly open: Open
  readonly hidden: Hidden
}

/**
 * The errors of one method.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorsAt<Errors, M extends Method> = Errors extends { readonly [_ in M]: infer Own } ? ErrorsOf<Own> : never

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
  const Errors extends { readonly [K in Method]?: OwnErrors } = {},
  const Open extends Methods[number] = never,
  const Hidden extends Query.Path<M> = never
>(
  model: M,
  options?: DescribeOptions<Methods, Errors, Open, Hidden>
): Description<M, Methods[number], never, DeclaredErrors<Errors, Open, Hidden>> => {
  const declared = Object.entries<OwnErrors>(options?.errors ?? {}).map((
    [method, errors]
  ) => [method, errorList(errors)])
  return makeDescription({
    model,
    methods: [...new Set(options?.methods ?? ["GET" as const])],
    actions: [],
    errors: Object.fromEntries(declared),
    anonymous: options?.anonymous ?? [],
    hidden: options?.hidden ?? []
    // The default of `Methods` is that of `methods`.
  }) as never
}

/** @internal */
export const isDescription = (u: unknown): u is AnyDescription => Predicate.hasProperty(u, descriptionTypeId)

/** @internal */
export const withAction = (
  description: Parts,
  described: Operation.Described
): AnyDescription =>
  makeDescription({ ...description, actions: [...description.actions, describedOperation(described)] })

/**
 * A call without what is part of its implementation: its rule. The description says whether that admits callers without
 * credentials.
 *
 * @internal
 */
export const describedOperation = (
  { name, options: { require, ...options } }: Operation.Described
): Operation.Described => ({
  name,
  options: require === undefined ? options : { ...options, anonymous: options.anonymous ?? isOpen(require) }
})

type Parts = Omit<AnyDescription, typeof descriptionTypeId>

/** @internal */
export const makeDescription = (parts: Parts): AnyDescription => {
  const action = (name: string, options: Action.Options) => withAction(parts, { name, options })
  // The type-level property is never read.
  const description = { [descriptionTypeId]: undefined, ...parts, action }
  return description
}
