import { assert, describe, it } from "@effect/vitest"
import * as BSON from "bson"
import { Arbitrary, Effect, Result, Schema } from "effect"
import * as nodeAssert from "node:assert/strict"
import { decodeDocument } from "../../src/bson/decoder.ts"
import { plainValue } from "../../src/bson/plainDocument.ts"

// As lmdb gives what it has read: in a buffer that is longer than it says, and overwritten with the next read.
const shared = Buffer.alloc(1 << 20)
Object.defineProperty(shared, "length", { value: 0, writable: true })

const decodeShared = (bytes: Uint8Array): unknown => {
  shared.fill(0x02)
  shared.set(bytes)
  Object.assign(shared, { length: bytes.length })
  try {
    return plainValue(decodeDocument(shared))
  } finally {
    shared.fill(0xee)
  }
}

const outcomeOf = (decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array) =>
  Result.try({ try: () => decode(bytes), catch: (cause) => String(cause) })

// Says of each number how it is stored, and keeps the order of fields.
const exactly = (value: unknown) => BSON.EJSON.stringify(value, { relaxed: false })

const assertSame = (bytes: Uint8Array): void => {
  const expected = outcomeOf(
    (bytes) => withRegExps(BSON.deserialize(Buffer.from(bytes), { bsonRegExp: true })),
    bytes
  )
  const decoded = outcomeOf(decodeShared, bytes)
  if (Result.isFailure(expected) || Result.isFailure(decoded)) {
    nodeAssert.deepStrictEqual(decoded, expected)
    return
  }
  nodeAssert.deepStrictEqual(decoded.success, expected.success)
  if (isWritable(expected.success)) assert.strictEqual(exactly(decoded.success), exactly(expected.success))
}

// As `bson` makes them, but for those that JavaScript does not have.
const withRegExps = (value: unknown): unknown => {
  if (value instanceof BSON.BSONRegExp) {
    const { options, pattern } = value
    const flags = ["i", "m", "s"].filter((flag) => options.includes(flag)).join("").replace("s", "g")
    const result = Result.try(() => new RegExp(pattern, flags))
    return Result.isFailure(result) || options.includes("x") || options.includes("l") ? value : result.success
  }
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    for (const [key, inner] of Object.entries(value)) {
      Object.defineProperty(value, key, { value: withRegExps(inner) })
    }
  }
  return value
}

// What damaged bytes become can't always be told as JSON.
const isWritable = (value: unknown): boolean => Result.isSuccess(Result.try(() => exactly(value)))

const leaves: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  undefined,
  0,
  -0,
  1,
  -1,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 31,
  2 ** 53,
  0.1,
  5e-324,
  NaN,
  Infinity,
  -Infinity,
  "",
  "EUR",
  "twelve bytes",
  "thirteen byte",
  "a text that is longer than all short ones are",
  "Büro",
  "日本語 is longer than a short text, too",
  "👩‍👩‍👧",
  "\ufffd",
  "\ufeffbom",
  "a\0b",
  "\x7f\x80\xff",
  new Date(0),
  new Date(-1),
  new Date(2 ** 32),
  new Date("0001-01-01"),
  new Date(8.64e15),
  /a+/im,
  new BSON.ObjectId("0189d1c81b9c7cc08d6b5a1b"),
  new BSON.UUID("0189d1c8-1b9c-7cc0-8d6b-5a1b1f6ecb0c"),
  new BSON.Binary(Uint8Array.of(0, 1, 255)),
  new BSON.Binary(Uint8Array.of(1, 2), 2),
  BSON.Long.fromString("9007199254740993"),
  BSON.Long.fromString("9007199254740992"),
  BSON.Long.fromString("9007199254740991"),
  BSON.Long.fromString("-9007199254740992"),
  BSON.Long.fromString("-9007199254740993"),
  BSON.Long.MIN_VALUE,
  BSON.Long.fromNumber(-5),
  new BSON.Int32(7),
  new BSON.Double(7),
  BSON.Decimal128.fromString("1.10"),
  new BSON.Timestamp({ t: 3, i: 7 }),
  new BSON.MinKey(),
  new BSON.MaxKey(),
  new BSON.Code("f"),
  new BSON.Code("f", { x: 1 }),
  new BSON.BSONSymbol("symbol"),
  new BSON.BSONRegExp("a", "i"),
  new BSON.BSONRegExp("a.b", "s"),
  new BSON.BSONRegExp("(?i)a", ""),
  new BSON.BSONRegExp("a b # c", "x"),
  new BSON.DBRef("things", new BSON.ObjectId("0189d1c81b9c7cc08d6b5a1b"), "other", { more: 1 }),
  { $ref: "things", $id: 1 },
  { $ref: "things", $id: 1, $other: 2 },
  { $set: 1 },
  {},
  []
]

const names = [
  "_id",
  "code",
  "codes",
  "price",
  "",
  "0",
  "10",
  "a.b",
  "$a",
  "$ref",
  "$id",
  "__proto__",
  "constructor",
  "toString",
  "length",
  "größe",
  "日本語",
  "a name that is longer than all others of this list, for good measure"
]

const below = (maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maximum - 1 })))

const leaf = Arbitrary.map(
  Arbitrary.all({ at: below(leaves.length + 8), text: Arbitrary.schema(Schema.String) }),
  ({ at, text }) => at < leaves.length ? leaves[at] : text
)

const name = Arbitrary.map(
  Arbitrary.all({ at: below(names.length + 4), text: Arbitrary.schema(Schema.String) }),
  ({ at, text }) => names[at] ?? text.replaceAll("\0", "")
)

const valueWithin = (depth: number): Arbitrary.Arbitrary<unknown> =>
  depth === 0 ? leaf : Arbitrary.flatMap(below(5), (kind): Arbitrary.Arbitrary<unknown> =>
    kind === 0
      ? documentWithin(depth - 1)
      : kind === 1
      ? Arbitrary.array(valueWithin(depth - 1), { maxLength: 4 })
      : leaf)

const documentWithin = (depth: number): Arbitrary.Arbitrary<object> =>
  Arbitrary.map(
    Arbitrary.array(Arbitrary.all({ name, value: valueWithin(depth) }), { maxLength: 8 }),
    (fields) => {
      const document = {}
      for (const { name, value } of fields) {
        Object.defineProperty(document, name, { value, enumerable: true, configurable: true, writable: true })
      }
      return document
    }
  )

const document = documentWithin(3)

describe("bsonDecoder", () => {
  it.effect.prop(
    "decodes what bson has written as bson does",
    { document },
    ({ document }) => Effect.sync(() => assertSame(BSON.serialize(document, { ignoreUndefined: false }))),
    {
      arbitrary: { runs: 1_500 }
    }
  )

  it.effect.prop("decodes damaged bytes as bson does", {
    document,
    changes: Arbitrary.array(Arbitrary.all({ at: below(1 << 16), byte: below(256) }), { minLength: 1, maxLength: 3 }),
    kept: below(1 << 16)
  }, ({ changes, document, kept }) =>
    Effect.sync(() => {
      const bytes = BSON.serialize(document)
      for (const { at, byte } of changes) bytes[at % bytes.length] = byte
      assertSame(bytes)
      assertSame(bytes.subarray(0, kept % bytes.length))
    }), { arbitrary: { runs: 1_500 } })

  it.effect("decodes a document with any damaged byte as bson does", () =>
    Effect.sync(() => {
      const bytes = BSON.serialize({
        _id: "ä",
        text: "a text that is longer than short ones",
        list: [1, 2.5, "x", [], { y: null }],
        inner: { flag: true, at: new Date(5), id: new BSON.ObjectId("0189d1c81b9c7cc08d6b5a1b") },
        long: BSON.Long.fromNumber(5),
        uuid: new BSON.UUID("0189d1c8-1b9c-7cc0-8d6b-5a1b1f6ecb0c"),
        some: new BSON.Binary(Uint8Array.of(7, 8)),
        price: BSON.Decimal128.fromString("1.10"),
        $id: 1
      })
      for (let length = 0; length < bytes.length; length++) assertSame(bytes.subarray(0, length))
      for (let at = 0; at < bytes.length; at++) {
        const damaged = Uint8Array.from(bytes)
        for (let byte = 0; byte < 256; byte += byte < 0x24 ? 1 : 7) {
          damaged[at] = byte
          assertSame(damaged)
        }
      }
      assertSame(bytes)
    }))

  it.effect("distinguishes texts and names of any length that differ in one character", () =>
    Effect.sync(() => {
      for (let length = 1; length <= 20; length++) {
        const plain = "abcdefghijklmnopqrst".slice(0, length)
        const others = Array.from({ length }, (_, place) =>
          ["x", "~", "\x7f", "é", "\0"].map((other) =>
            plain.slice(0, place) + other + plain.slice(place + 1)
          ))
        const texts = [plain, ...others.flat()]
        // Those that were decoded last are known: after another one, each is told from it.
        for (const text of texts) assertSame(BSON.serialize({ texts: [plain, text, plain, text], plain, text }))
        for (const name of texts.filter((name) => !name.includes("\0"))) {
          assertSame(BSON.serialize({ [plain]: 1, last: 2 }))
          assertSame(BSON.serialize({ [name]: 1, last: 2 }))
        }
      }
    }))

  it.effect("decodes documents nested deeper than the store allows", () =>
    Effect.sync(() => {
      const nested = (depth: number): object => depth === 0 ? {} : { a: [nested(depth - 1)] }
      for (const depth of [90, 100, 101, 500]) assertSame(BSON.serialize(nested(depth)))
    }))

  it.effect("decodes documents with ever new names", () =>
    Effect.sync(() => {
      for (let from = 0; from < 12_000; from += 40) {
        const fields = Array.from({ length: 40 }, (_, i) => [`name ${from + i}`, { [`inner ${from + i}`]: i }])
        assertSame(BSON.serialize({ _id: from, ...Object.fromEntries(fields), last: from }))
      }
    }))

  it.effect("gives each document its own copies of values", () =>
    Effect.sync(() => {
      const bytes = BSON.serialize({ at: new Date(5), list: [], bytes: new BSON.Binary(Uint8Array.of(1)) })
      const [first, second] = [decodeDocument(bytes), decodeDocument(bytes)]
      for (const field of ["at", "list", "bytes"]) assert.notStrictEqual(first[field], second[field])
    }))
})
