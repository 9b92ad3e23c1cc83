import { maxListLength } from "./conditions.ts"
import { guardExpression, guardPattern, storedName, type Surroundings } from "./expressionGuard.ts"
import type { AccessibleField } from "./fieldAccess.ts"
import { isObject, isUnsafePath, maxLength } from "./guardedJson.ts"

type Values = { readonly [key: string]: unknown }

/**
 * Translates a filter into the store's terms. Only operators of the allowlist and paths that callers may see are
 * accepted, and each value is decoded by the schema of its field.
 *
 * @internal
 */
export const guardFilter = (filter: unknown, around: Surroundings, prefix = ""): Values => {
  const { report } = around
  if (!isObject(filter)) {
    report.refuse("NotConditions")
    return {}
  }
  return Object.fromEntries(
    Object.entries(filter).map(([key, operand]) =>
      key.startsWith("$") ? [key, guardTop(key, operand, around, prefix)] : guardField(key, operand, around, prefix)
    )
  )
}

const guardTop = (operator: string, operand: unknown, around: Surroundings, prefix: string): unknown => {
  const { access, report } = around
  switch (operator) {
    case "$and":
    case "$or":
    case "$nor":
      if (Array.isArray(operand)) return operand.map((filter) => guardFilter(filter, around, prefix))
      report.refuse("Filters", { operator })
      return operand
    case "$expr":
      return guardExpression(operand, around)
    case "$comment":
      if (typeof operand !== "string") report.refuse("Text", { operator })
      return operand
    case "$text":
      // A match in an omitted field would reveal its words.
      if (!access.searchable) report.forbid(operator)
      return guardSearch(operand, around)
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

const guardSearch = (operand: unknown, { report }: Surroundings): unknown => {
  const options = isObject(operand) ? operand : {}
  const isKnown = Object.entries(options).every(([key, value]) =>
    Object.hasOwn(searchOptions, key) && typeof value === searchOptions[key]
  )
  if (!isKnown || !Object.hasOwn(options, "$search")) report.refuse("Search")
  return operand
}

const guardField = (
  key: string,
  operand: unknown,
  around: Surroundings,
  prefix: string
): readonly [path: string, condition: unknown] => {
  const { access, isModel, report } = around
  if (!isModel) {
    if (key === "" || isUnsafePath(key)) report.refuse("NotPath", { path: JSON.stringify(key) })
    return [key, guardCondition(operand, undefined, around)]
  }
  const field = access.field(prefix === "" ? storedName(key, access) : prefix + key)
  if (field === undefined) {
    report.refuse("NotField", { path: JSON.stringify(prefix + key) })
    return [key, operand]
  }
  // Paths within an element are relative to it.
  return [prefix === "" ? field.path : key, guardCondition(operand, field, around)]
}

const guardCondition = (operand: unknown, field: AccessibleField | undefined, around: Surroundings): unknown =>
  isObject(operand) && Object.keys(operand).some((key) => key.startsWith("$"))
    ? guardOperators(operand, field, around)
    : { $eq: guardValue(operand, field, around) }

const guardOperators = (operators: Values, field: AccessibleField | undefined, around: Surroundings): Values => {
  if (Object.hasOwn(operators, "$options") && !Object.hasOwn(operators, "$regex")) {
    around.report.refuse("Options")
  }
  return Object.fromEntries(
    Object.entries(operators).map(([operator, operand]) => [
      operator,
      guardOperator(operator, operand, operators, field, around)
    ])
  )
}

const guardOperator = (
  operator: string,
  operand: unknown,
  { $options: options }: Values,
  field: AccessibleField | undefined,
  around: Surroundings
): unknown => {
  const { report } = around
  switch (operator) {
    case "$eq":
    case "$ne":
    case "$gt":
    case "$gte":
    case "$lt":
    case "$lte":
      return guardValue(operand, field, around)
    case "$in":
    case "$nin":
    case "$all":
      return guardValues(operator, operand, field, around)
    case "$not":
      if (isObject(operand) && Object.keys(operand).length > 0) return guardOperators(operand, field, around)
      report.refuse("Operators")
      return operand
    case "$elemMatch":
      return guardElement(operand, field, around)
    case "$exists":
      if (typeof operand !== "boolean" && operand !== 0 && operand !== 1) report.refuse("Boolean")
      return operand
    case "$size":
      if (!Number.isSafeInteger(operand) || Number(operand) < 0) report.refuse("Size")
      return operand
    case "$type":
      return operand
    case "$regex":
      if (field?.holdsOmitted === true) report.refuse("Text", { operator })
      guardPattern(operand, options, report)
      return operand
    case "$options":
      return operand
    case "$mod":
    case "$bitsAllClear":
    case "$bitsAllSet":
    case "$bitsAnyClear":
    case "$bitsAnySet":
    case "$geoIntersects":
    case "$geoWithin":
    case "$near":
    case "$nearSphere":
      guardPlain(operand, around)
      return operand
    default:
      report.forbid(operator)
      return operand
  }
}

const guardValues = (
  operator: string,
  operand: unknown,
  field: AccessibleField | undefined,
  around: Surroundings
): unknown => {
  const { report } = around
  if (!Array.isArray(operand)) {
    report.refuse("Array", { operator })
    return operand
  }
  if (operand.length > maxListLength) {
    report.refuse("TooManyValues", { operator, limit: maxListLength }, "Limit")
    return operand
  }
  return operand.map((item) =>
    operator === "$all" && isObject(item) && Object.hasOwn(item, "$elemMatch")
      ? guardOperators(item, field, around)
      : guardValue(item, field, around)
  )
}

const guardElement = (operand: unknown, field: AccessibleField | undefined, around: Surroundings): unknown => {
  const { report } = around
  if (!isObject(operand)) {
    report.refuse("Element")
    return operand
  }
  const [first = ""] = Object.keys(operand)
  const isOfValues = first.startsWith("$") && !["$and", "$or", "$nor"].includes(first)
  if (isOfValues) return guardOperators(operand, field, around)
  if (field !== undefined && !(field.isList && field.isDocument)) {
    report.refuse("NoElements", { path: JSON.stringify(field.name) })
    return operand
  }
  return guardFilter(operand, around, field === undefined ? "" : `${field.name}.`)
}

const guardValue = (value: unknown, field: AccessibleField | undefined, around: Surroundings): unknown => {
  const { isWhole, report } = around
  if (field === undefined || value === null) {
    guardPlain(value, around)
    return value
  }
  if (field.holdsOmitted && isWhole) {
    // Comparing the complete value would allow a caller to guess its omitted fields.
    report.refuse("ComparedAsWhole", { path: JSON.stringify(field.name) })
    return value
  }
  const stored = field.readJson(value)
  if (stored !== undefined) return stored
  const text = JSON.stringify(value) ?? ""
  const path = JSON.stringify(field.name)
  if (text.length > maxShown) report.refuse("ThisValue", { path })
  else report.refuse("Value", { path, value: text })
  return value
}

const maxShown = Math.min(100, maxLength)

/** A value that contains no operators except those of geometry. */
const guardPlain = (value: unknown, around: Surroundings): void => {
  if (Array.isArray(value)) return value.forEach((item) => guardPlain(item, around))
  if (!isObject(value)) return
  for (const [key, part] of Object.entries(value)) {
    if (key.startsWith("$") && !geometry.has(key)) around.report.forbid(key)
    guardPlain(part, around)
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
