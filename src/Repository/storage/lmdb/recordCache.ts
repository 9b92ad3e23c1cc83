/**
 * Documents and entries of indexes as they were decoded, for those that are read often.
 */
import { ObjectId } from "bson"
import { isArray } from "../../bson/value.ts"

/**
 * The cached values of all tables, of a bounded size.
 *
 * @internal
 */
export class TableCache {
  readonly #maxCost: number
  readonly #tables: Array<CachedTable<unknown>> = []
  readonly #unsettled: Array<CachedTable<unknown>> = []
  // The last keys that were missed, by their hashes.
  readonly #missed = new Int32Array(missedLength)
  #cost = 0
  // Below zero, it is not worth while to look.
  #score = maxScore
  #asked = 0
  // Where somebody was looked for last who has to go.
  #turn = 0
  #hand: Iterator<Cached<unknown>> | undefined

  /** `maxBytes` is about what it may take in memory. */
  constructor(maxBytes: number) {
    this.#maxCost = maxBytes
  }

  table<Value>(): CachedTable<Value> {
    const table = new CachedTable<Value>(this, this.#tables.length)
    this.#tables.push(table)
    return table
  }

  /** All jobs that have run are kept or have left nothing, and whoever reads from now on sees that. */
  settle(): void {
    for (const table of this.#unsettled.splice(0)) table.settle()
  }

  /** A table has its first value with a write that is not settled. */
  begin(table: CachedTable<unknown>): void {
    this.#unsettled.push(table)
  }

  /** Whether to look into the cache; where little was found lately, that is now and then, to see whether it changes. */
  isUseful(): boolean {
    return this.#score >= 0 || (++this.#asked & 63) === 0
  }

  found(): void {
    this.#score = Math.min(this.#score + scoreOfFound, maxScore)
  }

  /** Whether to keep what was looked for in vain in a table: when that is not the first time lately. */
  isMissedAgain(table: number, key: string): boolean {
    this.#score = Math.max(this.#score - 1, -scoreOfFound)
    // FNV-1a: the keys of some tables differ in few bits.
    let hash = 0x811c_9dc5 ^ table
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x0100_0193)
    const place = (hash ^ hash >>> 15) & missedLength - 1
    if (this.#missed[place] === hash) return true
    this.#missed[place] = hash
    return false
  }

  grow(cost: number): void {
    this.#cost += cost
    // Each in turn, unless it was found since it was last its turn.
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

/**
 * The cached values of a table. It has what every reader would decode: a value that is written is gone at once, and may
 * only come back when its write is settled.
 *
 * @internal
 */
export class CachedTable<Value> {
  readonly #cache: TableCache
  readonly #number: number
  readonly #values = new Map<string, Cached<Value>>()
  readonly #unsettled = new Set<string>()

  constructor(cache: TableCache, number: number) {
    this.#cache = cache
    this.#number = number
  }

  get(key: string): Value | undefined {
    const cached = this.#values.get(key)
    if (cached === undefined) return undefined
    cached.isFound = true
    this.#cache.found()
    return cached.value
  }

  /** The value, if it is there, without a word of its having been asked for. */
  peek(key: string): Value | undefined {
    return this.#values.size === 0 ? undefined : this.#values.get(key)?.value
  }

  /** Keeps what was just decoded, when it was missed before; it had so many bytes. */
  offer(key: string, value: Value, bytes: number): void {
    if (
      bytes > maxBytes || this.#unsettled.has(key) || !this.#cache.isMissedAgain(this.#number, key) || !freeze(value)
    ) return
    this.drop(key)
    const cost = overhead + key.length + bytes * costPerByte
    this.#values.set(key, { table: this, key, value, cost, isFound: false })
    this.#cache.grow(cost)
  }

  /** For jobs: what is kept by the key is about to change. */
  forget(key: string): void {
    if (this.#unsettled.size === 0) this.#cache.begin(this)
    this.#unsettled.add(key)
    this.drop(key)
  }

  drop(key: string): void {
    const cached = this.#values.get(key)
    if (cached === undefined) return
    this.#values.delete(key)
    this.#cache.shrink(cached.cost)
  }

  settle(): void {
    this.#unsettled.clear()
  }

  all(): Iterator<Cached<Value>> {
    return this.#values.values()
  }
}

// internal

interface Cached<Value> {
  readonly table: CachedTable<Value>
  readonly key: string
  readonly value: Value
  readonly cost: number
  isFound: boolean
}

// Larger values are few, or there is no room for them.
const maxBytes = 64 * 1024

// What a value takes in memory for each byte that is stored, and besides.
const costPerByte = 3
const overhead = 200

// A power of two, and not much more than there may be values.
const missedLength = 65_536

// To find a value spares so many times what it takes to look for one that isn't there.
const scoreOfFound = 8
const maxScore = 16_384

/** Freezes what readers share, as far as it can be; `false` when it is more than values that nobody changes. */
const freeze = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return true
  if (isArray(value)) {
    for (const item of value) if (!freeze(item)) return false
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    for (const name in value) if (!freeze(Reflect.get(value, name))) return false
  } else return value instanceof Date || value instanceof ObjectId
  Object.freeze(value)
  return true
}
