/**
 * The operators on fields that have no conditions in them.
 */
import type { Collator } from "../../bson/collator.ts"
import { isTruthy } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { reject } from "../limits/queryProblem.ts"
import { testsBits } from "../predicate/bits.ts"
import { equalTo, hasSize, matchesPattern, oneOf, ordered, remainder } from "../predicate/comparison.ts"
import { ofType } from "../predicate/types.ts"
import { type FieldTest, not, onItems, onValue } from "./fieldTest.ts"

/**
 * Parses an operand, whose texts compare by the collator; `siblings` are all operators on the field. Rejects invalid
 * operands.
 *
 * @internal
 */
export type FieldOperator = (operand: unknown, siblings: Document, collator: Collator | undefined) => FieldTest

/** @internal */
export const fieldOperators: ReadonlyMap<string, FieldOperator> = new Map<string, FieldOperator>([
  ["$eq", (operand, _, collator) => onItems(equalTo(operand, collator))],
  [
    "$ne",
    (operand, _, collator) =>
      operand instanceof RegExp ? reject("$ne takes no regular expression") : not(onItems(equalTo(operand, collator)))
  ],
  ["$gt", (operand, _, collator) => onItems(ordered("$gt")(operand, collator))],
  ["$gte", (operand, _, collator) => onItems(ordered("$gte")(operand, collator))],
  ["$lt", (operand, _, collator) => onItems(ordered("$lt")(operand, collator))],
  ["$lte", (operand, _, collator) => onItems(ordered("$lte")(operand, collator))],
  ["$in", (operand, _, collator) => onItems(oneOf(operand, collator))],
  ["$nin", (operand, _, collator) => not(onItems(oneOf(operand, collator)))],
  ["$regex", (operand, siblings) => onItems(matchesPattern(operand, siblings["$options"]))],
  ["$options", (_, siblings) => Object.hasOwn(siblings, "$regex") ? always : reject("$options needs a $regex")],
  ["$exists", (operand) => isTruthy(operand) ? exists : not(exists)],
  ["$size", (operand) => onValue(hasSize(operand))],
  ["$mod", (operand) => onItems(remainder(operand))],
  ["$bitsAllSet", (operand) => onItems(testsBits("$bitsAllSet")(operand))],
  ["$bitsAnySet", (operand) => onItems(testsBits("$bitsAnySet")(operand))],
  ["$bitsAllClear", (operand) => onItems(testsBits("$bitsAllClear")(operand))],
  ["$bitsAnyClear", (operand) => onItems(testsBits("$bitsAnyClear")(operand))],
  ["$type", (operand) => onItems(ofType(operand))],
  ["$comment", () => always]
])

// internal

const exists = onValue((value) => value !== undefined)

const always = onValue(() => true)
