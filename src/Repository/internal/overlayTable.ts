import { isSame } from "./bsonValue.ts"
import { everything, type Range, type Table, type Visit, visitEach } from "./keyValue.ts"
import { MemoryTable } from "./keyValueMemory.ts"

interface Written<Value> {
  /** `undefined` when it was removed. */
  readonly value: Value | undefined
}

/**
 * A table over another one, which it leaves as it is: it has what was written to it, and knows what it has read.
 *
 * @internal
 */
export class OverlayTable<Value, Encoded = Value> implements Table<Value, Encoded> {
  readonly #base: Table<Value, Encoded>
  readonly #toValue: (encoded: Encoded) => Value
  readonly #onScan: () => void
  readonly #written = new MemoryTable<Written<Value>>()
  readonly #read = new Map<string, Value | undefined>()
  readonly #isScanned: () => boolean

  /** `isScanned` says that no write to the other table goes unnoticed anyway. */
  constructor(
    base: Table<Value, Encoded>,
    toValue: (encoded: Encoded) => Value,
    { isScanned, onScan }: { readonly isScanned: () => boolean; readonly onScan: () => void }
  ) {
    this.#base = base
    this.#toValue = toValue
    this.#onScan = onScan
    this.#isScanned = isScanned
  }

  /** What was written: values by their keys, and `undefined` for what was removed. */
  get changes(): ReadonlyArray<readonly [key: string, value: Value | undefined]> {
    const changes: Array<readonly [string, Value | undefined]> = []
    this.#written.scan(everything, (key, { value }) => changes.push([key, value]) > 0)
    return changes
  }

  /** Whether the other table still has what was read by its key. */
  get isIntact(): boolean {
    for (const [key, value] of this.#read) {
      const now = this.#base.get(key)
      if (now !== value && (now === undefined || value === undefined || !isSame(now, value))) return false
    }
    return true
  }

  readonly get = (key: string): Value | undefined => {
    const written = this.#written.get(key)
    if (written !== undefined) return written.value
    if (this.#read.has(key)) return this.#read.get(key)
    const value = this.#base.get(key)
    if (!this.#isScanned()) this.#read.set(key, value)
    return value
  }

  readonly visit = (keys: ReadonlyArray<string>, visit: Visit<number, Value>): void => visitEach(keys, this.get, visit)

  readonly has = (key: string): boolean => this.get(key) !== undefined

  readonly put = (key: string, encoded: Encoded): void => this.#written.put(key, { value: this.#toValue(encoded) })

  readonly remove = (key: string): void => this.#written.put(key, { value: undefined })

  readonly scan = (range: Range, visit: Visit<string, Value>): void =>
    this.#merge(
      range,
      visit,
      (see) => this.#base.scan(range, (key, value, bytes) => see(key, () => visit(key, value, bytes)))
    )

  readonly scanKeys = (range: Range, visit: (key: string) => boolean): void =>
    this.#merge(range, visit, (see) => this.#base.scanKeys(range, (key) => see(key, () => visit(key))))

  /** Shows what was written between what is there already, and in its place. */
  #merge(
    range: Range,
    visit: Visit<string, Value>,
    scanBase: (see: (key: string, visit: () => boolean) => boolean) => void
  ): void {
    this.#onScan()
    const written = this.#cursor(range)
    let isDone = false
    const show = ({ key, value }: Change<Value>): boolean => {
      isDone = value !== undefined && !visit(key, value, 0)
      return !isDone
    }
    scanBase((key, visitBase) => {
      const isBefore = (other: string) => range.reverse ? other > key : other < key
      for (let change = written.current(); change !== undefined && isBefore(change.key); change = written.next()) {
        if (!show(change)) return false
      }
      const change = written.current()
      if (change?.key === key) {
        written.next()
        return show(change)
      }
      isDone = !visitBase()
      return !isDone
    })
    if (isDone) return
    for (let change = written.current(); change !== undefined; change = written.next()) if (!show(change)) return
  }

  #cursor(range: Range) {
    const first = (rest: Range): Change<Value> | undefined => {
      let change: Change<Value> | undefined
      this.#written.scan(rest, (key, { value }) => {
        change = { key, value }
        return false
      })
      return change
    }
    let change = first(range)
    return {
      current: () => change,
      next: () => {
        const { key = "" } = change ?? {}
        change = first(range.reverse ? { ...range, end: key } : { ...range, start: `${key}\0` })
        return change
      }
    }
  }
}

interface Change<Value> {
  readonly key: string
  readonly value: Value | undefined
}
