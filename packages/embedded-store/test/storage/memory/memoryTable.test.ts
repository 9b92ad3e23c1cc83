/** A table in memory has the same entries, whenever it is first asked for one of its keys. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { MemoryTable } from "../../../src/storage/memory/memoryTable.ts"

const number = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000 }))

const change = Schema.Struct({
  key: number,
  value: Schema.UndefinedOr(Schema.Literals(["a", "b"])),
  isAsked: Schema.Boolean
})

describe("MemoryTable", () => {
  it.effect("has what was put, with a map from its beginning, from later on, and without one", () =>
    Effect.gen(function*() {
      for (const changes of yield* Arbitrary.sampleEffect(Arbitrary.schema(Schema.Array(change)), { count: 20 })) {
        const expected = new Map<string, string>()
        const [first, later, never] = [0, 1, 2].map(() => new MemoryTable<string>())
        const put = (key: string, value: string) => {
          expected.set(key, value)
          for (const table of [first, later, never]) table?.put(key, value)
        }
        assert.isUndefined(first?.get("0"))
        // Two blocks and more.
        for (let i = 0; i < 600; i++) {
          put(String(i * 7 % 2_000), "begin")
          if (i === 100) assert.strictEqual(later?.get("7"), "begin")
        }
        for (const { isAsked, key: at, value } of changes) {
          const key = String(at)
          if (value !== undefined) put(key, value)
          else {
            expected.delete(key)
            for (const table of [first, later, never]) table?.remove(key)
          }
          if (isAsked) assert.strictEqual(later?.get(key), expected.get(key))
        }
        const sorted = Array.from(expected).toSorted(([a], [b]) => a < b ? -1 : 1)
        for (const table of [first, later, never]) assert.deepStrictEqual(Array.from(table?.entries() ?? []), sorted)
        for (const table of [first, later, never]) {
          for (let at = 0; at <= 2_000; at += 13) {
            assert.strictEqual(table?.get(String(at)), expected.get(String(at)))
            assert.strictEqual(table?.has(String(at)), expected.has(String(at)))
          }
        }
      }
    }))
})
