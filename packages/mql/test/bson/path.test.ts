import { workDone } from "@appkernel/document-store/internal"
import { assert, describe, it } from "@effect/vitest"
import { existsAt, sortKeyOf } from "../../src/bson/path.ts"

describe("path", () => {
  it("counts the work of each key of a list that documents share", () => {
    let shared: unknown = { b: 1 }
    for (let i = 0; i < 10; i++) shared = { b: [shared, shared] }
    const before = workDone()
    sortKeyOf({ a: shared }, [{ path: ["a", ...Array.from({ length: 11 }, () => "b")], descending: false }])
    assert.isAbove(workDone() - before, 2 ** 10 * 20)
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
