import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"

/**
 * Stands for a value that a schema does not accept, or of which only the schema's own parser knows.
 *
 * @internal
 */
export const invalid: unique symbol = Symbol("invalid")

/** @internal */
export type Decode = (input: unknown) => unknown

/**
 * Decodes valid JSON values without finding out what is wrong with others: who gets {@link invalid} asks the schema's own
 * parser for the reasons. What is valid as it is, is not copied, so the input must be the caller's own.
 *
 * @internal
 */
export const compileDecoder = (ast: SchemaAST.AST): Decode => {
  const decode = ast.encoding === undefined ? decoderOf(ast) : undefined
  if (decode === undefined) return parserOf(ast)
  const filters = filtersOf(ast.checks)
  if (filters.length === 0) return decode
  return (input) => {
    const value = decode(input)
    if (value === invalid) return invalid
    for (let i = 0; i < filters.length; i++) {
      if (filters[i]!.run(value, ast, options) !== undefined) return invalid
    }
    return value
  }
}

const options: SchemaAST.ParseOptions = {}

/** The values of a kind, regardless of what is checked besides; `undefined` for kinds that are left to the library. */
const decoderOf = (ast: SchemaAST.AST): Decode | undefined => {
  switch (ast._tag) {
    case "String":
      return (input) => typeof input === "string" ? input : invalid
    case "Number":
      return (input) => typeof input === "number" ? input : invalid
    case "Boolean":
      return (input) => typeof input === "boolean" ? input : invalid
    case "Null":
      return (input) => input === null ? null : invalid
    case "Literal":
      return (input) => input === ast.literal ? input : invalid
    case "Union":
      return ast.options?.mode !== "oneOf" ? unionOf(ast.types) : undefined
    case "Arrays":
      return ast.elements.length === 0 && ast.rest.length === 1 ? listOf(ast.rest[0]!) : undefined
    case "Objects":
      return ast.indexSignatures.length === 0 ? structOf(ast.propertySignatures) : undefined
    default:
      return undefined
  }
}

const unionOf = (types: ReadonlyArray<SchemaAST.AST>): Decode => {
  const members = types.map(compileDecoder)
  return (input) => {
    for (let i = 0; i < members.length; i++) {
      const value = members[i]!(input)
      if (value !== invalid) return value
    }
    return invalid
  }
}

const listOf = (type: SchemaAST.AST): Decode => {
  const decode = compileDecoder(type)
  return (input) => {
    if (!Array.isArray(input)) return invalid
    let output: Array<unknown> = input
    for (let i = 0; i < input.length; i++) {
      const value = decode(input[i])
      if (value === invalid) return invalid
      if (value === input[i]) continue
      if (output === input) output = input.slice()
      output[i] = value
    }
    return output
  }
}

const structOf = (signatures: ReadonlyArray<SchemaAST.PropertySignature>): Decode | undefined => {
  const fields: Array<{ readonly key: string; readonly isOptional: boolean; readonly decode: Decode }> = []
  for (const { name, type } of signatures) {
    // What every object inherits can't be told from what it has by looking at it.
    if (typeof name !== "string" || name in Object.prototype) return undefined
    fields.push({ key: name, isOptional: SchemaAST.isOptional(type), decode: compileDecoder(type) })
  }
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return invalid
    // Every property of an object may be asked for.
    const given = input as Values
    let output = given
    let present = 0
    for (let i = 0; i < fields.length; i++) {
      const { decode, isOptional, key } = fields[i]!
      const before = given[key]
      if (before === undefined) {
        if (isOptional && !Object.hasOwn(given, key)) continue
        return invalid
      }
      present++
      const value = decode(before)
      if (value === invalid) return invalid
      if (value === before) continue
      if (output === given) output = { ...given }
      output[key] = value
    }
    return Object.keys(given).length === present ? output : knownOf(output, fields)
  }
}

type Values = Record<string, unknown>

/** Without the properties that the schema does not name. */
const knownOf = (values: Values, fields: ReadonlyArray<{ readonly key: string }>): Values => {
  const known: Values = {}
  for (const { key } of fields) if (values[key] !== undefined) known[key] = values[key]
  return known
}

const parserOf = (ast: SchemaAST.AST): Decode => {
  SchemaJITCompiler.enable(ast)
  // Fields are plain codecs.
  const decode = SchemaParser.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(ast))
  return (input) => {
    const exit = decode(input)
    return exit._tag === "Success" ? exit.value : invalid
  }
}

const filtersOf = (checks: SchemaAST.Checks | undefined): ReadonlyArray<SchemaAST.Filter<unknown>> =>
  (checks ?? []).flatMap((check) => check._tag === "Filter" ? [check] : filtersOf(check.checks))
