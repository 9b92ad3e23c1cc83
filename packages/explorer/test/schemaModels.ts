/** Models of JSON schemas that others wrote, as far as forms know their types, each with a document that fits it. */
import { Schema } from "effect"
import { Model, Validator } from "../../../src/index.ts"

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

interface Typed {
  readonly type: Schema.Top
  readonly example: unknown
}

interface Place {
  readonly root: JsonSchema
  /** The name of a model at this place. */
  readonly name: string
  readonly depth: number
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const objectOf = (value: unknown): JsonSchema => isObject(value) ? value : {}

const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const numberIn = (schema: JsonSchema, keyword: string): number | undefined => {
  const value = schema[keyword]
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined
}

/** Follows references within the schema, and joins what has to hold at the same time. */
const resolved = (schema: unknown, root: JsonSchema, depth = 0): JsonSchema => {
  const { $ref: reference, allOf, ...own } = objectOf(schema)
  if (depth > 20) return {}
  if (typeof reference === "string") {
    if (!reference.startsWith("#/")) return own
    let target: unknown = root
    for (const name of reference.slice(2).split("/")) {
      target = objectOf(target)[decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")]
    }
    return { ...resolved(target, root, depth + 1), ...own }
  }
  if (allOf === undefined) return own
  const parts = [...listOf(allOf).map((one) => resolved(one, root, depth + 1)), own]
  return {
    ...Object.fromEntries(parts.flatMap((part) => Object.entries(part))),
    properties: Object.fromEntries(parts.flatMap((part) => Object.entries(objectOf(part["properties"])))),
    required: parts.flatMap((part) => listOf(part["required"]))
  }
}

const anything: Typed = { type: Schema.Json, example: { any: [1, "two", null] } }

const nullable = ({ example, type }: Typed): Typed => ({ type: Schema.NullOr(type), example })

/** The type of a schema: what has none of its own in a form is free JSON. */
const typed = (schema: unknown, place: Place): Typed => {
  const found = resolved(schema, place.root)
  const alternatives = listOf(found["anyOf"] ?? found["oneOf"]).map((one) => resolved(one, place.root))
  if (alternatives.length > 0 && found["properties"] === undefined) return typedOneOf(alternatives, place)
  const members = found["const"] === undefined ? listOf(found["enum"]) : [found["const"]]
  if (members.length > 0) return typedMember(members)
  const types = Array.isArray(found["type"]) ? found["type"].filter((one) => one !== "null") : [found["type"]]
  if (types.length > 1) return anything
  const [type = found["properties"] === undefined ? undefined : "object"] = types
  const one = typedValue(String(type), found, place)
  return Array.isArray(found["type"]) && found["type"].includes("null") ? nullable(one) : one
}

const typedOneOf = (alternatives: ReadonlyArray<JsonSchema>, place: Place): Typed => {
  const others = alternatives.filter(({ type }) => type !== "null")
  const members = others.flatMap((one) => one["const"] === undefined ? listOf(one["enum"]) : [one["const"]])
  const one = others.length === 1
    ? typed(others[0], place)
    : members.length > 0 && others.every((other) => other["const"] !== undefined || other["enum"] !== undefined)
    ? typedMember(members)
    : anything
  return others.length < alternatives.length ? nullable(one) : one
}

const typedMember = (members: ReadonlyArray<unknown>): Typed => {
  const known = members.filter((one) => typeof one === "string" || typeof one === "boolean" || Number.isFinite(one))
  if (known.length === 0 || known.length < members.filter((one) => one !== null).length) return anything
  // Those of other types were left out.
  const literals = [...new Set(known)] as Array<string | number | boolean>
  const type = { type: Schema.Literals(literals), example: literals.at(-1) }
  return members.includes(null) ? nullable(type) : type
}

const typedValue = (type: string, schema: JsonSchema, place: Place): Typed => {
  switch (type) {
    case "string":
      return typedText(schema)
    case "boolean":
      return { type: Schema.Boolean, example: true }
    case "integer":
    case "number": {
      const [least, most] = [numberIn(schema, "minimum"), numberIn(schema, "maximum")]
      const base: Schema.Schema<number> = type === "integer" ? Schema.Int : Schema.Finite
      const bounded = least === undefined ? base : base.pipe(Validator.min(least))
      return {
        type: most === undefined ? bounded : bounded.pipe(Validator.max(most)),
        example: least ?? most ?? (type === "integer" ? 3 : 2.5)
      }
    }
    case "array": {
      if (!isObject(schema["items"])) return { type: Schema.Array(Schema.Json), example: [1, { a: "b" }] }
      const items = typed(schema["items"], place)
      const isUnique = schema["uniqueItems"] === true || numberIn(schema, "maxItems") === 1
      return { type: Schema.Array(items.type), example: isUnique ? [items.example] : [items.example, items.example] }
    }
    case "object": {
      if (Object.keys(objectOf(schema["properties"])).length > 0 && place.depth < 4) return typedModel(schema, place)
      const values = schema["additionalProperties"]
      // A record has no models.
      const found = isObject(values) ? resolved(values, place.root) : {}
      const member = found["type"] === "string" || found["type"] === "boolean" ? typed(found, place) : anything
      return { type: Schema.Record(Schema.String, member.type), example: { one: member.example } }
    }
    default:
      return anything
  }
}

const typedText = (schema: JsonSchema): Typed => {
  switch (schema["format"]) {
    case "date-time":
      return { type: Model.DateTime, example: "2026-02-03T04:05:06.000000" }
    case "date":
      return { type: Model.Date, example: "2026-02-03" }
    default: {
      const most = numberIn(schema, "maxLength")
      const least = numberIn(schema, "minLength") ?? 0
      const base = most === undefined ? Schema.String : Schema.String.pipe(Validator.max(most))
      return {
        type: least === 0 ? base : base.pipe(Validator.min(least)),
        example: "text".repeat(Math.ceil(Math.max(1, least) / 4)).slice(0, most)
      }
    }
  }
}

const typedModel = (schema: JsonSchema, place: Place): Typed => {
  const { example, fields } = fieldsOf(schema, place)
  class Part extends Model.Class<Part>()(place.name, fields) {}
  return { type: Part, example }
}

/** Names of fields as models have them. */
const fieldName = (name: string): string => name.replaceAll(/[^\w-]/gu, "_").replace(/^[_-]+/u, "")

/** Names that are the service's in documents. */
const taken = new Set(["id", "label", "deleted"])

const fieldsOf = (schema: JsonSchema, place: Place) => {
  const fields: { [name: string]: Model.Model.Fields[string] } = {}
  const example: { [name: string]: unknown } = {}
  const required = new Set(listOf(schema["required"]))
  for (const [property, own] of Object.entries(objectOf(schema["properties"]))) {
    const name = fieldName(property)
    if (name === "" || /^\d/u.test(name) || taken.has(name) || Object.hasOwn(fields, name)) continue
    const found = typed(own, { ...place, name: `${place.name}_${name.replaceAll("-", "_")}`, depth: place.depth + 1 })
    const { description } = objectOf(own)
    // A model is described where it is declared.
    const isPlain = typeof found.example !== "object"
    const type = isPlain && typeof description === "string" ? found.type.annotate({ description }) : found.type
    fields[name] = required.has(property) ? type : type.pipe(Model.optional)
    example[name] = found.example
  }
  return { fields, example }
}

/** The model of a schema, whose documents have a label beside what the schema says, and a document. */
export const modelOf = (name: string, schema: JsonSchema) => {
  const root = resolved(schema, schema)
  const { example, fields } = fieldsOf(root, { root: schema, name, depth: 0 })
  class Document extends Model.Class<Document>()(name, { id: Model.id(), label: Schema.String, ...fields }) {}
  return { model: Document, document: { ...example, label: "Before" } }
}
