/**
 * Configures mingo, which evaluates filters, updates and expressions: with MongoDB's order of values and RE2 in place of
 * its own, with counted costs, and without the operators that run code.
 */
import * as Result from "effect/Result"
import { Aggregator } from "mingo/aggregator"
import { Context } from "mingo/core"
import type { Iterator } from "mingo/lazy"
import * as pipelineOperators from "mingo/operators/pipeline"
import * as projectionOperators from "mingo/operators/projection"
import * as queryOperators from "mingo/operators/query"
import * as windowOperators from "mingo/operators/window"
import type { CollectionResolver } from "mingo/types"
import { compare, isArray, isDocument } from "../../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { type Problem, reject, rejected, unsupported } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import { filterOperators } from "../predicate/comparison.ts"
import { $grown, arrayOperators, unique } from "./arrayOperators.ts"
import { $path } from "./fieldReferences.ts"
import {
  type AccumulatorOperator,
  costOf,
  type EvaluationOptions,
  isNothing,
  mingo,
  mingoAccumulators,
  operandsOf,
  type Operator,
  type Operators
} from "./operatorContext.ts"
import { textOperators } from "./textOperators.ts"

const comparison = (test: (order: number) => unknown): Operator => (document, operand, options) => {
  const [left, right] = operandsOf(document, operand, options)
  // A comparison reads at most the size of the smaller value; the left one's is an estimate.
  if (typeof left === typeof right) charge(sizeOfValue(left) / 4)
  return test(compare(left, right))
}

const extreme = (sign: 1 | -1): AccumulatorOperator => (...given) => {
  const values = valuesOf(...given)
  charge(sizeOfValue(values) / 4)
  return values
    .filter((value) => !isNothing(value))
    .reduce<unknown>((best, value) => best === null || compare(value, best) * sign > 0 ? value : best, null)
}

const valuesOf: (...given: Parameters<AccumulatorOperator>) => ReadonlyArray<unknown> = (...given) => {
  const values = mingoAccumulators.$push(...given)
  return isArray(values) ? values : []
}

const ownExpressions: Operators = {
  ...arrayOperators,
  ...textOperators,
  $cmp: comparison((order) => Math.sign(order)),
  $eq: comparison((order) => order === 0),
  $ne: comparison((order) => order !== 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0)
}

const { $function: _function, ...safeExpressions } = mingo
const { $accumulator: _accumulator, ...safeAccumulators } = mingoAccumulators
const expressions = { ...safeExpressions, ...ownExpressions }
const accumulators = {
  ...safeAccumulators,
  $max: extreme(1),
  $min: extreme(-1),
  $addToSet: (...given: Parameters<AccumulatorOperator>) => unique(valuesOf(...given))
}

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
  "$reduce",
  "$grown"
])

/** Charges each use of an operator and the length of its result. */
const counted = (operators: object): Operators =>
  Object.fromEntries(
    Object.entries(operators).map(([name, operator]: [string, Operator]) => {
      const isPassing = passing.has(name)
      return [name, (...given: Parameters<Operator>) => {
        charge(operatorCost)
        const value = operator(...given)
        if (!isPassing && typeof value === "string") charge(value.length / 8)
        else if (!isPassing && isArray(value)) charge(value.length)
        return value
      }]
    })
  )

const valueCost = 60

/** Charges the documents that an accumulator reads. */
const countedAccumulators = (operators: { readonly [name: string]: AccumulatorOperator }) =>
  Object.fromEntries(
    Object.entries(operators).map(([name, operator]) => [
      name,
      (...[documents, expression, options]: Parameters<AccumulatorOperator>) => {
        if (!ofOneDocument.has(name)) {
          charge(documents.length * (isNothing(expression) ? 4 : valueCost + costOf(expression)))
        }
        return operator(documents, expression, options)
      }
    ])
  )

const ofOneDocument = new Set(["$first", "$last", "$count"])

const filters = { ...queryOperators, ...filterOperators }

/**
 * A minimal context for mingo's updater, which copies the context for each update.
 *
 * @internal
 */
export const updateContext = Context.init({ query: filters as typeof queryOperators })

const context = Context.init({
  accumulator: countedAccumulators(accumulators),
  expression: counted({ ...expressions, $path, $grown }),
  pipeline: pipelineOperators,
  projection: projectionOperators,
  query: filters as typeof queryOperators,
  window: windowOperators
})

/**
 * Options for mingo's operators.
 *
 * @internal
 */
export const evaluationOptions = (collectionResolver?: CollectionResolver): EvaluationOptions => {
  let prepared: EvaluationOptions | undefined
  // mingo prepares given options anew for each document and does not export how; a stage receives the prepared ones.
  const $prepared: typeof pipelineOperators.$count = (documents, _, given) => {
    prepared = given
    return documents
  }
  const options = {
    context: Context.from(context).addPipelineOps({ $prepared }),
    scriptEnabled: false,
    ...collectionResolver === undefined ? {} : { collectionResolver }
  }
  new Aggregator([{ $prepared: "" }], options).stream([])
  return prepared ?? reject("mingo has no options")
}

/**
 * Options without other collections.
 *
 * @internal
 */
export const documentOptions: EvaluationOptions = evaluationOptions()

/**
 * Runs code of mingo, which may throw, and makes a {@link Problem} of what it throws.
 *
 * @internal
 */
export const tryMingo = <A>(run: () => A): Result.Result<A, Problem> => Result.try({ try: run, catch: problemOfThrown })

/**
 * The problem that mingo, or an operator of this folder, has thrown.
 *
 * @internal
 */
// Truncated, since some messages contain a value of any length.
export const problemOfThrown = (thrown: unknown): Problem =>
  rejected((thrown instanceof Error ? thrown.message : String(thrown)).slice(0, maxMessage))

const maxMessage = 500

const unsupportedOperators = new Set(["$function", "$accumulator", "$where", "$meta", "$toHashedIndexKey"])

// The accumulators that are also expression operators on an array.
const listAccumulators = new Set(["$avg", "$max", "$min", "$stdDevPop", "$stdDevSamp", "$sum"])

/**
 * Whether an operator can be used in expressions. Window operators can't: `$setWindowFields` is not supported.
 *
 * @internal
 */
export const isExpression = (name: string): boolean => Object.hasOwn(expressions, name) || listAccumulators.has(name)

/** @internal */
export const isAccumulator = (name: string): boolean => Object.hasOwn(accumulators, name)

/** @internal */
export const isProjection = (name: string): boolean => Object.hasOwn(projectionOperators, name) || isExpression(name)

// mingo compiles the format into a regular expression.
const isDateFormat = (format: unknown): boolean => typeof format === "string" && /^[\w\s%:.,/+-]*$/.test(format)

/**
 * Checks the operators and variables of an expression, or of a document of expressions.
 *
 * @internal
 */
export const expressionProblem = (
  expression: unknown,
  isOperator: (name: string) => boolean,
  variables: ReadonlyArray<string> = systemVariables
): Problem | undefined => {
  if (typeof expression === "string") return unknownVariable(expression, variables)
  if (isArray(expression)) return firstOf(expression, (item) => expressionProblem(item, isOperator, variables))
  if (!isDocument(expression)) return undefined
  return firstOf(Object.entries(expression), ([key, operand]) => {
    if (unsupportedOperators.has(key)) return unsupported(key)
    if (key.startsWith("$") && !isOperator(key)) return rejected(`${key} is no operator that can be used here`)
    if (key.split(".").includes("__proto__")) return rejected("__proto__ can't be used here")
    if (key === "$literal") return undefined
    if (key === "$dateFromString" && isDocument(operand) && !isDateFormat(operand["format"] ?? "")) {
      return rejected("$dateFromString needs a text of letters, digits and separators as its format")
    }
    return expressionProblem(operand, isOperator, [...variables, ...variablesOf(key, operand)])
  })
}

const systemVariables = ["ROOT", "CURRENT", "REMOVE", "NOW", "KEEP", "PRUNE", "DESCEND"]

const unknownVariable = (text: string, variables: ReadonlyArray<string>): Problem | undefined => {
  const name = /^\$\$([^.]*)/.exec(text)?.[1]
  return name === undefined || variables.includes(name) ? undefined : rejected(`there is no variable $$${name}`)
}

// The variables that an operator defines for the expressions within it.
const variablesOf = (operator: string, operand: unknown): ReadonlyArray<string> => {
  const { as, vars } = isDocument(operand) ? { as: operand["as"], vars: operand["vars"] } : { as: undefined, vars: {} }
  switch (operator) {
    case "$let":
      return isDocument(vars) ? Object.keys(vars) : []
    case "$map":
    case "$filter":
      return [typeof as === "string" ? as : "this"]
    case "$reduce":
      return ["this", "value"]
    default:
      return []
  }
}

const firstOf = <A>(items: ReadonlyArray<A>, problem: (item: A) => Problem | undefined): Problem | undefined => {
  for (const item of items) {
    const found = problem(item)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * A stage of mingo. May throw.
 *
 * @internal
 */
export type Stage = (documents: Iterator, specification: unknown, options: EvaluationOptions) => Iterator

/** @internal */
export const stageOf = (name: string): Stage | undefined =>
  // mingo calls all stages in the same way; their types differ only in the specification.
  new Map<string, unknown>(Object.entries(pipelineOperators)).get(name) as Stage | undefined
