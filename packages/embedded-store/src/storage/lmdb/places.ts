/**
 * How many keys the parts of a table have, so that a place in it is found and a range is counted without passing over all keys.
 *
 * The keys are in blocks, which are counted when they are first needed. A write makes its block uncounted. Until it is
 * settled, the block is counted for each use, by the state that the use reads; the other blocks are the same in each state.
 */
import { isStepDone, spend } from "@appkernel/document-store/internal"
import { partition } from "@appkernel/mql/internal"
import { everything, type Range, type Table } from "../orderedStore.ts"

/** What the numbers are counted by. */
interface Counted {
  readonly keyAt: Table<unknown>["keyAt"]
  /** Counts keys without a look at their values. */
  readonly countKeys: (range: Range) => number
  /** Visits keys, and fails for a damaged entry. */
  readonly scanKeys: Table<unknown>["scanKeys"]
}

interface Block {
  /** No key of the block is before it, and none of the previous block is behind it. */
  readonly start: string
  /** The most keys that the block can have; infinite until it has been divided from what follows it. */
  most: number
  count: number | undefined
  /** Whether the checksums of its entries have been compared. */
  isChecked: boolean
  /** Whether a write is not settled. */
  isWritten: boolean
}

const blockFrom = (start: string, most: number, isWritten: boolean): Block => ({
  start,
  most,
  count: undefined,
  isChecked: false,
  isWritten
})

/** The places of a table. `begin` is called with the first write that is not settled. */
export class Places {
  readonly #table: Counted
  readonly #begin: (places: Places) => void
  #blocks: Array<Block> = [blockFrom("", Infinity, false)]
  #written = new Set<Block>()
  /** A block has about so many keys. */
  #length: number
  readonly #maxBlocks: number

  constructor(
    table: Counted,
    begin: (places: Places) => void,
    { length, maxBlocks }: { readonly length: number; readonly maxBlocks: number } = sizes
  ) {
    this.#table = table
    this.#begin = begin
    this.#length = length
    this.#maxBlocks = maxBlocks
  }

  /** For jobs: before a key is written. */
  write(key: string): void {
    const block = this.#blocks[this.#blockOf(key)]!
    block.count = undefined
    block.most += 1
    if (block.isWritten) return
    block.isWritten = true
    if (this.#written.size === 0) this.#begin(this)
    this.#written.add(block)
  }

  /** All jobs have been committed or rolled back, and reads see the result. */
  settle(): void {
    for (const block of this.#written) block.isWritten = false
    this.#written.clear()
  }

  /** Implements {@link Table.learn}. */
  learn({ end, reverse, start }: Range, isChecked: boolean, place: number): "more" | "known" | "unknown" {
    if (this.#blocks.length > this.#maxBlocks) this.#join()
    this.#divide(start)
    this.#divide(end)
    let [passed, uncounted] = [0, 0]
    for (let at = this.#blockOf(start); at < this.#blocks.length && this.#blocks[at]!.start < end; at++) {
      const block = this.#blocks[at]!
      if (block.count === undefined || (isChecked && !block.isChecked)) {
        if (isStepDone()) return "more"
        const count = this.#count(at, isChecked)
        if (block.isWritten && ++uncounted > maxUncounted) return "unknown"
        passed += count
        if (count === 0 && this.#isEmptyBehind(at)) this.#blocks.splice(at--, 1)
      } else passed += block.count
      // From the other end, all blocks are passed.
      if (passed > place && !reverse) break
    }
    return "known"
  }

  /** Implements {@link Table.countLearned}: what is not in whole blocks is counted. */
  countLearned({ end, start }: Range): number | undefined {
    const [first, last] = [this.#blockOf(start), this.#blockOf(end)]
    if (first >= last) return undefined
    let uncounted = 0
    for (let at = first; at <= last; at++) {
      const block = this.#blocks[at]!
      if (at === last && block.start === end) break
      if (!this.#isSmall(block) || !block.isChecked) return undefined
      if (block.count === undefined && ++uncounted > maxUncounted) return undefined
    }
    let count = 0
    for (let at = first; at <= last; at++) {
      count += this.#countWithin(at, at === first ? start : "", at === last ? end : everything.end)
    }
    return count
  }

  /** Implements {@link Table.keyAt}: passes over whole blocks that are counted. */
  keyAt(range: Range, place: number): string | undefined {
    if (place < this.#length) return this.#table.keyAt(range, place)
    const { reverse } = range
    let { end, start } = range
    let left = place
    let at = this.#blockOf(reverse ? end : start)
    for (let block = this.#blocks[at]; block !== undefined && this.#isSmall(block); block = this.#blocks[at]) {
      const to = this.#endOf(at)
      if (reverse ? block.start <= start : to >= end) break
      const count = this.#countWithin(at, start, end)
      if (left < count) break
      left -= count
      if (reverse) end = block.start
      else start = to
      at += reverse ? -1 : 1
    }
    return this.#table.keyAt({ start, end, reverse }, left)
  }

  #isSmall({ most }: Block): boolean {
    return most <= 2 * this.#length
  }

  /** The index of the last block that begins before this key or at it. */
  #blockOf(key: string): number {
    return Math.max(0, partition(0, this.#blocks.length, (at) => this.#blocks[at]!.start <= key) - 1)
  }

  #endOf(at: number): string {
    return this.#blocks[at + 1]?.start ?? everything.end
  }

  /** The number of keys of a block in a range. */
  #countWithin(at: number, start: string, end: string): number {
    const block = this.#blocks[at]!
    const [from, to] = [start > block.start ? start : block.start, end < this.#endOf(at) ? end : this.#endOf(at)]
    if (from >= to) return 0
    const isWhole = from === block.start && to === this.#endOf(at)
    if (isWhole && block.count !== undefined) return block.count
    const count = this.#table.countKeys({ start: from, end: to, reverse: false })
    spend(blockCost + keyCost * count)
    if (isWhole) this.#keep(block, count)
    return count
  }

  #keep(block: Block, count: number): void {
    if (block.isWritten) return
    block.count = count
    block.most = count
  }

  /** Divides a block at a key, if it is large, so that what is not asked for is not counted. */
  #divide(key: string): void {
    const at = this.#blockOf(key)
    const block = this.#blocks[at]!
    if (!this.#isSmall(block) && block.start !== key && key < everything.end) {
      this.#insert(at + 1, key, block.most, block)
    }
  }

  #insert(at: number, start: string, most: number, { isWritten }: Block): void {
    const block = blockFrom(start, most, isWritten)
    this.#blocks.splice(at, 0, block)
    if (isWritten) this.#written.add(block)
  }

  /** Counts a block. One with too many keys is divided first. */
  #count(at: number, isChecked: boolean): number {
    const block = this.#blocks[at]!
    const range = { start: block.start, end: this.#endOf(at), reverse: false }
    const next = this.#isSmall(block) ? undefined : this.#table.keyAt(range, this.#length)
    if (next !== undefined) {
      // Of a block that is written, another state may have more keys.
      this.#insert(at + 1, next, block.isWritten ? block.most : block.most - this.#length, block)
      range.end = next
    }
    const count = isChecked && !block.isChecked ? this.#countChecked(range) : this.#table.countKeys(range)
    spend(blockCost + 2 * keyCost * count)
    block.isChecked ||= isChecked
    this.#keep(block, count)
    return count
  }

  #countChecked(range: Range): number {
    let count = 0
    this.#table.scanKeys(range, () => ++count > 0)
    spend(checkCost * count)
    return count
  }

  /** Whether a block that has no keys can be a part of the previous one. */
  #isEmptyBehind(at: number): boolean {
    const [block, previous] = [this.#blocks[at]!, this.#blocks[at - 1]]
    return !block.isWritten && previous !== undefined && this.#isSmall(previous) &&
      (previous.isChecked || !block.isChecked)
  }

  /** Joins each two blocks, so that there are half as many of them. */
  #join(): void {
    this.#length *= 2
    const joined: Array<Block> = []
    for (let at = 0; at < this.#blocks.length; at += 2) {
      const [one, other = nothing] = [this.#blocks[at]!, this.#blocks[at + 1]]
      joined.push({
        start: one.start,
        most: one.most + other.most,
        count: one.count === undefined || other.count === undefined ? undefined : one.count + other.count,
        isChecked: one.isChecked && other.isChecked,
        isWritten: one.isWritten || other.isWritten
      })
    }
    this.#blocks = joined
    this.#written = new Set(joined.filter(({ isWritten }) => isWritten))
  }
}

// internal

// Passing over so many keys takes some 15 microseconds.
const sizes = { length: 256, maxBlocks: 16_384 }

/** What the last one of an odd number of blocks is joined with. */
const nothing: Block = { start: "", most: 0, count: 0, isChecked: true, isWritten: false }

// The number of blocks that are counted for a single use.
const maxUncounted = 32

// In units of work.
const [blockCost, keyCost, checkCost] = [300, 5, 60]
