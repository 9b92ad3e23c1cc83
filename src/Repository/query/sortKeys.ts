/**
 * The order in which documents are read. `Query` exports all of it.
 *
 * @since 0.1.0
 */
import type * as Model from "../../Model/Model.ts"
import type { Sort } from "../DocumentStore.ts"
import { fieldNamed } from "./fieldPath.ts"
import type { Path } from "./selection.ts"

/**
 * A field to sort by.
 *
 * @category models
 * @since 0.1.0
 */
export interface SortKey<M extends Model.Any> {
  readonly field: Path<M>
  /** Defaults to `"ASC"`. */
  readonly order?: "ASC" | "DESC" | undefined
}

/**
 * The order as a sort of the store. The identifier is appended as the last key, in the direction of the key before it, so
 * the order is total.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toSort = <M extends Model.Any>(model: M, keys: ReadonlyArray<SortKey<M>>): Sort => {
  const sort: { [path: string]: 1 | -1 } = {}
  let direction: 1 | -1 = 1
  for (const { field, order } of keys) {
    const path = fieldNamed(model, field)?.path ?? field
    direction = order === "DESC" ? -1 : 1
    sort[path] ??= direction
    if (path === "_id") return sort
  }
  return { ...sort, _id: direction }
}
