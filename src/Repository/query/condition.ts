/**
 * Conditions on documents as filters of the store, and their combinators. `Query` exports the public part.
 *
 * @since 0.1.0
 */
import { anyOf, conjunctionOf, negated as notMatching } from "@appkernel/document-store/shared"
import { memoize } from "effect/Function"
import type { ModelLike } from "../../Model/internal.ts"
import type { Filter } from "../DocumentStore.ts"
import { elementBaseOf, type FieldPath, operatorsOfField } from "./fieldPath.ts"
import { filtersOf } from "./filterCombinators.ts"

/**
 * A predicate on documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface Condition {
  /** The condition as a filter of the store. */
  readonly filter: Filter
  /** Both conditions hold. */
  readonly and: (that: Condition) => Condition
  /** At least one of the conditions holds. */
  readonly or: (that: Condition) => Condition
  /** The condition does not hold. */
  readonly not: () => Condition
}

/**
 * All conditions hold. Without conditions, every document matches.
 *
 * @category combinators
 * @since 0.1.0
 */
export const and = (conditions: ReadonlyArray<Condition>): Condition =>
  native(conjunctionOf(...conditions.map(({ filter }) => filter)))

/**
 * At least one of the conditions holds. Without conditions, no document matches.
 *
 * @category combinators
 * @since 0.1.0
 */
export const or = (conditions: ReadonlyArray<Condition>): Condition =>
  native(anyOf(conditions.map(({ filter }) => filter)) ?? {})

/**
 * The condition does not hold.
 *
 * @category combinators
 * @since 0.1.0
 */
export const not = ({ filter }: Condition): Condition => native(notMatching(filter) ?? {})

/**
 * A condition in the store's own query language, for conditions that the typed operators cannot express.
 *
 * @category constructors
 * @since 0.1.0
 */
export const native = (filter: Filter): Condition => {
  const self: Condition = {
    filter,
    and: (that) => and([self, that]),
    or: (that) => or([self, that]),
    not: () => not(self)
  }
  return self
}

/** The operators of a field, by name. Each returns a condition. @internal */
export const operatorsOf = (field: FieldPath): object => {
  const { isList, model } = field.codec
  const operators: { [name: string]: (...operands: ReadonlyArray<never>) => Condition } = {}
  for (const [name, filter] of Object.entries(filtersOf(field))) {
    operators[name] = (...operands) => native(filter(...operands))
  }
  if (isList && model !== undefined) {
    operators["any"] = (where: (element: object) => Condition) =>
      native({ [field.path]: { $elemMatch: elementFilter(model, where) } })
  }
  return operators
}

/** The filter of a condition on the elements of a list of models. Its paths begin at the element. @internal */
export const elementFilter = (model: ModelLike, where: (element: object) => Condition): Filter =>
  where(elementOperatorsOf(model)).filter

// internal

const elementOperatorsOf = memoize((model: ModelLike) =>
  operatorsOfField(elementBaseOf(model), operatorsOf, () => true)
)
