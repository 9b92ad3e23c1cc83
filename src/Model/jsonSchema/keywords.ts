/** The JSON schema of a single syntax node: enumerations, checks, annotations, and what draft-04 lacks. */
import * as EffectJsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { asUnicode } from "../shape/unicodePattern.ts"

export type JsonSchema = EffectJsonSchema.JsonSchema

/** The encoded end of a schema's transformations. */
export const encodedEnd = (ast: SchemaAST.AST): SchemaAST.AST =>
  ast.encoding === undefined ? ast : encodedEnd(ast.encoding.at(-1)!.to)

/** The values of an enumeration; `undefined` with other values, or a member with an identifier. */
export const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.LiteralValue | null> | undefined => {
  switch (ast._tag) {
    case "Null":
      return [null]
    case "Literal":
      return [ast.literal]
    case "Enum":
      return ast.enums.map(([, value]) => value)
    case "Union": {
      const members = ast.types.map((type) =>
        type.encoding !== undefined || SchemaAST.resolveIdentifier(type) !== undefined ? undefined : literalsOf(type)
      )
      return members.every((member) => member !== undefined) ? members.flat() : undefined
    }
    default:
      return undefined
  }
}

/** The schema of an enumeration. */
export const enumeration = (
  values: ReadonlyArray<SchemaAST.LiteralValue | null>,
  ast: SchemaAST.AST
): JsonSchema => {
  const all = [...new Set(values)].map((value) => typeof value === "bigint" ? String(value) : value)
  if (all.length === 0) return { not: {} }
  const types = [...new Set(all.map((value) => value === null ? "null" : typeof value))]
  return constrained({ type: types.length === 1 ? types[0] : types, enum: all }, ast)
}

/** The schema that accepts what any of the schemas accepts. */
export const alternatives = (schemas: ReadonlyArray<JsonSchema>): JsonSchema => {
  const all = schemas.flatMap((one) =>
    Array.isArray(one["anyOf"]) && Object.keys(one).length === 1 ? one["anyOf"].filter(isSchema) : [one]
  )
  if (all.length === 0) return { not: {} }
  if (all.some((one) => Object.keys(one).length === 0)) return {}
  const others = all.filter((one) => one["type"] !== "null")
  if (others.length === 0) return { type: "null" }
  const union = others.length === 1 ? others[0]! : { anyOf: others }
  return others.length === all.length ? union : nullable(union)
}

/** The schema that also accepts `null`. */
export const nullable = (schema: JsonSchema): JsonSchema => {
  if (Object.keys(schema).length === 0) return schema
  const { anyOf, enum: values, type } = schema
  if ("type" in schema && !["allOf", "anyOf", "not"].some((keyword) => keyword in schema)) {
    const types = [type].flat()
    return types.includes("null") ? schema : {
      ...schema,
      type: [...types, "null"],
      ...(Array.isArray(values) ? { enum: [...values, null] } : {})
    }
  }
  const union = Array.isArray(anyOf) && Object.keys(schema).length === 1 ? anyOf.filter(isSchema) : [schema]
  return union.some((one) => [one["type"]].flat().includes("null")) ? schema : { anyOf: [...union, { type: "null" }] }
}

/** Adds a node's annotations and checks to its schema. A check that draft-04 can't express is omitted. */
export const constrained = (
  schema: JsonSchema,
  { annotations, checks: ownChecks }: Pick<SchemaAST.AST, "annotations" | "checks">
): JsonSchema => {
  const { type: kind } = schema
  const checks = (ownChecks ?? []).map(withUnicode)
  const inDraft04 = schemasIn(checks.map((one) => draft04Of(one, kind)))
  const [check, ...others] = checks.filter((one) =>
    draft04Of(one, kind) === undefined && Result.isSuccess(keywordsOf(kind, annotations, [one]))
  )
  const constraints = keywordsOf(kind, annotations, check === undefined ? undefined : [check, ...others])
  const { allOf, type, ...keywords } = Result.getOrElse(constraints, (): JsonSchema => ({}))
  const base = type === "integer" ? { ...schema, type } : schema
  return [keywords, ...schemasIn(allOf), ...inDraft04].reduce(intersection, base)
}

/** Effect omits patterns without the flag `u`. Patterns that match the same texts with it are added here. */
const withUnicode = (check: SchemaAST.Checks[number]): SchemaAST.Checks[number] => {
  const { representation, toJsonSchema } = check.annotations ?? {}
  if (
    !isPattern(representation) || !Predicate.isFunction(toJsonSchema) ||
    isSchema(toJsonSchema({ type: "string", schemas: [] }))
  ) return check
  const { flags, source } = representation.payload
  const { flags: known, source: pattern } = asUnicode(new RegExp(source, flags))
  return known === flags ? check : check.annotate({ toJsonSchema: () => ({ pattern }) })
}

const isPattern = (u: unknown): u is { readonly payload: { readonly source: string; readonly flags: string } } =>
  Predicate.hasProperty(u, "id") && u.id === "effect/schema/isPattern"

/** A check's keywords, if draft-04 defines them differently from the later drafts that Effect writes. */
const draft04Of = ({ annotations }: SchemaAST.Check<never>, type: unknown): JsonSchema | undefined => {
  const toJsonSchema: unknown = annotations?.["toJsonSchema"]
  const constraints: unknown = Predicate.isFunction(toJsonSchema) ? toJsonSchema({ type, schemas: [] }) : undefined
  if (!isSchema(constraints)) return undefined
  const isDraft04Only = constraints["exclusiveMinimum"] === true || constraints["exclusiveMaximum"] === true ||
    "additionalItems" in constraints || "dependencies" in constraints
  return isDraft04Only ? constraints : undefined
}

/** Combines two schemas: in one object if no keyword changes the meaning of another, otherwise in `allOf`. */
const intersection = (schema: JsonSchema, more: JsonSchema): JsonSchema =>
  Object.keys(more).every((keyword) => independent.has(keyword) && !(keyword in schema))
    ? { ...schema, ...more }
    : { ...schema, allOf: [...schemasIn(schema["allOf"]), more] }

// The last group is unknown to draft-04, and is removed in the end.
const independent = new Set([
  "title description default format pattern minLength maxLength multipleOf".split(" "),
  "minimum exclusiveMinimum maximum exclusiveMaximum".split(" "),
  "minItems maxItems uniqueItems minProperties maxProperties".split(" "),
  "examples readOnly writeOnly contentEncoding contentMediaType contentSchema".split(" ")
].flat())

/** Effect's own schema for a node without children. Fails if draft-04 can't express it. */
export const effectSchemaOf = (ast: SchemaAST.AST): Result.Result<JsonSchema, unknown> =>
  Result.flatMap(
    Result.try(() => EffectJsonSchema.toDocumentDraft04(Schema.toJsonSchemaDocument(Schema.make(ast)))),
    ({ definitions, schema }) => {
      const names = Object.keys(definitions)
      if (names.length === 0) return Result.succeed(schema)
      // A named node is defined under its name. Any further definition belongs to a check and would be lost.
      return names.length === 1 && "$ref" in schema ? Result.succeed(definitions[names[0]!]!) : Result.fail(names)
    }
  )

/** The keys of a record: all of them, those that match one of the patterns, or an unknown subset. */
export const recordKeys = (
  parameter: SchemaAST.IndexSignature["parameter"]
): "any" | "some" | ReadonlyArray<string> => {
  const [check, ...others] = (parameter.checks ?? []).map(withUnicode)
  const known = check === undefined || parameter._tag !== "String"
    ? parameter
    : new SchemaAST.String(parameter.annotations, [check, ...others])
  const record = new SchemaAST.Objects([], [new SchemaAST.IndexSignature(known, SchemaAST.any)])
  const { schema } = Schema.toJsonSchemaDocument(Schema.make(record), { onExcessProperty: "error" })
  if (isSchema(schema["patternProperties"])) return Object.keys(schema["patternProperties"])
  return "propertyNames" in schema ? "some" : "any"
}

export const isSchema = (u: unknown): u is JsonSchema => Predicate.isObject(u)

export const schemasIn = (u: unknown): ReadonlyArray<JsonSchema> => Array.isArray(u) ? u.filter(isSchema) : []

/** The keywords that annotations and checks add for a type. */
const keywordsOf = (
  kind: unknown,
  annotations: SchemaAST.AST["annotations"],
  checks: SchemaAST.Checks | undefined
): Result.Result<JsonSchema, unknown> =>
  Result.map(effectSchemaOf(nodeOf(kind, annotations, checks)), (schema) => {
    const { items: _, type, ...constraints } = schema
    return kind === "number" && type === "integer" ? { ...constraints, type } : constraints
  })

const nodeOf = (
  kind: unknown,
  annotations: SchemaAST.AST["annotations"],
  checks: SchemaAST.Checks | undefined
): SchemaAST.AST => {
  switch (kind) {
    case "string":
      return new SchemaAST.String(annotations, checks)
    case "number":
      // JSON Schema describes only finite numbers as `number` and keeps their other checks.
      return new SchemaAST.Number(annotations, [Schema.isFinite(), ...(checks ?? [])])
    case "boolean":
      return new SchemaAST.Boolean(annotations, checks)
    case "array":
      return new SchemaAST.Arrays(false, [], [SchemaAST.any], annotations, checks)
    case "object": {
      const anything = new SchemaAST.IndexSignature(SchemaAST.string, SchemaAST.any)
      return new SchemaAST.Objects([], [anything], annotations, checks)
    }
    default:
      return new SchemaAST.Any(annotations, checks)
  }
}
