import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { hashOfIdentifier, RecordHints } from "../../src/storage/recordHints.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

describe("RecordHints", () => {
  it.effect.prop("know the last record of a hash, or none", {
    hints: Arbitrary.array(
      Arbitrary.schema(Schema.Tuple([
        // Of few buckets, so that they overflow.
        Schema.Union([between(0, 40), between(2 ** 32 - 8, 2 ** 32 - 1)]),
        Schema.Union([between(0, 100), between(2 ** 32 - 3, 2 ** 32 + 3), between(2 ** 47, 2 ** 47 + 3)])
      ])),
      { maxLength: 200 }
    )
  }, ({ hints }) =>
    Effect.sync(() => {
      const table = new RecordHints(0, () => assert.fail("there is no room"))
      const last = new Map<number, number>()
      for (const [hash, record] of hints) {
        table.set(hash, record)
        if (record < 2 ** 32 - 1) {
          last.set(hash, record)
          assert.strictEqual(table.get(hash), record)
        }
        for (const [known, record] of last) assert.oneOf(table.get(known), [record, undefined])
      }
    }))

  it("grow with what they know, and stay within their bytes", () => {
    const most = 512 * 1024
    let bytes = 0
    const table = new RecordHints(most, (added) => bytes += added)
    const known = (count: number) =>
      Array.from({ length: count }, (_, record) => record)
        .filter((record) => table.get(hashOfIdentifier(7, `id ${record}`)) === record).length
    const add = (from: number, to: number) => {
      for (let record = from; record < to; record++) table.set(hashOfIdentifier(7, `id ${record}`), record)
    }
    add(0, 1000)
    assert.isAbove(known(1000), 950)
    assert.isAtMost(bytes, 64 * 1024)
    add(1000, 30_000)
    assert.isAbove(known(30_000), 27_000)
    add(30_000, 300_000)
    assert.isAtMost(bytes, most)
    assert.isAbove(known(300_000), 60_000)
  })

  it("tell the collections apart", () => {
    const hashes = new Set(Array.from({ length: 1000 }, (_, collection) => hashOfIdentifier(collection, "id")))
    assert.isAbove(hashes.size, 998)
  })
})
