/**
 * A map of string keys that grows incrementally (extendible hashing): a JavaScript `Map` copies all its entries when it
 * doubles, which takes half a second for two million keys.
 */

export class ShardedMap<Value> {
  /** The shards by the last bits of the keys' hashes. */
  #shards: Array<Shard<Value>> = [{ map: new Map(), depth: 0, most: shardLength }]

  #shardOf(key: string): Shard<Value> {
    const shards = this.#shards
    // There is a shard for each value of these bits.
    return shards[shards.length === 1 ? 0 : hashOf(key) & (shards.length - 1)]!
  }

  get(key: string): Value | undefined {
    return this.#shardOf(key).map.get(key)
  }

  has(key: string): boolean {
    return this.#shardOf(key).map.has(key)
  }

  /** Sets a value; returns whether the key is new. */
  set(key: string, value: Value): boolean {
    const shard = this.#shardOf(key)
    const { size } = shard.map
    if (shard.map.set(key, value).size === size) return false
    if (size >= shard.most && shard.depth < maxDepth) this.#split(shard)
    return true
  }

  delete(key: string): boolean {
    return this.#shardOf(key).map.delete(key)
  }

  #split(shard: Shard<Value>): void {
    const { depth, map } = shard
    const bit = 1 << depth
    if (bit === this.#shards.length) this.#shards = [...this.#shards, ...this.#shards]
    const place = this.#shards.indexOf(shard)
    const zero: Shard<Value> = shardAt(depth + 1, place)
    const one: Shard<Value> = shardAt(depth + 1, place + bit)
    for (const [key, value] of map) ((hashOf(key) & bit) === 0 ? zero : one).map.set(key, value)
    for (let i = place; i < this.#shards.length; i += bit) this.#shards[i] = (i & bit) === 0 ? zero : one
  }
}

// internal

// A shard is split when it has this many entries, or up to twice as many.
const shardLength = 8192

interface Shard<Value> {
  readonly map: Map<string, Value>
  /** The number of last bits of the hash that all keys of the shard share. */
  readonly depth: number
  readonly most: number
}

// Limits the growth by keys with equal hashes.
const maxDepth = 20

// Different limits, so that the shards are not all split at the same time.
const shardAt = <Value>(depth: number, place: number): Shard<Value> => ({
  map: new Map(),
  depth,
  most: shardLength + (Math.imul(place, 0x9e37_79b1) >>> 0) % shardLength
})

// FNV-1a, with the higher bits mixed into the lower ones.
const hashOf = (key: string): number => {
  let hash = 0x811c_9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x0100_0193)
  return hash ^ hash >>> 15
}
