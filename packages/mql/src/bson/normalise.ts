/** Copies documents into the form in which they are stored: what BSON would make of them after writing and reading. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { Binary, type Double, Long, UUID } from "bson"
import * as Result from "effect/Result"
import { maxNesting } from "./limits.ts"
import { doubleOf, made, toDouble } from "./number.ts"
import { binaryBytes, isNumber, isStorableTag, setField, tagOf } from "./value.ts"

/**
 * A frozen copy of a document as it would be read back after storing; fails with what can't be stored. A key whose value
 * is `undefined` is dropped; in an operand of a query (`isOperand`), the value becomes `null`.
 */
export const normalise = (document: unknown, isOperand = false): Result.Result<Document, string> => {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    return Result.fail("a document is needed")
  }
  const normaliser = new Normaliser(isOperand)
  const copy = normaliser.fields(document, 1)
  return normaliser.problem === undefined ? Result.succeed(copy) : Result.fail(normaliser.problem)
}

/** Does what {@link normalise} does for a single operand of a query. */
export const normaliseOperand = (value: unknown): Result.Result<unknown, string> =>
  Result.map(normalise({ value }, true), (document) => document["value"])

/** A direction of any BSON number type as a JavaScript number; anything else as it is. */
export const directionOf = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  const direction = Result.getOrUndefined(normaliseOperand(value))
  return isNumber(direction) ? toDouble(direction) : value
}

/** The BSON date of this many milliseconds since 1970. */
// BSON needs a `Date`, one for each date written; making it by way of `DateTime` takes five times as long.
// @effect-diagnostics-next-line globalDate:off
export const dateOf = (milliseconds: number): Date => new Date(milliseconds)

// Excludes `__proto__`, `_bsontype` and keys that need escaping.
const ordinaryKey = /^[$A-Za-z][\w$.-]*$|^_id$/

// Most documents share a few keys, so a lookup replaces the regular expression.
const ordinaryKeys = new Set<string>()

/** Whether a key needs no special treatment: it is well-formed, and neither `__proto__` nor `_bsontype`. */
export const isOrdinaryKey = (name: string): boolean => {
  if (ordinaryKeys.has(name)) return true
  const isOrdinary = ordinaryKey.test(name)
  if (isOrdinary && ordinaryKeys.size < 10_000) ordinaryKeys.add(name)
  return isOrdinary
}

class Normaliser {
  problem: string | undefined = undefined
  readonly #isOperand: boolean

  constructor(isOperand: boolean) {
    this.#isOperand = isOperand
  }

  #reject(problem: string): undefined {
    this.problem ??= problem
    return undefined
  }

  fields(source: object, depth: number): Document {
    return this.#ordinaryFields(source, depth) ?? this.#anyFields(source, depth)
  }

  /** The fast path: copies a document whose keys are all ordinary; `undefined` for any other. */
  #ordinaryFields(source: object, depth: number): Document | undefined {
    if (depth > maxNesting || source instanceof Map) return undefined
    const copy: { [key: string]: unknown } = { ...source }
    for (const name in copy) {
      const given = copy[name]
      if (given === undefined || !isOrdinaryKey(name)) return undefined
      const value = this.value(given, depth)
      if (value === undefined) return undefined
      if (value !== given) copy[name] = value
    }
    return Object.freeze(copy)
  }

  #anyFields(source: object, depth: number): Document {
    const copy: { [key: string]: unknown } = {}
    if (depth > maxNesting) {
      this.#reject(`nested more than ${maxNesting} levels deep`)
      return copy
    }
    if (source instanceof Map) { for (const [name, field] of source) this.#field(copy, String(name), field, depth) }
    else for (const name of Object.keys(source)) this.#field(copy, name, Reflect.get(source, name), depth)
    return Object.freeze(copy)
  }

  #field(copy: { [key: string]: unknown }, name: string, field: unknown, depth: number): void {
    const value = this.value(field, depth)
    if (value === undefined && !this.#isOperand) return
    if (ordinaryKey.test(name)) {
      copy[name] = value ?? null
      return
    }
    if (name.includes("\0")) this.#reject("a key contains a null character")
    if (name === "_bsontype") this.#reject("\"_bsontype\" can't be a key")
    setField(copy, name.toWellFormed(), value ?? null)
  }

  value(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
        return value.isWellFormed() ? value : value.toWellFormed()
      case "number":
      case "boolean":
      case "undefined":
        return value
      case "bigint":
        return made(Long.fromBigInt(value))
      case "object":
        return value === null ? null : this.#object(value, depth)
      default:
        return this.#isOperand ? this.#reject(`a ${typeof value} is not a value`) : undefined
    }
  }

  #object(value: object, depth: number): unknown {
    if (Array.isArray(value)) {
      if (depth >= maxNesting) return this.#reject(`nested more than ${maxNesting} levels deep`)
      // A spread allocates exactly as many slots as needed, unlike an array that grows.
      const copy: Array<unknown> = [...value]
      // Holes of a sparse array become `null`, too.
      for (let i = 0; i < copy.length; i++) copy[i] = this.value(copy[i], depth + 1) ?? null
      return Object.freeze(copy)
    }
    if (value instanceof Date) return dateOf(Number.isNaN(value.getTime()) ? 0 : value.getTime())
    if (value instanceof RegExp) return new RegExp(value.source, value.flags.replace(/[^gim]/g, ""))
    if (value instanceof Uint8Array) return new Binary(Uint8Array.from(value))
    if ("toBSON" in value && typeof value.toBSON === "function") {
      const replaced: unknown = value.toBSON()
      return replaced === value ? this.fields(value, depth + 1) : this.value(replaced, depth)
    }
    const tag = tagOf(value)
    return tag === undefined ? this.fields(value, depth + 1) : this.#tagged(value, tag)
  }

  // The casts follow from the tag.
  #tagged(value: object, tag: unknown): unknown {
    switch (tag) {
      case "Long":
        // BSON has no other than signed ones: the bits are the same.
        return made((value as Long).toSigned())
      case "Double":
        return doubleOf((value as Double).value)
      case "Int32":
      case "BSONSymbol":
        return value.valueOf()
      case "BSONRegExp": {
        const { pattern, options } = value as { readonly pattern: string; readonly options: string }
        const flags = options.replace("s", "g").replace(/[^gim]/g, "")
        return Result.getOrElse(
          Result.try(() => new RegExp(pattern, flags)),
          () => this.#reject("an unreadable regular expression")
        )
      }
      case "Binary": {
        const bytes = Uint8Array.from(binaryBytes(value as Binary))
        const { sub_type: subtype } = value as Binary
        return subtype === Binary.SUBTYPE_UUID && bytes.length === 16 ? new UUID(bytes) : new Binary(bytes, subtype)
      }
      default:
        return isStorableTag(tag) ? value : this.#reject(`an unknown class of values, "${String(tag)}"`)
    }
  }
}
