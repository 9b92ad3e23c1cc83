/**
 * Conditions on documents in the store's terms, and how they are combined. `Query` exports what is public of it.
 *
 * @since 0.1.0
 */
import { type ModelLike, perModel } from "../../Model/introspection.ts"
import type { Filter } from "../DocumentStore.ts"
import { elementBaseOf, type FieldPath, fieldsUnder } from "./fieldPath.ts"
import { filtersOf } from "./filterCombinators.ts"

/**
 * Something that a document fulfils or not.
 *
 * @category models
 * @since 0.1.0
 */
export interface Condition {
  /** The condition in the store's terms. */
  readonly filter: Filter
  /** Both. */
  readonly and: (that: Condition) => Condition
  /** Either, or both. */
  readonly or: (that: Condition) => Condition
  /** The contrary. */
  readonly not: () => Condition
}

/**
 * All of the conditions; of none, every document.
 *
 * @category combinators
 * @since 0.1.0
 */
export const and = (conditions: ReadonlyArray<Condition>): Condition =>
  native(joined("$and", conditions.map(({ filter }) => filter)) ?? {})

/**
 * At least one of the conditions; of none, no document.
 *
 * @category combinators
 * @since 0.1.0
 */
export const or = (conditions: ReadonlyArray<Condition>): Condition =>
  native(joined("$or", conditions.map(({ filter }) => filter)) ?? { _id: { $in: [] } })

/**
 * The contrary.
 *
 * @category combinators
 * @since 0.1.0
 */
export const not = ({ filter }: Condition): Condition => native({ $nor: [filter] })

/**
 * A condition in the store's own query language, for what the typed ones can't say.
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

/**
 * What can be said of a field.
 *
 * @internal
 */
export const operatorsOf = (field: FieldPath): object => {
  const { isList, model } = field.part
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

/**
 * A condition on the elements of a list of models, whose paths begin at the element.
 *
 * @internal
 */
export const elementFilter = (model: ModelLike, where: (element: object) => Condition): Filter =>
  where(elementFieldsOf(model)).filter

// internal

const elementFieldsOf = perModel((model: ModelLike) => fieldsUnder(elementBaseOf(model), operatorsOf, () => true))

/** The filters as one, those that are joined in the same way already taken apart; `undefined` for none. */
const joined = (operator: "$and" | "$or", filters: ReadonlyArray<Filter>): Filter | undefined => {
  const parts = filters.flatMap((filter) => {
    const inner = filter[operator]
    return Array.isArray(inner) && inner.length > 0 && Object.keys(filter).length === 1 ? inner : [filter]
  })
  if (parts.length < 2) return parts[0]
  const keys = parts.flatMap((part) => Object.keys(part))
  return operator === "$and" && new Set(keys).size === keys.length
    ? Object.fromEntries(parts.flatMap((part) => Object.entries(part)))
    : { [operator]: parts }
}
