/** Generated values of every BSON type, and documents of them. Few different ones, so that they often meet. */
import { Binary, Decimal128, Double, Long, MaxKey, MinKey, ObjectId, Timestamp, UUID } from "bson"
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"

/** Chosen by `weight` of all weights. */
export const weighted = <A>(...choices: ReadonlyArray<readonly [weight: number, choice: Some<A>]>): Some<A> =>
  either(...choices.flatMap(([weight, choice]) => Array.from({ length: weight }, () => choice)))

export const listOf = <A>(item: Some<A>, maxLength: number, minLength = 0): Some<ReadonlyArray<A>> =>
  Arbitrary.array(item, { minLength, maxLength })

export const record = (fields: { readonly [key: string]: Some<unknown> }): Some<Document> =>
  Arbitrary.map(
    Arbitrary.all(Object.values(fields)),
    (values) => Object.fromEntries(Object.keys(fields).map((key, at) => [key, values[at]]))
  )

/** A document with some of these fields. */
export const partial = (fields: { readonly [key: string]: Some<unknown> }): Some<Document> =>
  Arbitrary.map(
    record(Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, either<unknown>(value, value, value, oneOf(undefined))])
    )),
    (document) => Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined))
  )

const at = (text: string): Date => new Date(text)

export const ints: Some<unknown> = oneOf<unknown>(0, 1, 2, 3, -1)

const longs = oneOf<unknown>(
  Long.fromNumber(1),
  Long.fromString("4294967296"),
  Long.fromString("9007199254740993"),
  Long.MAX_VALUE,
  Long.MIN_VALUE
)

const doubles = oneOf<unknown>(1.5, -0.5, 2.25, NaN, -0, Infinity, -Infinity, 1e300, 2 ** 53, 0.1)

const wholeDoubles = oneOf<unknown>(new Double(1), new Double(2), new Double(0), new Double(2 ** 31))

const edges = oneOf<unknown>(2 ** 31 - 1, -(2 ** 31), 2 ** 31)

const decimals = oneOf<unknown>(
  ...["1", "1.5", "-0", "1E+3", "NaN", "Infinity", "0.1", "9007199254740993"].map((text) => Decimal128.fromString(text))
)

export const numbers: Some<unknown> = weighted(
  [5, ints],
  [2, doubles],
  [1, longs],
  [1, wholeDoubles],
  [1, edges],
  [1, decimals]
)

export const texts: Some<unknown> = oneOf<unknown>(
  "a",
  "b",
  "ab",
  "A",
  "",
  "aba",
  "é",
  "😀",
  "a b",
  "12",
  "2",
  "ä",
  "a-b",
  "\ud800",
  "ß"
)

export const dates: Some<unknown> = oneOf<unknown>(
  at("2024-01-31T23:30:05.678Z"),
  at("2024-02-29"),
  at("2025-12-29"),
  new Date(0),
  new Date(-1),
  at("1969-07-20T20:17:40Z"),
  at("2026-07-01T12:00:00Z")
)

const extremeDates = oneOf<unknown>(
  new Date(8.64e15),
  new Date(-8.64e15),
  at("0001-01-01"),
  at("9999-12-31T23:59:59.999Z")
)

const others = oneOf<unknown>(
  new ObjectId("65ba5d800000000000000000"),
  new ObjectId("000000000000000000000001"),
  new Binary(Uint8Array.of(1, 2)),
  new Binary(Uint8Array.of()),
  new Binary(Uint8Array.of(1, 2, 3), 128),
  new UUID("0189d1c8-1b9c-7cc0-8d6b-5a1b1f6ecb0c"),
  new Timestamp({ t: 3, i: 7 }),
  new Timestamp({ t: 1_700_000_000, i: 1 }),
  new MinKey(),
  new MaxKey()
)

const flags = oneOf<unknown>(true, false)

const scalars: Some<unknown> = weighted(
  [6, numbers],
  [4, texts],
  [1, oneOf<unknown>(null)],
  [1, flags],
  [1, dates],
  [1, others],
  [1, either(extremeDates, oneOf<unknown>(/a/, /^B/i))]
)

/** Scalars that most operators take for ordinary ones. */
const plain: Some<unknown> = weighted([5, ints], [4, texts], [1, oneOf<unknown>(null)], [1, flags], [1, dates])

export const common: Some<unknown> = weighted([3, plain], [1, scalars])

export const items: Some<unknown> = partial({ x: common, y: common })

const lists: Some<unknown> = weighted<unknown>(
  [4, listOf(common, 4)],
  [2, listOf(ints, 4)],
  [1, listOf(either(common, listOf(ints, 2), items), 3)]
)

const nested: Some<unknown> = weighted<unknown>([4, items], [1, record({ x: items })], [1, record({ x: lists })])

export const anything: Some<unknown> = weighted<unknown>([6, common], [2, lists], [2, nested])

/**
 * Fields by what they usually hold: `n` numbers, `s` texts, `t` dates, `l` lists, `o` documents, `c` lists of documents, `v`
 * anything.
 */
export const fields: { readonly [key: string]: Some<unknown> } = {
  n: weighted([8, numbers], [1, common]),
  s: weighted([8, texts], [1, common]),
  t: weighted([8, dates], [1, common]),
  l: weighted([8, lists], [1, common]),
  o: weighted([8, nested], [1, common]),
  c: weighted<unknown>([8, listOf(items, 3)], [1, anything]),
  v: anything
}

export const documents: Some<ReadonlyArray<Document>> = Arbitrary.map(
  listOf(partial(fields), 6, 1),
  (list) => list.map((document, index) => ({ _id: index + 1, ...document }))
)

export const paths: Some<string> = oneOf(
  "n",
  "s",
  "t",
  "l",
  "o",
  "c",
  "v",
  "o.x",
  "c.x",
  "c.y",
  "l.0",
  "c.0.x",
  "v.x",
  "none"
)
