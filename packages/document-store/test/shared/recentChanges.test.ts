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

it.effect("wakes who waits for a collection, and everybody when changes have to be read from the store", () =>
  Effect.gen(function*() {
    const recent = new RecentChanges(0)
    yield* recent.reader
    const orders = yield* Effect.forkChild(recent.wait(new Set(["orders"]), 0), { startImmediately: true })
    const users = yield* Effect.forkChild(recent.wait(new Set(["users"]), 0), { startImmediately: true })
    recent.publish([change(1, "users")], 1)
    assert.strictEqual(yield* Fiber.join(users), 0)
    assert.deepStrictEqual(recent.after(0)?.map(({ id }) => id), [1])
    recent.publish(undefined, 3)
    assert.strictEqual(yield* Fiber.join(orders), 1)
    assert.isUndefined(recent.after(1))
    assert.deepStrictEqual(recent.after(3), [])
  }).pipe(Effect.scoped))
