/**
 * Parses JSON schemas as MongoDB reads them: draft 4, with `bsonType` for the types of BSON, and without references.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { isArray, isDocument, ownField } from "../bson/value.ts"
import { ValueSet } from "../bson/valueSet.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import {
  allRules,
  countIn,
  fieldsIn,
  flagIn,
  type Keywords,
  keywordText,
  listIn,
  namesIn,
  rule,
  type RuleParser,
  type SchemaParser,
  type SchemaRule,
  unordered
} from "./operands.ts"
import { enumRules, numberRules, patternTest, textRules, typeRules } from "./valueRules.ts"

/** Parses a schema; rejects what is none. */
export const parseJsonSchema = (schema: unknown): SchemaRule => parse(schema, "$jsonSchema")

// internal

const parse: SchemaParser = (schema, keyword) => {
  if (!isDocument(schema)) return reject(`${keyword} needs a JSON schema`)
  checkKeywords(schema)
  return allRules(parsers.flatMap((rules) => rules(schema, parse)))
}

const logicRules: RuleParser = (keywords, parse) => {
  const schemasOf = (keyword: string): ReadonlyArray<SchemaRule> | undefined =>
    listIn(keywords, keyword)?.map((schema) => parse(schema, keyword))
  const [allOf, anyOf, oneOf] = ["allOf", "anyOf", "oneOf"].map(schemasOf)
  const rules: Array<SchemaRule> = []
  if (allOf !== undefined) rules.push(rule("allOf", allRules(allOf).accepts))
  if (anyOf !== undefined) rules.push(rule("anyOf", (value) => anyOf.some(({ accepts }) => accepts(value))))
  if (oneOf !== undefined) {
    rules.push(rule("oneOf", (value) => oneOf.filter(({ accepts }) => accepts(value)).length === 1))
  }
  if (keywords["not"] !== undefined) {
    const { accepts } = parse(keywords["not"], "not")
    rules.push(rule("not", (value) => !accepts(value)))
  }
  return rules
}

/** Checks the texts for readers. */
const describing: RuleParser = (keywords) => {
  keywordText(keywords, "title")
  keywordText(keywords, "description")
  return []
}

const objectRules: RuleParser = (keywords, parse) => {
  const rules: Array<SchemaRule> = []
  const [least, most] = [countIn(keywords, "minProperties"), countIn(keywords, "maxProperties")]
  if (least !== undefined) rules.push(rule("minProperties", (value) => !isDocument(value) || sizeOf(value) >= least))
  if (most !== undefined) rules.push(rule("maxProperties", (value) => !isDocument(value) || sizeOf(value) <= most))
  if (keywords["required"] !== undefined) rules.push(requiring("required", namesIn(keywords["required"], "required")))
  return [...rules, ...propertyRules(keywords, parse), ...dependencyRules(keywords, parse)]
}

const sizeOf = (document: Document): number => Object.keys(document).length

const requiring = (keyword: string, names: ReadonlyArray<string>): SchemaRule => {
  const missing = (value: unknown) => {
    if (!isDocument(value)) return []
    charge(2 * names.length)
    return names.filter((name) => !Object.hasOwn(value, name))
  }
  return {
    accepts: (value) => missing(value).length === 0,
    broken: (value, path) => missing(value).map((name) => ({ path: [...path, name], keyword }))
  }
}

/** `properties`, `patternProperties` and `additionalProperties`. */
const propertyRules: RuleParser = (keywords, parse) => {
  const properties = parseEach(keywords, "properties", parse)
  const patterns = parseEach(keywords, "patternProperties", parse)
    .map(([pattern, schema]) => [patternTest(pattern), schema] as const)
  const known = new Set(properties.map(([name]) => name))
  const isMatched = (name: string) => patterns.some(([matches]) => matches(name))
  const rules: Array<SchemaRule> = []
  if (properties.length > 0) {
    rules.push(ofFields((value) => properties.filter(([name]) => Object.hasOwn(value, name)), properties.length))
  }
  if (patterns.length > 0) {
    rules.push(
      ofFields(
        (value) =>
          Object.keys(value).flatMap((name) =>
            patterns.flatMap(([matches, schema]) => matches(name) ? [[name, schema] as const] : [])
          ),
        0
      )
    )
  }
  const { additionalProperties } = keywords
  if (additionalProperties === undefined || additionalProperties === true) return rules
  const others = (value: Document) => Object.keys(value).filter((name) => !known.has(name) && !isMatched(name))
  return [
    ...rules,
    additionalProperties === false
      ? without(others)
      : othersOf(others, parse(additionalProperties, "additionalProperties"))
  ]
}

const without = (others: (value: Document) => ReadonlyArray<string>): SchemaRule => ({
  accepts: (value) => !isDocument(value) || others(value).length === 0,
  broken: (value, path) =>
    isDocument(value)
      ? others(value).map((name) => ({ path: [...path, name], keyword: "additionalProperties" }))
      : []
})

const othersOf = (others: (value: Document) => ReadonlyArray<string>, schema: SchemaRule): SchemaRule =>
  ofFields((value) => others(value).map((name) => [name, schema] as const), 0)

/** A rule of some fields, each by a schema. */
const ofFields = (
  fields: (value: Document) => ReadonlyArray<readonly [name: string, schema: SchemaRule]>,
  cost: number
): SchemaRule => ({
  accepts: (value) => {
    if (!isDocument(value)) return true
    charge(cost)
    return fields(value).every(([name, { accepts }]) => accepts(ownField(value, name)))
  },
  broken: (value, path) =>
    isDocument(value)
      ? fields(value).flatMap(([name, { accepts, broken }]) => {
        const field = ownField(value, name)
        return accepts(field) ? [] : broken(field, [...path, name])
      })
      : []
})

const dependencyRules: RuleParser = (keywords, parse) => {
  const dependencies = Object.entries(fieldsIn(keywords, "dependencies") ?? {}).map(([name, given]) => {
    const needed = isArray(given)
      ? requiring("dependencies", namesIn(given, "dependencies"))
      : parse(given, "dependencies")
    return [name, needed] as const
  })
  return dependencies.map(([name, { accepts }]) =>
    rule("dependencies", (value) => !isDocument(value) || !Object.hasOwn(value, name) || accepts(value))
  )
}

const parseEach = (
  keywords: Keywords,
  keyword: string,
  parse: SchemaParser
): ReadonlyArray<readonly [name: string, schema: SchemaRule]> =>
  Object.entries(fieldsIn(keywords, keyword) ?? {}).map(([name, schema]) => [name, parse(schema, keyword)])

const arrayRules: RuleParser = (keywords, parse) => {
  const rules: Array<SchemaRule> = []
  const [least, most] = [countIn(keywords, "minItems"), countIn(keywords, "maxItems")]
  if (least !== undefined) rules.push(rule("minItems", (value) => !isArray(value) || value.length >= least))
  if (most !== undefined) rules.push(rule("maxItems", (value) => !isArray(value) || value.length <= most))
  if (flagIn(keywords, "uniqueItems") === true) {
    rules.push(rule("uniqueItems", (value) => !isArray(value) || areDifferent(value)))
  }
  return [...rules, ...itemRules(keywords, parse)]
}

const areDifferent = (items: ReadonlyArray<unknown>): boolean => {
  charge(costOfItem * items.length)
  const known = new ValueSet()
  return items.every((item) => known.add(unordered(item)))
}

const costOfItem = 20

const itemRules: RuleParser = (keywords, parse) => {
  const { additionalItems, items } = keywords
  const others = additionalItems === undefined || typeof additionalItems === "boolean"
    ? additionalItems
    : parse(additionalItems, "additionalItems")
  if (items === undefined) return []
  if (!isArray(items)) return [eachItem("items", 0, parse(items, "items"))]
  const each = items.map((schema) => parse(schema, "items"))
  const rules = each.map((schema, at) => eachItem("items", at, schema, at + 1))
  if (others === undefined || others === true) return rules
  return others === false
    ? [...rules, rule("additionalItems", (value) => !isArray(value) || value.length <= each.length)]
    : [...rules, eachItem("additionalItems", each.length, others)]
}

/** A rule of the items of an array from one place on, up to another. */
const eachItem = (keyword: string, from: number, { accepts, broken }: SchemaRule, to = Infinity): SchemaRule => {
  const firstBroken = (value: unknown): number => {
    if (!isArray(value)) return -1
    for (let i = from; i < value.length && i < to; i++) if (!accepts(value[i])) return i
    return -1
  }
  return {
    accepts: (value) => firstBroken(value) < 0,
    broken: (value, path) => {
      const at = firstBroken(value)
      return isArray(value) && at >= 0 ? broken(value[at], [...path, String(at)]) : [{ path, keyword }]
    }
  }
}

// In the order in which MongoDB names broken rules.
const parsers: ReadonlyArray<RuleParser> = [
  typeRules,
  enumRules,
  numberRules,
  textRules,
  arrayRules,
  objectRules,
  logicRules,
  describing
]

const known = new Set([
  "additionalItems",
  "additionalProperties",
  "allOf",
  "anyOf",
  "bsonType",
  "dependencies",
  "description",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "items",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "multipleOf",
  "not",
  "oneOf",
  "pattern",
  "patternProperties",
  "properties",
  "required",
  "title",
  "type",
  "uniqueItems"
])

const checkKeywords = (schema: Document): void => {
  const unknown = Object.keys(schema).find((keyword) => !known.has(keyword))
  if (unknown !== undefined) reject(`$jsonSchema has no keyword "${unknown}"`)
}
