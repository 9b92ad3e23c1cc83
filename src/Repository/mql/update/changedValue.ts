/**
 * Computes the values that the operators of an update give to fields.
 */
import * as Result from "effect/Result"
import { add, integerOf, multiply } from "../../bson/arithmetic.ts"
import { type Collator, orderOf } from "../../bson/collator.ts"
import { isInt, isLong } from "../../bson/number.ts"
import { childOf, compareKeys, segmentsOf } from "../../bson/path.ts"
import { isArray, isDocument, isNumber } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection, type Problem, rejected } from "../limits/queryProblem.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { locate, type Target } from "./fields.ts"
import type { Bits, Change, ItemTest, Push } from "./parseUpdate.ts"

/** @internal */
export const noChange = Symbol("noChange")

/**
 * The new value of a field, or {@link noChange}. The value of a `$rename` is the one to move, that of an `$unset` has no
 * meaning.
 *
 * @internal
 */
export const changedValue = (
  { collator, operand, operator, path }: Change,
  document: Document,
  target: Target
): Result.Result<unknown, Problem> => {
  if ("blockedAt" in target) {
    return removing.has(operator) && operator !== "$rename"
      ? unchanged
      : Result.fail(rejected(`"${path}" can't be made: "${target.blockedAt}" has no such fields`))
  }
  const { value } = target
  const { compare } = orderOf(collator)
  if (value === undefined && removing.has(operator)) return unchanged
  switch (operator) {
    case "$inc":
    case "$mul":
      return computed(operator, path, value, operand)
    case "$min":
      return value === undefined || compare(operand, value) < 0 ? Result.succeed(operand) : unchanged
    case "$max":
      return value === undefined || compare(operand, value) > 0 ? Result.succeed(operand) : unchanged
    case "$rename":
      return target.isInArray || isUnreachable(locate(document, segmentsOf(String(operand))))
        ? Result.fail(rejected(`"${path}" can't be renamed to "${String(operand)}"`))
        : Result.succeed(value)
    case "$bit":
      // The parser of each operator has made its operand.
      return bitwise(path, value === undefined ? 0 : value, operand as Bits)
    case "$push":
    case "$addToSet":
    case "$pop":
    case "$pull":
    case "$pullAll":
      return value === undefined || isArray(value)
        ? changedArray({ collator, operand, operator }, value ?? [])
        : Result.fail(rejected(`${operator} needs an array at "${path}"`))
    default:
      return Result.succeed(operand)
  }
}

// internal

const unchanged: Result.Result<unknown, Problem> = Result.succeed(noChange)

// The operators that change nothing where the value is missing.
const removing = new Set(["$unset", "$pop", "$pull", "$pullAll", "$rename"])

const isUnreachable = (target: Target): boolean => "blockedAt" in target || target.isInArray

const computed = (
  operator: "$inc" | "$mul",
  path: string,
  value: unknown,
  operand: unknown
): Result.Result<unknown, Problem> => {
  if (!isNumber(operand) || !(value === undefined || isNumber(value))) {
    return Result.fail(rejected(`${operator} needs a number at "${path}"`))
  }
  const result = operator === "$inc" ? add(value ?? 0, operand) : multiply(value ?? 0, operand)
  return result === undefined
    ? Result.fail(rejected(`${operator} leaves the 64-bit integers at "${path}"`))
    : Result.succeed(result)
}

const bitwise = (path: string, value: unknown, bits: Bits): Result.Result<unknown, Problem> => {
  if (!isInt(value) && !(isNumber(value) && isLong(value))) {
    return Result.fail(rejected(`$bit needs a whole number at "${path}"`))
  }
  let result = BigInt(value.toString())
  for (const [operation, operand] of bits) {
    result = operation === "and" ? result & operand : operation === "or" ? result | operand : result ^ operand
  }
  return Result.succeed(integerOf(BigInt.asIntN(64, result), !isInt(value)))
}

const changedArray = (
  { collator, operand, operator }: Omit<Change, "path">,
  array: ReadonlyArray<unknown>
): Result.Result<ReadonlyArray<unknown>, Problem> => {
  // The parser of each operator has made its operand.
  if (operator === "$push") return push(array, operand as Push, collator)
  if (operator === "$pull") {
    return catchRejection(() => {
      beginEvaluation()
      return array.filter((item) => !(operand as ItemTest)(item))
    })
  }
  if (operator === "$pop") return Result.succeed(operand === 1 ? array.slice(0, -1) : array.slice(1))
  if (operand instanceof ValueSet) return Result.succeed(array.filter((item) => !operand.has(item)))
  const items = isArray(operand) ? operand : []
  const known = new ValueSet(array, collator)
  return Result.succeed([...array, ...items.filter((item) => known.add(item))])
}

const push = (
  array: ReadonlyArray<unknown>,
  { items, position, slice, sort }: Push,
  collator: Collator | undefined
): Result.Result<ReadonlyArray<unknown>, Problem> => {
  const all = array.toSpliced(position ?? array.length, 0, ...items)
  return Result.map(
    sort === undefined ? Result.succeed(all) : inOrder(all, sort, collator),
    (ordered) => slice === undefined ? ordered : slice < 0 ? ordered.slice(slice) : ordered.slice(0, slice)
  )
}

const inOrder = (
  items: ReadonlyArray<unknown>,
  sort: unknown,
  collator: Collator | undefined
): Result.Result<ReadonlyArray<unknown>, Problem> => {
  const { compare } = orderOf(collator)
  if (sort === 1 || sort === -1) return Result.succeed(items.toSorted((a, b) => sort * compare(a, b)))
  return Result.map(parseSort(sort, collator), (directions) => {
    // Unlike the sort of a find, this one compares whole arrays.
    const keyed = items.map((item) => ({
      item,
      key: directions.map(({ path }) => (isDocument(item) ? path.reduce(childOf, item as unknown) : undefined) ?? null)
    }))
    return keyed.toSorted((a, b) => compareKeys(a.key, b.key, directions)).map(({ item }) => item)
  })
}
