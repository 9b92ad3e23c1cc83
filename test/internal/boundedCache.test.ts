import { assert, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { BoundedCache } from "../../src/internal/boundedCache.ts"

const keys = Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "c", "d", "e"])), { maxLength: 30 })

it("BoundedCache has room where a value was deleted", () => {
  const cache = new BoundedCache<string>(2)
  for (const key of ["a", "b"]) cache.set(key, key)
  cache.delete("b")
  cache.set("c", "c")
  assert.deepStrictEqual(["a", "b", "c"].map((key) => cache.get(key)), ["a", undefined, "c"])
})

it.prop("BoundedCache computes a value again only after it was dropped, the oldest first", [keys], ([keys]) => {
  const cache = new BoundedCache<string>(3)
  let model: ReadonlyArray<string> = []
  for (const key of keys) {
    let computed = false
    const value = cache.getOrMake(key, () => {
      computed = true
      return key.toUpperCase()
    })
    assert.strictEqual(value, key.toUpperCase())
    assert.strictEqual(computed, !model.includes(key))
    if (computed) model = [...model, key].slice(-3)
  }
})
