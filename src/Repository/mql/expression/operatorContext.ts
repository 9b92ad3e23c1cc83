/**
 * The types of mingo's operators, and how an operator evaluates its operands.
 */
import { evalExpr } from "mingo/core"
import * as accumulatorOperators from "mingo/operators/accumulator"
import * as expressionOperators from "mingo/operators/expression"
import type { ExpressionOperator } from "mingo/types"
import { spend } from "../../../internal/stepBudget.ts"
import { isArray, isDocument } from "../../bson/value.ts"

/**
 * The options that mingo passes to its operators.
 *
 * @internal
 */
export type EvaluationOptions = Parameters<ExpressionOperator>[2]

/**
 * An operator of expressions. It throws to reject its operands.
 *
 * @internal
 */
export type Operator = (document: unknown, operand: unknown, options: EvaluationOptions) => unknown

/**
 * Operators by name.
 *
 * @internal
 */
export type Operators = { readonly [name: `$${string}`]: Operator }

/**
 * An accumulator over documents or values; the expression, if any, is evaluated for each of them.
 *
 * @internal
 */
export type AccumulatorOperator = (
  documents: ReadonlyArray<unknown>,
  expression: unknown,
  options: EvaluationOptions
) => unknown

/**
 * mingo's operators of expressions, and its accumulators.
 *
 * @internal
 */
// mingo calls all operators of a kind in the same way; their types differ only in the operand.
export const mingo = expressionOperators as unknown as { readonly [Name in keyof typeof expressionOperators]: Operator }

/** @internal */
// As above.
export const mingoAccumulators = accumulatorOperators as unknown as {
  readonly [Name in keyof typeof accumulatorOperators]: AccumulatorOperator
}

/**
 * The value of an expression.
 *
 * @internal
 */
export const evaluate = (document: unknown, expression: unknown, options: EvaluationOptions): unknown =>
  evalExpr(document, expression, options)

/**
 * The values of an operand as an array; a single value becomes an array of one.
 *
 * @internal
 */
export const operandsOf: (...given: Parameters<Operator>) => ReadonlyArray<unknown> = (document, operand, options) => {
  const values = evaluate(document, operand, options)
  return isArray(values) ? values : [values]
}

/**
 * The values of an operand with named arguments.
 *
 * @internal
 */
export const namedOf: (...given: Parameters<Operator>) => { readonly [name: string]: unknown } = (
  document,
  operand,
  options
) => {
  const values = evaluate(document, operand, options)
  return isDocument(values) ? { ...values } : {}
}

/**
 * A literal expression of a value, so that it is not evaluated again.
 *
 * @internal
 */
export const literal = (value: unknown): unknown => ({ $literal: value })

/** @internal */
export const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null

/**
 * The cost of evaluating an expression once, without the cost of its operators.
 *
 * @internal
 */
export const costOf = (expression: unknown): number => {
  if (typeof expression === "string") return expression.startsWith("$$") ? variableCost : valueCost
  if (typeof expression !== "object" || expression === null) return valueCost
  const known = costs.get(expression)
  if (known !== undefined) return known
  const parts = isArray(expression) ? expression : isDocument(expression) ? Object.values(expression) : []
  spend(parts.length)
  const cost = isDocument(expression) && Object.hasOwn(expression, "$literal")
    ? valueCost
    : parts.reduce<number>((sum, part) => sum + costOf(part), valueCost)
  costs.set(expression, cost)
  return cost
}

// internal

const valueCost = 4

// mingo copies all variables to read one.
const variableCost = 40

// Expressions are immutable.
const costs = new WeakMap<object, number>()
