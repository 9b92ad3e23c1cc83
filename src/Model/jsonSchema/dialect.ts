import { isSchema, type JsonSchema, schemasIn } from "./node.ts"
import { toPcre } from "./pattern.ts"

/**
 * The schema with draft-04 keywords only, since strict validators reject unknown keywords.
 *
 * @internal
 */
export const toDraft04 = (schema: JsonSchema): JsonSchema =>
  mapSubschemas(pickKeywords(schema, (keyword) => common.has(keyword) || draft04.has(keyword)), toDraft04)

/**
 * The schema in the dialect of MongoDB's `$jsonSchema`: its keywords, BSON types and PCRE patterns.
 *
 * @internal
 */
export const toMongo = (schema: JsonSchema): JsonSchema => {
  const { pattern, patternProperties, type, ...rest } = pickKeywords(schema, (keyword) => common.has(keyword))
  const { additionalProperties, allOf, ...parts } = mapSubschemas(rest, toMongo)
  const types = type === undefined ? undefined : [...new Set([type].flat().flatMap(bsonTypes))]
  const isInteger = [type].flat().includes("integer")
  const { multipleOf } = parts
  const all = schemasIn(allOf).filter((one) => Object.keys(one).length > 0)
  const text = typeof pattern === "string" ? toPcre(pattern) : undefined
  const patterns = Object.entries(isSchema(patternProperties) ? patternProperties : {}).map(([key, value]) =>
    [toPcre(key), isSchema(value) ? toMongo(value) : {}] as const
  )
  const translatedPatterns = patterns.flatMap(([key, value]) => key === undefined ? [] : [[key, value] as const])
  if (isInteger && multipleOf !== undefined) all.push({ multipleOf })
  return {
    ...(types === undefined ? {} : { bsonType: types.length === 1 ? types[0] : types }),
    ...parts,
    ...(isInteger ? { multipleOf: 1 } : {}),
    ...(text === undefined ? {} : { pattern: text }),
    ...(translatedPatterns.length === 0 ? {} : { patternProperties: Object.fromEntries(translatedPatterns) }),
    // Without one of the patterns, `additionalProperties` would reject the keys that match it.
    ...(additionalProperties === undefined || translatedPatterns.length < patterns.length
      ? {}
      : { additionalProperties }),
    ...(all.length === 0 ? {} : { allOf: all })
  }
}

const common = new Set([
  "title description type enum allOf anyOf oneOf not dependencies".split(" "),
  "multipleOf minimum exclusiveMinimum maximum exclusiveMaximum minLength maxLength pattern".split(" "),
  "items additionalItems minItems maxItems uniqueItems".split(" "),
  "properties patternProperties additionalProperties required minProperties maxProperties".split(" ")
].flat())

const draft04 = new Set(["$schema", "$ref", "definitions", "format", "default"])

/** The driver stores a JavaScript number as an int if it fits, otherwise as a double. Other programs store longs. */
const bsonTypes = (type: unknown): ReadonlyArray<unknown> =>
  type === "integer" ? ["int", "long", "double"] : [type === "boolean" ? "bool" : type]

const pickKeywords = (schema: JsonSchema, isKnown: (keyword: string) => boolean): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKnown(keyword)))

/** Replaces each direct subschema. */
const mapSubschemas = (schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (schemaMapKeywords.has(keyword) && isSchema(value)) {
        const parts = Object.entries(value).map(([key, part]) => [key, isSchema(part) ? change(part) : part])
        return [keyword, Object.fromEntries(parts)]
      }
      if (!schemaKeywords.has(keyword)) return [keyword, value]
      return [keyword, Array.isArray(value) ? schemasIn(value).map(change) : isSchema(value) ? change(value) : value]
    })
  )

const schemaMapKeywords = new Set(["properties", "patternProperties", "definitions", "dependencies"])

const schemaKeywords = new Set(["items", "additionalItems", "additionalProperties", "allOf", "anyOf", "oneOf", "not"])
