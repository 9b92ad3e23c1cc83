/**
 * Parses JSON schemas as MongoDB reads them: draft 4, with `bsonType` for the types of BSON, and without references.
 */
import { isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { reject } from "../limits/queryProblem.ts"
import { arrayRules } from "./arrayRules.ts"
import { objectRules } from "./objectRules.ts"
import { listIn, textIn } from "./operands.ts"
import { all, type Rule, rule, type RuleParser, type SchemaParser } from "./rule.ts"
import { enumRules, numberRules, textRules, typeRules } from "./valueRules.ts"

/**
 * Parses a schema; rejects what is none.
 *
 * @internal
 */
export const parseJsonSchema = (schema: unknown): Rule => parse(schema, "$jsonSchema")

// internal

const parse: SchemaParser = (schema, keyword) => {
  if (!isDocument(schema)) return reject(`${keyword} needs a JSON schema`)
  checkKeywords(schema)
  return all(parsers.flatMap((rules) => rules(schema, parse)))
}

const logicRules: RuleParser = (keywords, parse) => {
  const schemasOf = (keyword: string): ReadonlyArray<Rule> | undefined =>
    listIn(keywords, keyword)?.map((schema) => parse(schema, keyword))
  const [allOf, anyOf, oneOf] = ["allOf", "anyOf", "oneOf"].map(schemasOf)
  const rules: Array<Rule> = []
  if (allOf !== undefined) rules.push(rule("allOf", all(allOf).accepts))
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
  textIn(keywords, "title")
  textIn(keywords, "description")
  return []
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
