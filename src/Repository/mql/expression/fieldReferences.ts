/**
 * What expressions refer to: fields, variables and the time.
 */
import { dateOf } from "../../bson/normalise.ts"
import { isArrayIndex, type Segments, segmentsOf } from "../../bson/path.ts"
import { fieldOf, isArray, isDocument } from "../../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { refuse } from "../limits/queryProblem.ts"
import { evaluate, type Operator } from "./operatorContext.ts"

/**
 * An expression that is ready to be evaluated: with the time, in milliseconds, in place of `$$NOW`, since mingo would ask
 * the machine; and with `$path` in place of what leads through documents, which may be through all items of long arrays.
 *
 * @internal
 */
export const prepared = (expression: unknown, now: number): unknown => {
  if (expression === "$$NOW") return dateOf(now)
  if (typeof expression === "string") return isDotted.test(expression) ? { $path: expression } : expression
  if (isArray(expression)) return expression.map((item) => prepared(item, now))
  if (!isDocument(expression)) return expression
  return Object.fromEntries(
    Object.entries(expression).map(([key, operand]) => [key, asIs.has(key) ? operand : prepared(operand, now)])
  )
}

const isDotted = /^\$\$?[^.$]+\./

// Their operands are values.
const asIs = new Set(["$literal", "$elemMatch"])

/**
 * An operator with the reference as its operand.
 *
 * @internal
 */
export const $path: Operator = (document, operand, options) => {
  const [head = "", ...rest] = segmentsOf(String(operand))
  if (rest.includes("__proto__")) return refuse("__proto__ can't be used here")
  return head.startsWith("$$")
    ? follow(evaluate(document, head, options), rest)
    : follow(evaluate(document, "$$ROOT", options), [head.slice(1), ...rest])
}

/**
 * What a path leads to. An array gives an array of what its items lead to; an array in it is not looked into.
 *
 * @internal
 */
export const follow = (start: unknown, path: Segments, from = 0, isItem = false): unknown => {
  let node = start
  for (let at = from; at < path.length; at++) {
    const segment = path[at] ?? ""
    if (isArray(node) && !isArrayIndex(segment)) {
      if (isItem && at === from) return node
      charge(4 * node.length)
      const found: Array<unknown> = []
      for (const item of node) {
        const value = follow(item, path, at, true)
        if (value !== undefined) found.push(value)
      }
      return found
    }
    node = isDocument(node) ? fieldOf(node, segment) : isArray(node) ? node[Number(segment)] : undefined
  }
  return node
}
