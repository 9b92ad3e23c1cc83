/**
 * The application's own errors, declared once with their status, and identified by their class in the service and in
 * clients.
 *
 * In a response such an error is an `ErrorMessage` whose `error` is its tag, which distinguishes errors of the same
 * status.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { bodySchemaOf, errorBodyOf, type ErrorMembers, errorResponse } from "../internal/errorMessage.ts"
import { assertSeparable } from "../Model/internal.ts"

/** Marks the classes of service errors. */
export const serviceErrorTypeId = "~appkernel/ServiceError"

interface Declaration {
  readonly tag: string
  readonly status: number
  readonly fields: Schema.Struct.Fields
}

/**
 * Types of {@link ServiceError}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace ServiceError {
  /** The statuses of RFC 9110, section 15, and RFC 6585 for requests that were not performed. */
  export type Status = (typeof statuses)[number]

  /** The members that every error has in a response. No field may have one of these names. */
  export type Reserved = (typeof reserved)[number]

  /** Any class that {@link ServiceError} makes. */
  export interface Any extends Schema.Top {
    readonly [serviceErrorTypeId]: Declaration
  }

  /** The class of one error. */
  export interface Class<Self, Tag extends string, Fields extends Schema.Struct.Fields> extends
    Schema.Class<
      Self,
      Schema.TaggedStruct<Tag, { readonly message: Schema.withConstructorDefault<Schema.String> } & Fields>,
      Cause.YieldableError
    >
  {
    readonly [serviceErrorTypeId]: Declaration
  }

  /** The schema of the error's response: the error's class in the program, an `ErrorMessage` in the body. */
  export interface Response<E extends Any> extends
    Schema.Codec<
      E["Type"],
      {
        readonly _type: "ErrorMessage"
        readonly code: number
        readonly message: string
        readonly error: string
      }
    >
  {}
}

// dprint-ignore
const statuses = [
  400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425,
  426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 507, 508
] as const

const reserved = ["_tag", "_type", "code", "error", "errors", "message"] as const

/**
 * Declares an error of the application. `status` is the status of the response, `message` the default message of its
 * instances, and `fields` further data, in the program and in the response. Dies if a field has a reserved name such as
 * `code`.
 *
 * **Example** (A wrong password)
 *
 * ```ts
 * import { ServiceError } from "appkernel"
 *
 * class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", {
 *   status: 403,
 *   message: "The current password is wrong"
 * }) {}
 *
 * new WrongPassword().message // => "The current password is wrong"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const ServiceError =
  <Self = never>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields = {}>(
    tag: Tag,
    options: {
      readonly status: ServiceError.Status
      readonly message?: string | undefined
      readonly fields?: Fields & { readonly [K in ServiceError.Reserved]?: never } | undefined
    }
  ): ServiceError.Class<Self, Tag, Fields> => {
    const fields: Schema.Struct.Fields = options.fields ?? {}
    for (const [field, schema] of Object.entries(fields)) {
      if (isReserved(field)) {
        Effect.runSync(Effect.die(new Error(`${tag}.${field} has a name that every error has on the wire`)))
      }
      // Every struct field is a schema. A nested model would be shown in its stored form with its omitted fields.
      assertSeparable(tag, field, schema as Schema.Top, { suspended: false })
    }
    const message = Schema.String.pipe(
      Schema.withConstructorDefault(Effect.succeed(options.message ?? sentenceOf(tag)))
    )
    class Declared extends Schema.TaggedError<Declared>()(tag, { message, ...fields }) {}
    const value: Declaration = { tag, status: options.status, fields }
    Object.defineProperty(Declared, serviceErrorTypeId, { value })
    Object.defineProperty(Declared.prototype, serviceErrorTypeId, { value })
    // The class has the declared fields, which its own type can't express.
    return Declared as never
  }

/** @internal */
export interface Instance {
  readonly [serviceErrorTypeId]: Declaration
  readonly _tag: string
  readonly message: string
}

/** @internal */
export const isServiceError = (u: unknown): u is Instance =>
  typeof u === "object" && u !== null && serviceErrorTypeId in u

/** The schema of an error's response, as endpoints declare it. @internal */
export const responseOf = <E extends ServiceError.Any>(error: E): ServiceError.Response<E> => {
  const declaration = error[serviceErrorTypeId]
  return errorResponse<E, ServiceError.Response<E>["Encoded"]>(error, membersOf(declaration), fixedOf(declaration))
    .pipe(HttpApiSchema.status(declaration.status))
}

/**
 * The JSON text of an error as a body with the given message. Dies if the fields do not match the declaration.
 *
 * @internal
 */
export const textOf = (error: Instance, message: string): Effect.Effect<string> => {
  const declaration = error[serviceErrorTypeId]
  const body = { ...errorBodyOf(error, membersOf(declaration), fixedOf(declaration)), message }
  return Effect.orDie(Effect.map(encoderOf(declaration)(body), (body) => JSON.stringify(body)))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isReserved = (field: string): boolean => reserved.some((name) => name === field)

const membersOf = memoize(({ fields, status, tag }: Declaration): ErrorMembers => ({
  code: Schema.Literal(status),
  message: Schema.String,
  error: Schema.tag(tag),
  ...fields
}))

const fixedOf = ({ status, tag }: Declaration) => ({ code: status, error: tag })

type Encoder = (body: unknown) => Effect.Effect<unknown, Schema.SchemaError>

const encoderOf = memoize((declaration: Declaration): Encoder =>
  // Fields need no services.
  Schema.encodeUnknownEffect(
    Schema.toCodecJson(bodySchemaOf(membersOf(declaration)) as unknown as Schema.Codec<unknown>)
  )
)

/** `WrongPassword` as a phrase: `Wrong password`. */
const sentenceOf = (tag: string): string => tag.replace(/(?<=[^A-Z])[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)
