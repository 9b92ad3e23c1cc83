/**
 * A set of BSON values by MongoDB's equality: 1 and a `Decimal128` of 1 are one value, and so are texts that a collation takes
 * for equal.
 */
import type { ObjectId } from "bson"
import type { Collator } from "./collator.ts"
import { EqualTexts } from "./equalTexts.ts"
import { encodeComponent } from "./keyEncoding.ts"
import { toDouble } from "./number.ts"
import { equals, isNumber, Rank, rankOf } from "./value.ts"

export class ValueSet {
  readonly #texts = new Set<string>()
  // JavaScript's numbers. BSON numbers, which may equal one of them, are in `#others`.
  readonly #numbers = new Set<number>()
  // By their bytes.
  readonly #objectIds = new Set<string>()
  readonly #others = new Map<string, Array<unknown>>()
  readonly #alike: EqualTexts | undefined
  #hasOtherNumbers = false

  constructor(values: Iterable<unknown> = [], collator?: Collator) {
    if (collator !== undefined) this.#alike = new EqualTexts(collator)
    for (const value of values) this.add(value)
  }

  has(given: unknown): boolean {
    const value = this.#alike === undefined ? given : this.#alike.find(given)
    if (typeof value === "string") return this.#texts.has(value)
    if (typeof value === "number") {
      return this.#numbers.has(value) || (this.#hasOtherNumbers && hasEqual(this.#others.get(keyOf(value)), value))
    }
    if (isObjectId(value)) return this.#objectIds.has(bytesOf(value))
    return this.#hasPlain(value) || (this.#others.size > 0 && hasEqual(this.#others.get(keyOf(value)), value))
  }

  #hasPlain(value: unknown): boolean {
    if (this.#numbers.size === 0 || !isNumber(value)) return false
    const double = toDouble(value)
    return this.#numbers.has(double) && equals(double, value)
  }

  /** Adds a value; returns whether it is new. */
  add(given: unknown): boolean {
    const value = this.#alike === undefined ? given : this.#alike.add(given)
    if (typeof value === "string") {
      const { size } = this.#texts
      return this.#texts.add(value).size > size
    }
    if (typeof value === "number") {
      if (this.has(value)) return false
      this.#numbers.add(value)
      return true
    }
    if (isObjectId(value)) {
      const { size } = this.#objectIds
      return this.#objectIds.add(bytesOf(value)).size > size
    }
    if (this.#hasPlain(value)) return false
    const key = keyOf(value)
    const alike = this.#others.get(key)
    if (hasEqual(alike, value)) return false
    this.#hasOtherNumbers ||= isNumber(value)
    if (alike === undefined) this.#others.set(key, [value])
    else alike.push(value)
    return true
  }
}

/** A list of values without those that are equal to one before. */
export class DifferentValues {
  readonly set: ValueSet
  readonly list: ReadonlyArray<unknown>

  constructor(values: ReadonlyArray<unknown>, collator?: Collator) {
    this.set = new ValueSet([], collator)
    this.list = values.filter((value) => this.set.add(value))
  }
}

// internal

// Of whichever copy of `bson` it is.
const isObjectId = (value: unknown): value is ObjectId => rankOf(value) === Rank.objectId

const { latin1Slice } = Buffer.prototype

const bytesOf = ({ id }: ObjectId): string => latin1Slice.call(id, 0, id.length)

const keyOf = (value: unknown): string => encodeComponent(value, { inexact: false })

// An inexact key may be shared by different values.
const hasEqual = (alike: ReadonlyArray<unknown> | undefined, value: unknown): boolean =>
  alike?.some((other) => equals(other, value)) === true
