/**
 * A set of BSON values by MongoDB's equality: 1 and a `Decimal128` of 1 are one value.
 */
import type { ObjectId } from "bson"
import { encodeComponent } from "./keyEncoding.ts"
import { toDouble } from "./number.ts"
import { equals, isNumber, Rank, rankOf } from "./value.ts"

/** @internal */
export class ValueSet {
  readonly #texts = new Set<string>()
  // Plain ones. What may equal one of them without being plain is among the others.
  readonly #numbers = new Set<number>()
  // By their bytes.
  readonly #objectIds = new Set<string>()
  readonly #others = new Map<string, Array<unknown>>()
  #hasOtherNumbers = false

  constructor(values: Iterable<unknown> = []) {
    for (const value of values) this.add(value)
  }

  has(value: unknown): boolean {
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
  add(value: unknown): boolean {
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

/**
 * A list of values without those that are equal to one before.
 *
 * @internal
 */
export class DifferentValues {
  readonly set = new ValueSet()
  readonly list: ReadonlyArray<unknown>

  constructor(values: ReadonlyArray<unknown>) {
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
