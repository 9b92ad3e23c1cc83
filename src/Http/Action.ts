/**
 * Actions: operations on one document of a resource beyond the standard methods. They are mounted below its identifier
 * and receive the document.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import type { Id } from "./description/documents.ts"
import type { Conditions } from "./description/requests.ts"
import type { responses } from "./HttpError.ts"
import type * as Operation from "./Operation.ts"

/**
 * The options of an action. It is exposed like an operation, at `/<resources>/<id>/<name>`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Operation.Options {
  /** The relation of the action's link, which must be unique in the resource. Defaults to the action's name. */
  readonly rel?: string | undefined
}

/**
 * The function that performs an action. It takes the document and the request, and returns what the option `success`
 * declares. It may fail with the errors that the option `error` declares, and with `Operation.CommonFailure`.
 *
 * @category models
 * @since 0.1.0
 */
export type Handler<M extends Model.Any, O extends Options, R> = (
  model: M["Type"],
  request: Operation.Request<O>
) => Effect.Effect<
  Operation.Operation.SuccessOf<O>["Type"],
  Operation.Operation.ErrorOf<O>["Type"] | Operation.CommonFailure,
  R
>

/**
 * An action of the model `M`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Action<M extends Model.Any, Name extends string, O extends Options, R> {
  readonly name: Name
  readonly options: O
  readonly handler: Handler<M, O, R>
}

/**
 * Makes an action for `Resource.action`, which also accepts its parts.
 *
 * **Example** (An action as a value)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Action, Model, Resource } from "appkernel"
 *
 * class Product extends Model.Class<Product>()("Product", { id: Model.id(), name: Schema.String }) {}
 *
 * const summary = Action.make(Product, "get_summary", { success: Schema.String }, (product) =>
 *   Effect.succeed(`${product.name} (${product.id})`))
 *
 * Resource.make(Product).action(summary).description.actions.map(({ name }) => name) // => ["get_summary"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  M extends Model.Any,
  const Name extends string,
  const O extends Options,
  Result extends Operation.Operation.ResultFor<O> = never
>(
  _model: M,
  name: Name,
  options: O & Operation.Operation.Checked<O, Options>,
  handler:
    & ((model: M["Type"], request: Operation.Request<O>) => Result)
    & Operation.Operation.FailsWith<Result, Operation.Operation.DeclaredErrorOf<O>>
    & Operation.Operation.WithoutUser<Result, O>
): Action<M, Name, O, Effect.Services<Result> | Operation.Operation.PermissionServicesOf<O>> => // `FailsWith` has checked the errors of the handler.
({ name, options, handler: handler as never })

/**
 * The endpoint of an action, for a typed client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Endpoint<M extends Model.Any, Name extends string, O extends Options>
  extends
    HttpApiEndpoint.HttpApiEndpoint<
      Name,
      Operation.Operation.MethodOf<O>,
      `/${string}`,
      Schema.Struct<
        & { readonly id: Id<M> }
        & Omit<Operation.Operation.ParamFieldsOf<O>, "id">
      >,
      Operation.Operation.QueryOf<O>,
      Operation.Operation.PayloadSchemaOf<O>,
      Operation.Operation.MethodOf<O> extends "GET" ? never : typeof Conditions,
      Operation.Operation.AnswerOf<Operation.Operation.SuccessOf<O>>,
      | Operation.Operation.FailureOf<O>
      | (Operation.Operation.MethodOf<O> extends "GET" ? never : typeof responses.PreconditionFailed)
    >
{
  readonly "~Anonymous"?: Operation.Operation.IsAnonymous<O>
}

/**
 * The handlers of actions of the model `M` by their names, where `Results` says what each returns.
 *
 * @category models
 * @since 0.1.0
 */
export type Handlers<M extends Model.Any, Actions extends HttpApiEndpoint.Constraint, Results> = {
  readonly [K in keyof Results]: [Operation.Operation.Named<Actions, K>] extends [never]
    ? Operation.Operation.Surplus<K>
    : Operation.Operation.Named<Actions, K> extends Endpoint<M, infer _N, infer O> ?
        & ((
          model: M["Type"],
          request: Operation.Request<O>
        ) => Results[K] & Operation.Operation.ImplementedFor<O, NoInfer<Results[K]>>)
        & Operation.Operation.FailsWith<Results[K], Operation.Operation.DeclaredErrorOf<O>>
    : never
}
