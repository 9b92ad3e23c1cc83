/** Translates the operators of URL filters, such as ranges, lists and patterns, into conditions of the store. */
import * as Schema from "effect/Schema"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { anyOf, compare, conjunctionOf, negated } from "../../Repository/internal.ts"
import * as Query from "../../Repository/Query.ts"
import type { FilterValue, Operand } from "./filterSyntax.ts"
import type { QueryField } from "./queryFields.ts"

/** How conditions are combined. */
export type Logic = "AND" | "OR"

/** Reports a problem of a parameter. */
export type ReportProblem = (validator: string, message: string) => void

/** The maximum number of values in a list. */
export const maxListLength = 1_000

/** The maximum number of characters to look for in a text. */
const maxSought = 1_000

/**
 * The filters of all terms of one field. A lower and an upper bound form one range that a single value has to be in;
 * with `OR`, bounds without a common value are alternatives.
 */
export const conditionsOf = (
  field: QueryField,
  terms: ReadonlyArray<FilterValue>,
  logic: Logic,
  report: ReportProblem
): ReadonlyArray<Filter> => {
  const filters: Array<Filter> = []
  const bounds: Array<Bound> = []
  for (const { operands, operator } of terms) {
    const [operand = noOperand] = operands
    switch (operator) {
      case ">":
      case "<":
      case ">=":
      case "<=": {
        const bound = boundOf(field, operator, operand, report)
        if (bound !== undefined) bounds.push(bound)
        break
      }
      case "~":
        add(filters, containing(field, operand, report))
        break
      case "#":
        add(filters, sized(field, operand, report))
        break
      case "=":
        add(filters, among(field, operands, false, report))
        break
      case "!":
        add(filters, isNothing(field, operand) ? present(field) : among(field, operands, true, report))
        break
      case "[]":
      case "![]":
        if (operands.length === 0) report("Parameter", "needs a value between the brackets")
        else if (operands.length > maxListLength) report("Limit", `can't take more than ${maxListLength} values`)
        else add(filters, among(field, operands, operator === "![]", report))
        break
    }
  }
  const [first, second] = bounds
  if (bounds.length === 2 && first !== undefined && second !== undefined && first.isLower !== second.isLower) {
    const [lower, upper] = first.isLower ? [first, second] : [second, first]
    if (logic === "AND" || !isEmpty(lower, upper)) {
      return [...filters, one(field, { [lower.operator]: lower.value, [upper.operator]: upper.value })]
    }
  }
  return [...filters, ...bounds.map(({ operator, value }) => ({ [field.path]: { [operator]: value } }))]
}

/** Combines filters into one; `{}` if there are none. */
export const combined = (filters: ReadonlyArray<Filter>, logic: Logic): Filter =>
  logic === "AND" || filters.length === 0 ? conjunctionOf(...filters) : anyOf(filters) ?? {}

const noOperand: Operand = { text: "", isQuoted: false }

interface Bound {
  readonly isLower: boolean
  readonly operator: "$gt" | "$gte" | "$lt" | "$lte"
  readonly value: unknown
}

const isEmpty = (lower: Bound, upper: Bound): boolean => {
  const order = compare(lower.value, upper.value)
  return order > 0 || order === 0 && (lower.operator === "$gt" || upper.operator === "$lt")
}

const add = (filters: Array<Filter>, filter: Filter | undefined): void => {
  if (filter !== undefined) filters.push(filter)
}

/** A day is a range of times: "after" and "until" compare with its last one. */
const boundOf = (
  field: QueryField,
  operator: ">" | "<" | ">=" | "<=",
  { isQuoted, text }: Operand,
  report: ReportProblem
): Bound | undefined => {
  if (!field.isOrdered) {
    report("Operator", `can't be compared by ${operator}`)
    return undefined
  }
  const isLower = operator === ">" || operator === ">="
  const day = field.day(text)
  if (day !== undefined) {
    const [first, last] = day
    return { isLower, operator: names[operator], value: operator === ">" || operator === "<=" ? last : first }
  }
  const value = field.read(text, isQuoted)
  if (value === undefined) {
    report("Parameter", field.expects)
    return undefined
  }
  return { isLower, operator: names[operator], value }
}

const names = { ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte" } as const

const containing = (field: QueryField, { isQuoted, text }: Operand, report: ReportProblem): Filter | undefined => {
  if (!field.isList && field.isText) {
    if (text.length <= maxSought) return Query.path(field.path, Schema.String).contains(text).filter
    report("Limit", `can't look for more than ${maxSought} characters`)
    return undefined
  }
  if (!field.isList || field.isDocument) {
    report("Operator", "is neither text nor a list of values to look for something in")
    return undefined
  }
  const value = field.read(text, isQuoted)
  if (value === undefined) {
    report("Parameter", field.expects)
    return undefined
  }
  return { [field.path]: { $eq: value } }
}

const sized = ({ path }: QueryField, { text }: Operand, report: ReportProblem): Filter | undefined => {
  const size = Number(text)
  if (size <= maxSize) return { [path]: { $size: size } }
  report("Parameter", "can't have so many elements")
  return undefined
}

const maxSize = 2 ** 31 - 1

/** Whether the operand stands for no value. */
const isNothing = ({ mayBeMissing }: QueryField, { isQuoted, text }: Operand): boolean =>
  !isQuoted && text === "null" && mayBeMissing

/** Matches a value, or one in any element of the list that the path leads through. */
const present = (field: QueryField): Filter =>
  // A condition on null also applies to the elements, and `$exists` allows the use of a sparse index.
  within(field, field.hasNulls ? { $type: "array" } : { $exists: true, $ne: null })

/** Matches one of the values, or none of them. */
const among = (
  field: QueryField,
  operands: ReadonlyArray<Operand>,
  isNegated: boolean,
  report: ReportProblem
): Filter | undefined => {
  const values: Array<unknown> = []
  const others: Array<Filter> = []
  for (const { isQuoted, text } of operands) {
    if (isNothing(field, { isQuoted, text })) {
      // A condition on null also applies to the elements.
      if (field.hasNulls) others.push({ [field.path]: { $not: { $type: "array" } } })
      else values.push(null)
      continue
    }
    const day = field.day(text)
    if (day !== undefined) {
      others.push(one(field, { $gte: day[0], $lte: day[1] }))
      continue
    }
    const value = field.read(text, isQuoted)
    if (value === undefined) {
      report("Parameter", field.expects)
      return undefined
    }
    values.push(value)
  }
  const same = equalTo(field, values, isNegated)
  if (others.length === 0) return same
  return isNegated
    ? negated(anyOf([...others, ...(values.length === 0 ? [] : [{ [field.path]: { $in: values } }])]))
    : combined([...others, ...(same === undefined ? [] : [same])], "OR")
}

const equalTo = (
  { path }: QueryField,
  values: ReadonlyArray<unknown>,
  isNegated: boolean
): Filter | undefined => {
  const [value] = values
  if (values.length > 1) return { [path]: { [isNegated ? "$nin" : "$in"]: values } }
  if (value === undefined) return undefined
  if (!isNegated) return { [path]: { $eq: value } }
  // `$exists` allows the use of a sparse index.
  return { [path]: value === null ? { $exists: true, $ne: null } : { $ne: value } }
}

/** Operators that a single value has to satisfy, since the path may lead to several values. */
const one = (field: QueryField, operators: Document): Filter =>
  within(field, field.isList ? { $elemMatch: operators } : operators)

/** A condition that a single element of the list has to satisfy that the path leads through. */
const within = ({ list, path }: QueryField, condition: Document): Filter =>
  list === undefined
    ? { [path]: condition }
    : { [list]: { $elemMatch: { [path.slice(list.length + 1)]: condition } } }
