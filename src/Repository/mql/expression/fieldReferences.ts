/**
 * Resolves the references of expressions: fields, variables and the time.
 */
import { dateOf } from "../../bson/normalise.ts"
import { isArrayIndex, type Segments, segmentsOf } from "../../bson/path.ts"
import { fieldOf, isArray, isDocument } from "../../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { evaluate, type Operator } from "./operatorContext.ts"

/**
 * Prepares an expression for mingo: replaces `$$NOW` by `now`, in milliseconds, since mingo reads the system clock, and
 * dotted references by `$path`, which counts the work of walking long arrays.
 *
 * @internal
 */
export const prepareExpression = (expression: unknown, now: number): unknown => {
  if (expression === "$$NOW") return dateOf(now)
  if (typeof expression === "string") return isDotted.test(expression) ? { $path: expression } : expression
  if (isArray(expression)) return expression.map((item) => prepareExpression(item, now))
  if (!isDocument(expression)) return expression
  return Object.fromEntries(
    Object.entries(expression).map((
      [key, operand]
    ) => [key, literalOperators.has(key) ? operand : prepareExpression(operand, now)])
  )
}

const isDotted = /^\$\$?[^.$]+\./

// The operands of these operators are values, not expressions.
const literalOperators = new Set(["$literal", "$elemMatch"])

/**
 * An internal operator that resolves the dotted reference in its operand.
 *
 * @internal
 */
export const $path: Operator = (document, operand, options) => {
  const [head = "", ...rest] = segmentsOf(String(operand))
  if (rest.includes("__proto__")) return reject("__proto__ can't be used here")
  return head.startsWith("$$")
    ? follow(evaluate(document, head, options), rest)
    : follow(evaluate(document, "$$ROOT", options), [head.slice(1), ...rest])
}

/**
 * The value at a path, as expressions read it: an array yields the array of its items' values. A nested array is not
 * entered.
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
