/**
 * Values in order, to which others are added and from which they are removed in about the square root of their number: they
 * are in chunks, so that few of them move.
 */
import { charge } from "../limits/costBudget.ts"

/** @internal */
export class SortedValues<A> {
  readonly #order: (a: A, b: A) => number
  // None is empty.
  readonly #chunks: Array<Array<A>> = []
  #length = 0

  constructor(order: (a: A, b: A) => number) {
    this.#order = order
  }

  get length(): number {
    return this.#length
  }

  add(item: A): void {
    const at = Math.min(this.#chunkOf(item), this.#chunks.length - 1)
    const chunk = this.#chunks[at]
    if (chunk === undefined) this.#chunks.push([item])
    else {
      chunk.splice(this.#placeIn(chunk, item), 0, item)
      if (chunk.length > maxChunk) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >> 1))
    }
    this.#length += 1
  }

  /** Removes one of the items that are equal to this one in the order. */
  remove(item: A): void {
    const at = this.#chunkOf(item)
    const chunk = this.#chunks[at]
    if (chunk === undefined) return
    chunk.splice(this.#placeIn(chunk, item), 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
    this.#length -= 1
  }

  /** May throw. */
  at(index: number): A | undefined {
    charge(this.#chunks.length)
    let left = index
    for (const chunk of this.#chunks) {
      if (left < chunk.length) return chunk[left]
      left -= chunk.length
    }
    return undefined
  }

  first(count: number): Array<A> {
    const found: Array<A> = []
    for (const chunk of this.#chunks) {
      if (found.length >= count) break
      for (const item of chunk.slice(0, count - found.length)) found.push(item)
    }
    return found
  }

  /** The last ones, in order. */
  last(count: number): Array<A> {
    const found: Array<A> = []
    for (let at = this.#chunks.length - 1; at >= 0 && found.length < count; at--) {
      for (const item of (this.#chunks[at] ?? []).slice(found.length - count).toReversed()) found.push(item)
    }
    return found.toReversed()
  }

  /** The first chunk whose last item is not before this one. */
  #chunkOf(item: A): number {
    return firstIn(this.#chunks.length, (at) => {
      const last = this.#chunks[at]?.at(-1)
      return last !== undefined && this.#order(last, item) >= 0
    })
  }

  #placeIn(chunk: ReadonlyArray<A>, item: A): number {
    return firstIn(chunk.length, (at) => this.#order(chunk[at]!, item) >= 0)
  }
}

// internal

const maxChunk = 512

/** The first place from which on a condition holds. */
const firstIn = (length: number, holds: (at: number) => boolean): number => {
  let [from, to] = [0, length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (holds(middle)) to = middle
    else from = middle + 1
  }
  return from
}
