/**
 * The collection of the peers in memory, as somebody would write it by hand: a map, the identifiers in order for pages, and
 * the products of each currency in the order of their prices for filters.
 */
import type { Change, Product } from "../data.ts"
import { seeds } from "../data.ts"

const byId = new Map<string, Product>()
const ids: Array<string> = []
const byPrice = new Map<string, Array<Product>>()

/** How many elements at the beginning of a sorted list are before a place. */
const countBefore = <A>(sorted: ReadonlyArray<A>, isBefore: (element: A) => boolean): number => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}

const listOf = (currency: string): Array<Product> => {
  const list = byPrice.get(currency) ?? []
  byPrice.set(currency, list)
  return list
}

const placeIn = (list: ReadonlyArray<Product>, { id, price }: Product): number =>
  countBefore(list, (other) => other.price < price || other.price === price && other.id < id)

const put = (product: Product): void => {
  byId.set(product.id, product)
  const list = listOf(product.currency)
  list.splice(placeIn(list, product), 0, product)
}

export const add = (product: Product): void => {
  put(product)
  ids.splice(countBefore(ids, (id) => id < product.id), 0, product.id)
}

/** Changes a product; tells whether there is one. */
export const change = (id: string, change: Change): boolean => {
  const product = byId.get(id)
  if (product === undefined) return false
  const list = listOf(product.currency)
  list.splice(placeIn(list, product), 1)
  put({ ...product, ...change, tags: change.tags ?? product.tags })
  return true
}

export const get = (id: string): Product | undefined => byId.get(id)

export const total = (): number => ids.length

/** The products of a page in the order of their ids; `page` counts from 1. */
export const list = (page: number, pageSize: number): ReadonlyArray<Product> =>
  ids.slice((page - 1) * pageSize, page * pageSize).flatMap((id) => byId.get(id) ?? [])

/** A page of the products of one currency above a price, in the order of their prices, and their number. */
export const filtered = (currency: string, above: number, page: number, pageSize: number) => {
  const list = listOf(currency)
  const first = countBefore(list, ({ price }) => price <= above)
  return {
    items: list.slice(first + (page - 1) * pageSize, first + page * pageSize),
    total: list.length - first
  }
}

for (const product of seeds) {
  byId.set(product.id, product)
  ids.push(product.id)
  listOf(product.currency).push(product)
}
ids.sort()
for (const list of byPrice.values()) list.sort((a, b) => a.price - b.price || (a.id < b.id ? -1 : 1))
