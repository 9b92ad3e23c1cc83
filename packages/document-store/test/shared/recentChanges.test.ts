import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { StoredChange } from "../../src/DocumentStore.ts"
import { RecentChanges } from "../../src/shared/recentChanges.ts"

const change = (number: number, collection: string): StoredChange => ({
  operation: "insert",
  position: String(number),
  transaction: String(number),
  collection,
  id: number,
  time: new Date(0),
  after: { _id: number }
})

it.effect("holds a limited size, and whoever is behind reads from the store", () =>
  Effect.gen(function*() {
    const recent = new RecentChanges(0)
    yield* recent.reader
    for (let number = 1; number <= 40; number++) recent.publish([change(number, "users")], number, [1_000_000])
    const held = Array.from({ length: 41 }, (_, number) => number).filter((number) =>
      recent.after(number) !== undefined
    )
    assert.isAtMost(held.length, 17)
    assert.strictEqual(held.at(-1), 40)
    assert.deepStrictEqual(recent.after(38)?.map(({ id }) => id), [39, 40])
    // One that is larger than all of it is held by nobody.
    recent.publish([change(41, "users")], 41, [100_000_000])
    assert.isUndefined(recent.after(40))
    recent.publish([change(42, "users")], 42, [100])
    assert.deepStrictEqual(recent.after(41)?.map(({ id }) => id), [42])
  }).pipe(Effect.scoped))

it.effect("wakes who waits for a collection, and everybody when changes have to be read from the store", () =>
  Effect.gen(function*() {
    const recent = new RecentChanges(0)
    yield* recent.reader
    const orders = yield* Effect.forkChild(recent.wait(new Set(["orders"]), 0), { startImmediately: true })
    const users = yield* Effect.forkChild(recent.wait(new Set(["users"]), 0), { startImmediately: true })
    recent.publish([change(1, "users")], 1, [100])
    assert.strictEqual(yield* Fiber.join(users), 0)
    assert.deepStrictEqual(recent.after(0)?.map(({ id }) => id), [1])
    recent.publish(undefined, 3, [])
    assert.strictEqual(yield* Fiber.join(orders), 1)
    assert.isUndefined(recent.after(1))
    assert.deepStrictEqual(recent.after(3), [])
  }).pipe(Effect.scoped))
