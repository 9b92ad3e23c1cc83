/**
 * Parses the operators of an update and validates their operands and paths.
 */
import { Timestamp } from "bson"
import * as Result from "effect/Result"
import type { Collator } from "../../bson/collator.ts"
import { maxDepth } from "../../bson/limits.ts"
import { dateOf } from "../../bson/normalise.ts"
import { plainNumber, toDouble } from "../../bson/number.ts"
import { conflictingPath, segmentsOf } from "../../bson/path.ts"
import { isArray, isDocument, isNumber } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { parseItemCondition } from "../filter/parseFilter.ts"
import { catchRejection, type Problem, rejected } from "../limits/queryProblem.ts"
import { equal } from "../predicate/comparison.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { type ArrayFilters, filterName, noArrayFilters } from "./arrayFilters.ts"

/**
 * One operator on one path, with its parsed operand.
 *
 * @internal
 */
export interface Change {
  readonly operator: string
  readonly path: string
  readonly operand: unknown
  /** How texts compare, unless by their code points. */
  readonly collator: Collator | undefined
}

/**
 * The changes of a normalised update.
 *
 * @internal
 */
export const readChanges = (
  update: Document,
  context: ExpressionContext,
  filters: ArrayFilters
): Result.Result<ReadonlyArray<Change>, Problem> => {
  const operators = Object.entries(update)
  if (operators.length === 0) return Result.fail(rejected("an update needs operators"))
  const changes: Array<Change> = []
  for (const [operator, fields] of operators) {
    const read = readers.get(operator)
    if (read === undefined) return Result.fail(rejected(`${operator} is no update operator`))
    if (!isDocument(fields)) return Result.fail(rejected(`${operator} needs a document of paths`))
    for (const [path, given] of Object.entries(fields)) {
      const problem = operator === "$rename" && path.includes("$")
        ? rejected(`"${path}" can't be renamed`)
        : pathProblem(path, filters)
      if (problem !== undefined) return Result.fail(problem)
      const operand = read(given, context)
      if (Result.isFailure(operand)) return Result.fail(operand.failure)
      changes.push({ operator, path, operand: operand.success, collator: context.collator })
    }
  }
  const used = new Set(changes.flatMap(({ path }) => segmentsOf(path).map(filterName)))
  const unused = Array.from(filters.keys()).find((name) => !used.has(name))
  if (unused !== undefined) return Result.fail(rejected(`the array filter "${unused}" is not used`))
  return withoutConflict(changes)
}

const pathProblem = (path: string, filters: ArrayFilters): Problem | undefined => {
  const segments = segmentsOf(path)
  if (segments.includes("")) return rejected(`"${path}" has an empty field name`)
  if (segments.length > maxDepth) return rejected(`a path leads through more than ${maxDepth} levels`)
  const wrong = segments.find((segment, i) => segment.startsWith("$") && (i === 0 || !isPlaceholder(segment)))
  if (wrong !== undefined) return rejected(`"${wrong}" can't be part of a path`)
  const names = segments.map(filterName).filter((name) => name !== undefined)
  const unknown = names.find((name) => !filters.has(name))
  if (unknown !== undefined) return rejected(`there is no array filter "${unknown}"`)
  return undefined
}

const isPlaceholder = (segment: string): boolean => segment === "$" || /^\$\[.*\]$/.test(segment)

/**
 * Fails if two changes conflict: they have the same path, or the path of one is a prefix of the other's.
 *
 * @internal
 */
export const withoutConflict = (changes: ReadonlyArray<Change>): Result.Result<ReadonlyArray<Change>, Problem> => {
  const conflict = conflictOf(changes)
  return conflict === undefined
    ? Result.succeed(changes)
    : Result.fail(rejected(`several changes of "${conflict}" conflict`))
}

const conflictOf = (changes: ReadonlyArray<Change>): string | undefined =>
  conflictingPath(
    changes.flatMap(({ operand, operator, path }) => operator === "$rename" ? [path, String(operand)] : [path])
  )

type Reader = (operand: unknown, context: ExpressionContext) => Result.Result<unknown, Problem>

const asIs: Reader = Result.succeed

const numeric: Reader = (operand) =>
  isNumber(operand) ? Result.succeed(operand) : Result.fail(rejected("$inc and $mul need a number"))

const listed: Reader = (operand, { collator }) =>
  isArray(operand) ? Result.succeed(new ValueSet(operand, collator)) : Result.fail(rejected("$pullAll needs an array"))

/**
 * The operand of a `$push`.
 *
 * @internal
 */
export interface Push {
  readonly items: ReadonlyArray<unknown>
  readonly position: number | undefined
  readonly slice: number | undefined
  readonly sort: unknown
}

const isModified = (operand: unknown): operand is Document =>
  isDocument(operand) && Object.keys(operand).some((key) => key.startsWith("$"))

const pushed: Reader = (operand, { collator }) => {
  if (!isModified(operand)) {
    return Result.succeed<Push>({ items: [operand], position: undefined, slice: undefined, sort: undefined })
  }
  const { $each, $position: position, $slice: slice, $sort, ...others } = { ...operand }
  const [$position, $slice] = [plainNumber(position), plainNumber(slice)]
  const [other] = Object.keys(others)
  if (other !== undefined) return Result.fail(rejected(`$push has no modifier "${other}"`))
  if (!isArray($each)) return Result.fail(rejected("$push needs an array as its $each"))
  if (!isWholeOrMissing($position) || !isWholeOrMissing($slice)) {
    return Result.fail(rejected("$push needs whole numbers as its $position and its $slice"))
  }
  const order = plainNumber($sort)
  const sort = order === undefined || order === 1 || order === -1 ? Result.succeed([]) : parseSort(order, collator)
  return Result.map(sort, (): Push => ({ items: $each, position: $position, slice: $slice, sort: order }))
}

const isWholeOrMissing = (value: unknown): value is number | undefined => value === undefined || Number.isInteger(value)

const added: Reader = (operand) => {
  if (!isModified(operand)) return Result.succeed([operand])
  const { $each, ...others } = { ...operand }
  return isArray($each) && Object.keys(others).length === 0
    ? Result.succeed($each)
    : Result.fail(rejected("$addToSet needs an array as its $each, and takes no other modifier"))
}

const popped: Reader = (operand) =>
  isNumber(operand) && Math.abs(toDouble(operand)) === 1
    ? Result.succeed(toDouble(operand))
    : Result.fail(rejected("$pop needs 1 or -1"))

/**
 * The operand of a `$pull`: whether an item is removed.
 *
 * @internal
 */
export type ItemTest = (item: unknown) => boolean

const pulled: Reader = (operand, context): Result.Result<ItemTest, Problem> =>
  isDocument(operand)
    ? parseItemCondition(operand, context)
    : catchRejection(() => equal(operand, context.collator))

/**
 * The operand of a `$bit`: its operations in their order.
 *
 * @internal
 */
export type Bits = ReadonlyArray<readonly [operation: string, operand: bigint]>

const isBitOperation = ([name, value]: readonly [string, unknown]): boolean =>
  ["and", "or", "xor"].includes(name) && isNumber(value) && /^-?\d+$/.test(value.toString())

const bits: Reader = (operand): Result.Result<Bits, Problem> => {
  const operations = isDocument(operand) ? Object.entries(operand) : []
  return operations.length > 0 && operations.every(isBitOperation)
    ? Result.succeed(operations.map(([name, value]) => [name, BigInt(String(value))]))
    : Result.fail(rejected("$bit needs and, or or xor with whole numbers"))
}

const dated: Reader = (operand, { now }) => {
  const type = isDocument(operand) ? operand["$type"] : operand
  if (type === true || type === "date") return Result.succeed(dateOf(now))
  return type === "timestamp"
    ? Result.succeed(new Timestamp({ t: Math.floor(now / 1000), i: 1 }))
    : Result.fail(rejected("$currentDate needs true, or a $type of date or timestamp"))
}

const renamed: Reader = (operand) => {
  if (typeof operand !== "string") return Result.fail(rejected("$rename needs a path"))
  const problem = operand.includes("$")
    ? rejected(`"${operand}" can't be renamed to`)
    : pathProblem(operand, noArrayFilters)
  return problem === undefined ? Result.succeed(operand) : Result.fail(problem)
}

const readers = new Map<string, Reader>([
  ["$set", asIs],
  ["$setOnInsert", asIs],
  ["$unset", asIs],
  ["$min", asIs],
  ["$max", asIs],
  ["$bit", bits],
  ["$inc", numeric],
  ["$mul", numeric],
  ["$push", pushed],
  ["$addToSet", added],
  ["$pop", popped],
  ["$pull", pulled],
  ["$pullAll", listed],
  ["$currentDate", dated],
  ["$rename", renamed]
])
