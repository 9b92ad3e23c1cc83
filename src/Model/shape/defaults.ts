/** Fields whose missing value comes from a generator or a default. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaCompiler from "effect/schema/SchemaCompiler"
import * as SchemaAST from "effect/SchemaAST"
import type { FieldAttributes } from "./annotations.ts"
import { type AnyField, attributesOf, evolve, type FieldInput } from "./fields.ts"

/** The field with a generator, which supplies a missing value. */
export const supplied = (
  self: FieldInput,
  generator: Effect.Effect<unknown>,
  attributes: FieldAttributes
): AnyField =>
  evolve(self, {
    store: (schema) => erased(schema).pipe(Schema.withConstructorDefault(Effect.map(generator, orMissing))),
    create: sendable,
    patch: nullable
  }, { ...attributes, generator })

/** The field with a default, which applies to new instances and to stored documents. */
export const defaulted = (self: FieldInput, value: () => unknown): AnyField =>
  evolve(readAs(self, value), {
    store: (schema) =>
      erased(schema).pipe(Schema.withConstructorDefault(attributesOf(self).generator ?? Effect.sync(value))),
    create: sendable,
    patch: nullable
  }, { default: value })

/** The field with a value as which stored documents without it are read. */
export const readAs = (self: FieldInput, value: () => unknown): AnyField =>
  evolve(self, {
    store: (schema) => erased(schema).pipe(Schema.withDecodingDefaultTypeKey(Effect.sync(value)))
  }, { absent: value })

/** The schema of a field that callers may leave out or send as `null`. */
const sendable = (schema: Schema.Top): Schema.Top => {
  const inner = "schema" in schema ? schema.schema : undefined
  return Schema.optionalKey(
    nullable(SchemaAST.isOptional(schema.ast) && Schema.isSchema(inner) ? inner : schema)
  )
}

const nullable = (schema: Schema.Top): Schema.Top => {
  const { ast } = schema
  return ast._tag === "Union" && ast.types.some(({ _tag }) => _tag === "Null") ? schema : Schema.NullOr(schema)
}

/** A constructor's marker for a missing value. */
const orMissing = (value: unknown): unknown => value === undefined ? SchemaCompiler.missing : value

type Erased = Schema.Codec<unknown> & Schema.WithoutConstructorDefault

// The value has the field's type, which `Schema.Top` does not carry.
const erased = (schema: Schema.Top): Erased => schema as unknown as Erased
