/** Values that a JSON schema (draft 2020-12) accepts, and mutations of them. */
import { Arbitrary, Schema } from "effect"

/** A JSON schema, or any other part of an OpenAPI document. */
// Tests look into objects of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

/** Generates values of a schema. References point into `components.schemas` of the document. */
export const valuesOf = (schema: Json, document: Json): Arbitrary.Arbitrary<unknown> =>
  Arbitrary.schema(toSchema(schema, { schemas: document.components.schemas, known: new Map() }))

interface Definitions {
  readonly schemas: { readonly [name: string]: Json }
  readonly known: Map<string, Schema.Codec<unknown>>
}

type Value = Schema.Codec<unknown>

const toSchema = (schema: Json, definitions: Definitions): Value => {
  const at = (part: Json) => toSchema(part, definitions)
  const { $ref, allOf, anyOf, enum: literals, items, oneOf, type } = schema
  if ($ref !== undefined) return referred(String($ref).split("/").at(-1)!, definitions)
  if (literals !== undefined) return Schema.Literals(literals)
  if (allOf !== undefined) return at(merged(allOf, definitions))
  const members: ReadonlyArray<Json> | undefined = anyOf ?? oneOf
  if (members !== undefined) return Schema.Union(members.map(at))
  if (Array.isArray(type)) return Schema.Union(type.map((one: string) => at({ ...schema, type: one })))
  switch (type) {
    case "null":
      return Schema.Null
    case "boolean":
      return Schema.Boolean
    case "integer":
    case "number":
      return numberOf(schema)
    case "string":
      return textOf(schema)
    case "array":
      if (schema.prefixItems !== undefined) return tupleOf(schema, at)
      return listOf(items === undefined ? anything : at(items), schema)
    case "object":
      return objectOf(schema, at)
    default:
      return anything
  }
}

const referred = (name: string, definitions: Definitions): Value => {
  const { known, schemas } = definitions
  const found = known.get(name)
  if (found !== undefined) return found
  const suspended: Value = Schema.suspend(() => made)
  known.set(name, suspended)
  const made = toSchema(schemas[name], definitions)
  known.set(name, made)
  return made
}

const merged = (parts: ReadonlyArray<Json>, definitions: Definitions): Json => {
  const all = parts.map(({ $ref, ...rest }) =>
    $ref === undefined ? rest : definitions.schemas[String($ref).split("/").at(-1)!]
  )
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required = [] }) => required)
  }
}

const anything: Value = Schema.Union([Schema.Null, Schema.Boolean, Schema.Int, Schema.String])

const numberOf = ({ exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf, type }: Json): Value => {
  const checks = [
    ...(minimum === undefined ? [] : [Schema.isGreaterThanOrEqualTo(minimum)]),
    ...(maximum === undefined ? [] : [Schema.isLessThanOrEqualTo(maximum)]),
    ...(exclusiveMinimum === undefined ? [] : [Schema.isGreaterThan(exclusiveMinimum)]),
    ...(exclusiveMaximum === undefined ? [] : [Schema.isLessThan(exclusiveMaximum)]),
    ...(multipleOf === undefined ? [] : [Schema.isMultipleOf(multipleOf)])
  ]
  return checked(type === "integer" ? Schema.Int : Schema.Finite, checks)
}

/** The values of formats that say more than their patterns. */
const formats: { readonly [format: string]: RegExp | ReadonlyArray<string> } = {
  date: /^(?:19[7-9]\d|20[01]\d)-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/u,
  int64: /^[0-8]\d{0,18}$/u,
  decimal128: /^-?\d{1,17}(?:\.\d{1,17})?(?:[eE][+-]?[0-5]?\d{1,3})?$/u,
  double: /^-?\d{1,9}(?:\.\d{1,9})?(?:[eE][+-]?[0-2]?\d{1,2})?$/u,
  uri: ["https://example.com/", "https://example.com/a/b?c=d&e=%20#f", "mailto:jane@example.com"],
  "time-zone": ["Europe/Zurich", "UTC", "America/New_York", "+03:00", "-11:30"],
  "zoned-date-time": ["2026-01-31T09:30:00.000+01:00[Europe/Zurich]", "2001-07-04T00:00:00Z[UTC]"]
}

/** The part of a pattern that does not express the lengths of months, and days of the past in its place. */
const anyDay = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
const pastDay = String.raw`(?:19[7-9]\d|20[01]\d)-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])`

const textOf = ({ format, maxLength, minLength, pattern }: Json): Value => {
  const known = formats[format] ??
    (pattern === undefined ? undefined : new RegExp(pattern.replace(anyDay, pastDay), "u"))
  if (Array.isArray(known)) return Schema.Literals(known)
  if (known instanceof RegExp) return Schema.String.check(Schema.isPattern(known))
  return checked(Schema.String, [
    ...(minLength === undefined ? [] : [Schema.isMinLength(minLength)]),
    ...(maxLength === undefined ? [] : [Schema.isMaxLength(maxLength)])
  ])
}

const tupleOf = ({ items, maxItems, minItems = 0, prefixItems }: Json, at: (part: Json) => Value): Value => {
  const elements = prefixItems.map((part: Json, i: number) => i < minItems ? at(part) : Schema.optionalKey(at(part)))
  const tuple: Json = Schema.Tuple(elements)
  return typeof items === "object" && maxItems === undefined ? Schema.TupleWithRest(tuple, [at(items)]) as Json : tuple
}

const listOf = (item: Value, { maxItems, minItems, uniqueItems }: Json): Value =>
  checked(Schema.Array(item), [
    Schema.isMaxLength(Math.max(minItems ?? 0, Math.min(maxItems ?? 4, 4))),
    ...(minItems === undefined ? [] : [Schema.isMinLength(minItems)]),
    ...(uniqueItems === true ? [Schema.isUnique()] : [])
  ])

const objectOf = (
  { additionalProperties, patternProperties = {}, properties = {}, required = [] }: Json,
  at: (part: Json) => Value
): Value => {
  const entries = Object.entries<Json>(properties)
  const [byPattern] = Object.entries<Json>(patternProperties)
  if (entries.length === 0 && byPattern !== undefined) {
    return Schema.Record(Schema.String.check(Schema.isPattern(new RegExp(byPattern[0], "u"))), at(byPattern[1]))
  }
  if (entries.length === 0 && typeof additionalProperties === "object") {
    return Schema.Record(Schema.String, at(additionalProperties))
  }
  return Schema.Struct(
    Object.fromEntries(
      entries.map(([name, part]) => [name, required.includes(name) ? at(part) : Schema.optionalKey(at(part))])
    )
  )
}

const checked = (schema: Json, [check, ...others]: ReadonlyArray<Json>): Value =>
  check === undefined ? schema : schema.check(check, ...others)

/** The replacements of a mutation: values of wrong kinds, and values just outside of common limits. */
const intruders: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER + 2,
  "",
  " ",
  "x",
  "2026-02-30",
  "2026-02-30T09:30:00",
  "9999-12-31T23:59:59.999999999Z",
  "x".repeat(5_000),
  "\u0000",
  "\ud800",
  "$where",
  [],
  [null],
  ["x", "x"],
  {},
  { _type: "Other" },
  { $gt: "" },
  { "a.b": 1, $set: { "": 1 } }
]

/** One mutation. `where` chooses the place, and `what` the change. */
export interface Mutation {
  readonly kind: "replace" | "remove" | "add"
  readonly where: number
  readonly what: number
}

/** The value with the mutation in it. */
export const mutated = (value: unknown, { kind, what, where }: Mutation): unknown => {
  const copy: unknown = structuredClone(value)
  const intruder = intruders[what % intruders.length]
  const places = placesIn(copy)
  if (kind === "add") {
    const objects = [copy, ...places.map(({ holder, key }) => holder[key])].filter(isRecord)
    const chosen = objects[where % Math.max(objects.length, 1)]
    if (chosen === undefined) return intruder
    chosen[extraNames[what % extraNames.length]!] = intruder
    return copy
  }
  const place = places[where % Math.max(places.length, 1)]
  if (place === undefined) return intruder
  if (kind === "replace") place.holder[place.key] = intruder
  else if (Array.isArray(place.holder)) place.holder.splice(Number(place.key), 1)
  else Reflect.deleteProperty(place.holder, place.key)
  return copy
}

const extraNames = ["unknown", "_type", "_id", "_links", "version", "id", "constructor", "$set", "a.b", ""]

interface Place {
  readonly holder: { [key: string]: unknown }
  readonly key: string
}

const isRecord = (u: unknown): u is { [key: string]: unknown } =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const placesIn = (value: unknown): ReadonlyArray<Place> =>
  typeof value !== "object" || value === null ? [] : Object.keys(value).flatMap((key) => {
    // The parts of a list are its indices.
    const holder = value as { [key: string]: unknown }
    return [{ holder, key }, ...placesIn(holder[key])]
  })
