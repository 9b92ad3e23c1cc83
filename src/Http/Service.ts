/**
 * A service: operations that do not belong to a model's resource.
 *
 * `make` makes their description and their handlers at once. `describe` makes a description that a client or a browser
 * can load, and `implement` its implementation for the server.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Predicate from "effect/Predicate"
import type * as Grant from "../Access/Grant.ts"
import type * as Permission from "../Access/Permission.ts"
import * as Operation from "./Operation.ts"
import { describedOperation } from "./resource/description.ts"
import { noRules, requirement, rulesOf, withOwnRule, withRule } from "./resource/rules.ts"

const typeId = "~appkernel/Service"

const descriptionTypeId = "~appkernel/Service/Description"

/**
 * The description of a service: every operation returns a new one whose type includes it. `Endpoints` are those of its
 * operations.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description<in out Name extends string, in out Endpoints extends HttpApiEndpoint.Constraint>
  extends AnyDescription
{
  readonly [descriptionTypeId]: { readonly endpoints: () => Endpoints }
  readonly name: Name
  /** Adds the description of an operation. */
  readonly operation: <const N extends string, const O extends Omit<Operation.Options, "require">>(
    name: N,
    options: O & Operation.Operation.Checked<O, Omit<Operation.Options, "require">>
  ) => Description<Name, Endpoints | Operation.Endpoint<N, O>>
}

/**
 * Any description.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyDescription {
  readonly [descriptionTypeId]: unknown
  readonly name: string
  readonly operations: ReadonlyArray<Operation.Described>
}

/**
 * A description with its handlers. `R` are the services that these need.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implementation<
  in out Name extends string,
  in out Endpoints extends HttpApiEndpoint.Constraint,
  out R
> extends Any {
  readonly [typeId]: { readonly services: () => R }
  readonly description: Description<Name, Endpoints>
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
  readonly rules: Grant.Rules
}

/**
 * A service under construction: every operation returns a new one whose type includes it. `Endpoints` are those of its
 * operations, and `R` the services that their handlers need.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service<in out Name extends string, in out Endpoints extends HttpApiEndpoint.Constraint, out R>
  extends Implementation<Name, Endpoints, R>
{
  /** Adds an operation: a value of `Operation.make`, or its parts. */
  readonly operation: {
    <
      const N extends string,
      const O extends Operation.Options,
      Result extends Operation.Operation.ResultFor<O> = never
    >(
      name: N,
      options: O & Operation.Operation.Checked<O>,
      handler:
        & ((request: Operation.Request<O>) => Result)
        & Operation.Operation.FailsWith<Result, Operation.Operation.DeclaredErrorOf<O>>
        & Operation.Operation.WithoutUser<Result, O>
    ): Service<
      Name,
      Endpoints | Operation.Endpoint<N, O>,
      R | Effect.Services<Result> | Operation.Operation.PermissionServicesOf<O>
    >
    <N extends string, O extends Operation.Options, R2>(
      operation: Operation.Operation<N, O, R2>
    ): Service<Name, Endpoints | Operation.Endpoint<N, O>, R | R2>
  }
  /** Denies everything to everybody: takes the rules away that were added before. */
  readonly denyAll: () => Service<Name, Endpoints, R>
  /**
   * Admits holders of a permission to operations, by default to those without a rule of their own. An operation that admits
   * callers without credentials has the option `anonymous`.
   */
  readonly require: <
    const P extends Permission.OneOrMore | string,
    On extends Endpoints["identifier"] = Endpoints["identifier"]
  >(
    permission: Permission.Given<P> & Operation.Operation.DeclaredOpen<P, On, Operation.Operation.OpenIn<Endpoints>>,
    operations?: On | ReadonlyArray<On>
  ) => Service<Name, Endpoints, R | Permission.ServicesOf<P>>
}

/**
 * The implementation of a description, to which rules can be added.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implemented<in out Name extends string, in out Endpoints extends HttpApiEndpoint.Constraint, out R>
  extends Implementation<Name, Endpoints, R>
{
  /** Denies everything to everybody: takes the rules away that were added before. */
  readonly denyAll: () => Implemented<Name, Endpoints, R>
  /** Admits holders of a permission to operations, by default to all without a rule of their own. */
  readonly require: <
    const P extends Permission.OneOrMore | string,
    On extends Endpoints["identifier"] = Endpoints["identifier"]
  >(
    permission: Permission.Given<P> & Operation.Operation.DeclaredOpen<P, On, Operation.Operation.OpenIn<Endpoints>>,
    operations?: On | ReadonlyArray<On>
  ) => Implemented<Name, Endpoints, R | Permission.ServicesOf<P>>
}

/**
 * Makes a service without operations. Its path is the plural of its name in lower case, without the suffix `Service`,
 * `Controller` or `Resource`: `UserService` is at `users`. What ends in `s` stays: `SmsService` is at `sms`.
 *
 * **Example** (A service with one operation)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Service } from "appkernel"
 *
 * const Clocks = Service.make("ClockService")
 *   .operation("zones", { success: Schema.Array(Schema.String) }, () => Effect.succeed(["UTC"]))
 *
 * Clocks.description.operations.length // => 1
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Name extends string>(name: Name): Service<Name, never, never> =>
  // A service without operations has no endpoints.
  makeService({ description: describe(name), handlers: new Map(), rules: noRules }) as never

/**
 * Describes a service without implementing it. It loads neither a store nor a server, so clients can share it. The path
 * follows from the name like that of `make`.
 *
 * **Example** (A description and its implementation)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Service } from "appkernel"
 *
 * const ClocksApi = Service.describe("ClockService")
 *   .operation("zones", { success: Schema.Array(Schema.String) })
 *
 * export const Clocks = Service.implement(ClocksApi, { zones: () => Effect.succeed(["UTC"]) })
 *
 * ClocksApi.operations.map(({ name }) => name) // => ["zones"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const describe = <const Name extends string>(name: Name): Description<Name, never> =>
  // A service without operations has no endpoints.
  makeDescription({ name, operations: [] }) as never

/**
 * Implements a description: `handlers` has a handler for each of its operations.
 *
 * @category constructors
 * @since 0.1.0
 */
export const implement = <
  Name extends string,
  Endpoints extends HttpApiEndpoint.Constraint,
  Results extends { readonly [K in Endpoints["identifier"]]: unknown }
>(
  description: Description<Name, Endpoints>,
  handlers: Operation.Operation.HandlersFor<Endpoints, Results>
): Implemented<Name, Endpoints, Operation.Operation.ServicesOf<Results>> =>
  // The type declares the handlers' types and services.
  makeImplemented({ description, handlers: new Map(Object.entries(handlers)), rules: noRules }) as never

/** @internal */
export const isService = (u: unknown): u is Any => Predicate.hasProperty(u, typeId)

/** @internal */
export const isDescription = (u: unknown): u is AnyDescription => Predicate.hasProperty(u, descriptionTypeId)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type DescriptionParts = Omit<AnyDescription, typeof descriptionTypeId>

const withOperation = (description: DescriptionParts, described: Operation.Described): AnyDescription =>
  makeDescription({ ...description, operations: [...description.operations, describedOperation(described)] })

const makeDescription = (parts: DescriptionParts): AnyDescription => {
  const operation = (name: string, options: Operation.Options) => withOperation(parts, { name, options })
  // The type-level property is never read.
  const description = { [descriptionTypeId]: undefined, ...parts, operation }
  return description
}

type Parts = Omit<Any, typeof typeId>

const makeImplemented = (parts: Parts): Any => {
  // The type-level property is never read.
  const implemented = { [typeId]: undefined, ...parts, ...access(parts, makeImplemented) }
  return implemented
}

/** The methods that add rules. */
const access = (parts: Parts, remade: (parts: Parts) => Any) => ({
  denyAll: () => remade({ ...parts, rules: rulesOf([], parts.rules.restrictions) }),
  require: (permission: Permission.OneOrMore, operations?: string | ReadonlyArray<string>) =>
    remade({ ...parts, rules: withRule(parts.rules, requirement(permission, operations)) })
})

const makeService = (parts: Parts): Any => {
  const { description, handlers, rules } = parts
  const operation = (first: string | Operation.Any, options?: unknown, handler?: unknown) => {
    const added: Operation.Any = typeof first === "string"
      // The overloads declare that a name is followed by the other two parts.
      ? Operation.make(first, options as never, handler as never)
      : first
    return makeService({
      description: withOperation(description, added),
      handlers: new Map([...handlers, [added.name, added.handler]]),
      rules: withOwnRule(rules, added)
    })
  }
  // The type-level property is never read.
  const service = { [typeId]: undefined, ...parts, operation, ...access(parts, makeService) }
  return service
}
