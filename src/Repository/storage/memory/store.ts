/**
 * Tables in memory, gone with the process.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Document } from "../../DocumentStore.ts"
import {
  type Encoded,
  type KeyValue,
  type Listener,
  type Range,
  type Table,
  type Visit,
  visitEach
} from "../orderedStore.ts"
import { RecordTable } from "./recordTable.ts"

// Small enough to insert into, large enough to be few.
const blockLength = 256

// Keys that are put in order at one time: others wait meanwhile.
const maxUnordered = 2048

/**
 * Keys in order, in blocks; the blocks' last keys tell which one to look into. New keys wait for the next that asks for
 * the order, so that a value is written as fast as into a map.
 *
 * @internal
 */
export class MemoryTable<Value> implements Table<Value> {
  readonly #values = new Map<string, Value>()
  readonly #blocks: Array<Array<string>> = []
  #unordered: Array<string> = []

  /** In the order in which the keys came. */
  get all(): Iterable<readonly [key: string, value: Value]> {
    return this.#values
  }

  readonly get = (key: string): Value | undefined => this.#values.get(key)

  readonly visit = (keys: ReadonlyArray<string>, visit: Visit<number, Value>): void => visitEach(keys, this.get, visit)

  readonly has = (key: string): boolean => this.#values.has(key)

  readonly put = (key: string, value: Value): void => {
    const { size } = this.#values
    if (this.#values.set(key, value).size === size) return
    this.#unordered.push(key)
    if (this.#unordered.length >= maxUnordered) this.#order()
  }

  readonly remove = (key: string): void => {
    if (!this.#values.delete(key)) return
    this.#order()
    const at = this.#blockOf(key)
    const block = this.#blocks[at] ?? []
    block.splice(positionOf(block, key), 1)
    if (block.length === 0) this.#blocks.splice(at, 1)
  }

  readonly scan = (range: Range, visit: Visit<string, Value>): void =>
    this.scanKeys(range, (key) => {
      const value = this.#values.get(key)
      return value === undefined || visit(key, value, 0)
    })

  readonly scanKeys = ({ end, reverse, start }: Range, visit: (key: string) => boolean): void => {
    this.#order()
    const sign = reverse ? -1 : 1
    // Backwards, begin with the last key before the end.
    const from = reverse ? end : start
    let at = Math.min(this.#blockOf(from), this.#blocks.length - 1)
    let place = positionOf(this.#blocks[at] ?? [], from) - (reverse ? 1 : 0)
    for (; at >= 0 && at < this.#blocks.length; at += sign, place = reverse ? (this.#blocks[at]?.length ?? 0) - 1 : 0) {
      const block = this.#blocks[at] ?? []
      for (; place >= 0 && place < block.length; place += sign) {
        const key = block[place] ?? ""
        if (reverse ? key < start : key >= end) return
        if (!visit(key)) return
      }
    }
  }

  /** The first block whose last key isn't before this one; their number, when there is none. */
  #blockOf(key: string): number {
    let [low, high] = [0, this.#blocks.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#blocks[middle]?.at(-1) ?? "") < key) low = middle + 1
      else high = middle
    }
    return low
  }

  #order(): void {
    if (this.#unordered.length === 0) return
    const keys = this.#unordered
    this.#unordered = []
    for (const key of isSorted(keys) ? keys : keys.toSorted(byBytes)) this.#insert(key)
  }

  #insert(key: string): void {
    const last = this.#blocks.length - 1
    const isLast = last >= 0 && key > (this.#blocks[last]?.at(-1) ?? "")
    const at = isLast ? last : Math.min(this.#blockOf(key), Math.max(0, last))
    const block = this.#blocks[at]
    if (block === undefined) {
      this.#blocks.push([key])
      return
    }
    // Keys that grow come one after the other: appending is all there is to do.
    if (key > (block.at(-1) ?? "")) block.push(key)
    else block.splice(positionOf(block, key), 0, key)
    if (block.length > blockLength) {
      this.#blocks.splice(at + 1, 0, block.splice(at === last ? blockLength - 1 : blockLength >>> 1))
    }
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

/** @internal */
export const make: Effect.Effect<KeyValue> = Effect.sync(() => {
  const catalog = new MemoryTable<Document>()
  const documents = new Map<number, Table<Document, Encoded>>()
  const entries = new Map<number, Table<string>>()
  let listener: Listener | undefined
  return {
    description: "memory",
    catalog,
    documents: (collection) => {
      const known = documents.get(collection)
      if (known !== undefined) return known
      // What `encode` made is a document.
      const table = new RecordTable<Document>() as Table<Document, Encoded>
      documents.set(collection, table)
      return table
    },
    entries: (index) => {
      const known = entries.get(index)
      if (known !== undefined) return known
      const table = new MemoryTable<string>()
      entries.set(index, table)
      return table
    },
    encode: Result.succeed,
    write: (_, job) =>
      Effect.sync(() => {
        const result = job()
        listener?.committed()
        return result
      }),
    read: (_, step) => Result.succeed(step()),
    listen: (given) => {
      listener = given
    }
  }
})
