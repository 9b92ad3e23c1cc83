/**
 * A service: operations that do not belong to a model's resource.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Operation from "./Operation.ts"

const typeId = "~appkernel/Service"

/**
 * A service under construction: every operation returns a new one whose type includes it. `Endpoints` are those of its
 * operations, and `R` the services that their handlers need.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service<Name extends string, out Endpoints extends HttpApiEndpoint.Constraint, out R> {
  readonly [typeId]: { readonly endpoints: () => Endpoints; readonly services: () => R }
  readonly name: Name
  readonly operations: ReadonlyArray<Operation.Any>
  /** Adds an operation: a value of `Operation.make`, or its parts. */
  readonly operation: {
    <const N extends string, const O extends Operation.Options, R2 = never>(
      name: N,
      options: O,
      handler: Operation.Handler<O, R2>
    ): Service<Name, Endpoints | Operation.Endpoint<N, O>, R | R2>
    <N extends string, O extends Operation.Options, R2>(
      operation: Operation.Operation<N, O, R2>
    ): Service<Name, Endpoints | Operation.Endpoint<N, O>, R | R2>
  }
}

/**
 * Makes a service without operations. Its path is the plural of its name in lower case, without the suffix `Service`,
 * `Controller` or `Resource`.
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
 * Clocks.operations.length // => 1
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Name extends string>(name: Name): Service<Name, never, never> => makeService(name, [])

/** @internal */
export const isService = (u: unknown): u is Any => typeof u === "object" && u !== null && typeId in u

/**
 * Any service.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any extends Service<string, HttpApiEndpoint.Constraint, unknown> {}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeService = <Name extends string>(
  name: Name,
  operations: ReadonlyArray<Operation.Any>
): Service<Name, never, never> => ({
  // The type-level property is never read.
  [typeId]: undefined as never,
  name,
  operations,
  operation: (first: string | Operation.Any, options?: unknown, handler?: unknown) =>
    // The overloads declare that a name is followed by the other two parts, and the type of the result.
    makeService(name, [
      ...operations,
      typeof first === "string" ? Operation.make(first, options as never, handler as never) : first
    ]) as never
})
