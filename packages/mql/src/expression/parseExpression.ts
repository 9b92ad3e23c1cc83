/** Parses expressions: literals, references to fields and variables, and operators. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { dateOf } from "../bson/normalise.ts"
import { type Segments, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument, ownField, setField } from "../bson/value.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { arithmeticOperators } from "./arithmeticOperators.ts"
import { arrayOperators, setOperators } from "./arrayOperators.ts"
import { binaryOperators } from "./binaryOperators.ts"
import { conversionOperators } from "./conversionOperators.ts"
import { dateOperators, dateTextOperators } from "./dateOperators.ts"
import { documentOperators } from "./documentOperators.ts"
import {
  constant,
  type Expression,
  type ExpressionContext,
  fieldPathOf,
  isConstant,
  type OperatorParser,
  type Parser,
  type Variable
} from "./expression.ts"
import { logicOperators } from "./logicOperators.ts"
import { loopOperators } from "./loopOperators.ts"
import { mathOperators } from "./mathOperators.ts"
import { patternOperators, splitOperators } from "./patternOperators.ts"
import { summaryOperators } from "./summaryOperators.ts"
import { textOperators } from "./textOperators.ts"

/** Rejects what is no expression. */
export const parseExpression = (expression: unknown, context: ExpressionContext): Expression =>
  makeParser(context).parse(expression)

/** The value of an expression that reads no document; rejects one that does. */
export const parseConstant = (name: string, expression: unknown, context: ExpressionContext): unknown => {
  if (readsFields(expression)) return reject(`${name} needs a value that is the same for all documents`)
  beginEvaluation()
  return parseExpression(expression, context)({})
}

/** Whether an operand is a path or an operator, and no value. */
export const isComputed = (operand: unknown): boolean =>
  (typeof operand === "string" ? operand : isDocument(operand) ? Object.keys(operand)[0] : undefined)
    ?.startsWith("$") === true

/** The value at a path, as expressions read it: an array yields the array of the values in its documents. */
export const follow = (start: unknown, path: Segments, from = 0): unknown => {
  let node = start
  for (let at = from; at < path.length; at++) {
    const segment = path[at] ?? ""
    if (isArray(node)) {
      charge(4 * node.length)
      const found: Array<unknown> = []
      for (const item of node) {
        const value = isDocument(item) ? follow(item, path, at) : undefined
        if (value !== undefined) found.push(value)
      }
      return found
    }
    node = isDocument(node) ? ownField(node, segment) : undefined
  }
  return node
}

// internal

export const operators: ReadonlyMap<string, OperatorParser> = new Map(Object.entries<OperatorParser>({
  ...arithmeticOperators,
  ...arrayOperators,
  ...binaryOperators,
  ...conversionOperators,
  ...dateOperators,
  ...dateTextOperators,
  ...documentOperators,
  ...logicOperators,
  ...loopOperators,
  ...mathOperators,
  ...patternOperators,
  ...setOperators,
  ...splitOperators,
  ...summaryOperators,
  ...textOperators
}))

const unsupportedOperators = new Set([
  "$function",
  "$accumulator",
  "$where",
  "$meta",
  "$toHashedIndexKey",
  "$hash",
  "$encStrContains",
  "$encStrEndsWith",
  "$encStrNormalizedEq",
  "$encStrStartsWith"
])

const operatorCost = 20

// These operators return a value that exists already, so its size is not charged.
const passing = new Set([
  "$literal",
  "$cond",
  "$ifNull",
  "$switch",
  "$let",
  "$arrayElemAt",
  "$first",
  "$last",
  "$getField",
  "$reduce"
])

const readsFields = (expression: unknown): boolean =>
  typeof expression === "string"
    ? expression.startsWith("$")
    : isArray(expression)
    ? expression.some(readsFields)
    : isDocument(expression) && !Object.hasOwn(expression, "$literal") && Object.values(expression).some(readsFields)

const makeParser = (context: ExpressionContext): Parser => {
  const parser: Parser = {
    parse: (expression) => {
      if (typeof expression === "string") return reference(expression)
      if (isArray(expression)) return list(expression.map(parser.parse))
      if (!isDocument(expression)) return constant(expression)
      const [first] = Object.keys(expression)
      return first?.startsWith("$") === true ? operation(first, expression, parser) : fields(expression, parser)
    },
    within: (more) => makeParser({ ...context, variables: { ...context.variables, ...more } }),
    collator: context.collator
  }
  const reference = (text: string): Expression => {
    if (!text.startsWith("$")) return constant(text)
    const [head = "", ...rest] = segmentsOf(text)
    if (!head.startsWith("$$")) {
      return fieldReference(fieldPathOf("an expression", text.slice(1)), boundIn(context, "CURRENT"))
    }
    if (head === "$$") return reject(`"${text}" is no variable`)
    const variable = variableOf(head.slice(2), context)
    if (rest.length === 0) return variable
    const path = fieldPathOf("an expression", rest.join("."))
    return (document) => follow(variable(document), path)
  }
  return parser
}

/** A field of the document, or of the value that `CURRENT` is bound to. */
const fieldReference = (path: Segments, current: Variable | undefined): Expression => {
  if (current !== undefined) return () => follow(current.value, path)
  const [only = ""] = path
  return path.length > 1
    ? (document) => follow(document, path)
    : (document) => isDocument(document) ? ownField(document, only) : follow(document, path)
}

const boundIn = ({ variables = {} }: ExpressionContext, name: string): Variable | undefined =>
  Object.hasOwn(variables, name) ? variables[name] : undefined

const variableOf = (name: string, context: ExpressionContext): Expression => {
  const variable = boundIn(context, name)
  if (variable !== undefined) return () => variable.value
  switch (name) {
    case "ROOT":
    case "CURRENT":
      return (document) => document
    case "REMOVE":
      return constant(undefined)
    case "NOW":
      return constant(dateOf(context.now))
    case "CLUSTER_TIME":
    case "SEARCH_META":
    case "USER_ROLES":
      return rejectWith(unsupported(`$$${name}`))
    default:
      return reject(`there is no variable $$${name}`)
  }
}

const list = (items: ReadonlyArray<Expression>): Expression => {
  const evaluate: Expression = (document) => {
    const values = new Array<unknown>(items.length)
    for (let i = 0; i < items.length; i++) values[i] = items[i]!(document) ?? null
    return values
  }
  return items.every(isConstant) ? constant(evaluate(undefined)) : evaluate
}

const fields = (expression: Document, { parse }: Parser): Expression => {
  const entries = Object.entries(expression).map(([key, value]) => {
    if (key.startsWith("$")) return reject(`${key} is no operator that can be used here`)
    if (key.includes(".")) return reject(`"${key}" is no name of a field: an expression's fields have no dots`)
    return [key, parse(value)] as const
  })
  const evaluate: Expression = (document) => {
    const result: { [key: string]: unknown } = {}
    for (const [key, compute] of entries) {
      const value = compute(document)
      if (value !== undefined) setField(result, key, value)
    }
    return result
  }
  return entries.every(([, value]) => isConstant(value)) ? constant(evaluate(undefined)) : evaluate
}

/** An operator whose uses are charged, and the length of its results. */
const operation = (name: string, expression: Document, parser: Parser): Expression => {
  if (unsupportedOperators.has(name)) return rejectWith(unsupported(name))
  const parse = operators.get(name)
  if (parse === undefined) return reject(`${name} is no operator that can be used here`)
  if (Object.keys(expression).length > 1) return reject(`${name} can't have other fields beside it`)
  const evaluate = parse(expression[name], parser, name)
  if (isConstant(evaluate)) return evaluate
  if (passing.has(name)) {
    return (document) => {
      charge(operatorCost)
      return evaluate(document)
    }
  }
  return (document) => {
    charge(operatorCost)
    const value = evaluate(document)
    if (typeof value === "string") charge(value.length / 8)
    else if (isArray(value)) charge(value.length)
    return value
  }
}
