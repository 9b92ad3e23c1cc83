import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/**
 * The schema of an object with optional fields, except those in `kept`. Nested models are treated alike and keep their
 * `_type`. It is for decoding only.
 *
 * @internal
 */
export const deepPartial = (
  schema: { readonly fields: Schema.Struct.Fields },
  kept: ReadonlyArray<string>
): Schema.Top =>
  Schema.Struct(
    Object.fromEntries(
      // Every struct field is a schema.
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

/** Whether the schema is the wire form of a model. */
const hasType = (schema: Schema.Top): schema is Schema.Top & { readonly fields: Schema.Struct.Fields } =>
  "fields" in schema && Object.hasOwn(Object(schema.fields), "_type")
