/** A table in memory: blocks of sorted entries, and a map of the values where keys are looked up. */
import { everything, type Range, type Table, type Visit, visitEach } from "../orderedStore.ts"
import { ShardedMap } from "./shardedMap.ts"

// Small enough for cheap insertions, large enough for few blocks.
const blockLength = 256

// The number of keys that are sorted in one step at most.
const maxUnordered = 2048

/**
 * A table in memory: the sorted entries in blocks, which are found by their last keys. One that is asked for a key while it is small
 * has a map of its values, too. Then new keys are sorted lazily, by the next operation that needs the order, so that a write is as
 * fast as that of a map. A table that is only written and scanned, as most indexes are, needs neither the memory nor the time of it.
 */
export class MemoryTable<Value> implements Table<Value> {
  #values: ShardedMap<Value> | undefined
  readonly #blocks: Array<Block<Value>> = []
  /** The keys that are not sorted yet. Without a map there are none. */
  #unordered: Array<string> = []

  readonly get = (key: string): Value | undefined => {
    const values = this.#values ?? this.#beginMap()
    if (values !== undefined) return values.get(key)
    const block = this.#blocks[this.#blockOf(key)]
    const place = positionOf(block?.keys ?? [], key)
    return block?.keys[place] === key ? block.values[place] : undefined
  }

  readonly visit = (keys: ReadonlyArray<string>, visit: Visit<number, Value>): void => visitEach(keys, this.get, visit)

  readonly has = (key: string): boolean => this.get(key) !== undefined

  readonly put = (key: string, value: Value): void => {
    if (this.#values?.set(key, value) === true) {
      this.#unordered.push(key)
      if (this.#unordered.length >= maxUnordered) this.#order()
      return
    }
    this.#order()
    this.#insert(key, value)
  }

  readonly remove = (key: string): void => {
    if (this.#values?.delete(key) === false) return
    this.#order()
    const at = this.#blockOf(key)
    const block = this.#blocks[at]
    if (block === undefined) return
    const place = positionOf(block.keys, key)
    if (block.keys[place] !== key) return
    block.keys.splice(place, 1)
    block.values.splice(place, 1)
    if (block.keys.length === 0) this.#blocks.splice(at, 1)
  }

  readonly scan = (range: Range, visit: Visit<string, Value>): void => {
    const entry = this.entriesIn(range)
    while (entry.next() && visit(entry.key, entry.value, 0));
  }

  readonly scanKeys = (range: Range, visit: (key: string) => boolean): void => {
    const entry = this.entriesIn(range)
    while (entry.next() && visit(entry.key));
  }

  readonly keyAt = ({ end, reverse, start }: Range, place: number): string | undefined => {
    this.#order()
    const blocks = this.#blocks
    const from = reverse ? end : start
    let at = Math.min(this.#blockOf(from), blocks.length - 1)
    const first = positionOf(blocks[at]?.keys ?? [], from)
    // What is left to pass over from the beginning of a block, or backwards from its end.
    let left = place + (reverse ? (blocks[at]?.keys.length ?? 0) - first : first)
    for (let block = blocks[at]; block !== undefined && left >= block.keys.length; block = blocks[at]) {
      left -= block.keys.length
      at += reverse ? -1 : 1
    }
    const keys = blocks[at]?.keys
    const key = keys?.[reverse ? keys.length - 1 - left : left]
    return key === undefined || (reverse ? key < start : key >= end) ? undefined : key
  }

  readonly countIn = ({ end, start }: Range): number => {
    if (start >= end) return 0
    this.#order()
    const blocks = this.#blocks
    const [first, last] = [this.#blockOf(start), this.#blockOf(end)]
    let count = positionOf(blocks[last]?.keys ?? [], end) - positionOf(blocks[first]?.keys ?? [], start)
    for (let at = first; at < last; at++) count += blocks[at]!.keys.length
    return count
  }

  /** Iterates over the entries of a range. Nothing may be written meanwhile. */
  entriesIn(range: Range): Entries<Value> {
    this.#order()
    const from = range.reverse ? range.end : range.start
    const at = Math.min(this.#blockOf(from), this.#blocks.length - 1)
    return new Entries(this.#blocks, range, at, positionOf(this.#blocks[at]?.keys ?? [], from))
  }

  /** The entries in the order of the keys. Nothing may be written meanwhile. */
  *entries(): Iterable<readonly [key: string, value: Value]> {
    const entry = this.entriesIn(everything)
    while (entry.next()) yield [entry.key, entry.value]
  }

  /** Makes the map, unless there are many entries already: that would take long. */
  #beginMap(): ShardedMap<Value> | undefined {
    if (this.#blocks.length > 1) return undefined
    const values = this.#values = new ShardedMap<Value>()
    for (const [key, value] of this.entries()) values.set(key, value)
    return values
  }

  /** The index of the first block whose last key is not before this key; the number of blocks if there is none. */
  #blockOf(key: string): number {
    let [low, high] = [0, this.#blocks.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#blocks[middle]?.keys.at(-1) ?? "") < key) low = middle + 1
      else high = middle
    }
    return low
  }

  #order(): void {
    if (this.#unordered.length === 0) return
    const keys = this.#unordered
    this.#unordered = []
    for (const key of isSorted(keys) ? keys : keys.toSorted(byBytes)) {
      // Every key that is not sorted yet has a value.
      this.#insert(key, this.#values?.get(key) as Value)
    }
  }

  #insert(key: string, value: Value): void {
    const last = this.#blocks.length - 1
    const isLast = last >= 0 && key > (this.#blocks[last]?.keys.at(-1) ?? "")
    const at = isLast ? last : Math.min(this.#blockOf(key), Math.max(0, last))
    const block = this.#blocks[at]
    if (block === undefined) {
      this.#blocks.push({ keys: [key], values: [value] })
      return
    }
    const { keys, values } = block
    // The fast path for ascending keys.
    if (key > (keys.at(-1) ?? "")) {
      keys.push(key)
      values.push(value)
    } else {
      const place = positionOf(keys, key)
      if (keys[place] === key) {
        values[place] = value
        return
      }
      keys.splice(place, 0, key)
      values.splice(place, 0, value)
    }
    if (keys.length > blockLength) {
      const middle = at === last ? blockLength - 1 : blockLength >>> 1
      this.#blocks.splice(at + 1, 0, { keys: keys.splice(middle), values: values.splice(middle) })
    }
  }
}

// internal

/** Keys in order and their values, apart, so that a search touches only keys and a scan looks up no value. */
interface Block<Value> {
  readonly keys: Array<string>
  readonly values: Array<Value>
}

/** Stands on an entry of a range after each `next` that returns `true`. */
class Entries<Value> {
  key = ""
  // Set before it is read.
  value!: Value
  readonly #blocks: ReadonlyArray<Block<Value>>
  readonly #range: Range
  #at: number
  #place: number
  /** Whether the rest of the block is in the range. If so, its keys, which are scattered in memory, are not compared. */
  #isWithin: boolean

  /** `place` is that of the first key from the begin on, or backwards the one behind the last key before the end. */
  constructor(blocks: ReadonlyArray<Block<Value>>, range: Range, at: number, place: number) {
    this.#blocks = blocks
    this.#range = range
    this.#at = at
    this.#place = range.reverse ? place - 1 : place
    this.#isWithin = this.#endsWithin()
  }

  next(): boolean {
    const { reverse } = this.#range
    let block = this.#blocks[this.#at]
    if (block === undefined) return false
    if (reverse ? this.#place < 0 : this.#place >= block.keys.length) {
      this.#at += reverse ? -1 : 1
      block = this.#blocks[this.#at]
      if (block === undefined) return false
      this.#place = reverse ? block.keys.length - 1 : 0
      this.#isWithin = this.#endsWithin()
    }
    const key = block.keys[this.#place]!
    if (!this.#isWithin && this.#isBeyond(key)) return false
    this.key = key
    this.value = block.values[this.#place]!
    this.#place += reverse ? -1 : 1
    return true
  }

  #endsWithin(): boolean {
    const keys = this.#blocks[this.#at]?.keys
    const last = this.#range.reverse ? keys?.[0] : keys?.at(-1)
    return last !== undefined && !this.#isBeyond(last)
  }

  #isBeyond(key: string): boolean {
    const { end, reverse, start } = this.#range
    return reverse ? key < start : key >= end
  }
}

const isSorted = (keys: ReadonlyArray<string>): boolean => keys.every((key, i) => i === 0 || key > keys[i - 1]!)

const byBytes = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

const positionOf = (block: ReadonlyArray<string>, key: string): number => {
  let [low, high] = [0, block.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((block[middle] ?? "") < key) low = middle + 1
    else high = middle
  }
  return low
}
