/**
 * mingo, which evaluates filters, updates and expressions: with our order of values and our regular expressions in place
 * of its own, and without what would run code.
 */
import * as Result from "effect/Result"
import { Aggregator } from "mingo/aggregator"
import { Context, evalExpr } from "mingo/core"
import type { Iterator } from "mingo/lazy"
import * as accumulatorOperators from "mingo/operators/accumulator"
import * as expressionOperators from "mingo/operators/expression"
import * as pipelineOperators from "mingo/operators/pipeline"
import * as projectionOperators from "mingo/operators/projection"
import * as queryOperators from "mingo/operators/query"
import * as windowOperators from "mingo/operators/window"
import type { CollectionResolver, ExpressionOperator } from "mingo/types"
import { compare, dateOf, equals, isArray, isDocument } from "./bsonValue.ts"
import { filterOperators, refuse } from "./filterOperator.ts"
import { type Problem, rejected, unsupported } from "./problem.ts"
import { compilePattern, compileRegExp, type Pattern } from "./regularExpression.ts"

/**
 * What mingo hands to its operators.
 *
 * @internal
 */
export type EvaluationOptions = Parameters<ExpressionOperator>[2]

type Operator = (document: unknown, operand: unknown, options: EvaluationOptions) => unknown

const comparison = (test: (order: number) => unknown): Operator => (document, operand, options) => {
  const [left, right] = operandsOf(document, operand, options)
  return test(compare(left, right))
}

const operandsOf = (document: unknown, operand: unknown, options: EvaluationOptions): ReadonlyArray<unknown> => {
  const values: unknown = evalExpr(document, operand, options)
  return isArray(values) ? values : [values]
}

const isIn: Operator = (document, operand, options) => {
  const [value, list] = operandsOf(document, operand, options)
  // Whatever mingo's operators can't take, they throw: `attempt` makes it a refusal.
  return isArray(list) ? list.some((item) => equals(item, value)) : refuse("$in needs an array")
}

const extreme = (sign: 1 | -1): typeof accumulatorOperators.$max => (documents, expression, options) => {
  const values: ReadonlyArray<unknown> = accumulatorOperators.$push(documents, expression, options)
  return values
    .filter((value) => value !== undefined && value !== null)
    .reduce<unknown>((best, value) => best === null || compare(value, best) * sign > 0 ? value : best, null)
}

const patternOf = (regex: unknown, options: unknown): Result.Result<Pattern, string> => {
  if (regex instanceof RegExp && (options === undefined || options === null)) return compileRegExp(regex)
  const pattern = regex instanceof RegExp ? regex.source : regex
  const flags = options ?? ""
  return typeof pattern === "string" && typeof flags === "string"
    ? compilePattern(pattern, flags)
    : Result.fail("a regular expression is needed")
}

interface Match {
  readonly match: string
  readonly idx: number
  readonly captures: ReadonlyArray<string | null>
}

const findAll = (document: unknown, operand: unknown, options: EvaluationOptions, limit: number) => {
  const value: unknown = evalExpr(document, operand, options)
  const { input, options: flags, regex } = isDocument(value) ? { ...value } : {}
  if (input === null || input === undefined) return []
  if (typeof input !== "string") return refuse("a regular expression needs a text as its input")
  const pattern = patternOf(regex, flags)
  if (Result.isFailure(pattern)) return refuse(pattern.failure)
  const matches: Array<Match> = []
  for (let from = 0; from <= input.length && matches.length < limit;) {
    const [whole, ...groups] = pattern.success.find(input, from) ?? []
    if (whole === undefined) break
    const [start, end] = whole
    matches.push({
      match: input.slice(start, end),
      // MongoDB counts code points.
      idx: Array.from(input.slice(0, start)).length,
      captures: groups.map(([groupStart, groupEnd]) => groupStart < 0 ? null : input.slice(groupStart, groupEnd))
    })
    from = end > start ? end : end + 1
  }
  return matches
}

const ownExpressions: { readonly [name: `$${string}`]: Operator } = {
  $cmp: comparison((order) => Math.sign(order)),
  $eq: comparison((order) => order === 0),
  $ne: comparison((order) => order !== 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0),
  $in: isIn,
  $regexMatch: (document, operand, options) => findAll(document, operand, options, 1).length > 0,
  $regexFind: (document, operand, options) => findAll(document, operand, options, 1)[0] ?? null,
  $regexFindAll: (document, operand, options) => findAll(document, operand, options, Infinity)
}

const { $function: _function, ...safeExpressions } = expressionOperators
const { $accumulator: _accumulator, ...safeAccumulators } = accumulatorOperators
const expressions = { ...safeExpressions, ...ownExpressions }
const accumulators = { ...safeAccumulators, $max: extreme(1), $min: extreme(-1) }

const filters = { ...queryOperators, ...filterOperators }

/**
 * What mingo's updater needs of a context: it copies it for each update.
 *
 * @internal
 */
export const updateContext = Context.init({ query: filters as typeof queryOperators })

const context = Context.init({
  accumulator: accumulators,
  expression: expressions,
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
  // Plain options would be prepared again for each document. What prepares them is not exported, but a stage gets it.
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
  return prepared ?? refuse("mingo has no options")
}

/**
 * Options without other collections.
 *
 * @internal
 */
export const documentOptions: EvaluationOptions = evaluationOptions()

/**
 * The value of an accumulator over the documents of a group.
 *
 * @internal
 */
export const accumulate = (
  documents: ReadonlyArray<unknown>,
  accumulation: unknown,
  groupId: unknown,
  options: EvaluationOptions
): unknown =>
  evaluate(
    documents,
    accumulation,
    // Its type doesn't tell, but options that mingo prepared can be.
    "update" in options && typeof options.update === "function" ? options.update({ root: null, groupId }) : options
  )

/**
 * The value of an expression.
 *
 * @internal
 */
export const evaluate = (document: unknown, expression: unknown, options: EvaluationOptions): unknown =>
  evalExpr(document, expression, options)

/**
 * Runs what may throw, because it belongs to mingo.
 *
 * @internal
 */
export const attempt = <A>(run: () => A): Result.Result<A, Problem> =>
  Result.try({
    try: run,
    catch: (cause) => rejected(cause instanceof Error ? cause.message : String(cause))
  })

const unsupportedOperators = new Set(["$function", "$accumulator", "$where", "$meta", "$toHashedIndexKey"])

/** @internal */
export const isExpression = (name: string): boolean =>
  Object.hasOwn(expressions, name) || Object.hasOwn(accumulators, name)

/** @internal */
export const isAccumulator = (name: string): boolean => Object.hasOwn(accumulators, name)

/** @internal */
export const isWindowOperator = (name: string): boolean => Object.hasOwn(windowOperators, name) || isExpression(name)

/** @internal */
export const isProjection = (name: string): boolean => Object.hasOwn(projectionOperators, name) || isExpression(name)

// mingo makes a regular expression of it.
const isDateFormat = (format: unknown): boolean => typeof format === "string" && /^[\w\s%:.,/+-]*$/.test(format)

/**
 * What is wrong with the operators in an expression, or in a document of expressions.
 *
 * @internal
 */
export const problemOf = (
  expression: unknown,
  isOperator: (name: string) => boolean,
  variables: ReadonlyArray<string> = systemVariables
): Problem | undefined => {
  if (typeof expression === "string") return unknownVariable(expression, variables)
  if (isArray(expression)) return firstOf(expression, (item) => problemOf(item, isOperator, variables))
  if (!isDocument(expression)) return undefined
  return firstOf(Object.entries(expression), ([key, operand]) => {
    if (unsupportedOperators.has(key)) return unsupported(key)
    if (key.startsWith("$") && !isOperator(key)) return rejected(`${key} is no operator that can be used here`)
    if (key.split(".").includes("__proto__")) return rejected("__proto__ can't be used here")
    if (key === "$literal") return undefined
    if (key === "$dateFromString" && isDocument(operand) && !isDateFormat(operand["format"] ?? "")) {
      return rejected("$dateFromString needs a text of letters, digits and separators as its format")
    }
    return problemOf(operand, isOperator, [...variables, ...variablesOf(key, operand)])
  })
}

const systemVariables = ["ROOT", "CURRENT", "REMOVE", "NOW", "KEEP", "PRUNE", "DESCEND"]

const unknownVariable = (text: string, variables: ReadonlyArray<string>): Problem | undefined => {
  const name = /^\$\$([^.]*)/.exec(text)?.[1]
  return name === undefined || variables.includes(name) ? undefined : rejected(`there is no variable $$${name}`)
}

// What an operator gives a name to, for the expressions within it.
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
 * An expression with the time, in milliseconds, in place of `$$NOW`: mingo would ask the machine.
 *
 * @internal
 */
export const withNow = (expression: unknown, now: number): unknown => {
  if (expression === "$$NOW") return dateOf(now)
  if (isArray(expression)) return expression.map((item) => withNow(item, now))
  if (!isDocument(expression)) return expression
  return Object.fromEntries(
    Object.entries(expression).map(([key, operand]) => [key, key === "$literal" ? operand : withNow(operand, now)])
  )
}

/**
 * One of mingo's stages, which may throw.
 *
 * @internal
 */
export type Stage = (documents: Iterator, specification: unknown, options: EvaluationOptions) => Iterator

/** @internal */
export const stageOf = (name: string): Stage | undefined =>
  // mingo calls all stages alike; their types differ in what they expect of their specification.
  new Map<string, unknown>(Object.entries(pipelineOperators)).get(name) as Stage | undefined
