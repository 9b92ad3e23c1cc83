/** The documents of a store in memory, in blocks of arrays: record numbers are consecutive, so no search is needed. */
import { numberOfRecord, recordIdLength, recordIdOf } from "@appkernel/mql/internal"
import { keyAtBy, type Range, type Table, type Visit, visitEach } from "../orderedStore.ts"

const blockLength = 256

interface Block<Value> {
  readonly values: Array<Value | undefined>
  /** The number of values. */
  count: number
}

/** A table in memory by consecutive record ids, which are indexes. Removed values leave holes in blocks. */
export class RecordTable<Value> implements Table<Value> {
  readonly #blocks: Array<Block<Value> | undefined> = []

  readonly get = (key: string): Value | undefined => {
    const number = numberOfRecord(key)
    return this.#blocks[Math.floor(number / blockLength)]?.values[number % blockLength]
  }

  readonly visit = (keys: ReadonlyArray<string>, visit: Visit<number, Value>): void => visitEach(keys, this.get, visit)

  readonly has = (key: string): boolean => this.get(key) !== undefined

  readonly put = (key: string, value: Value): void => {
    const number = numberOfRecord(key)
    const at = Math.floor(number / blockLength)
    // Filled without holes, so that V8 does not turn the array into a hash table.
    while (this.#blocks.length <= at) this.#blocks.push(undefined)
    const block = this.#blocks[at] ??= { values: Array.from({ length: blockLength }), count: 0 }
    if (block.values[number % blockLength] === undefined) block.count += 1
    block.values[number % blockLength] = value
  }

  readonly remove = (key: string): void => {
    const number = numberOfRecord(key)
    const at = Math.floor(number / blockLength)
    const block = this.#blocks[at]
    if (block?.values[number % blockLength] === undefined) return
    block.values[number % blockLength] = undefined
    block.count -= 1
    if (block.count === 0) this.#blocks[at] = undefined
  }

  readonly scan = ({ end, reverse, start }: Range, visit: Visit<string, Value>): void => {
    const first = firstFrom(start)
    const last = Math.min(firstFrom(end), this.#blocks.length * blockLength) - 1
    const step = reverse ? -1 : 1
    for (let number = reverse ? last : first; number >= first && number <= last; number += step) {
      const block = this.#blocks[Math.floor(number / blockLength)]
      const place = number % blockLength
      const value = block?.values[place]
      if (value !== undefined) {
        if (!visit(recordIdOf(number), value, 0)) return
      } else if (block === undefined) number += reverse ? -place : blockLength - 1 - place
    }
  }

  readonly scanKeys = (range: Range, visit: (key: string) => boolean): void => this.scan(range, (key) => visit(key))

  readonly keyAt = (range: Range, place: number): string | undefined => keyAtBy(this.scanKeys, range, place)
}

/** The least record number whose key is not before the bound. */
const firstFrom = (bound: string): number =>
  numberOfRecord(bound.slice(0, recordIdLength).padEnd(recordIdLength, "\0")) + (bound.length > recordIdLength ? 1 : 0)
