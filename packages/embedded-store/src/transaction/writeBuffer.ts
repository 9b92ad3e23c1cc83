/**
 * The write buffer of a transaction: a table that shows its writes over a snapshot. It records the keys and ranges that the
 * transaction reads, for the validation at the commit.
 */
import { MemoryTable } from "../storage/memory/memoryTable.ts"
import { scanMerged, scanMergedKeys, type TableChange } from "../storage/mergedTable.ts"
import { keyAtBy, type Range, type Table, type Visit, visitEach } from "../storage/orderedStore.ts"
import type { VersionedTable } from "./snapshots.ts"

/** A buffered write of a key. */
export interface BufferedWrite<Value> {
  /** `undefined` if the key was removed. */
  readonly value: Value | undefined
  /** The value in the snapshot. */
  readonly before: Value | undefined
}

/** A table with buffered writes over a table of a snapshot. */
export class BufferedTable<Value, Encoded = Value> implements Table<Value, Encoded> {
  readonly #base: VersionedTable<Value>
  readonly #toValue: (encoded: Encoded) => Value
  readonly #written = new MemoryTable<BufferedWrite<Value>>()
  readonly #keys = new Set<string>()
  readonly #ranges = new Ranges()

  constructor(base: VersionedTable<Value>, toValue: (encoded: Encoded) => Value) {
    this.#base = base
    this.#toValue = toValue
  }

  /** The buffered writes in the order of the keys. */
  get written(): Iterable<readonly [key: string, written: BufferedWrite<Value>]> {
    return this.#written.entries()
  }

  /** Whether another transaction has written a key or a range that this one read. */
  get hasConflict(): boolean {
    return this.#base.isWritten(this.#keys, this.#ranges.all)
  }

  readonly get = (key: string): Value | undefined => {
    const written = this.#written.get(key)
    if (written !== undefined) return written.value
    this.#keys.add(key)
    return this.#base.get(key)
  }

  readonly visit = (keys: ReadonlyArray<string>, visit: Visit<number, Value>): void => visitEach(keys, this.get, visit)

  readonly has = (key: string): boolean => this.get(key) !== undefined

  readonly put = (key: string, encoded: Encoded, before: Value | undefined): void =>
    this.#write(key, this.#toValue(encoded), before)

  readonly remove = (key: string, before: Value | undefined): void => this.#write(key, undefined, before)

  #write(key: string, value: Value | undefined, before: Value | undefined): void {
    const written = this.#written.get(key)
    this.#written.put(key, { value, before: written === undefined ? before : written.before })
  }

  readonly scan = (range: Range, visit: Visit<string, Value>): void => {
    let stoppedAt: string | undefined
    scanMerged(this.#base, this.#changes, range, (key, value, bytes) => {
      const goesOn = visit(key, value, bytes)
      if (!goesOn) stoppedAt = key
      return goesOn
    })
    this.#ranges.add(range, stoppedAt)
  }

  readonly scanKeys = (range: Range, visit: (key: string) => boolean): void => {
    let stoppedAt: string | undefined
    scanMergedKeys(this.#base, this.#changes, range, (key) => {
      const goesOn = visit(key)
      if (!goesOn) stoppedAt = key
      return goesOn
    })
    this.#ranges.add(range, stoppedAt)
  }

  readonly keyAt = (range: Range, place: number): string | undefined => keyAtBy(this.scanKeys, range, place)

  readonly likelyKeyAt = (range: Range, place: number): string | undefined => this.#base.keyAt(range, place)

  readonly #changes = (range: Range): () => TableChange<Value> | undefined => {
    const entry = this.#written.entriesIn(range)
    return () => entry.next() ? { key: entry.key, value: entry.value.value } : undefined
  }
}

/** The ranges that were read; adjacent ones are merged. */
class Ranges {
  readonly #ends = new Map<string, string>()
  readonly #starts = new Map<string, string>()

  get all(): ReadonlyArray<Range> {
    return Array.from(this.#ends, ([start, end]) => ({ start, end, reverse: false }))
  }

  /** Adds a range, up to and including the key where the scan stopped, if it stopped. */
  add({ end, reverse, start }: Range, stoppedAt: string | undefined): void {
    if (stoppedAt === undefined) this.#add(start, end)
    else if (reverse) this.#add(stoppedAt, end)
    else this.#add(start, `${stoppedAt}\0`)
  }

  #add(from: string, to: string): void {
    if (from >= to) return
    const start = this.#starts.get(from) ?? from
    const end = this.#ends.get(to) ?? to
    this.#starts.delete(from)
    this.#ends.delete(to)
    const known = this.#ends.get(start) ?? ""
    if (known >= end) return
    this.#starts.delete(known)
    this.#ends.set(start, end)
    this.#starts.set(end, start)
  }
}
