/**
 * Guards MongoDB filters from callers: allows known operators on visible fields, and decodes values like the fields.
 */
import { isPlainObject } from "../../internal/objects.ts"
import { maxListLength } from "./conditions.ts"
import { type ExpressionContext, guardExpression, guardPattern, storedName } from "./expressionGuard.ts"
import { isUnsafePath, maxLength } from "./guardedJson.ts"
import type { QueryField } from "./queryFields.ts"

type Values = { readonly [key: string]: unknown }

/**
 * Translates a filter into the store's terms: allowed operators on visible paths, values decoded by their fields. A filter of the
 * elements of a list has the path of the list, and a dot, as its `prefix`.
 */
export const guardFilter = (filter: unknown, context: ExpressionContext, prefix?: string): Values => {
  const { report } = context
  if (!isPlainObject(filter)) {
    report.reject("NotConditions")
    return {}
  }
  return Object.fromEntries(
    Object.entries(filter).map(([key, operand]) =>
      key.startsWith("$") ? [key, guardTop(key, operand, context, prefix)] : guardField(key, operand, context, prefix)
    )
  )
}

const guardTop = (
  operator: string,
  operand: unknown,
  context: ExpressionContext,
  prefix: string | undefined
): unknown => {
  const { access, report } = context
  switch (operator) {
    case "$and":
    case "$or":
    case "$nor":
      if (Array.isArray(operand)) return operand.map((filter) => guardFilter(filter, context, prefix))
      report.reject("Filters", { operator })
      return operand
    case "$expr":
      // Its paths would be those of an element, and are guarded as those of the document.
      if (prefix !== undefined) report.reject("OfDocument", { operator })
      return guardExpression(operand, context)
    case "$comment":
      if (typeof operand !== "string") report.reject("Text", { operator })
      return operand
    case "$text":
      // A match in an omitted field would reveal its words.
      if (!access.searchable) report.forbid(operator)
      return guardSearch(operand, context)
    default:
      report.forbid(operator)
      return operand
  }
}

const searchOptions: { readonly [key: string]: string } = {
  $search: "string",
  $language: "string",
  $caseSensitive: "boolean",
  $diacriticSensitive: "boolean"
}

const guardSearch = (operand: unknown, { report }: ExpressionContext): unknown => {
  const options = isPlainObject(operand) ? operand : {}
  const isKnown = Object.entries(options).every(([key, value]) =>
    Object.hasOwn(searchOptions, key) && typeof value === searchOptions[key]
  )
  if (!isKnown || !Object.hasOwn(options, "$search")) report.reject("Search")
  return operand
}

const guardField = (
  key: string,
  operand: unknown,
  context: ExpressionContext,
  prefix: string | undefined
): readonly [path: string, condition: unknown] => {
  const { access, isModel, report } = context
  if (!isModel) {
    if (key === "" || isUnsafePath(key)) report.reject("NotPath", { path: JSON.stringify(key) })
    return [key, guardCondition(operand, undefined, context)]
  }
  const field = access.field(prefix === undefined ? storedName(key, access) : prefix + key)
  if (field === undefined) {
    report.reject("NotField", { path: JSON.stringify(`${prefix ?? ""}${key}`) })
    return [key, operand]
  }
  // Paths within an element are relative to it.
  return [prefix === undefined ? field.path : key, guardCondition(operand, field, context)]
}

const guardCondition = (operand: unknown, field: QueryField | undefined, context: ExpressionContext): unknown =>
  isPlainObject(operand) && Object.keys(operand).some((key) => key.startsWith("$"))
    ? guardOperators(operand, field, context)
    : { $eq: guardValue(operand, field, context) }

const guardOperators = (operators: Values, field: QueryField | undefined, context: ExpressionContext): Values => {
  if (Object.hasOwn(operators, "$options") && !Object.hasOwn(operators, "$regex")) {
    context.report.reject("Options")
  }
  return Object.fromEntries(
    Object.entries(operators).map(([operator, operand]) => [
      operator,
      guardOperator(operator, operand, operators, field, context)
    ])
  )
}

const guardOperator = (
  operator: string,
  operand: unknown,
  { $options: options }: Values,
  field: QueryField | undefined,
  context: ExpressionContext
): unknown => {
  const { report } = context
  switch (operator) {
    case "$eq":
    case "$ne":
    case "$gt":
    case "$gte":
    case "$lt":
    case "$lte":
      return guardValue(operand, field, context)
    case "$in":
    case "$nin":
    case "$all":
      return guardValues(operator, operand, field, context)
    case "$not":
      if (isPlainObject(operand) && Object.keys(operand).length > 0) return guardOperators(operand, field, context)
      report.reject("Operators")
      return operand
    case "$elemMatch":
      return guardElement(operand, field, context)
    case "$exists":
      if (typeof operand !== "boolean" && operand !== 0 && operand !== 1) report.reject("Boolean")
      return operand
    case "$size":
      if (!Number.isSafeInteger(operand) || Number(operand) < 0) report.reject("Size")
      return operand
    case "$type":
      return operand
    case "$regex":
      if (field?.holdsOmitted === true) report.reject("Text", { operator })
      guardPattern(operand, options, report)
      return operand
    case "$options":
      return operand
    case "$geoIntersects":
    case "$geoWithin":
    case "$near":
    case "$nearSphere":
      // The first fields of any document are a location.
      rejectWhole(field, context)
      guardPlain(operand, context)
      return operand
    case "$mod":
    case "$bitsAllClear":
    case "$bitsAllSet":
    case "$bitsAnyClear":
    case "$bitsAnySet":
      guardPlain(operand, context)
      return operand
    default:
      report.forbid(operator)
      return operand
  }
}

const guardValues = (
  operator: string,
  operand: unknown,
  field: QueryField | undefined,
  context: ExpressionContext
): unknown => {
  const { report } = context
  if (!Array.isArray(operand)) {
    report.reject("Array", { operator })
    return operand
  }
  if (operand.length > maxListLength) {
    report.reject("TooManyValues", { operator, limit: maxListLength }, "Limit")
    return operand
  }
  return operand.map((item) =>
    operator === "$all" && isPlainObject(item) && Object.hasOwn(item, "$elemMatch")
      ? guardOperators(item, field, context)
      : guardValue(item, field, context)
  )
}

const guardElement = (operand: unknown, field: QueryField | undefined, context: ExpressionContext): unknown => {
  const { report } = context
  if (!isPlainObject(operand)) {
    report.reject("Element")
    return operand
  }
  const [first = ""] = Object.keys(operand)
  const isOfValues = first.startsWith("$") && !["$and", "$or", "$nor", "$expr"].includes(first)
  if (isOfValues) return guardOperators(operand, field, context)
  if (field !== undefined && !(field.isList && field.isDocument)) {
    report.reject("NoElements", { path: JSON.stringify(field.name) })
    return operand
  }
  return guardFilter(operand, context, field === undefined ? "" : `${field.name}.`)
}

/** Comparing the complete value would allow a caller to guess its omitted fields. Whether it is rejected. */
const rejectWhole = (field: QueryField | undefined, { isComplete, report }: ExpressionContext): boolean => {
  if (field?.holdsOmitted !== true || !isComplete) return false
  report.reject("ComparedAsWhole", { path: JSON.stringify(field.name) })
  return true
}

const guardValue = (value: unknown, field: QueryField | undefined, context: ExpressionContext): unknown => {
  const { report } = context
  if (field === undefined || value === null) {
    guardPlain(value, context)
    return value
  }
  if (rejectWhole(field, context)) return value
  const stored = field.readJson(value)
  if (stored !== undefined) return stored
  const text = JSON.stringify(value) ?? ""
  const path = JSON.stringify(field.name)
  if (text.length > maxShown) report.reject("ThisValue", { path })
  else report.reject("Value", { path, value: text })
  return value
}

const maxShown = Math.min(100, maxLength)

/** A value that contains no operators except those of geometry. */
const guardPlain = (value: unknown, context: ExpressionContext): void => {
  if (Array.isArray(value)) return value.forEach((item) => guardPlain(item, context))
  if (!isPlainObject(value)) return
  for (const [key, part] of Object.entries(value)) {
    if (key.startsWith("$") && !geometry.has(key)) context.report.forbid(key)
    guardPlain(part, context)
  }
}

const geometry: ReadonlySet<string> = new Set([
  "$geometry",
  "$box",
  "$center",
  "$centerSphere",
  "$polygon",
  "$maxDistance",
  "$minDistance"
])
