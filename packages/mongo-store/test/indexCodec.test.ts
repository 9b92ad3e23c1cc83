import { assert, describe, it } from "@effect/vitest"
import { fromDriverIndex, toDriverIndex } from "../src/store/indexCodec.ts"

describe("mongoIndex", () => {
  it("describes only an index's non-default options", () => {
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
    const partialFilterExpression = { a: { $gt: 1 } }
    assert.deepStrictEqual(
      toDriverIndex({ name: "a", key: { a: 1 }, expireAfterSeconds: 0, partialFilterExpression }),
      { name: "a", key: { a: 1 }, expireAfterSeconds: 0, partialFilterExpression }
    )
  })

  it("names the options of a text index as the server does (the test server has none)", () => {
    assert.deepStrictEqual(
      toDriverIndex({
        name: "text",
        key: { title: "text", body: "text" },
        sparse: true,
        weights: { title: 10, body: 1 },
        defaultLanguage: "none"
      }),
      { name: "text", key: { title: "text", body: "text" }, weights: { title: 10 }, default_language: "none" }
    )
  })

  it("reads back the server's index list, in the order of the key", () => {
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
      default_language: "english",
      language_override: "language",
      textIndexVersion: 3
    })
    assert.deepStrictEqual(listed, {
      name: "search",
      key: { tenant: 1, body: "text", title: "text", date: -1 },
      weights: { title: 10 }
    })
    assert.deepStrictEqual(Object.keys(listed.key), ["tenant", "body", "title", "date"])
  })
})
