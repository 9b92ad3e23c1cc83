/**
 * Fixed maxima of requests that no configuration changes: sort fields, selected fields, list items and hashed
 * passwords.
 */
import { type ModelLike, modelTypeId } from "../../Model/internal.ts"

/** The maximum number of fields that a request may sort by. */
export const maxSortFields = 31

/** The maximum number of fields that a request may select. */
export const maxFields = 100

/** The maximum number of items in one list. */
export const maxItems = 1_000

/** The maximum number of values in a request that are costly to convert, such as passwords, which are hashed. */
export const maxCostly = 50

/** The fields whose values are costly to convert. */
export const costlyFields = (model: ModelLike): ReadonlyArray<string> =>
  Object.entries(model[modelTypeId]).flatMap(([field, { converter }]) => converter?.isCostly === true ? [field] : [])

/** The maximum number of items in one list of documents that have a value for each of their fields. */
export const maxItemsOf = (model: ModelLike): number => {
  const { length } = costlyFields(model)
  return length === 0 ? maxItems : Math.floor(maxCostly / length)
}
