/**
 * The order in which documents are read. `Query` exports the public part.
 *
 * @since 0.1.0
 */
import type * as Model from "../../Model/Model.ts"
import type { Sort as StoreSort } from "../DocumentStore.ts"
import { fieldNamed } from "./fieldPath.ts"
import type { SortTermOf } from "./fieldTypes.ts"

/**
 * A field of the model `M` to sort by, nested ones by their dotted path (`address.city`), up to three levels deep. A `-`
 * before it sorts in descending order. Lists, and fields of models in lists, have no single value to sort by.
 *
 * @category models
 * @since 0.1.0
 */
export type SortTerm<M extends Model.Any> = SortTermOf<M["store"]["fields"]>

/**
 * The order of documents: a field of the model `M`, or several with the most significant first. `"name"` is ascending,
 * `"-name"` descending, and `["state", "-placed"]` sorts by the state and, within a state, by `placed` in descending order.
 *
 * @category models
 * @since 0.1.0
 */
export type Sort<M extends Model.Any> = SortTerm<M> | ReadonlyArray<SortTerm<M>>

/**
 * The order as a sort of the store. The identifier is appended as the last key, in the direction of the key before it, so
 * the order is total. Without terms, the order is that of the identifiers.
 *
 * **Example** (Two fields)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model, Query } from "appkernel"
 *
 * class Order extends Model.Class<Order>()("Order", { id: Model.id(), state: Schema.String, placed: Model.DateTime }) {}
 *
 * Query.toSort(Order, ["state", "-placed"]) // => { state: 1, placed: -1, _id: -1 }
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const toSort = <M extends Model.Any>(model: M, sort: Sort<M>): StoreSort =>
  totalOrder(
    (typeof sort === "string" ? [sort] : sort).map((term: string) => {
      const { direction, name } = parseSortTerm(term)
      return { path: fieldNamed(model, name)?.path ?? name, direction: direction ?? 1 }
    }),
    1
  )

/** The field and the direction that a term names: -1 with a `-` before the field, otherwise none. @internal */
export const parseSortTerm = (term: string): { readonly name: string; readonly direction: -1 | undefined } =>
  term.startsWith("-") ? { name: term.slice(1), direction: -1 } : { name: term, direction: undefined }

/** A key of a sort: a path in the stored document and its direction. @internal */
export interface SortKey {
  readonly path: string
  readonly direction: 1 | -1
}

/**
 * The sort of these keys, the most significant first. It ends with the identifier, in the direction of the key before it
 * or, without keys, in the given one. The identifier is unique, so keys after it have no effect. Of keys with the same
 * path, the first decides.
 *
 * @internal
 */
export const totalOrder = (keys: ReadonlyArray<SortKey>, direction: 1 | -1): StoreSort => {
  const sort: { [path: string]: 1 | -1 } = {}
  let last = direction
  for (const key of keys) {
    last = key.direction
    sort[key.path] ??= last
    if (key.path === "_id") return sort
  }
  return { ...sort, _id: last }
}
