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
  /** Whether it has few keys. The others have not been divided yet. */
  isSmall: boolean
  count: number | undefined
  /** Whether the checksums of its entries have been compared. */
  isChecked: boolean
  /** Whether a write is not settled. */
  isWritten: boolean
}

const undivided = (start: string, isWritten: boolean): Block => ({
  start,
  isSmall: false,
  count: undefined,
  isChecked: false,
  isWritten
})

/** The places of a table. `begin` is called with the first write that is not settled. */
export class Places {
  readonly #table: Counted
  readonly #begin: (places: Places) => void
  #blocks: Array<Block> = [undivided("", false)]
  readonly #written = new Set<Block>()

  constructor(table: Counted, begin: (places: Places) => void) {
    this.#table = table
    this.#begin = begin
  }

  /** For jobs: before a key is written. */
  write(key: string): void {
    const block = this.#blocks[this.#blockOf(key)]!
    block.count = undefined
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
  learn({ end, start }: Range, isChecked: boolean): "more" | "known" | "unknown" {
    if (this.#blocks.length > maxBlocks) {
      const isWritten = this.#written.size > 0
      this.#blocks = [undivided("", isWritten)]
      if (isWritten) this.#written.add(this.#blocks[0]!)
    }
    this.#divide(start)
    this.#divide(end)
    let uncounted = 0
    for (let at = this.#blockOf(start); at < this.#blocks.length && this.#blocks[at]!.start < end; at++) {
      const block = this.#blocks[at]!
      if (block.count !== undefined && (block.isChecked || !isChecked)) continue
      if (isStepDone()) return "more"
      this.#count(at, isChecked)
      if (block.isWritten && ++uncounted > maxUncounted) return "unknown"
      const previous = this.#blocks[at - 1]
      if (block.count === 0 && previous?.isSmall === true && (previous.isChecked || !block.isChecked)) {
        this.#blocks.splice(at--, 1)
      }
    }
    return "known"
  }

  /** Implements {@link Table.countIn}: what is not in whole blocks is counted. */
  countIn({ end, start }: Range): number | undefined {
    const [first, last] = [this.#blockOf(start), this.#blockOf(end)]
    if (first >= last) return undefined
    let [count, uncounted] = [0, 0]
    for (let at = first; at <= last; at++) {
      const block = this.#blocks[at]!
      const [from, to] = [at === first ? start : block.start, at === last ? end : this.#endOf(at)]
      if (from === to) continue
      if (!block.isSmall || !block.isChecked) return undefined
      const known = from === block.start && to === this.#endOf(at) ? block.count : undefined
      if (known === undefined && ++uncounted > maxUncounted + 2) return undefined
      count += known ?? this.#table.countKeys({ start: from, end: to, reverse: false })
    }
    return count
  }

  /** Implements {@link Table.keyAt}: passes over whole blocks that are counted. */
  keyAt(range: Range, place: number): string | undefined {
    if (place < blockLength) return this.#table.keyAt(range, place)
    const { reverse } = range
    let { end, start } = range
    let left = place
    let at = this.#blockOf(reverse ? end : start)
    for (let block = this.#blocks[at]; block?.isSmall === true; block = this.#blocks[at]) {
      const to = this.#endOf(at)
      if (reverse ? block.start <= start : to >= end) break
      const isWhole = reverse ? end === to : start === block.start
      const passed = reverse ? { start: block.start, end, reverse } : { start, end: to, reverse }
      const count = (isWhole ? block.count : undefined) ?? this.#table.countKeys(passed)
      if (left < count) break
      left -= count
      if (reverse) end = block.start
      else start = to
      at += reverse ? -1 : 1
    }
    return this.#table.keyAt({ start, end, reverse }, left)
  }

  /** The index of the last block that begins before this key or at it. */
  #blockOf(key: string): number {
    return Math.max(0, partition(0, this.#blocks.length, (at) => this.#blocks[at]!.start <= key) - 1)
  }

  #endOf(at: number): string {
    return this.#blocks[at + 1]?.start ?? everything.end
  }

  /** Divides a block at a key, if it has not been divided yet, so that what is not asked for is not counted. */
  #divide(key: string): void {
    const at = this.#blockOf(key)
    const block = this.#blocks[at]!
    if (!block.isSmall && block.start !== key && key < everything.end) this.#insert(at + 1, key, block)
  }

  #insert(at: number, start: string, { isSmall, isWritten }: Block): void {
    const block = { ...undivided(start, isWritten), isSmall }
    this.#blocks.splice(at, 0, block)
    if (isWritten) this.#written.add(block)
  }

  /** Counts a block. One with too many keys is divided first. */
  #count(at: number, isChecked: boolean): void {
    const block = this.#blocks[at]!
    const range = { start: block.start, end: this.#endOf(at), reverse: false }
    // What has become a little longer is not divided again.
    const isLong = this.#table.keyAt(range, block.isSmall ? 2 * blockLength : blockLength) !== undefined
    if (isLong) {
      const next = this.#table.keyAt(range, blockLength)!
      this.#insert(at + 1, next, block)
      range.end = next
    }
    spend(blockCost + keyCost * blockLength)
    const count = isChecked && !block.isChecked
      ? this.#countChecked(range)
      : isLong
      ? blockLength
      : this.#table.countKeys(range)
    block.isSmall = true
    block.isChecked ||= isChecked
    if (!block.isWritten) block.count = count
  }

  #countChecked(range: Range): number {
    let count = 0
    this.#table.scanKeys(range, () => ++count > 0)
    spend(checkCost * count)
    return count
  }
}

// internal

// Passing over so many keys takes some 30 microseconds.
const blockLength = 512

// Beyond it, all is forgotten: the blocks of keys that are no more would be kept forever.
const maxBlocks = 65_536

// The number of blocks that are counted for a single use, since they are being written.
const maxUncounted = 32

// In units of work.
const [blockCost, keyCost, checkCost] = [300, 5, 60]
