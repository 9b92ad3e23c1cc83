/**
 * The keywords of JSON schemas about documents.
 */
import { fieldOf, isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { charge } from "../limits/costBudget.ts"
import { countIn, fieldsIn, namesOf } from "./operands.ts"
import { type Keywords, type Rule, rule, type RuleParser, type SchemaParser } from "./rule.ts"
import { patternTest } from "./valueRules.ts"

/** @internal */
export const objectRules: RuleParser = (keywords, parse) => {
  const rules: Array<Rule> = []
  const [least, most] = [countIn(keywords, "minProperties"), countIn(keywords, "maxProperties")]
  if (least !== undefined) rules.push(rule("minProperties", (value) => !isDocument(value) || sizeOf(value) >= least))
  if (most !== undefined) rules.push(rule("maxProperties", (value) => !isDocument(value) || sizeOf(value) <= most))
  if (keywords["required"] !== undefined) rules.push(requiring("required", namesOf(keywords["required"], "required")))
  return [...rules, ...propertyRules(keywords, parse), ...dependencyRules(keywords, parse)]
}

// internal

const sizeOf = (document: Document): number => Object.keys(document).length

const requiring = (keyword: string, names: ReadonlyArray<string>): Rule => {
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
  const rules: Array<Rule> = []
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

const without = (others: (value: Document) => ReadonlyArray<string>): Rule => ({
  accepts: (value) => !isDocument(value) || others(value).length === 0,
  broken: (value, path) =>
    isDocument(value)
      ? others(value).map((name) => ({ path: [...path, name], keyword: "additionalProperties" }))
      : []
})

const othersOf = (others: (value: Document) => ReadonlyArray<string>, schema: Rule): Rule =>
  ofFields((value) => others(value).map((name) => [name, schema] as const), 0)

/** A rule of some fields, each by a schema. */
const ofFields = (
  fields: (value: Document) => ReadonlyArray<readonly [name: string, schema: Rule]>,
  cost: number
): Rule => ({
  accepts: (value) => {
    if (!isDocument(value)) return true
    charge(cost)
    return fields(value).every(([name, { accepts }]) => accepts(fieldOf(value, name)))
  },
  broken: (value, path) =>
    isDocument(value)
      ? fields(value).flatMap(([name, { accepts, broken }]) => {
        const field = fieldOf(value, name)
        return accepts(field) ? [] : broken(field, [...path, name])
      })
      : []
})

const dependencyRules: RuleParser = (keywords, parse) => {
  const dependencies = Object.entries(fieldsIn(keywords, "dependencies") ?? {}).map(([name, given]) => {
    const needed = isArray(given)
      ? requiring("dependencies", namesOf(given, "dependencies"))
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
): ReadonlyArray<readonly [name: string, schema: Rule]> =>
  Object.entries(fieldsIn(keywords, keyword) ?? {}).map(([name, schema]) => [name, parse(schema, keyword)])
