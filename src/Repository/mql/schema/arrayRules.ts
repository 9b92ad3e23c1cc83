/**
 * The keywords of JSON schemas about arrays.
 */
import { isArray } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import { charge } from "../limits/costBudget.ts"
import { countIn, flagIn, unordered } from "./operands.ts"
import { type Rule, rule, type RuleParser } from "./rule.ts"

/** @internal */
export const arrayRules: RuleParser = (keywords, parse) => {
  const rules: Array<Rule> = []
  const [least, most] = [countIn(keywords, "minItems"), countIn(keywords, "maxItems")]
  if (least !== undefined) rules.push(rule("minItems", (value) => !isArray(value) || value.length >= least))
  if (most !== undefined) rules.push(rule("maxItems", (value) => !isArray(value) || value.length <= most))
  if (flagIn(keywords, "uniqueItems") === true) {
    rules.push(rule("uniqueItems", (value) => !isArray(value) || areDifferent(value)))
  }
  return [...rules, ...itemRules(keywords, parse)]
}

// internal

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
const eachItem = (keyword: string, from: number, { accepts, broken }: Rule, to = Infinity): Rule => {
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
