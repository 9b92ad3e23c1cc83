import { MemoryTable } from "../../storage/memory/store.ts"
import { type Change, scanMerged, scanMergedKeys } from "../../storage/mergedTable.ts"
import { type Range, type Table, type Visit, visitEach } from "../../storage/orderedStore.ts"
import type { VersionedTable } from "./snapshots.ts"

/**
 * What a transaction has made of a key.
 *
 * @internal
 */
export interface Written<Value> {
  /** `undefined` when it was removed. */
  readonly value: Value | undefined
  /** What the table below has. */
  readonly before: Value | undefined
}

/**
 * A table over that of a snapshot, which it leaves as it is: it has what was written to it, and knows which keys and
 * ranges it has read below.
 *
 * @internal
 */
export class OverlayTable<Value, Encoded = Value> implements Table<Value, Encoded> {
  readonly #base: VersionedTable<Value, Encoded>
  readonly #toValue: (encoded: Encoded) => Value
  readonly #written = new MemoryTable<Written<Value>>()
  readonly #keys = new Set<string>()
  readonly #ranges = new Ranges()

  constructor(base: VersionedTable<Value, Encoded>, toValue: (encoded: Encoded) => Value) {
    this.#base = base
    this.#toValue = toValue
  }

  /** What was written, in the order of the keys. */
  get written(): Iterable<readonly [key: string, written: Written<Value>]> {
    return this.#written.entries()
  }

  /** Whether others have written what was read. */
  get isOvertaken(): boolean {
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

  readonly #changes = (range: Range): () => Change<Value> | undefined => {
    const next = this.#written.keysIn(range)
    return () => {
      const key = next()
      return key === undefined ? undefined : { key, value: this.#written.get(key)?.value }
    }
  }
}

/** Ranges that were read; those that follow one another are one. */
class Ranges {
  readonly #ends = new Map<string, string>()
  readonly #starts = new Map<string, string>()

  get all(): ReadonlyArray<Range> {
    return Array.from(this.#ends, ([start, end]) => ({ start, end, reverse: false }))
  }

  /** Adds a range, of which only what comes before a key, and the key itself, was read if the scan stopped there. */
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
