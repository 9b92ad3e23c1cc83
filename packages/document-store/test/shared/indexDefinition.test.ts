import { assert, describe, it } from "@effect/vitest"
import { ObjectId } from "bson"
import { Result } from "effect"
import type { IndexDescription } from "../../src/DocumentStore.ts"
import { excludeEachOther, isSameIndex, missingIndexesOf } from "../../src/shared/indexDefinition.ts"

describe("indexDefinition", () => {
  const search: IndexDescription = {
    name: "text",
    key: { tenant: 1, title: "text", body: "text" },
    weights: { title: 10 }
  }

  it.each<[string, IndexDescription, IndexDescription]>([
    ["defaults that are named", { name: "a", key: { a: 1 }, unique: false }, { name: "a", key: { a: 1 } }],
    [
      "equal filters",
      { name: "a", key: { a: 1 }, partialFilterExpression: { owner: new ObjectId("0".repeat(24)), at: new Date(5) } },
      { name: "a", key: { a: 1 }, partialFilterExpression: { owner: new ObjectId("0".repeat(24)), at: new Date(5) } }
    ],
    ["the order of texts", search, { ...search, key: { tenant: 1, body: "text", title: "text" } }],
    ["weights that are named", search, { ...search, weights: { title: 10, body: 1 } }],
    ["the language that is understood", search, { ...search, defaultLanguage: "english" }],
    ["a text index said to be sparse", search, { ...search, sparse: true }]
  ])("takes for the same: %s", (_, a, b) => {
    assert.isTrue(isSameIndex(a, b))
    assert.isTrue(isSameIndex(b, a))
  })

  it.each<[string, IndexDescription, IndexDescription]>([
    ["the order of fields", { name: "a", key: { a: 1, b: 1 } }, { name: "a", key: { b: 1, a: 1 } }],
    ["another value of a filter", { name: "a", key: { a: 1 }, partialFilterExpression: { at: new Date(5) } }, {
      name: "a",
      key: { a: 1 },
      partialFilterExpression: { at: new Date(6) }
    }],
    ["another weight", search, { ...search, weights: { title: 11 } }],
    ["another language", search, { ...search, defaultLanguage: "none" }],
    ["another text", search, { ...search, key: { tenant: 1, title: "text", text: "text" } }],
    ["what stands before the texts", search, { ...search, key: { title: "text", body: "text", tenant: 1 } }],
    ["another time", { name: "a", key: { a: 1 }, expireAfterSeconds: 0 }, { name: "a", key: { a: 1 } }]
  ])("takes for another: %s", (_, a, b) => {
    assert.isFalse(isSameIndex(a, b))
    assert.isFalse(isSameIndex(b, a))
    assert.isTrue(excludeEachOther(a, b))
  })

  it("allows indexes of one key that differ in uniqueness or partial filter", () => {
    const index: IndexDescription = { name: "a", key: { a: 1 } }
    const others: ReadonlyArray<Partial<IndexDescription>> = [
      { unique: true },
      { sparse: true },
      { partialFilterExpression: { a: 1 } }
    ]
    for (const other of others) assert.isFalse(excludeEachOther(index, { ...index, name: "b", ...other }))
    assert.isTrue(excludeEachOther(index, { ...index, name: "b", expireAfterSeconds: 1 }))
  })

  it("has one text index in a collection", () => {
    const other: IndexDescription = { name: "other", key: { summary: "text" } }
    const missing = missingIndexesOf("createIndexes", "things", [other], [search])
    assert.deepStrictEqual(Result.isFailure(missing) ? missing.failure.conflict : missing, {
      collection: "things",
      index: "other",
      installed: JSON.stringify(search),
      requested: JSON.stringify(other)
    })
  })

  it("does not create the index of the identifier", () => {
    const wanted: ReadonlyArray<IndexDescription> = [{ name: "id", key: { _id: 1 } }, {
      name: "a",
      key: { _id: 1, a: 1 }
    }]
    assert.deepStrictEqual(missingIndexesOf("createIndexes", "things", wanted, []), Result.succeed(wanted.slice(1)))
  })
})
