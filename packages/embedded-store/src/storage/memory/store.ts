/**
 * The store in memory, which is lost with the process.
 *
 * A short job is one synchronous step. A long job takes several turns of the event loop; until it is done, other fibers
 * read the state before it, and other writes wait. A failed long job is undone.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { getOrMake } from "@appkernel/document-store/internal"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { scanMerged, scanMergedKeys, type TableChanges } from "../mergedTable.ts"
import {
  type Encoded,
  everything,
  keyAtBy,
  type Listener,
  type Range,
  type SteppedKeyValue,
  type Steps,
  type Table,
  takeSteps,
  type Visit,
  visitEach
} from "../orderedStore.ts"
import { RecordTable } from "./recordTable.ts"
import { ShardedMap } from "./shardedMap.ts"

// Small enough for cheap insertions, large enough for few blocks.
const blockLength = 256

// The number of keys that are sorted in one step at most.
const maxUnordered = 2048

/**
 * A table in memory: a map of values, and the sorted entries in blocks, which are found by their last keys. New keys are
 * sorted lazily, by the next operation that needs the order, so that a write is as fast as that of a map.
 */
export class MemoryTable<Value> implements Table<Value> {
  readonly #values = new ShardedMap<Value>()
  readonly #blocks: Array<Block<Value>> = []
  #unordered: Array<string> = []

  readonly get = (key: string): Value | undefined => this.#values.get(key)

  readonly visit = (keys: ReadonlyArray<string>, visit: Visit<number, Value>): void => visitEach(keys, this.get, visit)

  readonly has = (key: string): boolean => this.#values.has(key)

  readonly put = (key: string, value: Value): void => {
    if (this.#values.set(key, value)) {
      this.#unordered.push(key)
      if (this.#unordered.length >= maxUnordered) this.#order()
      return
    }
    this.#order()
    const block = this.#blocks[this.#blockOf(key)]
    if (block !== undefined) block.values[positionOf(block.keys, key)] = value
  }

  readonly remove = (key: string): void => {
    if (!this.#values.delete(key)) return
    this.#order()
    const at = this.#blockOf(key)
    const block = this.#blocks[at]
    if (block === undefined) return
    const place = positionOf(block.keys, key)
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
      this.#insert(key, this.#values.get(key) as Value)
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
      keys.splice(place, 0, key)
      values.splice(place, 0, value)
    }
    if (keys.length > blockLength) {
      const middle = at === last ? blockLength - 1 : blockLength >>> 1
      this.#blocks.splice(at + 1, 0, { keys: keys.splice(middle), values: values.splice(middle) })
    }
  }
}

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

/** A job that runs in several turns of the event loop. */
interface LongJob {
  /** Whether the job is between two turns, so that other fibers may read. */
  isPaused: boolean
  /** Ends the job in the tables that it has written: keeps its writes, or undoes them. */
  readonly endings: Array<(isKept: boolean) => void>
  /** Succeeds when the job has ended. */
  readonly done: Deferred.Deferred<void>
}

const takeTurn = <A>(job: LongJob, steps: Steps<A>): IteratorResult<void, A> => {
  job.isPaused = false
  try {
    return takeSteps(steps)
  } finally {
    // After the last turn, too: other fibers may run before the job has ended.
    job.isPaused = true
  }
}

/** A table that shows the state before a long job while the job is paused. */
const steppedTable = <Value>(table: Table<Value>, current: () => LongJob | undefined): Table<Value> => {
  // What the current job has replaced in this table.
  let replaced: MemoryTable<{ readonly before: Value | undefined }> | undefined
  const hidden = () => current()?.isPaused === true ? replaced : undefined
  const end = (isKept: boolean) => {
    const entries = isKept ? [] : replaced?.entries() ?? []
    replaced = undefined
    for (const [key, { before }] of entries) {
      if (before === undefined) table.remove(key, undefined)
      else table.put(key, before, undefined)
    }
  }
  const remember = (key: string, before: Value | undefined) => {
    const job = current()
    if (job === undefined) return
    if (replaced === undefined) {
      replaced = new MemoryTable()
      job.endings.push(end)
    }
    if (!replaced.has(key)) replaced.put(key, { before })
  }
  const get = (key: string): Value | undefined => {
    const version = hidden()?.get(key)
    return version === undefined ? table.get(key) : version.before
  }
  return {
    get,
    has: (key) => get(key) !== undefined,
    visit: (keys, visit) => visitEach(keys, get, visit),
    put: (key, value, before) => {
      remember(key, before)
      table.put(key, value, before)
    },
    remove: (key, before) => {
      remember(key, before)
      table.remove(key, before)
    },
    scan: (range, visit) => {
      const versions = hidden()
      if (versions === undefined) table.scan(range, visit)
      else scanMerged(table, changesOf(versions), range, visit)
    },
    scanKeys: (range, visit) => {
      const versions = hidden()
      if (versions === undefined) table.scanKeys(range, visit)
      else scanMergedKeys(table, changesOf(versions), range, visit)
    },
    keyAt: (range, place) => {
      const versions = hidden()
      return versions === undefined
        ? table.keyAt(range, place)
        : keyAtBy((range, visit) => scanMergedKeys(table, changesOf(versions), range, visit), range, place)
    },
    learn: () => hidden() === undefined && table.countIn !== undefined ? "known" : "unknown",
    countIn: (range) => hidden() === undefined ? table.countIn?.(range) : undefined
  }
}

/** The values before the job, as changes of the table. */
const changesOf =
  <Value>(replaced: MemoryTable<{ readonly before: Value | undefined }>): TableChanges<Value> => (range) => {
    const entry = replaced.entriesIn(range)
    return () => entry.next() ? { key: entry.key, value: entry.value.before } : undefined
  }

export const make: Effect.Effect<SteppedKeyValue> = Effect.sync(() => {
  const catalog = new MemoryTable<Document>()
  const documents = new Map<number, Table<Document, Encoded>>()
  const entries = new Map<number, Table<string>>()
  let listener: Listener | undefined
  let current: LongJob | undefined
  const longJob = () => current

  const serialized = <A>(write: () => Effect.Effect<A>): Effect.Effect<A> =>
    Effect.suspend(() =>
      current === undefined ? write() : Effect.andThen(Deferred.await(current.done), serialized(write))
    )

  const write = <A>(job: () => A): Effect.Effect<A> =>
    serialized(() => {
      const result = job()
      listener?.committed()
      return Effect.succeed(result)
    })

  const end = (job: LongJob, isKept: boolean): Effect.Effect<unknown> =>
    Effect.suspend(() => {
      current = undefined
      for (const endIn of job.endings) endIn(isKept)
      if (isKept) listener?.committed()
      else listener?.aborted()
      return Deferred.succeed(job.done, undefined)
    })

  const goOn = <A>(job: LongJob, steps: Steps<A>): Effect.Effect<A> =>
    Effect.suspend(() => {
      const result = takeTurn(job, steps)
      return result.done === true
        ? Effect.succeed(result.value)
        : Effect.flatMap(Effect.yieldNow, () => goOn(job, steps))
    })

  const writeInSteps = <A>(makeSteps: () => Steps<A>): Effect.Effect<A> =>
    Effect.uninterruptible(serialized(() => {
      const job = { isPaused: false, endings: [], done: Deferred.makeUnsafe<void>() }
      current = job
      return Effect.onExit(
        Effect.suspend(() => goOn(job, makeSteps())),
        (exit) => end(job, Exit.isSuccess(exit))
      )
    }))

  return {
    description: "memory",
    catalog,
    documents: (collection) =>
      getOrMake(
        documents,
        collection,
        // In memory, `encode` returns the document itself.
        () => steppedTable(new RecordTable<Document>(), longJob) as Table<Document, Encoded>
      ),
    entries: (index) => getOrMake(entries, index, () => steppedTable(new MemoryTable<string>(), longJob)),
    encode: Result.succeed,
    write: (_, job) => write(job),
    writeInSteps: (_, job) => writeInSteps(job),
    read: (_, step) => Result.succeed(step()),
    listen: (given) => {
      listener = given
    }
  }
})
