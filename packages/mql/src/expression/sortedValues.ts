/**
 * Values in order, to which others are added and from which they are removed in about the square root of their number: they
 * are in chunks, so that few of them move.
 */
import { partition } from "../bson/collator.ts"
import { charge } from "../limits/costBudget.ts"

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

  /** Adds an item after those that are equal to it in the order. */
  add(item: A): void {
    const at = Math.min(this.#chunkOf(item, 1), this.#chunks.length - 1)
    const chunk = this.#chunks[at]
    if (chunk === undefined) this.#chunks.push([item])
    else {
      chunk.splice(this.#placeIn(chunk, item, 1), 0, item)
      if (chunk.length > maxChunk) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >> 1))
    }
    this.#length += 1
  }

  /** Removes the item that was added first of those that are equal to this one in the order. */
  remove(item: A): void {
    const at = this.#chunkOf(item, 0)
    const chunk = this.#chunks[at]
    if (chunk !== undefined) this.#removeAt(at, this.#placeIn(chunk, item, 0))
  }

  /** Removes an item at one of the ends. */
  removeAt(end: 0 | -1): void {
    const chunk = this.#chunks.at(end)
    if (chunk !== undefined) this.#removeAt(end === 0 ? 0 : this.#chunks.length - 1, end === 0 ? 0 : chunk.length - 1)
  }

  #removeAt(at: number, place: number): void {
    const chunk = this.#chunks[at]
    chunk?.splice(place, 1)
    if (chunk?.length === 0) this.#chunks.splice(at, 1)
    this.#length -= 1
  }

  /** The item at one of the ends. */
  end(end: 0 | -1): A | undefined {
    return this.#chunks.at(end)?.at(end)
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

  /** The first chunk that ends with this item or a later one; with `least` 1, with a later one. */
  #chunkOf(item: A, least: 0 | 1): number {
    return partition(0, this.#chunks.length, (at) => {
      const last = this.#chunks[at]?.at(-1)
      return last === undefined || this.#order(last, item) < least
    })
  }

  #placeIn(chunk: ReadonlyArray<A>, item: A, least: 0 | 1): number {
    return partition(0, chunk.length, (at) => this.#order(chunk[at]!, item) < least)
  }
}

/** The first or the last `n` items in an order. An item that is equal to the worst of them does not replace it. */
export class BestValues<A> {
  readonly #order: (a: A, b: A) => number
  readonly #n: number
  readonly #worst: 0 | -1
  readonly #items: SortedValues<A>

  constructor(order: (a: A, b: A) => number, n: number, best: "first" | "last") {
    this.#order = order
    this.#n = n
    this.#worst = best === "first" ? -1 : 0
    this.#items = new SortedValues(order)
  }

  /** Adds an item. Returns the one that is none of the best any more, maybe itself. May throw. */
  add(item: A): A | undefined {
    const worst = this.#items.length < this.#n ? undefined : this.#items.end(this.#worst)
    if (worst !== undefined) {
      const order = this.#order(item, worst)
      if (this.#worst === 0 ? order <= 0 : order >= 0) return item
      this.#items.removeAt(this.#worst)
    }
    charge(20 + 6 * Math.log2(this.#items.length + 1))
    this.#items.add(item)
    return worst
  }

  /** The items in their order. */
  toArray(): Array<A> {
    return this.#items.first(this.#n)
  }
}

// internal

const maxChunk = 512
