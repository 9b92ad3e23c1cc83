import type { Document } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { matchAll } from "../../src/filter/parseFilter.ts"
import { parseUpdate } from "../../src/update/applyUpdate.ts"

const applied = (document: Document, update: Document, arrayFilters?: ReadonlyArray<Document>) =>
  Result.flatMap(parseUpdate(update, { now: 0 }, arrayFilters), ({ apply }) => apply(document, matchAll))

const changed = (document: Document, update: Document, arrayFilters?: ReadonlyArray<Document>) =>
  Result.getOrThrow(applied(document, update, arrayFilters))

describe("applyUpdate", () => {
  it("changes each item of a long list", () => {
    const a = Array.from({ length: 100_000 }, (_, i) => i)
    // To copy the list for each item would take minutes.
    assert.deepStrictEqual(changed({ _id: 1, a }, { $inc: { "a.$[]": 1 } }), { _id: 1, a: a.map((n) => n + 1) })
    assert.deepStrictEqual(
      changed({ _id: 1, a }, { $set: { "a.$[e]": -1 } }, [{ e: { $gte: 50_000 } }]),
      { _id: 1, a: a.map((n) => n < 50_000 ? n : -1) }
    )
    assert.deepStrictEqual(changed({ _id: 1, a }, { $unset: { "a.$[]": 1 } }), { _id: 1, a: a.map(() => null) })
  })

  it("leaves documents in the shape that V8 has for them, where a fraction and a whole number change", () => {
    setFlagsFromString("--allow-natives-syntax")
    const isWhole = runInNewContext("(value) => %IsSmi(value)")
    const document = Object.freeze({ _id: 1, price: 0.5, stock: 1 })
    const after = changed(document, { $set: { price: 2.5, stock: 7 } })
    assert.deepStrictEqual([isWhole(after?.["price"]), isWhole(after?.["stock"])], [false, true])
    for (const value of [0, -0, -1, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53, NaN, -Infinity]) {
      assert.isTrue(Object.is(changed(document, { $set: { stock: value } })?.["stock"], value), `${value}`)
    }
  })

  it("copies what it changes once, and freezes it", () => {
    const document = { _id: 1, a: [{ b: [{ c: 1, d: 1 }, { c: 2 }] }], e: { f: { g: 1 } }, h: { i: 1 } }
    const before = structuredClone(document)
    const after = changed(document, {
      $set: { "a.$[].b.$[].c": 5, "e.f.g": 2, "e.f.k": 3, "e.l.m": 4 },
      $unset: { "a.$[].b.$[].d": 1 }
    })
    assert.deepStrictEqual(after, {
      _id: 1,
      a: [{ b: [{ c: 5 }, { c: 5 }] }],
      e: { f: { g: 2, k: 3 }, l: { m: 4 } },
      h: { i: 1 }
    })
    assert.deepStrictEqual(document, before)
    assert.strictEqual(after?.["h"], document.h)
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" || value === null || value === document.h
      || (Object.isFrozen(value) && Object.values(value).every(frozen))
    assert.isTrue(frozen(after))
  })

  it.each<readonly [operand: unknown, left: ReadonlyArray<unknown>]>([
    // As a field of an array, an inner list meets an operator by one of its items.
    [{ $gte: 6 }, [[1, 2], 3, "b", { "0": 8 }, ["ab"]]],
    [{ $in: [2, 9] }, [[5, 8], 3, "b", { "0": 8 }, ["ab"]]],
    [/^a/, [[5, 8], [1, 2], 9, 3, "b", { "0": 8 }]],
    [{ $regex: "^a" }, [[5, 8], [1, 2], 9, 3, "b", { "0": 8 }]],
    [{ $not: { $gte: 6 } }, [[5, 8], 9]],
    // A value is the whole item, and a filter is of documents.
    [8, [[5, 8], [1, 2], 9, 3, "b", { "0": 8 }, ["ab"]]],
    [[5, 8], [[1, 2], 9, 3, "b", { "0": 8 }, ["ab"]]],
    [{ "0": 8 }, [[5, 8], [1, 2], 9, 3, "b", ["ab"]]],
    [{ "0": 5 }, [[5, 8], [1, 2], 9, 3, "b", { "0": 8 }, ["ab"]]]
  ])("pulls %j", (operand, left) => {
    const a = [[5, 8], [1, 2], 9, 3, "b", { "0": 8 }, ["ab"]]
    assert.deepStrictEqual(changed({ _id: 1, a }, { $pull: { a: operand } }) ?? { _id: 1, a }, { _id: 1, a: left })
  })

  it("pushes and adds references to documents", () => {
    const reference = { $ref: "c", $id: 1 }
    assert.deepStrictEqual(changed({ _id: 1 }, { $push: { a: reference } }), { _id: 1, a: [reference] })
    assert.deepStrictEqual(changed({ _id: 1 }, { $addToSet: { a: reference } }), { _id: 1, a: [reference] })
    assert.isTrue(Result.isFailure(applied({ _id: 1 }, { $push: { a: { ...reference, $slice: 1 } } })))
  })

  it("limits what $[] changes in one document", () => {
    const a = Array.from({ length: 10_000 }, (_, i) => ({ i }))
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`a.$[].f${i}`, 1] as const))
    assert.isTrue(Result.isSuccess(applied({ _id: 1, a }, { $set: fields(3) })))
    const refused = applied({ _id: 1, a }, { $set: fields(500) })
    assert.strictEqual(
      Result.isFailure(refused) ? refused.failure.text : "",
      "the filter or the update has too much to do in one document"
    )
    // The tests of an array filter are counted together.
    const text = { t: "a".repeat(20_000) }
    const tested = applied({ _id: 1, a: Array.from({ length: 1000 }, () => text) }, { $set: { "a.$[e].u": 1 } }, [{
      "e.t": { $regex: "^(b|c)d{30}" }
    }])
    assert.isTrue(Result.isFailure(tested))
  })
})
