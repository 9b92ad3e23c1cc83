/**
 * How operators of expressions get at what they are given.
 */
import { evalExpr } from "mingo/core"
import * as accumulatorOperators from "mingo/operators/accumulator"
import * as expressionOperators from "mingo/operators/expression"
import type { ExpressionOperator } from "mingo/types"
import { isArray, isDocument } from "../../bson/value.ts"
import { spend } from "../limits/costBudget.ts"

/**
 * What mingo hands to its operators.
 *
 * @internal
 */
export type EvaluationOptions = Parameters<ExpressionOperator>[2]

/**
 * What they throw is a refusal.
 *
 * @internal
 */
export type Operator = (document: unknown, operand: unknown, options: EvaluationOptions) => unknown

/**
 * Operators by their names.
 *
 * @internal
 */
export type Operators = { readonly [name: `$${string}`]: Operator }

/**
 * Of documents or values, and an expression that is evaluated for each of them, unless it is nothing.
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
// It calls all of a kind alike; their types differ in what they expect of their operand.
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
 * The values of an operand that is a list, or the only one.
 *
 * @internal
 */
export const operandsOf: (...given: Parameters<Operator>) => ReadonlyArray<unknown> = (document, operand, options) => {
  const values = evaluate(document, operand, options)
  return isArray(values) ? values : [values]
}

/**
 * The values of an operand whose parts have names.
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
 * An expression for a value that is known: it is not evaluated again.
 *
 * @internal
 */
export const literal = (value: unknown): unknown => ({ $literal: value })

/** @internal */
export const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null

/**
 * What it costs to evaluate an expression once, besides its operators.
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

// mingo copies all variables to look at one.
const variableCost = 40

// Expressions don't change.
const costs = new WeakMap<object, number>()
