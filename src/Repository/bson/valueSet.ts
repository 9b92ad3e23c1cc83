/**
 * A set of BSON values by MongoDB's equality: 1 and a `Decimal128` of 1 are one value.
 */
import { component } from "./keyEncoding.ts"
import { equals, isNumber } from "./value.ts"

/** @internal */
export class ValueSet {
  readonly #texts = new Set<string>()
  readonly #numbers = new Set<number>()
  readonly #others = new Map<string, Array<unknown>>()
  // Whether a `Long` or a `Decimal128` is in the set, which may equal a `number`.
  #hasWideNumbers = false

  constructor(values: Iterable<unknown> = []) {
    for (const value of values) this.add(value)
  }

  has(value: unknown): boolean {
    if (typeof value === "string") return this.#texts.has(value)
    if (typeof value === "number" && !this.#hasWideNumbers) return this.#numbers.has(value)
    // Skips the key encoding for a set that holds strings only.
    return this.#others.size > 0 && hasEqual(this.#others.get(keyOf(value)), value)
  }

  /** Adds a value; returns whether it is new. */
  add(value: unknown): boolean {
    if (typeof value === "string") {
      const { size } = this.#texts
      return this.#texts.add(value).size > size
    }
    if (typeof value === "number") this.#numbers.add(value)
    else this.#hasWideNumbers ||= isNumber(value)
    const key = keyOf(value)
    const alike = this.#others.get(key)
    if (hasEqual(alike, value)) return false
    if (alike === undefined) this.#others.set(key, [value])
    else alike.push(value)
    return true
  }
}

// internal

const keyOf = (value: unknown): string => component(value, { inexact: false })

// An inexact key may be shared by different values.
const hasEqual = (alike: ReadonlyArray<unknown> | undefined, value: unknown): boolean =>
  alike?.some((other) => equals(other, value)) === true
