/**
 * Operations: calls of a service or a resource beyond the standard methods, with their method, path, input, result and
 * errors.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as Multipart from "effect/http/Multipart"
import type * as Schema from "effect/Schema"
import type * as Permission from "../Access/Permission.ts"
import type * as Model from "../Model/Model.ts"
import type { BulkInsertFailed, DocumentInvalid } from "../Repository/RepositoryError.ts"
import type { CurrentUser } from "../Security/CurrentUser.ts"
import type { Collection, Representation } from "./description/documents.ts"
import type { Method } from "./description/endpoint.ts"
import type { Options, Part } from "./description/operationOptions.ts"
import type { ClassOf, ResponseOf } from "./description/ownErrors.ts"
import type * as Raw from "./description/raw.ts"
import type {
  BadRequest,
  Conflict,
  Failure,
  NotFound,
  NotImplemented,
  PayloadTooLarge,
  responses,
  ServiceUnavailable
} from "./HttpError.ts"
import type { UpstreamError } from "./UpstreamError.ts"

export type { Members, Options, Part } from "./description/operationOptions.ts"

/**
 * The parts of a request, decoded.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request<O extends Options> {
  /** What the caller sent; of a model, an instance. `undefined` without the option `payload`. */
  readonly payload: Operation.PayloadOf<O>
  /** The parameters of the path. */
  readonly params: Operation.ParamsOf<O>
  /** The parameters of the query. */
  readonly query: O extends { readonly query: infer P extends Part } ? Operation.TypeOf<P> : {}
}

/**
 * The failures that handlers need not declare, since every operation documents them.
 *
 * @category models
 * @since 0.1.0
 */
export type CommonFailure =
  | Failure
  | DocumentInvalid
  | BulkInsertFailed
  | BadRequest
  | NotFound
  | Conflict
  | NotImplemented
  | ServiceUnavailable
  | UpstreamError

/**
 * The function that performs an operation. It takes the request and returns what the option `success` declares. It may
 * fail with the errors that the option `error` declares, and with {@link CommonFailure}.
 *
 * @category models
 * @since 0.1.0
 */
export type Handler<O extends Options, R> = (
  request: Request<O>
) => Effect.Effect<Operation.SuccessOf<O>["Type"], Operation.DeclaredErrorOf<O>, R>

/**
 * An operation: its name, its options and its handler.
 *
 * @category models
 * @since 0.1.0
 */
export interface Operation<Name extends string, O extends Options, R> {
  readonly name: Name
  readonly options: O
  readonly handler: Handler<O, R>
}

/**
 * Types of {@link Operation}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace Operation {
  /** The handlers of operations by their names, where `Results` says what each returns. */
  export type HandlersFor<Endpoints extends HttpApiEndpoint.Constraint, Results> = {
    readonly [K in keyof Results]: [Named<Endpoints, K>] extends [never] ? Surplus<K>
      : Named<Endpoints, K> extends Endpoint<infer _N, infer O> ?
          & ((request: Request<O>) => Results[K] & ImplementedFor<O, NoInfer<Results[K]>>)
          & FailsWith<Results[K], DeclaredErrorOf<O>>
      : never
  }

  /** The endpoint of this name. */
  export type Named<Endpoints, Name> = Endpoints extends { readonly identifier: Name } ? Endpoints : never

  /**
   * A function that returns `Result` may only fail with `Declared`: `unknown` if it does, and otherwise a message that
   * names the undeclared error, which no function is.
   */
  export type FailsWith<Result, Declared> = [Exclude<Effect.Error<Result>, Declared>] extends [never] ? unknown
    : Undeclared<Exclude<Effect.Error<Result>, Declared>>

  /**
   * A handler that callers without credentials may call has no `CurrentUser`: `unknown` if it doesn't ask for it, and
   * otherwise a message, which no function is.
   */
  export type WithoutUser<Result, O> = IsAnonymous<O> extends true
    ? CurrentUser extends Effect.Services<Result> ? NoCurrentUser : unknown
    : unknown

  /** Whether callers without credentials may call it. */
  export type IsAnonymous<O> = O extends { readonly anonymous: infer A extends boolean } ? A
    : O extends { readonly require: infer P extends Permission.OneOrMore } ? Permission.IsOpen<P>
    : false

  /** The names of calls that callers without credentials may call. */
  export type OpenIn<Endpoints extends HttpApiEndpoint.Constraint> = Endpoints extends { readonly "~Anonymous"?: true }
    ? Endpoints["identifier"]
    : never

  /**
   * A permission that admits callers without credentials is only for what is described as open to them: `unknown` if it is,
   * and otherwise a message, which no permission is.
   */
  export type DeclaredOpen<P, On, Open> = Permission.IsOpen<P> extends true
    ? [Exclude<On, Open>] extends [never] ? unknown : `${Exclude<On, Open> & string} is not described as anonymous`
    : unknown

  /** The fields that a rule hides are described as hidden: `unknown` if they are, and otherwise a message, which no options are. */
  export type DeclaredHidden<Hide, Hidden> = [Exclude<Hide, Hidden>] extends [never] ? unknown
    : `${Exclude<Hide, Hidden> & string} is not described as hidden`

  /** The services that the permissions of the options need. */
  export type PermissionServicesOf<O> = O extends { readonly require: infer P } ? Permission.ServicesOf<P> : never

  /** All failures of a handler: the declared ones, and those that need no declaration. */
  export type DeclaredErrorOf<O extends Options> =
    | ErrorOf<O>["Type"]
    | CommonFailure
    | (O extends { readonly payload: Raw.Request } ? PayloadTooLarge | Multipart.MultipartError : never)

  /** What a handler returns, whatever it fails with and needs. */
  export type ResultFor<O extends Options> = Effect.Effect<SuccessOf<O>["Type"], unknown, unknown>

  /**
   * {@link ResultFor} in the place of a handler whose `Result` the compiler looks for: until it is found, the handler fails with
   * what is declared, or else `Effect.catchTag` in it would leave unknown errors.
   */
  export type ImplementedFor<O extends Options, Result> = unknown extends Result
    ? Effect.Effect<SuccessOf<O>["Type"], DeclaredErrorOf<O>, unknown>
    : ResultFor<O>

  /** The services that handlers with these results need. */
  export type ServicesOf<Results> = { readonly [K in keyof Results]: Effect.Services<Results[K]> }[keyof Results]

  /**
   * The type of options with mistakes that their own types can't show: names that are no option, and parameters that the
   * path does not have.
   */
  export type Checked<O extends Options, Known = Options> =
    & { readonly [K in Exclude<keyof O, keyof Known>]: `${K & string} is not an option` }
    & (O extends { readonly params: infer P }
      ? { readonly params: { readonly [K in Exclude<keyof FieldsOf<P>, PathParameters<O["path"]>>]: NotInPath<K> } }
      : unknown)

  /** The type of a handler that has no description. */
  export type Surplus<Name> = `${Name & string} is not described`

  /** The method that the options declare or imply. */
  export type MethodOf<O extends Options> = O extends { readonly method: infer M extends Method } ? M
    : O extends { readonly payload: Part } ? "POST"
    : "GET"

  /** The decoded form of a part: an instance of a model, or the value of fields or a schema. */
  export type TypeOf<P extends Part> = P extends Schema.Top ? P["Type"]
    : P extends Schema.Struct.Fields ? Schema.Struct.Type<P>
    : never

  /** The schema of what callers send for a part: its models in their `create` form. */
  export type SentOf<P extends Part> = P extends Raw.Request ? Raw.Bytes
    : P extends Schema.Top ? Model.Sent<P> & Schema.Top
    : P extends Schema.Struct.Fields ? Schema.Struct<Model.SentFields<P>>
    : never

  /** The fields of a part. */
  export type FieldsOf<P> = P extends Model.Any ? P["create"]["fields"]
    : P extends { readonly fields: infer F extends Schema.Struct.Fields } ? F
    : P extends Schema.Struct.Fields ? P
    : {}

  /** The decoded payload; `undefined` if there is none. */
  export type PayloadOf<O extends Options> = O extends { readonly payload: infer P extends Part } ? TypeOf<P>
    : undefined

  /** The schema of the payload; `never` if there is none, or if it is part of the query, as for a `DELETE`. */
  export type PayloadSchemaOf<O extends Options> = MethodOf<O> extends "DELETE" ? never
    : O extends { readonly payload: infer P extends Part } ? SentOf<P>
    : never

  /** The decoded parameters of the path. */
  export type ParamsOf<O extends Options> = O extends { readonly params: infer P extends Schema.Top } ? P["Type"]
    : { readonly [K in PathParameters<O["path"]>]: ParamFieldsOf<O>[K]["Type"] }

  /** The schemas of the parameters of the path. Those without one of their own are texts. */
  export type ParamFieldsOf<O extends Options> = {
    readonly [K in PathParameters<O["path"]>]: FieldsOf<O["params"]> extends
      { readonly [_ in K]: infer S extends Schema.Top } ? S
      : Schema.String
  }

  /** The schema of the query; `never` if there is none. */
  export type QueryOf<O extends Options> = MethodOf<O> extends "DELETE" ? DeleteQueryOf<O>
    : O extends { readonly query: infer P extends Part } ? SentOf<P>
    : never

  /** The schema of the result of a handler. */
  export type SuccessOf<O extends Options> = O extends { readonly success: infer P extends Part }
    ? P extends Schema.Top ? P : P extends Schema.Struct.Fields ? Schema.Struct<P> : never
    : Schema.Void

  /** The application's own errors. */
  export type ErrorOf<O extends Options> = O extends { readonly error: infer E } ? ClassOf<E>
    : never

  /**
   * The schema of the response: a model in its wire form, a list as a collection, any other object unchanged, and any
   * other value in an `OperationResult`, such as the `null` of a list that may be null.
   */
  export type AnswerOf<S extends Schema.Top> = S extends Raw.Response ? Raw.Bytes
    : S extends Model.Any ? Representation<S>
    : S extends ListSchema<infer Item> ? ListOf<Item>
    : S extends ObjectSchema ? S
    : S extends { readonly members: readonly [ListSchema<infer Item>, Schema.Null] }
      ? Schema.Union<readonly [ListOf<Item>, ResultOf<Schema.Null>]>
    : ResultOf<S>

  /** The response for a list of these. */
  export type ListOf<Item extends Schema.Top> = Collection<Item extends Model.Any ? Representation<Item> : Item>

  /** A schema of objects: a struct, a class, a record, or a union of these. */
  export type ObjectSchema = SingleObject | { readonly members: ReadonlyArray<SingleObject> }

  /** The response for a value that is no object. */
  export interface ResultOf<S extends Schema.Top>
    extends Schema.Struct<{ readonly _type: Schema.tag<"OperationResult">; readonly result: S }>
  {}

  /** The failures of a call. */
  export type FailureOf<O extends Options> =
    | (O extends { readonly error: infer E } ? ResponseOf<E> : never)
    | (typeof responses)[
      | "BadRequest"
      | "NotFound"
      | "NotAcceptable"
      | "Conflict"
      | "NotImplemented"
      | "ServiceUnavailable"
      | "InternalServerError"
      | (O extends { readonly payload: Part }
        ? MethodOf<O> extends "GET" | "DELETE" ? never : "PayloadTooLarge" | "UnsupportedMediaType"
        : never)
    ]

  /** The names of the parameters in a path, written as `:name` or `{name}`. */
  export type PathParameters<Path> = Path extends `${infer Segment}/${infer Rest}`
    ? PathParameter<Segment> | PathParameters<Rest>
    : PathParameter<Path>
}

/**
 * Any operation or action.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any {
  readonly name: string
  readonly options: Options
  readonly handler: (...args: never) => Effect.Effect<unknown, unknown, unknown>
}

/**
 * An operation or action without its handler.
 *
 * @category models
 * @since 0.1.0
 */
export interface Described {
  readonly name: string
  readonly options: Options
}

/**
 * Handlers by the names of their operations or actions.
 *
 * @category models
 * @since 0.1.0
 */
export type Handlers = ReadonlyMap<string, Any["handler"]>

/**
 * Makes an operation for `Service.operation`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const Name extends string,
  const O extends Options,
  Result extends Operation.ResultFor<O> = never
>(
  name: Name,
  options: O & Operation.Checked<O>,
  handler:
    & ((request: Request<O>) => Result)
    & Operation.FailsWith<Result, Operation.DeclaredErrorOf<O>>
    & Operation.WithoutUser<Result, O>
): Operation<Name, O, Effect.Services<Result> | Operation.PermissionServicesOf<O>> => // `FailsWith` has checked the errors of the handler.
({ name, options, handler: handler as never })

/**
 * The endpoint of an operation, for a typed client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Endpoint<Name extends string, O extends Options> extends
  HttpApiEndpoint.HttpApiEndpoint<
    Name,
    Operation.MethodOf<O>,
    `/${string}`,
    [Operation.PathParameters<O["path"]>] extends [never] ? never : Schema.Struct<Operation.ParamFieldsOf<O>>,
    Operation.QueryOf<O>,
    Operation.PayloadSchemaOf<O>,
    never,
    Operation.AnswerOf<Operation.SuccessOf<O>>,
    Operation.FailureOf<O>
  >
{
  readonly "~Anonymous"?: Operation.IsAnonymous<O>
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Undeclared<E> = unknown extends E
  ? "An effect is needed here, such as Effect.gen(function*() { … }): no promise, and no effect of unknown errors"
  : `${E extends { readonly _tag: infer Tag extends string } ? Tag
    : "An error"} is not declared: declare it in the option error`

type NoCurrentUser = "There may be no caller here: use CurrentUser.option in the place of CurrentUser"

type NotInPath<Name> = `${Name & string} is not in the path`

type DeleteQueryOf<O extends Options> =
  keyof (Operation.FieldsOf<O["payload"]> & Operation.FieldsOf<O["query"]>) extends never ? never
    : Schema.Struct<Operation.FieldsOf<O["payload"]> & Operation.FieldsOf<O["query"]>>

interface ListSchema<Item extends Schema.Top> {
  readonly ast: { readonly _tag: "Arrays" }
  readonly value: Item
}

type SingleObject =
  | { readonly fields: Schema.Struct.Fields }
  | { readonly ast: { readonly _tag: "Objects" } }

type PathParameter<Segment> = Segment extends `:${infer Name}` ? Name
  : Segment extends `{${infer Name}}` ? Name
  : never
