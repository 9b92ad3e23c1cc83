/** Computes the values that the operators of an update give to fields. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { add, integerOf, multiply } from "../bson/arithmetic.ts"
import { type Collator, orderOf } from "../bson/collator.ts"
import { type BsonNumber, isInt, isLong } from "../bson/number.ts"
import { childOf, compareKeys, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument, isNumber } from "../bson/value.ts"
import { ValueSet } from "../bson/valueSet.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { orReject, reject } from "../limits/queryProblem.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { locate, type UpdateTarget } from "./fields.ts"
import type { Bits, DocumentChange, ItemTest, Push } from "./parseUpdate.ts"

export const noChange = Symbol("noChange")

/** The new value of a field, or {@link noChange}; of `$rename` the one to move, of `$unset` none. May throw. */
export const changedValue = (
  { collator, operand, operator, path }: DocumentChange,
  document: Document,
  target: UpdateTarget
): unknown => {
  if ("blockedAt" in target) {
    return removing.has(operator) && operator !== "$rename"
      ? noChange
      : reject(`"${path}" can't be made: "${target.blockedAt}" has no such fields`)
  }
  const { value } = target
  const { compare } = orderOf(collator)
  if (value === undefined && removing.has(operator)) return noChange
  switch (operator) {
    case "$inc":
    case "$mul":
      return computed(operator, path, value, operand)
    case "$min":
      return value === undefined || compare(operand, value) < 0 ? operand : noChange
    case "$max":
      return value === undefined || compare(operand, value) > 0 ? operand : noChange
    case "$rename":
      return target.isInArray || isUnreachable(locate(document, segmentsOf(String(operand))))
        ? reject(`"${path}" can't be renamed to "${String(operand)}"`)
        : value
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
        : reject(`${operator} needs an array at "${path}"`)
    default:
      return operand
  }
}

// internal

// The operators that change nothing where the value is missing.
const removing = new Set(["$unset", "$pop", "$pull", "$pullAll", "$rename"])

const isUnreachable = (target: UpdateTarget): boolean => "blockedAt" in target || target.isInArray

const computed = (operator: "$inc" | "$mul", path: string, value: unknown, operand: unknown): BsonNumber => {
  if (!isNumber(operand) || !(value === undefined || isNumber(value))) {
    return reject(`${operator} needs a number at "${path}"`)
  }
  return (operator === "$inc" ? add(value ?? 0, operand) : multiply(value ?? 0, operand))
    ?? reject(`${operator} leaves the 64-bit integers at "${path}"`)
}

const bitwise = (path: string, value: unknown, bits: Bits): unknown => {
  if (!isInt(value) && !(isNumber(value) && isLong(value))) return reject(`$bit needs a whole number at "${path}"`)
  let result = BigInt(value.toString())
  let isWide = !isInt(value)
  for (const [operation, operand, isOperandWide] of bits) {
    isWide ||= isOperandWide
    result = operation === "and" ? result & operand : operation === "or" ? result | operand : result ^ operand
  }
  return integerOf(BigInt.asIntN(64, result), isWide)
}

const changedArray = (
  { collator, operand, operator }: Omit<DocumentChange, "path">,
  array: ReadonlyArray<unknown>
): ReadonlyArray<unknown> => {
  // The parser of each operator has made its operand.
  if (operator === "$push") return push(array, operand as Push, collator)
  if (operator === "$pull") {
    beginEvaluation()
    return array.filter((item) => !(operand as ItemTest)(item))
  }
  if (operator === "$pop") return operand === 1 ? array.slice(0, -1) : array.slice(1)
  if (operand instanceof ValueSet) return array.filter((item) => !operand.has(item))
  const items = isArray(operand) ? operand : []
  const known = new ValueSet(array, collator)
  return [...array, ...items.filter((item) => known.add(item))]
}

const push = (
  array: ReadonlyArray<unknown>,
  { items, position, slice, sort }: Push,
  collator: Collator | undefined
): ReadonlyArray<unknown> => {
  const all = array.toSpliced(position ?? array.length, 0, ...items)
  const ordered = sort === undefined ? all : inOrder(all, sort, collator)
  return slice === undefined ? ordered : slice < 0 ? ordered.slice(slice) : ordered.slice(0, slice)
}

const inOrder = (
  items: ReadonlyArray<unknown>,
  sort: unknown,
  collator: Collator | undefined
): ReadonlyArray<unknown> => {
  const { compare } = orderOf(collator)
  if (sort === 1 || sort === -1) return items.toSorted((a, b) => sort * compare(a, b))
  const directions = orReject(parseSort(sort, collator))
  // Unlike the sort of a find, this one compares whole arrays.
  const keyed = items.map((item) => ({
    item,
    key: directions.map(({ path }) => (isDocument(item) ? path.reduce(childOf, item as unknown) : undefined) ?? null)
  }))
  return keyed.toSorted((a, b) => compareKeys(a.key, b.key, directions)).map(({ item }) => item)
}
