/**
 * Sorts the values that a filter allows, as in `$in`, into key components, step by step, so that
 * a long list does not block other requests.
 */
import { isStepDone, spend } from "@appkernel/document-store/internal"
import { type Collator, encodeComponent, invert, type LazySequence } from "@appkernel/mql/internal"
import { MemoryTable } from "../storage/memory/memoryTable.ts"
import { everything } from "../storage/orderedStore.ts"

/**
 * The components of keys for the values that a field of an index may have, in their order. The values are distinct. The
 * components have to be {@link ValueComponents.prepare | prepared} for their order.
 */
export class ValueComponents implements LazySequence<string> {
  readonly #values: ReadonlyArray<unknown>
  readonly #isDescending: boolean
  readonly #collator: Collator | undefined
  #sorted: ReadonlyArray<string> | undefined
  #known: MemoryTable<true> | undefined
  #next = 0

  constructor(values: ReadonlyArray<unknown>, isDescending: boolean, collator?: Collator) {
    this.#collator = collator
    this.#values = values
    this.#isDescending = isDescending
  }

  get length(): number {
    return this.#values.length
  }

  /** The component of the value with this index, without the order. */
  componentAt(i: number): string {
    const text = encodeComponent(this.#values[i], { inexact: false }, this.#collator)
    return this.#isDescending ? invert(text) : text
  }

  /** Sorts components for one step. Returns whether all of them are sorted. */
  prepare(): boolean {
    if (this.#sortedNow() !== undefined) return true
    const known = this.#known ??= new MemoryTable()
    for (; this.#next < this.#values.length && !isStepDone(); this.#next++) {
      known.put(this.componentAt(this.#next), true)
      spend(sortCost)
    }
    if (this.#next < this.#values.length) return false
    const sorted: Array<string> = []
    known.scanKeys(everything, (key) => sorted.push(key) > 0)
    this.#sorted = sorted
    return true
  }

  at(i: number): string {
    return this.#sortedNow()?.[i] ?? ""
  }

  /** Sorts a few at once. */
  #sortedNow(): ReadonlyArray<string> | undefined {
    if (this.#values.length <= few) this.#sorted ??= this.#values.map((_, i) => this.componentAt(i)).toSorted()
    return this.#sorted
  }
}

// internal

// Up to this number, the components are sorted at once.
const few = 1000

// The cost of one component in a larger sort, in units of work.
const sortCost = 300
