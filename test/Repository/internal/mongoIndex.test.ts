import { assert, describe, it } from "@effect/vitest"
import { conflictOf, fromDriverIndex, toDriverIndex } from "../../../src/Repository/internal/mongoIndex.ts"

describe("mongoIndex", () => {
  it("says only what makes an index special", () => {
    assert.deepStrictEqual(toDriverIndex({ name: "a", key: { a: 1, b: -1 }, unique: false, sparse: undefined }), {
      name: "a",
      key: { a: 1, b: -1 }
    })
    assert.deepStrictEqual(toDriverIndex({ name: "a", key: { a: 1 }, unique: true, sparse: true }), {
      name: "a",
      key: { a: 1 },
      unique: true,
      sparse: true
    })
  })

  it("reads back what the server lists, in the order of the key", () => {
    const listed = fromDriverIndex({ v: 2, name: "b", key: { z: -1, a: 1, place: "2dsphere" }, unique: true })
    assert.deepStrictEqual(listed, { name: "b", key: { z: -1, a: 1, place: "2dsphere" }, unique: true })
    assert.deepStrictEqual(Object.keys(listed.key), ["z", "a", "place"])
  })

  it("reads back the fields of a text index, which the server lists as weights (the test server has none)", () => {
    const listed = fromDriverIndex({
      v: 2,
      name: "search",
      key: { tenant: 1, _fts: "text", _ftsx: 1, date: -1 },
      weights: { body: 1, title: 10 },
      textIndexVersion: 3
    })
    assert.deepStrictEqual(listed, { name: "search", key: { tenant: 1, body: "text", title: "text", date: -1 } })
    assert.deepStrictEqual(Object.keys(listed.key), ["tenant", "body", "title", "date"])
  })

  it("finds no conflict where everything is as it should be", () => {
    const index = { name: "a", key: { a: 1 as const } }
    assert.isUndefined(conflictOf("things", [{ ...index, unique: false }], [index, { name: "b", key: { b: 1 } }]))
    assert.isUndefined(conflictOf("things", [index], []))
  })

  it("tells the order of a key", () => {
    const wanted = { name: "a", key: { a: 1 as const, b: 1 as const } }
    const installed = { name: "a", key: { b: 1 as const, a: 1 as const } }
    assert.strictEqual(
      conflictOf("things", [wanted], [installed])?.detail,
      "the index \"a\" of \"things\" is there with another definition"
    )
  })
})
