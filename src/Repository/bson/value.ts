/**
 * Values as documents hold them: what they become when they are stored, and MongoDB's order of all of them.
 */
import { Binary, type DBRef, Long, type ObjectId, type Timestamp, UUID } from "bson"
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import { type BsonNumber, compareNumbers, fromLong } from "./number.ts"

/**
 * The classes of values, in MongoDB's order: values of different classes compare by it.
 *
 * @internal
 */
export const Rank = {
  minKey: 0x08,
  // No stored value: the index key of an empty array, which comes before `null`.
  nothing: 0x10,
  null: 0x18,
  number: 0x20,
  string: 0x28,
  document: 0x30,
  array: 0x38,
  binary: 0x40,
  objectId: 0x48,
  boolean: 0x50,
  date: 0x58,
  timestamp: 0x60,
  regularExpression: 0x68,
  code: 0x70,
  maxKey: 0xe0
} as const

/** @internal */
export type Rank = typeof Rank[keyof typeof Rank]

// By tag, not `instanceof`: the package has a CommonJS and a module build, each with classes of its own.
const rankByTag = new Map<unknown, Rank>([
  ["MinKey", Rank.minKey],
  ["Long", Rank.number],
  ["Decimal128", Rank.number],
  ["DBRef", Rank.document],
  ["Binary", Rank.binary],
  ["ObjectId", Rank.objectId],
  ["Timestamp", Rank.timestamp],
  ["Code", Rank.code],
  ["MaxKey", Rank.maxKey]
])

/**
 * The class of a normalised value; of `undefined`, that of nothing at all.
 *
 * @internal
 */
export const rankOf = (value: unknown): Rank => {
  switch (typeof value) {
    case "string":
      return Rank.string
    case "number":
      return Rank.number
    case "boolean":
      return Rank.boolean
    case "object":
      if (value === null) return Rank.null
      if (Array.isArray(value)) return Rank.array
      if (value instanceof Date) return Rank.date
      if (value instanceof RegExp) return Rank.regularExpression
      return rankByTag.get(tagOf(value)) ?? Rank.document
    default:
      return Rank.nothing
  }
}

/** The name of the `bson` class of an object, if it is of one; a key of that name doesn't make it one. */
const tagOf = (value: object): unknown =>
  "_bsontype" in value && !Object.hasOwn(value, "_bsontype") ? value._bsontype : undefined

/**
 * Whether a value is a nested document: neither an array nor of a class of BSON.
 *
 * @internal
 */
export const isDocument = (value: unknown): value is Document =>
  typeof value === "object" && value !== null
  // Nearly all of them are made by nobody else, and have no tag to look for.
  && (Object.getPrototypeOf(value) === Object.prototype
    || (!Array.isArray(value) && rankOf(value) === Rank.document && tagOf(value) === undefined))

/** @internal */
export const isArray = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** @internal */
export const isNumber = (value: unknown): value is BsonNumber => rankOf(value) === Rank.number

/**
 * An own field, never one of the prototype.
 *
 * @internal
 */
export const fieldOf = (document: Document, key: string): unknown =>
  Object.hasOwn(document, key) ? document[key] : undefined

/**
 * Sets a field of a document that is being built; `__proto__` is a key like any other.
 *
 * @internal
 */
export const setField = (document: { [key: string]: unknown }, key: string, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(document, key, { value, enumerable: true, configurable: true, writable: true })
  } else document[key] = value
}

/**
 * What stands for a key `__proto__` in what mingo is given, which would change the prototype of an object with it. No
 * other key has a null character.
 *
 * @internal
 */
export const escapedProto = "\0__proto__"

// MongoDB refuses documents that are nested more deeply.
const maxDepth = 200

/**
 * A frozen copy of what storing and reading would make of a document, or what is wrong with it. `undefined` drops its
 * key; in what is `asked`, it is `null`.
 *
 * @internal
 */
export const normalise = (document: unknown, asked = false): Result.Result<Document, string> => {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    return Result.fail("a document is needed")
  }
  const normaliser = new Normaliser(asked)
  const copy = normaliser.fields(document, 1)
  return normaliser.problem === undefined ? Result.succeed(copy) : Result.fail(normaliser.problem)
}

/**
 * {@link normalise} of a single value that is asked for.
 *
 * @internal
 */
export const normaliseValue = (value: unknown): Result.Result<unknown, string> =>
  Result.map(normalise({ value }, true), (document) => document["value"])

/**
 * BSON's date of so many milliseconds.
 *
 * @internal
 */
// BSON's own type, made for every date that is written: by way of `DateTime` it takes five times as long.
// @effect-diagnostics-next-line globalDate:off
export const dateOf = (milliseconds: number): Date => new Date(milliseconds)

// Neither `__proto__` nor `_bsontype`, nor anything that has to be escaped.
const plainKey = /^[$A-Za-z][\w$.-]*$|^_id$/

// Most documents have the same few keys.
const plainKeys = new Set<string>()

/**
 * Whether there is nothing odd about a key.
 *
 * @internal
 */
export const isPlainKey = (name: string): boolean => {
  if (plainKeys.has(name)) return true
  const isPlain = plainKey.test(name)
  if (isPlain && plainKeys.size < 10_000) plainKeys.add(name)
  return isPlain
}

class Normaliser {
  problem: string | undefined = undefined
  readonly #asked: boolean

  constructor(asked: boolean) {
    this.#asked = asked
  }

  #reject(problem: string): undefined {
    this.problem ??= problem
    return undefined
  }

  fields(source: object, depth: number): Document {
    return this.#plainFields(source, depth) ?? this.#anyFields(source, depth)
  }

  /** The copy of a document with nothing odd about its keys, as quick as it can be; `undefined` for any other. */
  #plainFields(source: object, depth: number): Document | undefined {
    if (depth > maxDepth || source instanceof Map) return undefined
    const copy: { [key: string]: unknown } = { ...source }
    for (const name in copy) {
      const given = copy[name]
      if (given === undefined || !isPlainKey(name)) return undefined
      const value = this.value(given, depth)
      if (value === undefined) return undefined
      if (value !== given) copy[name] = value
    }
    return Object.freeze(copy)
  }

  #anyFields(source: object, depth: number): Document {
    const copy: { [key: string]: unknown } = {}
    if (depth > maxDepth) {
      this.#reject(`nested more than ${maxDepth} levels deep`)
      return copy
    }
    if (source instanceof Map) { for (const [name, field] of source) this.#field(copy, String(name), field, depth) }
    else for (const name of Object.keys(source)) this.#field(copy, name, Reflect.get(source, name), depth)
    return Object.freeze(copy)
  }

  #field(copy: { [key: string]: unknown }, name: string, field: unknown, depth: number): void {
    const value = this.value(field, depth)
    if (value === undefined && !this.#asked) return
    if (plainKey.test(name)) {
      copy[name] = value ?? null
      return
    }
    const key = name === escapedProto ? "__proto__" : name
    if (key.includes("\0")) this.#reject("a key contains a null character")
    if (key === "_bsontype") this.#reject("\"_bsontype\" can't be a key")
    setField(copy, key.toWellFormed(), value ?? null)
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
        return fromLong(Long.fromBigInt(value))
      case "object":
        return value === null ? null : this.#object(value, depth)
      default:
        return this.#asked ? this.#reject(`a ${typeof value} is not a value`) : undefined
    }
  }

  #object(value: object, depth: number): unknown {
    if (Array.isArray(value)) {
      if (depth >= maxDepth) return this.#reject(`nested more than ${maxDepth} levels deep`)
      // No longer than it has to be, unlike an array that grows.
      const copy: Array<unknown> = [...value]
      // What was never set is `null`, too.
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

  // The casts in here follow from the tag.
  #tagged(value: object, tag: unknown): unknown {
    switch (tag) {
      case "Long":
        return fromLong(value as Long)
      case "Int32":
      case "Double":
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
        const bytes = Uint8Array.from(bytesOf(value as Binary))
        const { sub_type: subtype } = value as Binary
        return subtype === Binary.SUBTYPE_UUID && bytes.length === 16 ? new UUID(bytes) : new Binary(bytes, subtype)
      }
      default:
        return rankByTag.has(tag) ? value : this.#reject(`an unknown class of values, "${String(tag)}"`)
    }
  }
}

/** @internal */
export const bytesOf = (binary: Binary): Uint8Array => binary.buffer.subarray(0, binary.position)

// By code points, as UTF-8's bytes compare; JavaScript compares UTF-16's units.
const compareStrings = (a: string, b: string): number => {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // Surrogates stand for what comes after all single units.
    const [astralX, astralY] = [isSurrogate(x), isSurrogate(y)]
    return astralX === astralY ? x - y : astralX ? 1 : -1
  }
  return a.length - b.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff

const compareBytes = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b)

/**
 * MongoDB's order of two normalised values: by class, then within it; documents field by field in their order (class,
 * name, value), arrays item by item. `undefined` comes before `null`.
 *
 * @internal
 */
export const compare = (a: unknown, b: unknown): number => {
  if (a === b) return 0
  if (typeof a === "string" && typeof b === "string") return compareStrings(a, b)
  if (typeof a === "number" && typeof b === "number") return compareNumbers(a, b)
  const [rankA, rankB] = [rankOf(a), rankOf(b)]
  return rankA === rankB ? compareWithin(rankA, a, b) : rankA - rankB
}

// The casts in here follow from the rank, which both values have.
const compareWithin = (rank: Rank, a: unknown, b: unknown): number => {
  switch (rank) {
    case Rank.number:
      return compareNumbers(a as BsonNumber, b as BsonNumber)
    case Rank.string:
      return compareStrings(a as string, b as string)
    case Rank.boolean:
      return Number(a) - Number(b)
    case Rank.date:
      return (a as Date).getTime() - (b as Date).getTime()
    case Rank.objectId:
      return compareBytes((a as ObjectId).id, (b as ObjectId).id)
    case Rank.array:
      return compareItems(a as ReadonlyArray<unknown>, b as ReadonlyArray<unknown>)
    case Rank.document:
      return compareFields(Object.entries(plain(a as object)), Object.entries(plain(b as object)))
    case Rank.binary:
      return compareBinary(a as Binary, b as Binary)
    case Rank.timestamp:
      return (a as Timestamp).compare(b as Timestamp)
    case Rank.regularExpression:
      return compareStrings((a as RegExp).source, (b as RegExp).source)
        || compareStrings((a as RegExp).flags, (b as RegExp).flags)
    case Rank.code:
      return compareStrings(
        String((a as { readonly code: unknown }).code),
        String((b as { readonly code: unknown }).code)
      )
    default:
      return 0
  }
}

const compareItems = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compare(a[i], b[i])
    if (order !== 0) return order
  }
  return a.length - b.length
}

const compareFields = (a: ReadonlyArray<[string, unknown]>, b: ReadonlyArray<[string, unknown]>): number => {
  for (const [i, [nameA, valueA]] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const [nameB, valueB] = other
    const order = rankOf(valueA) - rankOf(valueB) || compareStrings(nameA, nameB) || compare(valueA, valueB)
    if (order !== 0) return order
  }
  return a.length - b.length
}

const compareBinary = (a: Binary, b: Binary): number =>
  a.position - b.position || a.sub_type - b.sub_type || compareBytes(bytesOf(a), bytesOf(b))

/**
 * The fields of a document, those of a reference included.
 *
 * @internal
 */
export const plain = (value: object): Document =>
  // Any object is a record of what it has.
  tagOf(value) === "DBRef" ? { ...(value as DBRef).toJSON() } : value as Document

/** @internal */
export const equals = (a: unknown, b: unknown): boolean => compare(a, b) === 0

/**
 * Whether two values would be stored as the same: 1 equals a `Decimal128` of 1, but is not the same.
 *
 * @internal
 */
export const isSame = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (isArray(a) && isArray(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]))
  if (isDocument(a) && isDocument(b)) {
    const [keysA, keysB] = [Object.keys(a), Object.keys(b)]
    return keysA.length === keysB.length && keysA.every((key, i) => key === keysB[i] && isSame(a[key], b[key]))
  }
  return equals(a, b) && (isNumber(a) ? typeof a === typeof b && tagOf(Object(a)) === tagOf(Object(b)) : true)
}
