/**
 * The operators on fields that have no conditions in them.
 */
import type { Document } from "../../DocumentStore.ts"
import { reject } from "../limits/queryProblem.ts"
import { equal, hasSize, isTrue, matchesPattern, oneOf, ordered, remainder } from "../predicate/comparison.ts"
import { ofType } from "../predicate/types.ts"
import { type FieldTest, not, onItems, onValue } from "./fieldTest.ts"

/**
 * Parses an operand; `siblings` are all operators on the field. Rejects invalid operands.
 *
 * @internal
 */
export type FieldOperator = (operand: unknown, siblings: Document) => FieldTest

/** @internal */
export const fieldOperators: ReadonlyMap<string, FieldOperator> = new Map<string, FieldOperator>([
  ["$eq", (operand) => onItems(equal(operand))],
  ["$ne", (operand) => not(onItems(equal(operand)))],
  ["$gt", (operand) => onItems(ordered("$gt")(operand))],
  ["$gte", (operand) => onItems(ordered("$gte")(operand))],
  ["$lt", (operand) => onItems(ordered("$lt")(operand))],
  ["$lte", (operand) => onItems(ordered("$lte")(operand))],
  ["$in", (operand) => onItems(oneOf(operand))],
  ["$nin", (operand) => not(onItems(oneOf(operand)))],
  ["$regex", (operand, siblings) => onItems(matchesPattern(operand, siblings["$options"]))],
  ["$options", (_, siblings) => Object.hasOwn(siblings, "$regex") ? always : reject("$options needs a $regex")],
  ["$exists", (operand) => isTrue(operand) ? exists : isMissing],
  ["$size", (operand) => onValue(hasSize(operand))],
  ["$mod", (operand) => onItems(remainder(operand))],
  ["$type", (operand) => onItems(ofType(operand))],
  ["$comment", () => always]
])

// internal

const exists = onValue((value) => value !== undefined)

// It says nothing about the items of an array.
const isMissing: FieldTest = { ...not(exists), items: [] }

const always = onValue(() => true)
