/** Errors in responses: the error's class in the program, an `ErrorMessage` in the body. */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** The members of a body besides `_type`. */
export type ErrorMembers = Schema.Struct.Fields

/** Members that the class of an error lacks, with their values. */
interface Fixed {
  readonly [member: string]: unknown
}

export const bodySchemaOf = (members: ErrorMembers) => Schema.Struct({ _type: Schema.tag("ErrorMessage"), ...members })

export const errorBodyOf = (error: unknown, members: ErrorMembers, fixed: Fixed = {}): Fixed => ({
  _type: "ErrorMessage",
  ...fixed,
  ...Object.fromEntries(
    Object.keys(members).filter((key) => Object.hasOwn(Object(error), key))
      .map((key) => [key, Reflect.get(Object(error), key)])
  )
})

/** The schema of the response. `members` are the fields of the class, and the fixed ones. */
export const errorResponse = <E extends Schema.Top, Body>(
  error: E,
  members: ErrorMembers,
  fixed?: Fixed
): Schema.Codec<E["Type"], Body> => {
  // An error is constructed from its fields.
  const make = error as unknown as new(fields: unknown) => E["Type"]
  const response = bodySchemaOf(members).pipe(
    Schema.decodeTo(Schema.toType(error), {
      decode: SchemaGetter.transform((body) => new make(body)),
      encode: SchemaGetter.transform((value) => errorBodyOf(value, members, fixed) as never) // the same members
    })
  )
  // The caller's type says what the members are.
  return response as never
}
