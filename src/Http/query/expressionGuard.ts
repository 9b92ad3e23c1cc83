/**
 * Guards aggregation expressions from callers: allows known operators, and only paths of fields that the caller may
 * see.
 */
import { isPlainObject } from "../../internal/objects.ts"
import { isUnsafePath, type ProblemCollector } from "./guardedJson.ts"
import type { QueryFields } from "./queryFields.ts"

/** The input of an expression or a filter. */
export interface ExpressionContext {
  readonly access: QueryFields
  readonly report: ProblemCollector
  /** Whether paths are still those of the model. */
  readonly isModel: boolean
  /** Whether the documents still contain fields that callers must not see. */
  readonly isComplete: boolean
}

type Values = { readonly [key: string]: unknown }

/** Translates an expression into the store's terms: allowed operators on paths that the caller may see. */
export const guardExpression = (expression: unknown, context: ExpressionContext): unknown => {
  if (typeof expression === "string") return guardText(expression, context)
  if (Array.isArray(expression)) return expression.map((item) => guardExpression(item, context))
  if (!isPlainObject(expression)) return expression
  const entries = Object.entries(expression)
  if (!entries.some(([key]) => key.startsWith("$"))) {
    return Object.fromEntries(entries.map(([key, part]) => [key, guardExpression(part, context)]))
  }
  const [[operator, operand] = ["", undefined], ...others] = entries
  if (others.length > 0) context.report.reject("SideBySide", { names: entries.map(([key]) => key).join(", ") })
  if (!expressions.has(operator)) {
    context.report.forbid(operator)
    return expression
  }
  return { [operator]: guardOperand(operator, operand, context) }
}

/** The store's path of a field. */
export const guardPath = (path: string, { access, isModel, isComplete, report }: ExpressionContext): string => {
  if (isUnsafePath(path) || path === "" || path.includes("\0")) {
    report.reject("NotPath", { path: JSON.stringify(path) })
    return path
  }
  if (!isModel) return path
  const field = access.field(storedName(path, access))
  if (field === undefined) {
    report.reject("NotField", { path: JSON.stringify(path) })
    return path
  }
  // Comparing the complete document would allow a caller to guess its omitted fields.
  if (isComplete && field.holdsOmitted) report.reject("UsedAsWhole", { path: JSON.stringify(path) })
  return field.path
}

/** The store's paths that an operator sorts documents by, each with 1, -1 or an expression. */
export const guardDirections = (
  operator: string,
  sort: Values,
  context: ExpressionContext
): Values =>
  Object.fromEntries(
    Object.entries(sort).map(([path, direction]) => {
      // The path that sorts by a score is none of the document's.
      if (isPlainObject(direction) && Object.keys(direction)[0]?.startsWith("$") === true) {
        return [path, guardExpression(direction, context)]
      }
      if (direction !== 1 && direction !== -1) context.report.reject("Direction", { operator })
      return [guardPath(path, context), direction]
    })
  )

/** The name of a field. The identifier may also be called `_id`, as in the store. */
export const storedName = (path: string, { id }: QueryFields): string => path === "_id" && id !== undefined ? id : path

const maxPatternLength = 256

export const guardPattern = (pattern: unknown, options: unknown, report: ProblemCollector): void => {
  if (typeof pattern !== "string") report.reject("RegexText")
  else if (pattern.length > maxPatternLength) {
    report.reject("RegexTooLong", { limit: maxPatternLength }, "Limit")
  }
  if (options !== undefined && (typeof options !== "string" || !/^[imsx]*$/u.test(options))) {
    report.reject("RegexOptions")
  }
}

const guardText = (text: string, context: ExpressionContext): string => {
  if (!text.startsWith("$")) return text
  if (!text.startsWith("$$")) return `$${guardPath(text.slice(1), context)}`
  const [name = "", ...path] = text.slice(2).split(".")
  const { report } = context
  if (name === "ROOT" || name === "CURRENT") {
    if (context.isComplete) report.forbid(`$$${name}`)
    return path.length === 0 ? text : `$$${name}.${guardPath(path.join("."), context)}`
  }
  // User variables start with a lowercase letter, system variables with an uppercase one.
  if (!variables.has(name) && !/^[a-z]\w*$/u.test(name)) report.forbid(`$$${name}`)
  if (path.some((part) => part === "" || isUnsafePath(part))) report.reject("NotPath", { path: JSON.stringify(text) })
  return text
}

const variables: ReadonlySet<string> = new Set(["NOW", "REMOVE", "KEEP", "PRUNE", "DESCEND"])

const guardOperand = (operator: string, operand: unknown, context: ExpressionContext): unknown => {
  const { report } = context
  const options: Values = isPlainObject(operand) ? operand : {}
  switch (operator) {
    case "$literal":
      return operand
    case "$meta":
      if (operand !== "textScore") report.forbid(`$meta ${JSON.stringify(operand)}`)
      return operand
    case "$range": {
      const bounds = Array.isArray(operand) ? operand : []
      const [start, end, step = 1] = bounds
      const isKnown = bounds.length >= 2 && bounds.every((bound) => Number.isSafeInteger(bound)) && step !== 0
      // A computed range could have any length.
      if (!isKnown || (end - start) / step > maxRange) {
        report.reject("Range", { limit: maxRange }, "Limit")
      }
      return operand
    }
    case "$regexMatch":
    case "$regexFind":
    case "$regexFindAll":
      guardPattern(options["regex"], options["options"], report)
      if (String(options["regex"]).startsWith("$")) report.reject("RegexComputed", { operator })
      return { ...options, input: guardExpression(options["input"], context) }
    case "$let":
      for (const name of isPlainObject(options["vars"]) ? Object.keys(options["vars"]) : []) {
        if (!/^[a-z]\w*$/u.test(name)) report.reject("Variable", { name: JSON.stringify(name) })
      }
      return guardExpression(operand, context)
    case "$size":
    case "$isArray":
    case "$type":
      // The length of a list reveals nothing about its elements.
      return guardExpression(operand, isPath(operand) ? { ...context, isComplete: false } : context)
    case "$getField":
      // Without `input`, the operator uses the complete document.
      if (context.isComplete && !Object.hasOwn(options, "input")) report.forbid(operator)
      return guardExpression(operand, context)
    case "$bottom":
    case "$bottomN":
    case "$top":
    case "$topN":
      return guardBest(operator, options, context)
    default:
      return guardExpression(operand, context)
  }
}

/** An accumulator sorts documents; the operator of the same name has an `input`, whose items it sorts. */
const guardBest = (operator: string, options: Values, context: ExpressionContext): unknown => {
  const { sortBy, ...others } = options
  const guarded = Object.fromEntries(Object.entries(others).map(([key, part]) => [key, guardExpression(part, context)]))
  if (Object.hasOwn(options, "input")) {
    return sortBy === undefined
      ? guarded
      : { ...guarded, sortBy: guardExpression(sortBy, context) }
  }
  if (!isPlainObject(sortBy)) {
    context.report.reject("Fields", { operator: `sortBy of ${operator}` })
    return options
  }
  return { ...guarded, sortBy: guardDirections(operator, sortBy, context) }
}

const isPath = (operand: unknown): boolean => typeof operand === "string" && /^\$[^$]/u.test(operand)

const maxRange = 10_000

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u))

/**
 * The allowed operators: each depends on the document only, and its result is no larger than its input. One that takes the names of
 * fields without a `$` has a case above.
 */
export const expressions: ReadonlySet<string> = words(`
  $abs $acos $acosh $add $addToSet $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject $asin $asinh $atan
  $atan2 $atanh $avg $binarySize $bitAnd $bitNot $bitOr $bitXor $bottom $bottomN $bsonSize $ceil $cmp $concat
  $concatArrays $cond $convert $cos $cosh $count $dateAdd $dateDiff $dateFromParts $dateFromString $dateSubtract
  $dateToParts $dateToString $dateTrunc $dayOfMonth $dayOfWeek $dayOfYear $degreesToRadians $divide $eq $exp $filter
  $first $firstN $floor $getField $gt $gte $hour $ifNull $in $indexOfArray $indexOfBytes $indexOfCP $isArray $isNumber
  $isoDayOfWeek $isoWeek $isoWeekYear $last $lastN $let $literal $ln $log $log10 $lt $lte $ltrim $map $max $maxN $median
  $mergeObjects $meta $millisecond $min $minN $minute $mod $month $multiply $ne $not $objectToArray $or $percentile $pow
  $push $radiansToDegrees $rand $range $reduce $regexFind $regexFindAll $regexMatch $replaceAll $replaceOne
  $reverseArray $round $rtrim $second $setDifference $setEquals $setField $setIntersection $setIsSubset $setUnion
  $sigmoid $sin $sinh $size $slice $sortArray $split $sqrt $stdDevPop $stdDevSamp $strLenBytes $strLenCP $strcasecmp
  $substr $substrBytes $substrCP $subtract $sum $switch $tan $tanh $toBool $toDate $toDecimal $toDouble $toInt $toLong
  $toLower $toObjectId $toString $toUUID $toUpper $top $topN $trim $trunc $tsIncrement $tsSecond $type $unsetField $week
  $year $zip
`)
