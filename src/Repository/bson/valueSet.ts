/**
 * Different values, told apart as MongoDB does: 1 and a `Decimal128` of 1 are the same.
 */
import { component } from "./keyEncoding.ts"
import { equals, isNumber } from "./value.ts"

/** @internal */
export class ValueSet {
  readonly #texts = new Set<string>()
  readonly #numbers = new Set<number>()
  readonly #others = new Map<string, Array<unknown>>()
  // Whether some may equal a plain number without being one.
  #hasOddNumbers = false

  constructor(values: Iterable<unknown> = []) {
    for (const value of values) this.add(value)
  }

  has(value: unknown): boolean {
    if (typeof value === "string") return this.#texts.has(value)
    if (typeof value === "number" && !this.#hasOddNumbers) return this.#numbers.has(value)
    // Most look for a text in a set of texts, or the other way round.
    return this.#others.size > 0 && hasEqual(this.#others.get(keyOf(value)), value)
  }

  /** Whether it is a new one. */
  add(value: unknown): boolean {
    if (typeof value === "string") {
      const { size } = this.#texts
      return this.#texts.add(value).size > size
    }
    if (typeof value === "number") this.#numbers.add(value)
    else this.#hasOddNumbers ||= isNumber(value)
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

// A key may be only about right.
const hasEqual = (alike: ReadonlyArray<unknown> | undefined, value: unknown): boolean =>
  alike?.some((other) => equals(other, value)) === true
