import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { beginStep } from "../../../../document-store/src/internal/stepBudget.ts"
import { Places } from "../../../src/storage/lmdb/places.ts"
import { everything, keyAtBy, type Range } from "../../../src/storage/orderedStore.ts"

const number = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 }))

const keyOf = (number: number) => String(number).padStart(4, "0")

const step = Schema.Struct({
  from: number,
  length: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
  isRemoved: Schema.Boolean,
  end: Schema.Literals(["committed", "aborted", "in flight"]),
  reverse: Schema.Boolean,
  isChecked: Schema.Boolean,
  place: number
})

describe("Places", () => {
  it.effect.prop("have the numbers of any state that a read sees, however many blocks were joined", {
    steps: Arbitrary.array(Arbitrary.schema(step), { minLength: 1, maxLength: 40 })
  }, ({ steps }) =>
    Effect.sync(() => {
      let committed: ReadonlyArray<string> = []
      let read = committed
      let counted = 0
      const scanKeys = ({ end, reverse, start }: Range, visit: (key: string) => boolean) => {
        const keys = read.filter((key) => key >= start && key < end)
        for (const key of reverse ? keys.toReversed() : keys) if (!visit(key)) return
      }
      const countKeys = (range: Range) => {
        let count = 0
        scanKeys(range, () => ++count > 0)
        counted += count
        return count
      }
      let begun = 0
      const places = new Places(
        { keyAt: (range, place) => keyAtBy(scanKeys, range, place), countKeys, scanKeys },
        () => begun += 1,
        { length: 4, maxBlocks: 16 }
      )
      const check = (range: Range) => {
        const keys: Array<string> = []
        scanKeys(range, (key) => keys.push(key) > 0)
        assert.oneOf(places.countLearned(range), [keys.length, undefined])
        for (let place = 0; place <= keys.length; place += 1 + (keys.length >> 3)) {
          assert.strictEqual(places.keyAt(range, place), keys[place])
        }
        assert.isUndefined(places.keyAt(range, keys.length))
      }
      const learn = (range: Range, isChecked: boolean, place: number) => {
        // It ends, whatever is written.
        for (let i = 0; i < 1_000; i++) {
          beginStep()
          const learned = places.learn(range, isChecked, place)
          if (learned !== "more") return learned
        }
        return assert.fail("it never ends")
      }
      for (const { end, from, isChecked, isRemoved, length, place, reverse } of steps) {
        const written = Array.from({ length }, (_, i) => keyOf(from + i))
        for (const key of written) places.write(key)
        const kept = committed.filter((key) => !written.includes(key))
        const next = isRemoved ? kept : [...kept, ...written].toSorted()
        const range = { start: keyOf(Math.min(from, place)), end: keyOf(Math.max(from, place)), reverse }
        for (const state of [next, committed]) {
          read = state
          check(range)
          learn(range, isChecked, place % 20)
          check({ ...everything, reverse })
        }
        if (end !== "aborted") committed = next
        read = committed
        if (end !== "in flight") places.settle()
        check(range)
      }
      places.settle()
      const all = { ...everything, start: "0" }
      assert.strictEqual(learn(all, true, Infinity), "known")
      counted = 0
      if (read.length > 8) {
        const count = places.countLearned(all)
        // A single block is no range of blocks.
        assert.oneOf(count, [read.length, undefined])
        if (count !== undefined) assert.strictEqual(counted, 0)
      }
      assert.isAtMost(begun, steps.length)
    }), { arbitrary: { runs: 300 } })

  it("count few keys for a use, however many were appended to a block", () => {
    const keys = Array.from({ length: 10_100 }, (_, i) => keyOf(i).padStart(6, "0"))
    let there = 100
    let counted = 0
    const scanKeys = ({ end, start }: Range, visit: (key: string) => boolean) => {
      for (const key of keys.slice(0, there)) if (key >= start && key < end && !visit(key)) return
    }
    const countKeys = (range: Range) => {
      const before = counted
      scanKeys(range, () => ++counted > 0)
      return counted - before
    }
    const table = { keyAt: (range: Range, place: number) => keyAtBy(scanKeys, range, place), countKeys, scanKeys }
    const places = new Places(table, () => {}, { length: 10, maxBlocks: 2_000 })
    const range = { ...everything, start: "0" }
    beginStep()
    assert.strictEqual(places.learn(range, true, Infinity), "known")
    assert.strictEqual(places.countLearned(range), there)
    for (const key of keys.slice(there)) places.write(key)
    there = keys.length
    places.settle()
    counted = 0
    assert.isUndefined(places.countLearned(range))
    assert.strictEqual(places.keyAt(range, 9_000), keys[9_000])
    assert.isAtMost(counted, 20)
    const learn = () => {
      beginStep()
      return places.learn(range, true, Infinity)
    }
    let learned = learn()
    while (learned === "more") learned = learn()
    counted = 0
    assert.strictEqual(places.countLearned(range), there)
    assert.strictEqual(places.keyAt(range, 9_000), keys[9_000])
    // A write to a counted block makes this one counted again, once.
    places.write(keys[500]!)
    places.settle()
    for (let i = 0; i < 3; i++) assert.strictEqual(places.countLearned(range), there)
    assert.isAtMost(counted, 20)
  })
})
