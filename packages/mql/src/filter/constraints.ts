/** What every match of a filter meets, as indexes and upserts use it. */
import { isArray, Rank, rankOf } from "../bson/value.ts"
import { DifferentValues } from "../bson/valueSet.ts"
import type { Area } from "../geo/cells.ts"
import { isOperatorDocument } from "../predicate/comparisonOperators.ts"
import { literalPrefix } from "../text/regularExpression.ts"

/**
 * A condition that every match meets, as an index can use it. `in` is equality with one of the values, no two of which are equal; `least` and `most`
 * are bounds, exclusive if `isStrict`; `begins` is a literal prefix of a text; `area` contains a part of a location,
 * and is one of several areas that are read one after the other if `isRing`.
 */
export type Constraint =
  | { readonly kind: "in"; readonly path: string; readonly values: ReadonlyArray<unknown> }
  | { readonly kind: "least" | "most"; readonly path: string; readonly value: unknown; readonly isStrict: boolean }
  | { readonly kind: "begins"; readonly path: string; readonly text: string }
  | { readonly kind: "exists"; readonly path: string }
  | { readonly kind: "area"; readonly path: string; readonly area: Area; readonly isRing?: boolean }

/** The constraints of one operator; `options` are those of a `$regex`. */
export const constraintsOf = (
  path: string,
  operator: string,
  operand: unknown,
  options: unknown
): ReadonlyArray<Constraint> => {
  const rank = rankOf(operand)
  const isUsable = rank !== Rank.regularExpression && rank !== Rank.array
  switch (operator) {
    case "$eq":
      return isUsable ? [{ kind: "in", path, values: [operand] }] : []
    case "$in":
      return operand instanceof DifferentValues
          && operand.list.every((item) => !isArray(item) && !(item instanceof RegExp))
        ? [{ kind: "in", path, values: operand.list }]
        : []
    case "$gt":
    case "$gte":
      return isUsable ? [{ kind: "least", path, value: operand, isStrict: operator === "$gt" }] : []
    case "$lt":
    case "$lte":
      return isUsable ? [{ kind: "most", path, value: operand, isStrict: operator === "$lt" }] : []
    case "$regex":
      return beginning(path, operand, options)
    case "$exists":
      return operand === true ? [{ kind: "exists", path }] : []
    default:
      return []
  }
}

/** Whether the constraint says all of its condition; others match more, such as several types. */
export const isExact = (constraint: Constraint): boolean => {
  // It may be a place in a list or the name of a field.
  if (/(?:^|\.)\d+(?:\.|$)/u.test(constraint.path)) return false
  switch (constraint.kind) {
    case "in":
      return constraint.values.every(isPlain)
    case "least":
    case "most":
      return isPlain(constraint.value)
    default:
      return false
  }
}

/** Whether a value is equal to no other one, and less or more than those of its type alone. */
const isPlain = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "boolean" || Number.isFinite(value) || value instanceof Date

const beginning = (path: string, expression: unknown, options: unknown): ReadonlyArray<Constraint> => {
  const text = literalPrefix(expression, options)
  return text === "" ? [] : [{ kind: "begins", path, text }]
}

/** The values that an operator requires a field to have or to contain; an upsert inserts them. */
export const equalitiesOf = (operator: string, operand: unknown): ReadonlyArray<unknown> => {
  if (operator === "$eq") return [operand]
  const values = operator === "$all" && isArray(operand)
    ? operand.filter((item) => !isOperatorDocument(item))
    : operand instanceof DifferentValues && operator === "$in" && operand.list.length === 1
    ? operand.list
    : []
  return values.filter((value) => rankOf(value) !== Rank.regularExpression)
}
