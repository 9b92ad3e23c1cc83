import type { Document } from "@appkernel/document-store/DocumentStore"
import { workDone } from "@appkernel/document-store/internal"
import { assert, describe, it } from "@effect/vitest"
import { Decimal128 } from "bson"
import { Result } from "effect"
import { matchedItem } from "../../src/filter/matchedItem.ts"
import { parseFilter } from "../../src/filter/parseFilter.ts"
import { catchRejection } from "../../src/limits/queryProblem.ts"

const filterOf = (filter: Document) => Result.getOrThrow(parseFilter(filter, { now: 0 }))

const test = (filter: Document, document: Document): boolean | string =>
  Result.merge(Result.mapError(catchRejection(() => filterOf(filter).matches(document)), ({ text }) => text))

const workOf = (filter: Document, document: Document): number => {
  const parsed = filterOf(filter)
  const before = workDone()
  parsed.matches(document)
  return workDone() - before
}

const tooMuch = "the filter or the update has too much to do in one document"

describe("the cost of a filter", () => {
  it("does not double with each level of a path of indexes", () => {
    const nested = (levels: number): unknown => levels === 0 ? 1 : [{ "0": nested(levels - 1) }]
    const filter = { [`a${".0".repeat(61)}`]: 2 }
    assert.isFalse(test(filter, { a: nested(40) }))
    assert.isBelow(workOf(filter, { a: nested(40) }), 40 * 40)
    assert.isTrue(test({ [`a${".0".repeat(6)}`]: 1 }, { a: nested(3) }))
    assert.isTrue(test({ [`a${".0".repeat(3)}`]: 1 }, { a: nested(3) }))
    assert.isTrue(test({ [`a${".0".repeat(4)}`]: 1 }, { a: nested(3) }))
    assert.isFalse(test({ [`a${".0".repeat(2)}`]: 1 }, { a: nested(3) }))
    assert.isFalse(test({ [`a${".0".repeat(7)}`]: 1 }, { a: nested(3) }))
  })

  it("is limited over all conditions on the lists of a document", () => {
    const list = Array.from({ length: 50_000 }, (_, i) => i % 10)
    const conditions = (count: number) => ({ $or: Array.from({ length: count }, (_, i) => ({ a: { $gt: 10 + i } })) })
    assert.isFalse(test(conditions(100), { a: list }))
    assert.strictEqual(test(conditions(1000), { a: list }), tooMuch)
    assert.strictEqual(
      test({ a: { $all: Array.from({ length: 1000 }, (_, i) => 9 - i % 10 + i) } }, { a: list }),
      false
    )
    const documents = list.map((b) => ({ b: [{ c: b }] }))
    const deep = { $or: Array.from({ length: 400 }, (_, i) => ({ "a.b.c": { $gt: 10 + i } })) }
    assert.strictEqual(test(deep, { a: documents }), tooMuch)
    const items = { $or: Array.from({ length: 400 }, (_, i) => ({ a: { $elemMatch: { b: 10 + i } } })) }
    assert.strictEqual(test(items, { a: documents }), tooMuch)
  })

  it("begins anew with each document", () => {
    const filter = filterOf({ $or: Array.from({ length: 100 }, (_, i) => ({ a: { $gt: 10 + i } })) })
    const document = { a: Array.from({ length: 50_000 }, () => 0) }
    for (let i = 0; i < 6; i++) assert.isFalse(filter.matches(document))
    const equality = filterOf({ a: 1 })
    for (let i = 0; i < 400; i++) assert.isFalse(equality.matches(document))
  })

  it("is limited over all regular expressions", () => {
    const text = "a".repeat(100_000)
    // None has the place that makes it match.
    const expressions = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ a: { $regex: `^(b|c)d{30}${i}` } }))
    assert.isFalse(test({ $or: expressions(10) }, { a: text }))
    assert.strictEqual(test({ $or: expressions(60) }, { a: text }), tooMuch)
    const among = expressions(60).map(({ a: { $regex } }) => new RegExp($regex, "u"))
    assert.strictEqual(test({ a: { $in: among } }, { a: text }), tooMuch)
    assert.strictEqual(test({ b: 1, $nor: expressions(60) }, { a: text, b: 1 }), tooMuch)
  })

  it("is more for decimals than for other numbers", () => {
    const sum = (number: unknown) =>
      workOf({ $expr: { $sum: "$a" } }, { a: Array.from({ length: 1000 }, () => number) })
    assert.isAbove(sum(Decimal128.fromString("1.5")), sum(1.5) + 50_000)
    const product = (number: unknown) => workOf({ $expr: { $multiply: ["$a", "$a"] } }, { a: number })
    assert.isAbove(product(Decimal128.fromString("1.5")), product(1.5) + 100)
  })

  it("is that of one type, however often it is named", () => {
    const document = { a: Array.from({ length: 1000 }, (_, i) => i) }
    const once = workOf({ a: { $type: ["string"] } }, document)
    assert.strictEqual(workOf({ a: { $type: Array.from({ length: 1000 }, () => "string") } }, document), once)
  })

  it("is limited for the item that stands for $", () => {
    const { itemConditions } = filterOf({
      a: { $gt: 5 },
      $or: Array.from({ length: 2000 }, (_, i) => ({ a: { $lt: i } }))
    })
    const document = { a: Array.from({ length: 10_000 }, () => -1) }
    const found = Result.mapError(
      catchRejection(() => matchedItem(itemConditions, "a")?.(document)),
      ({ text }) => text
    )
    assert.strictEqual(Result.merge(found), tooMuch)
  })
})
