/**
 * The JSON schema (draft-04) of what a caller sees of a model.
 *
 * @since 0.1.0
 */
import * as EffectJsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Model from "./Model.ts"

/**
 * A draft-04 document: `$schema`, `title`, `type`, `properties`, `required`, `additionalProperties`, and `definitions`
 * for nested models.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Whether properties that are not the model's are accepted. Defaults to true. */
  readonly additionalProperties?: boolean | undefined
}

/**
 * The schema of the model's wire form. Nested models stand under `definitions`; the type of a field that need not be
 * there also allows `null`; omitted fields are not part of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (model: Model.Any, options?: Options): JsonSchema => {
  const document = EffectJsonSchema.toDocumentDraft04(Schema.toJsonSchemaDocument(model.wire))
  const read: Reading = {
    additionalProperties: options?.additionalProperties ?? true,
    root: `#/definitions/${model.modelName}`
  }
  const definitions = mapValues(
    document.definitions,
    (definition, name) => isModel(definition, name) ? modelSchema(definition, read) : simplified(definition, read)
  )
  const { [model.modelName]: own, ...others } = definitions
  return {
    $schema: "http://json-schema.org/draft-04/schema#",
    title: model.modelName,
    ...own,
    ...(Object.keys(others).length === 0 ? {} : { definitions: others })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Reading {
  readonly additionalProperties: boolean
  /** How the document refers to what becomes its root. */
  readonly root: string
}

const isSchema = (u: unknown): u is JsonSchema => Predicate.isObject(u)

const schemasIn = (u: unknown): ReadonlyArray<JsonSchema> => Array.isArray(u) ? u.filter(isSchema) : []

const mapValues = (all: unknown, f: (value: JsonSchema, name: string) => JsonSchema) =>
  Object.fromEntries(
    Object.entries(isSchema(all) ? all : {}).map(([name, value]) => [name, f(isSchema(value) ? value : {}, name)])
  )

const isModel = ({ properties }: JsonSchema, name: string): boolean => {
  const tag = isSchema(properties) && isSchema(properties["_type"]) ? properties["_type"]["enum"] : undefined
  return Array.isArray(tag) && tag.includes(name)
}

const modelSchema = (schema: JsonSchema, read: Reading): JsonSchema => {
  const { additionalProperties, properties, required, type, ...rest } = simplified(schema, read)
  const names: ReadonlyArray<unknown> = Array.isArray(required) ? required : []
  // `_type` names the model, it is none of its fields.
  const fields = names.filter((name) => name !== "_type")
  return {
    type,
    properties: mapValues(properties, (property, name) => names.includes(name) ? property : nullable(property)),
    ...(fields.length === 0 ? {} : { required: fields }),
    additionalProperties,
    ...rest
  }
}

/** The same in fewer words, at every depth. */
const simplified = (schema: JsonSchema, read: Reading): JsonSchema => {
  if (schema["$ref"] === read.root) return { $ref: "#" }
  const { allOf, anyOf, items, properties, ...rest } = schema
  const inner = (part: JsonSchema) => simplified(part, read)
  const own = {
    ...rest,
    ...(items === undefined ? {} : { items: isSchema(items) ? inner(items) : items }),
    ...(properties === undefined
      ? {}
      : { properties: mapValues(properties, inner), additionalProperties: read.additionalProperties })
  }
  return withAlternatives(withConstraints(own, schemasIn(allOf).map(inner)), schemasIn(anyOf).map(inner))
}

/** Constraints of different keywords all hold when they stand side by side. */
const withConstraints = (schema: JsonSchema, constraints: ReadonlyArray<JsonSchema>): JsonSchema => {
  const keywords = [schema, ...constraints].flatMap(Object.keys)
  if (new Set(keywords).size === keywords.length) return Object.assign({}, schema, ...constraints)
  return { ...schema, allOf: constraints }
}

const withAlternatives = (schema: JsonSchema, alternatives: ReadonlyArray<JsonSchema>): JsonSchema => {
  if (alternatives.length === 0) return schema
  const others = alternatives.filter((one) => one["type"] !== "null")
  const type = others[0]?.["type"]
  const values = others.flatMap((other) =>
    other["type"] === type && Array.isArray(other["enum"]) ? [other["enum"]] : []
  )
  const one = others.length === 1
    ? others[0]
    : values.length === others.length
    ? { type, enum: values.flat() }
    : undefined
  const merged = one === undefined || "type" in schema ? { ...schema, anyOf: others } : { ...schema, ...one }
  return others.length === alternatives.length ? merged : nullable(merged)
}

const nullable = (schema: JsonSchema): JsonSchema => {
  const { anyOf, enum: values, type } = schema
  if (typeof type === "string") {
    return { ...schema, type: [type, "null"], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
  }
  if (Array.isArray(type) && type.includes("null")) return schema
  const alternatives = schemasIn(anyOf)
  if (alternatives.some((one) => one["type"] === "null")) return schema
  return { anyOf: [...(alternatives.length === 0 ? [schema] : alternatives), { type: "null" }] }
}
