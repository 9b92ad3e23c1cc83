import type { Document } from "@appkernel/document-store/DocumentStore"
import { workDone } from "@appkernel/document-store/internal"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { existsAt, sortKeyOf } from "../../src/bson/path.ts"

describe("path", () => {
  const sortKey = (document: Document, path: ReadonlyArray<string>, descending = false) =>
    Result.getOrThrow(sortKeyOf(document, [{ path, descending }]))

  it("counts the work of each key", () => {
    const before = workDone()
    assert.deepStrictEqual(sortKey({ a: Array.from({ length: 1000 }, (_, i) => ({ b: 1000 - i })) }, ["a", "b"]), [1])
    assert.isAbove(workDone() - before, 20_000)
  })

  it("makes the keys of a list that documents share once", () => {
    let shared: unknown = { b: [3, 1, 2] }
    for (let i = 0; i < 30; i++) shared = { b: [shared, shared] }
    const path = ["a", ...Array.from({ length: 31 }, () => "b")]
    const before = workDone()
    assert.deepStrictEqual(sortKey({ a: shared }, path), [1])
    assert.deepStrictEqual(sortKey({ a: shared }, path, true), [3])
    assert.isBelow(workDone() - before, 20_000)
    const list = [{ c: 2 }, { c: 5 }]
    assert.deepStrictEqual(sortKey({ a: [{ b: list }, { b: list }, { b: [{ c: 4 }] }] }, ["a", "b", "c"]), [2])
    assert.deepStrictEqual(sortKey({ a: [[list], [list]] }, ["a"]), [[list]])
  })

  it("finds a value in lists of lists without entering one twice", () => {
    let list: unknown = [{ "1": 5 }]
    for (let i = 0; i < 30; i++) list = [{ "0": list }]
    const before = workDone()
    assert.isFalse(existsAt({ a: list }, ["a", ...Array.from({ length: 62 }, () => "0")]))
    assert.isTrue(existsAt({ a: list }, ["a", ...Array.from({ length: 40 }, () => "0"), "1"]))
    assert.isBelow(workDone() - before, 5000)
  })
})
