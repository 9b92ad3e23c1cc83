/**
 * The collection of the two peers, in memory: a map, and the ids in order for pages.
 */
import type { Product } from "../data.ts"
import { seeds } from "../data.ts"

const byId = new Map<string, Product>()
const ids: Array<string> = []
let sorted = true

export const add = (product: Product): void => {
  byId.set(product.id, product)
  ids.push(product.id)
  sorted = false
}

export const get = (id: string): Product | undefined => byId.get(id)

export const total = (): number => ids.length

export const all = (): Iterable<Product> => byId.values()

/** The products of a page in the order of their ids; `page` counts from 1. */
export const list = (page: number, pageSize: number): ReadonlyArray<Product> => {
  // Sorted when a page is asked for, so that a create doesn't have to insert in the middle.
  if (!sorted) ids.sort()
  sorted = true
  return ids.slice((page - 1) * pageSize, page * pageSize).flatMap((id) => byId.get(id) ?? [])
}

for (const product of seeds) add(product)
