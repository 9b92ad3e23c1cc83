/**
 * What a parsed expression is, and how an operator reads its arguments.
 *
 * An expression is parsed once into a closure. Evaluation is synchronous, and no expression is evaluated within itself: so
 * a variable is a cell that its operator sets before it evaluates what uses it.
 */
import { spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import type { Timestamp } from "bson"
import type { Collator } from "../bson/collator.ts"
import { type BsonNumber, isDecimal, toDouble } from "../bson/number.ts"
import { isReferenceField, type Segments, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument, isNumber, Rank, rankOf } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"

/** Computes the value for a document; `undefined` is missing. It {@link reject}s what it can't compute. */
export type Expression = (document: unknown) => unknown

export class Variable {
  value: unknown = undefined
}

/** What the parsing of expressions depends on. */
export interface ExpressionContext {
  /** The value of `$$NOW` in milliseconds. */
  readonly now: number
  /** Variables beside MongoDB's own. */
  readonly variables?: { readonly [name: string]: Variable } | undefined
  /** How texts compare, unless by their code points. */
  readonly collator?: Collator | undefined
}

export interface Parser {
  /** May throw: it {@link reject}s what is no expression. */
  readonly parse: (expression: unknown) => Expression
  /** A parser for expressions that can use these variables, too. */
  readonly within: (variables: { readonly [name: string]: Variable }) => Parser
  readonly collator: Collator | undefined
}

/** Parses the operand of an operator. May throw. */
export type OperatorParser = (operand: unknown, parser: Parser, name: string) => Expression

export type OperatorParsers = { readonly [name: `$${string}`]: OperatorParser }

export const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null

/** An expression with the same value for every document. */
export const constant = (value: unknown): Expression => {
  const expression: Expression = () => value
  constants.add(expression)
  return expression
}

export const isConstant = (expression: Expression): boolean => constants.has(expression)

/** The arguments of an operator: the items of an array, or one argument that is no array. */
export const argumentsOf = (
  operand: unknown,
  name: string,
  least: number,
  most: number = Infinity
): ReadonlyArray<unknown> => {
  const given = isArray(operand) ? operand : [operand]
  if (given.length >= least && given.length <= most) return given
  const wanted = least === most ? `${least}` : most === Infinity ? `${least} or more` : `${least} to ${most}`
  return reject(`${name} takes ${wanted} arguments`)
}

/** An operator with one argument, which may be written as an array of one. */
export const unary =
  (compute: (value: unknown, name: string) => unknown): OperatorParser => (operand, { parse }, name) => {
    const value = parse(argumentsOf(operand, name, 1, 1)[0])
    return (document) => compute(value(document), name)
  }

/** An operator with one argument, which is `null` if its argument has no value. */
export const ofValue = (compute: (value: unknown, name: string) => unknown): OperatorParser =>
  unary((value, name) => isNothing(value) ? null : compute(value, name))

/** An operator that compares values by the collation of its expression. */
export const collated =
  (make: (collator: Collator | undefined) => OperatorParser): OperatorParser => (operand, parser, name) =>
    make(parser.collator)(operand, parser, name)

export const binary = (
  compute: (left: unknown, right: unknown, name: string) => unknown
): OperatorParser =>
(operand, { parse }, name) => {
  const [left = missing, right = missing] = argumentsOf(operand, name, 2, 2).map(parse)
  return (document) => compute(left(document), right(document), name)
}

/** An operator with two arguments, which is `null` if one of them has no value. */
export const ofBoth = (compute: (left: unknown, right: unknown, name: string) => unknown): OperatorParser =>
  binary((left, right, name) => isNothing(left) || isNothing(right) ? null : compute(left, right, name))

/** An operator with two numbers, which is `null` if one of them has no value. */
export const ofNumbers = (compute: (left: BsonNumber, right: BsonNumber, name: string) => unknown): OperatorParser =>
  ofBoth((left, right, name) => compute(numberOf(name, left), numberOf(name, right), name))

/** An operator with a number of arguments. */
export const variadic = (
  least: number,
  most: number,
  compute: (values: ReadonlyArray<unknown>, name: string) => unknown
): OperatorParser =>
(operand, { parse }, name) => {
  const values = argumentsOf(operand, name, least, most).map(parse)
  return (document) => {
    const given = new Array<unknown>(values.length)
    for (let i = 0; i < values.length; i++) given[i] = values[i]!(document)
    return compute(given, name)
  }
}

/** The operand of an operator with named arguments; rejects unknown ones. */
export const namesOf = (
  operand: unknown,
  name: string,
  required: ReadonlyArray<string>,
  optional: ReadonlyArray<string> = []
): Document => {
  if (!isDocument(operand)) return reject(`${name} takes named arguments: ${[...required, ...optional].join(", ")}`)
  const absent = required.find((key) => !Object.hasOwn(operand, key))
  if (absent !== undefined) return reject(`${name} needs the argument "${absent}"`)
  const unknown = Object.keys(operand).find((key) => !required.includes(key) && !optional.includes(key))
  return unknown === undefined ? operand : reject(`${name} has no argument "${unknown}"`)
}

/** The values of named arguments. */
export type Named = { readonly [name: string]: unknown }

/** An operator with named arguments. An argument that is not given has the value `undefined`. */
export const named = (
  required: ReadonlyArray<string>,
  optional: ReadonlyArray<string>,
  compute: (values: Named, name: string) => unknown
): OperatorParser =>
(operand, { parse }, name) => {
  const given = Object.entries(namesOf(operand, name, required, optional))
    .map(([key, expression]) => [key, parse(expression)] as const)
  return (document) => {
    const values: { [name: string]: unknown } = {}
    for (const [key, value] of given) values[key] = value(document)
    return compute(values, name)
  }
}

export const missing: Expression = () => undefined

export const textOperand = (name: string, value: unknown): string =>
  typeof value === "string" ? value : reject(`${name} needs a text`)

/** Whether a path may lead through a name: it isn't empty, and begins with `$` only in a reference to a document. */
export const isFieldName = (name: string): boolean =>
  name !== "" && !name.includes("\0") && (!name.startsWith("$") || isReferenceField(name))

/** The names on the path of a field. */
export const fieldPathOf = (name: string, value: unknown): Segments => {
  const segments = segmentsOf(textOperand(name, value))
  return segments.every(isFieldName) ? segments : reject(`${name}: "${String(value)}" is no path of a field`)
}

export const listOperand = (name: string, value: unknown): ReadonlyArray<unknown> =>
  isArray(value) ? value : reject(`${name} needs an array`)

export const numberOf = (name: string, value: unknown): BsonNumber => {
  if (!isNumber(value)) return reject(`${name} needs a number`)
  chargeDecimal(value)
  return value
}

/** Charges what it takes to compute with a number if it is a decimal. */
export const chargeDecimal = (value: BsonNumber): void => {
  if (isDecimal(value)) charge(decimalCost)
}

/** A whole number of any type that a double holds exactly. */
export const wholeOf = (name: string, value: unknown): number => {
  const double = isNumber(value) ? toDouble(value) : NaN
  return Number.isSafeInteger(double) ? double + 0 : reject(`${name} needs a whole number`)
}

/** The milliseconds since 1970 of a value that MongoDB takes for a date; `undefined` for any other value. */
export const timeOf = (value: unknown): number | undefined => {
  if (value instanceof Date) return value.getTime()
  switch (rankOf(value)) {
    case Rank.objectId:
      // The cast follows from the rank, as does the next.
      return (value as { readonly getTimestamp: () => Date }).getTimestamp().getTime()
    case Rank.timestamp:
      return (value as Timestamp).t * 1000
    default:
      return undefined
  }
}

/** The cost of evaluating an expression once, without the cost of its operators. */
export const costOf = (expression: unknown): number => {
  if (typeof expression !== "object" || expression === null) return valueCost
  const parts = isArray(expression) ? expression : isDocument(expression) ? Object.values(expression) : []
  spend(parts.length)
  return isDocument(expression) && Object.hasOwn(expression, "$literal")
    ? valueCost
    : parts.reduce<number>((sum, part) => sum + costOf(part), valueCost)
}

// internal

const decimalCost = 100

const constants = new WeakSet<Expression>()

const valueCost = 4
