import type { FieldNames } from "../../Access/introspection.ts"

type Schema = { readonly [keyword: string]: unknown }

/**
 * A JSON schema without properties, by their paths through objects, lists and alternatives.
 *
 * @internal
 */
export const withoutProperties = (schema: Schema, names: FieldNames): Schema =>
  names.reduce((reduced, name) => without(reduced, name.split(".")), schema)

const without = (schema: Schema, path: ReadonlyArray<string>): Schema => {
  const [key = "", ...rest] = path
  const inParts = Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => [
      keyword,
      keyword === "items" || keyword === "anyOf" || keyword === "oneOf" || keyword === "allOf"
        ? inEach(part, path)
        : part
    ])
  )
  const { properties, required } = schema
  if (!isSchema(properties) || !Object.hasOwn(properties, key)) return inParts
  if (rest.length > 0) return { ...inParts, properties: { ...properties, [key]: inEach(properties[key], rest) } }
  const { [key]: _, ...others } = properties
  const names = Array.isArray(required) ? required.filter((name) => name !== key) : []
  const { required: __, ...kept } = inParts
  return { ...kept, properties: others, ...(names.length === 0 ? {} : { required: names }) }
}

const inEach = (part: unknown, path: ReadonlyArray<string>): unknown =>
  Array.isArray(part) ? part.map((one: unknown) => inEach(one, path)) : isSchema(part) ? without(part, path) : part

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
