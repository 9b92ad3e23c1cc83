import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/**
 * The schema of an object whose fields are optional but for those that are kept; so are those of the models within it, but
 * for their `_type`. It is for what is read: nothing is written by it.
 *
 * @internal
 */
export const deepPartial = (
  schema: { readonly fields: Schema.Struct.Fields },
  kept: ReadonlyArray<string>
): Schema.Top =>
  Schema.Struct(
    Object.fromEntries(
      // Fields of a struct are schemas.
      Object.entries(schema.fields).map(([name, field]) => [
        name,
        kept.includes(name) ? field : Schema.optionalKey(partially(field as Schema.Top))
      ])
    )
  )

const partially = (schema: Schema.Top): Schema.Top => {
  const own = SchemaAST.isOptional(schema.ast) && "schema" in schema && Schema.isSchema(schema.schema)
    ? schema.schema
    : schema
  if ("value" in own && Schema.isSchema(own.value) && own.ast._tag === "Arrays") {
    return Schema.Array(partially(own.value))
  }
  return hasType(own) ? Schema.suspend(() => deepPartial(own, ["_type"])) : own
}

/** Whether it is a model as a caller sees it. */
const hasType = (schema: Schema.Top): schema is Schema.Top & { readonly fields: Schema.Struct.Fields } =>
  "fields" in schema && Object.hasOwn(Object(schema.fields), "_type")
