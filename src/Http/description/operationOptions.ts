/**
 * The options of an operation or an action. `Operation` exports them.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type * as Permission from "../../Access/Permission.ts"
import type { OwnErrors } from "./ownErrors.ts"
import type { Method } from "./standardEndpoints.ts"

/**
 * A part of a request or a response: a model, the fields of an object, or any other schema.
 *
 * @category models
 * @since 0.1.0
 */
export type Part = Schema.Top | Schema.Struct.Fields

/**
 * A part of a request whose members have names: a model, fields, or a schema of an object.
 *
 * @category models
 * @since 0.1.0
 */
export type Members = Schema.Struct.Fields | Schema.Top & { readonly fields: Schema.Struct.Fields }

/**
 * The options of an operation. Missing ones are derived: the method is `POST` with a payload and `GET` without one, and
 * the path is `./` followed by the operation's name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly method?: Method | undefined
  /**
   * `./x` or `x` is below the service's own segment, `./` is the segment itself, and `/x` is below the `urlBase`.
   * Parameters are written as `:user_id` or `{user_id}`; each is a segment, and its name has letters, digits and `_`. An action's
   * path is below the identifier of the document.
   */
  readonly path?: string | undefined
  /**
   * What callers send. Of a model they send the `create` form, and handlers get an instance. The payload of a `GET` or a
   * `DELETE` is in the query, so it has named members.
   */
  readonly payload?: Part | undefined
  /**
   * Whether callers may also send the payload as a form, `application/x-www-form-urlencoded`. Its members are read as
   * parameters of a query are, and empty ones are as if they were missing. Defaults to false: a browser sends a form of any
   * site without asking this one.
   */
  readonly form?: boolean | undefined
  /** The parameters of the path. Those without a schema are texts. */
  readonly params?: Members | undefined
  /** The parameters of the query. */
  readonly query?: Members | undefined
  /**
   * The result. A model is sent in its wire form, a list as a collection, any other object unchanged, and any other
   * value in an `OperationResult`. Defaults to no result; its `result` is `null`.
   */
  readonly success?: Part | undefined
  /**
   * `none` if an `Idempotency-Key` is ignored here, whatever the registration says: for what has to happen each time, or whose answer
   * may be kept nowhere, such as a sign-in.
   */
  readonly idempotencyKeys?: "none" | undefined
  /** The status of the response: 201 for created, 202 for accepted, or 200, the default. */
  readonly status?: 200 | 201 | 202 | undefined
  /**
   * The `Location` of the response (RFC 9110, section 10.2.2), with fields of the result in braces:
   * `/api/v1/jobs/{id}`. For a result that is no object, `{result}` is the result itself. Where a segment would be `.` or `..`,
   * which clients resolve to another path, the response has none.
   */
  readonly location?: string | undefined
  /**
   * The application's own errors that the operation may fail with, one class or several, and the statuses of failed calls to
   * other services that are passed on to callers: see `UpstreamError.of`.
   */
  readonly error?: OwnErrors | undefined
  /**
   * The member `error` of the 400 to a request that can't be read, beside its problems: `invalid_request`, as OAuth 2 says. It is the
   * tag of one of the own errors, which clients get then, and whose fields are optional. Defaults to none.
   */
  readonly badRequest?: string | undefined
  /**
   * Whether callers without credentials may call it, if the rules of the implementation admit them. The handler then has
   * no `CurrentUser`, but `CurrentUser.option`. Defaults to whether `require` admits them.
   */
  readonly anonymous?: boolean | undefined
  /**
   * Who may call it, with security enabled: a permission, or alternatives. Defaults to the rules of the resource or the
   * service. It is part of the implementation, so it has no place in a description.
   */
  readonly require?: Permission.OneOrMore | undefined
  /** One line for the documentation. */
  readonly summary?: string | undefined
  /** Markdown for the documentation. */
  readonly description?: string | undefined
  /** The tags in the documentation, after those of the registration. */
  readonly tags?: ReadonlyArray<string> | undefined
  /** Marks the operation as deprecated in the documentation. Its behaviour does not change. */
  readonly deprecated?: boolean | undefined
}
