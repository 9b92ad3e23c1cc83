/** Effect's JSON codecs, with what they lack. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { mapParts, withParts } from "../shape/nodes.ts"

/** The JSON codec of a schema. Effect's own refuses that an optional key is missing if its values become JSON in two steps. */
export const jsonCodec = <S extends Schema.Constraint>(schema: S): Schema.toCodecJson<S> =>
  // It differs in optional keys only, each of which is optional at the end already.
  Schema.make<Schema.Top>(withOptionalSteps(Schema.toCodecJson(schema).ast)) as unknown as Schema.toCodecJson<S>

// internal

// A recursive schema has one form.
const withOptionalSteps: (ast: SchemaAST.AST) => SchemaAST.AST = memoize((ast: SchemaAST.AST): SchemaAST.AST => {
  const own = mapParts(ast, withOptionalSteps)
  const optional = own.context?.isOptional === true ? Schema.optionalKey(Schema.make<Schema.Top>(own)).ast : own
  if (optional.encoding === undefined) return optional
  const encoding = optional.encoding.map((link) => {
    const to = withOptionalSteps(link.to)
    return to === link.to ? link : new SchemaAST.Link(to, link.transformation)
  })
  return withParts(optional, { encoding })
})
