import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { MemoryTable } from "../../../src/Repository/internal/keyValueMemory.ts"
import { OverlayTable } from "../../../src/Repository/internal/overlayTable.ts"

const small = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

// Few different keys, so that they meet.
const key = Arbitrary.map(small(30), (n) => n < 5 ? "" : n.toString(3))

const change = Arbitrary.all({ key, value: small(3) })

const make = (base: MemoryTable<string>, isScanned = false) => {
  let scans = 0
  const table = new OverlayTable<string>(base, (value) => value, {
    isScanned: () => isScanned,
    onScan: () => {
      scans += 1
    }
  })
  return { table, scans: () => scans }
}

it.effect.prop("shows what was written over what is there, in order", {
  there: Arbitrary.array(change, { maxLength: 20 }),
  changes: Arbitrary.array(change, { maxLength: 20 }),
  start: key,
  end: key,
  reverse: Schema.Boolean,
  limit: small(8)
}, ({ changes, end, limit, reverse, start, there }) =>
  Effect.sync(() => {
    const base = new MemoryTable<string>()
    const expected = new Map<string, string>()
    for (const { key, value } of there) {
      base.put(key, `there ${value}`)
      expected.set(key, `there ${value}`)
    }
    const before = new Map(expected)
    const { table } = make(base)
    for (const { key, value } of changes) {
      if (value === 0) {
        table.remove(key)
        expected.delete(key)
      } else {
        table.put(key, `written ${value}`)
        expected.set(key, `written ${value}`)
      }
    }
    const inOrder = Array.from(expected)
      .filter(([key]) => key >= start && key < end)
      .toSorted(([a], [b]) => a < b ? -1 : 1)
    const wanted = (reverse ? inOrder.toReversed() : inOrder).slice(0, limit + 1)
    const seen: Array<readonly [string, string]> = []
    table.scan({ start, end, reverse }, (key, value) => seen.push([key, value]) <= limit)
    assert.deepStrictEqual(seen, wanted)
    const keys: Array<string> = []
    table.scanKeys({ start, end, reverse }, (key) => keys.push(key) <= limit)
    assert.deepStrictEqual(keys, wanted.map(([key]) => key))
    for (const { key } of [...there, ...changes]) {
      assert.strictEqual(table.get(key), expected.get(key))
      assert.strictEqual(table.has(key), expected.has(key))
      assert.strictEqual(base.get(key), before.get(key))
    }
    const written = new Map(table.changes)
    for (const key of new Set(changes.map(({ key }) => key))) {
      assert.isTrue(written.has(key))
      assert.strictEqual(written.get(key), expected.get(key))
    }
  }))

it("knows whether what it has read by its key is still so", () => {
  const base = new MemoryTable<string>()
  base.put("a", "1")
  const { scans, table } = make(base)
  assert.strictEqual(table.get("a"), "1")
  assert.isUndefined(table.get("b"))
  base.put("c", "1")
  assert.isTrue(table.isIntact)
  base.put("b", "1")
  assert.isFalse(table.isIntact)
  assert.isUndefined(table.get("b"))
  base.remove("b")
  assert.isTrue(table.isIntact)
  base.put("a", "2")
  assert.isFalse(table.isIntact)
  assert.strictEqual(table.get("a"), "1")
  assert.strictEqual(scans(), 0)
})

it("remembers nothing of what is watched as a whole", () => {
  const base = new MemoryTable<string>()
  const { scans, table } = make(base, true)
  table.scanKeys({ start: "", end: "z", reverse: false }, () => true)
  assert.isUndefined(table.get("a"))
  base.put("a", "1")
  assert.isTrue(table.isIntact)
  assert.strictEqual(scans(), 1)
})
