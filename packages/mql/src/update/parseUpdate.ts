/** Parses the operators of an update and validates their operands and paths. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { Timestamp } from "bson"
import type { Collator } from "../bson/collator.ts"
import { maxNesting } from "../bson/limits.ts"
import { dateOf } from "../bson/normalise.ts"
import { isInt, plainNumber, toDouble } from "../bson/number.ts"
import { conflictingPath, isReferenceField, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument, isNumber } from "../bson/value.ts"
import { ValueSet } from "../bson/valueSet.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { parsePullCondition } from "../filter/parseFilter.ts"
import { orReject, reject } from "../limits/queryProblem.ts"
import { equal } from "../predicate/comparisonOperators.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { type ArrayFilters, filterName, isItems, noArrayFilters } from "./arrayFilters.ts"

/** One operator on one path, with its parsed operand. */
export interface DocumentChange {
  readonly operator: string
  readonly path: string
  readonly operand: unknown
  /** How texts compare, unless by their code points. */
  readonly collator: Collator | undefined
}

/** The changes of a normalised update. May throw. */
export const readChanges = (
  update: Document,
  context: ExpressionContext,
  filters: ArrayFilters
): ReadonlyArray<DocumentChange> => {
  const operators = Object.entries(update)
  if (operators.length === 0) return reject("an update needs operators")
  const changes: Array<DocumentChange> = []
  for (const [operator, fields] of operators) {
    const read = readers.get(operator)
    if (read === undefined) return reject(`${operator} is no update operator`)
    if (!isDocument(fields)) return reject(`${operator} needs a document of paths`)
    for (const [path, given] of Object.entries(fields)) {
      if (operator === "$rename" && path.includes("$")) reject(`"${path}" can't be renamed`)
      checkPath(path, filters)
      changes.push({ operator, path, operand: read(given, context), collator: context.collator })
    }
  }
  const used = new Set(changes.flatMap(({ path }) => segmentsOf(path).map(filterName)))
  const unused = Array.from(filters.keys()).find((name) => !used.has(name))
  if (unused !== undefined) return reject(`the array filter "${unused}" is not used`)
  const mixed = mixedAccess(changes)
  return mixed === undefined
    ? withoutConflict(changes)
    : reject(`several changes of "${mixed}" conflict: by $[] and by another place`)
}

const checkPath = (path: string, filters: ArrayFilters): void => {
  const segments = segmentsOf(path)
  if (path.includes("\0")) reject("a path can't contain null characters")
  if (segments.includes("")) reject(`"${path}" has an empty field name`)
  if (segments.length > maxNesting) reject(`a path leads through more than ${maxNesting} levels`)
  const wrong = segments.find((segment, i) => segment.startsWith("$") && (i === 0 || !isPlaceholder(segment)))
  if (wrong !== undefined) reject(`"${wrong}" can't be part of a path`)
  const names = segments.map(filterName).filter((name) => name !== undefined)
  const unknown = names.find((name) => !filters.has(name))
  if (unknown !== undefined) reject(`there is no array filter "${unknown}"`)
}

/** The path of a list that some changes enter by `$[]` or `$[name]`, and others by a place or a field. */
const mixedAccess = (changes: ReadonlyArray<DocumentChange>): string | undefined => {
  if (changes.length < 2 || !changes.some(({ path }) => path.includes(".$["))) return undefined
  const entered = new Map<string, boolean>()
  for (const { path } of changes) {
    const segments = segmentsOf(path)
    for (const [i, segment] of segments.entries()) {
      const list = segments.slice(0, i).join(".")
      if (entered.has(list) && entered.get(list) !== isItems(segment)) return list
      entered.set(list, isItems(segment))
    }
  }
  return undefined
}

const isPlaceholder = (segment: string): boolean => segment === "$" || /^\$\[.*\]$/.test(segment)

/** Changes, none of whose paths is that of another or a prefix of it. Rejects others. */
export const withoutConflict = (changes: ReadonlyArray<DocumentChange>): ReadonlyArray<DocumentChange> => {
  const conflict = conflictingPath(
    changes.flatMap(({ operand, operator, path }) => operator === "$rename" ? [path, String(operand)] : [path])
  )
  return conflict === undefined ? changes : reject(`several changes of "${conflict}" conflict`)
}

type Reader = (operand: unknown, context: ExpressionContext) => unknown

const asIs: Reader = (operand) => operand

const numeric: Reader = (operand) => isNumber(operand) ? operand : reject("$inc and $mul need a number")

const listed: Reader = (operand, { collator }) =>
  isArray(operand) ? new ValueSet(operand, collator) : reject("$pullAll needs an array")

/** The operand of a `$push`. */
export interface Push {
  readonly items: ReadonlyArray<unknown>
  readonly position: number | undefined
  readonly slice: number | undefined
  readonly sort: unknown
}

const isModified = (operand: unknown): operand is Document =>
  isDocument(operand) && Object.keys(operand).some((key) => key.startsWith("$") && !isReferenceField(key))

const pushed: Reader = (operand, { collator }): Push => {
  if (!isModified(operand)) return { items: [operand], position: undefined, slice: undefined, sort: undefined }
  const { $each, $position: position, $slice: slice, $sort, ...others } = { ...operand }
  const [$position, $slice] = [plainNumber(position), plainNumber(slice)]
  const [other] = Object.keys(others)
  if (other !== undefined) return reject(`$push has no modifier "${other}"`)
  if (!isArray($each)) return reject("$push needs an array as its $each")
  if (!isWholeOrMissing($position) || !isWholeOrMissing($slice)) {
    return reject("$push needs whole numbers as its $position and its $slice")
  }
  const sort = plainNumber($sort)
  if (sort !== undefined && sort !== 1 && sort !== -1 && orReject(parseSort(sort, collator)).length === 0) {
    return reject("the $sort of $push needs at least one field")
  }
  return { items: $each, position: $position, slice: $slice, sort }
}

const isWholeOrMissing = (value: unknown): value is number | undefined => value === undefined || Number.isInteger(value)

const added: Reader = (operand) => {
  if (!isModified(operand)) return [operand]
  const { $each, ...others } = { ...operand }
  return isArray($each) && Object.keys(others).length === 0
    ? $each
    : reject("$addToSet needs an array as its $each, and takes no other modifier")
}

const popped: Reader = (operand) =>
  isNumber(operand) && Math.abs(toDouble(operand)) === 1
    ? toDouble(operand)
    : reject("$pop needs 1 or -1")

/** The operand of a `$pull`: whether an item is removed. */
export type ItemTest = (item: unknown) => boolean

const pulled: Reader = (operand, context): ItemTest =>
  isDocument(operand) || operand instanceof RegExp
    ? parsePullCondition(operand, context)
    : equal(operand, context.collator)

/** The operand of a `$bit`: its operations in their order. */
export type Bits = ReadonlyArray<readonly [operation: string, operand: bigint, isLong: boolean]>

const isBitOperation = ([name, value]: readonly [string, unknown]): boolean =>
  ["and", "or", "xor"].includes(name) && isNumber(value) && /^-?\d+$/.test(value.toString())

const bits: Reader = (operand): Bits => {
  const operations = isDocument(operand) ? Object.entries(operand) : []
  return operations.length > 0 && operations.every(isBitOperation)
    ? operations.map(([name, value]) => [name, BigInt(String(value)), !isInt(value)])
    : reject("$bit needs and, or or xor with whole numbers")
}

const dated: Reader = (operand, { now }) => {
  const type = isDocument(operand) ? operand["$type"] : operand
  if (type === true || type === "date") return dateOf(now)
  return type === "timestamp"
    ? new Timestamp({ t: Math.floor(now / 1000), i: 1 })
    : reject("$currentDate needs true, or a $type of date or timestamp")
}

const renamed: Reader = (operand) => {
  if (typeof operand !== "string") return reject("$rename needs a path")
  if (operand.includes("$")) reject(`"${operand}" can't be renamed to`)
  checkPath(operand, noArrayFilters)
  return operand
}

export const readers = new Map<string, Reader>([
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
