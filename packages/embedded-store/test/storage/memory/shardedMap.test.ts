import { assert, describe, it } from "@effect/vitest"
import { threadTime } from "../../../../../test/support/turns.ts"
import { ShardedMap } from "../../../src/storage/memory/shardedMap.ts"

const keys = Array.from({ length: 1_200_000 }, (_, i) => `key ${i}`)

/** The longest that so many insertions after the other take. */
const longestTurn = (map: { readonly set: (key: string, value: number) => unknown }): number => {
  const perTurn = 3_000
  let longest = 0
  for (let turn = 0; turn < keys.length / perTurn; turn++) {
    const before = threadTime()
    for (let i = turn * perTurn; i < (turn + 1) * perTurn; i++) map.set(keys[i]!, i)
    longest = Math.max(longest, threadTime() - before)
  }
  return longest
}

describe("ShardedMap", () => {
  it("holds its entries, and grows in smaller steps than a Map", () => {
    // Of several: any turn may have to collect the garbage.
    const longest = (attempts: number, make: () => Parameters<typeof longestTurn>[0]) =>
      Math.min(...Array.from({ length: attempts }, () => longestTurn(make())))
    assert.isBelow(longest(6, () => new ShardedMap<number>()), longest(3, () => new Map()) / 1.5)
    const map = new ShardedMap<number>()
    const some = keys.slice(0, 200_000)
    for (const [i, key] of some.entries()) map.set(key, i)
    for (const [i, key] of some.entries()) {
      if (map.get(key) !== i || !map.has(key) || map.has(`${key} `)) assert.fail(key)
      if (i % 3 === 0 && !(map.delete(key) && !map.delete(key) && map.get(key) === undefined)) assert.fail(key)
    }
    assert.deepStrictEqual([map.set("key 0", 7), map.set("key 0", 8), map.set("key 1", 9)], [true, false, false])
    assert.deepStrictEqual([map.get("key 0"), map.get("key 1"), map.has("key 3")], [8, 9, false])
  })
})
