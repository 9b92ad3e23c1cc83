/** Effect's JSON codecs, with what they lack: days that there are not, as 30 February, become other days there. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { mapParts, withParts } from "../shape/nodes.ts"
import { isMomentText } from "./dateTexts.ts"

/**
 * The JSON codec of a schema. Effect's own refuses that an optional key is missing if its values become JSON in two steps, and takes
 * every text for a date that JavaScript does.
 */
export const jsonCodec = <S extends Schema.Constraint>(schema: S): Schema.toCodecJson<S> =>
  // It differs in optional keys, each of which is optional at the end already, and in the texts that are rejected.
  Schema.make<Schema.Top>(amended(Schema.toCodecJson(schema).ast)) as unknown as Schema.toCodecJson<S>

// internal

// A recursive schema has one form.
const amended: (ast: SchemaAST.AST) => SchemaAST.AST = memoize((ast: SchemaAST.AST): SchemaAST.AST => {
  const own = mapParts(ast, amended)
  const optional = own.context?.isOptional === true ? Schema.optionalKey(Schema.make<Schema.Top>(own)).ast : own
  if (optional.encoding === undefined) return optional
  const encoding = optional.encoding.map((link) => {
    const to = momentsFromText.has(link.transformation) ? ofMoments(link.to) : amended(link.to)
    return to === link.to ? link : new SchemaAST.Link(to, link.transformation)
  })
  return withParts(optional, { encoding })
})

const fromText = (schema: Schema.Top) => Schema.toCodecJson(schema).ast.encoding?.at(-1)?.transformation

/** How Effect makes moments of texts. */
const momentsFromText: ReadonlySet<unknown> = new Set(
  [Schema.Date, Schema.DateFromString, Schema.DateTimeUtc, Schema.DateTimeUtcFromString].map(fromText)
)

const ofMoments = memoize((text: SchemaAST.AST): SchemaAST.AST =>
  Schema.make<Schema.Codec<string>>(text).check(
    Schema.makeFilter(isMomentText, { expected: "an ISO 8601 date-time of a day that there is" })
  ).ast
)
