/**
 * A cache of decoded documents and index entries that are read repeatedly.
 *
 * A value is cached at its second miss. The size is bounded; values are evicted by the clock algorithm (second chance). It
 * holds only committed values: a written key is dropped at once, and cached again only after its write has ended.
 */
import { isArray } from "@appkernel/mql/internal"
import { Double, Long, ObjectId } from "bson"
import { emptyHash, hashOfText } from "./checksum.ts"

/** The cached values of all tables, of a bounded size. */
export class TableCache {
  readonly #maxCost: number
  readonly #tables: Array<CachedTable<unknown>> = []
  readonly #writing: Array<Settled> = []
  // The hashes of recently missed keys.
  readonly #missed = new Int32Array(missedLength)
  #cost = 0
  // The recent benefit of the cache; below zero, most lookups are skipped.
  #score = maxScore
  #lookups = 0
  // The position of the clock's hand.
  #turn = 0
  #hand: Iterator<Cached<unknown>> | undefined

  /** `maxBytes` approximates the memory of all values. */
  constructor(maxBytes: number) {
    this.#maxCost = maxBytes
  }

  table<Value>(): CachedTable<Value> {
    const table = new CachedTable<Value>(this, this.#tables.length)
    this.#tables.push(table)
    return table
  }

  /** All jobs have been committed or rolled back, and reads see the result. */
  settle(): void {
    for (const table of this.#writing.splice(0)) table.settle()
  }

  /** Registers what knows of a table, with its first write that has not ended. */
  begin(known: Settled): void {
    this.#writing.push(known)
  }

  /** Whether to look a value up. With few recent hits, only every 64th lookup is made, to notice a change. */
  isUseful(): boolean {
    return this.#score >= 0 || (++this.#lookups & 63) === 0
  }

  found(): void {
    this.#score = Math.min(this.#score + scoreOfFound, maxScore)
  }

  /** Records a miss; returns whether the key was missed recently, so that its value should be cached. */
  isMissedAgain(table: number, key: string): boolean {
    this.#score = Math.max(this.#score - 1, -scoreOfFound)
    // The keys of some tables differ in few bits.
    const hash = hashOfText(key, emptyHash ^ table) | 0
    const place = (hash ^ hash >>> 15) & missedLength - 1
    if (this.#missed[place] === hash) return true
    this.#missed[place] = hash
    return false
  }

  grow(cost: number): void {
    this.#cost += cost
    // Evicts the value under the hand, unless it was read since the hand passed it.
    while (this.#cost > this.#maxCost) {
      const next = this.#hand?.next()
      if (next?.done === false) {
        const { value } = next
        if (value.isFound) value.isFound = false
        else value.table.drop(value.key)
      } else {
        this.#turn = (this.#turn + 1) % this.#tables.length
        this.#hand = this.#tables[this.#turn]?.all()
      }
    }
  }

  shrink(cost: number): void {
    this.#cost -= cost
  }
}

export class CachedTable<Value> {
  readonly #cache: TableCache
  readonly #number: number
  readonly #values = new Map<string, Cached<Value>>()
  readonly #writing = new Set<string>()

  constructor(cache: TableCache, number: number) {
    this.#cache = cache
    this.#number = number
  }

  get(key: string): Value | undefined {
    // The hash of a text takes more than the rest.
    const cached = this.#values.size === 0 ? undefined : this.#values.get(key)
    if (cached === undefined) return undefined
    cached.isFound = true
    this.#cache.found()
    return cached.value
  }

  /** The cached value, without counting as a read. */
  peek(key: string): Value | undefined {
    return this.#values.size === 0 ? undefined : this.#values.get(key)?.value
  }

  /** Caches a decoded value with its size, if its key was missed before. */
  offer(key: string, value: Value, bytes: number): void {
    if (
      bytes > maxBytes || this.#writing.has(key) || !this.#cache.isMissedAgain(this.#number, key) || !freeze(value)
    ) return
    this.drop(key)
    const cost = overhead + key.length + bytes * costPerByte
    this.#values.set(key, { table: this, key, value, cost, isFound: false })
    this.#cache.grow(cost)
  }

  /** For jobs: drops a value before its key is written. */
  forget(key: string): void {
    if (this.#writing.size === 0) this.#cache.begin(this)
    this.#writing.add(key)
    this.drop(key)
  }

  drop(key: string): void {
    const cached = this.#values.size === 0 ? undefined : this.#values.get(key)
    if (cached === undefined) return
    this.#values.delete(key)
    this.#cache.shrink(cached.cost)
  }

  settle(): void {
    this.#writing.clear()
  }

  all(): Iterator<Cached<Value>> {
    return this.#values.values()
  }
}

// internal

interface Settled {
  readonly settle: () => void
}

interface Cached<Value> {
  readonly table: CachedTable<Value>
  readonly key: string
  readonly value: Value
  readonly cost: number
  isFound: boolean
}

// Larger values are not cached: they would displace too many others.
const maxBytes = 64 * 1024

// The memory of a value for each stored byte, and for the value itself.
const costPerByte = 3
const overhead = 200

// A power of two, about the number of values that fit into the cache.
const missedLength = 65_536

// A hit saves this many times the cost of a miss.
const scoreOfFound = 8
const maxScore = 16_384

/** Freezes a value, since readers share it. Returns `false` if it contains a mutable value that can't be frozen. */
const freeze = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return true
  if (isArray(value)) {
    for (const item of value) if (!freeze(item)) return false
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    for (const name in value) if (!freeze(Reflect.get(value, name))) return false
  } else return [Date, ObjectId, Double, Long].some((type) => value instanceof type)
  Object.freeze(value)
  return true
}
