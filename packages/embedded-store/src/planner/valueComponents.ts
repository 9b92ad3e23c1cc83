/**
 * Sorts the values that a filter allows, as in `$in`, into key components, step by step, so that
 * a long list does not block other requests.
 */
import { isStepDone, spend } from "@appkernel/document-store/internal"
import { type Collator, encodeComponent, invert, type LazySequence } from "@appkernel/mql/internal"
import { MemoryTable } from "../storage/memory/store.ts"
import { everything } from "../storage/orderedStore.ts"

/**
 * The components of keys for the values that a field of an index may have, in their order. The values are distinct. The
 * components have to be {@link ValueComponents.prepare | prepared}.
 */
export class ValueComponents implements LazySequence<string> {
  readonly #values: ReadonlyArray<unknown>
  readonly #isDescending: boolean
  readonly #collator: Collator | undefined
  #sorted: ReadonlyArray<string> | undefined
  readonly #known = new MemoryTable<true>()
  #next = 0

  constructor(values: ReadonlyArray<unknown>, isDescending: boolean, collator?: Collator) {
    this.#collator = collator
    this.#values = values
    this.#isDescending = isDescending
    if (values.length <= few) this.#sorted = values.map((_, i) => this.componentAt(i)).toSorted()
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
    if (this.#sorted !== undefined) return true
    for (; this.#next < this.#values.length && !isStepDone(); this.#next++) {
      this.#known.put(this.componentAt(this.#next), true)
      spend(sortCost)
    }
    if (this.#next < this.#values.length) return false
    const sorted: Array<string> = []
    this.#known.scanKeys(everything, (key) => sorted.push(key) > 0)
    this.#sorted = sorted
    return true
  }

  at(i: number): string {
    return this.#sorted?.[i] ?? ""
  }
}

// internal

// Up to this number, the constructor sorts the components.
const few = 1000

// The cost of one component in a larger sort, in units of work.
const sortCost = 300
