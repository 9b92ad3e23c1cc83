/**
 * The products of the stores: as many as are asked for, the same ones in every process. They come in the order of
 * `added`; their identifiers are as scattered as if they were generated.
 */
import { seeds } from "../data.ts"

const { id: _, ...seed } = seeds[0]!

/** A product as a document. What is `undefined` in the model isn't there. */
export type StoredProduct = Omit<typeof seed, "description" | "dimensions"> & {
  readonly _id: string
  readonly description?: string
  readonly dimensions?: NonNullable<(typeof seed)["dimensions"]>
}

// No two numbers below 2³² become the same one.
const scatter = (index: number): string => (Math.imul(index, 2_654_435_761) >>> 0).toString(16).padStart(8, "0")

export const idOf = (index: number): string => `P${scatter(index)}-0000-4000-8000-${index.toString().padStart(12, "0")}`

export const codeOf = (index: number): string => `ART-${scatter(index)}`

/** When the product at the index was added; a later one has a higher index. */
export const addedAt = (index: number): Date => new Date(Date.UTC(2026, 0, 31, 9, 30, 0, 123) + index * 61_007)

/** The product at an index from 0. */
export const product = (index: number): StoredProduct => {
  const { id: _, description, dimensions, ...rest } = seeds[index % seeds.length]!
  return {
    _id: idOf(index),
    ...rest,
    ...description === undefined ? {} : { description },
    ...dimensions === undefined ? {} : { dimensions },
    code: codeOf(index),
    added: addedAt(index)
  }
}

/** Where the `n`th operation looks among so many products: all over them, in no order that a cache would like. */
export const target = (n: number, size: number): number => n * 7_919_999 % size

/** So many products are within the bounds of a range, of which so many are wanted. */
export const range = { width: 50, limit: 20 }

/** What a range asks for: the first ones from `from` on, and before `to`, in the order of `added`. */
export interface Range {
  readonly from: Date
  readonly to: Date
  readonly limit: number
}

export const rangeFrom = (index: number): Range => ({
  from: addedAt(index),
  to: addedAt(index + range.width),
  limit: range.limit
})
