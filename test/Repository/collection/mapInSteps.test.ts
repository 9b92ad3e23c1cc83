import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { mapInSteps } from "../../../src/Repository/collection/mapInSteps.ts"

describe("mapInSteps", () => {
  for (const length of [0, 1, 32, 33, 10_000]) {
    it.effect(`returns ${length} items in their order, a few in each turn`, () =>
      Effect.gen(function*() {
        let [inTurn, most] = [0, 0]
        const others = yield* Effect.forkChild(
          Effect.forever(Effect.andThen(Effect.sync(() => inTurn = 0), Effect.yieldNow)),
          { startImmediately: true }
        )
        const items = Array.from({ length }, (_, i) => i)
        const made = yield* mapInSteps(items, (item) => {
          inTurn += 1
          most = Math.max(most, inTurn)
          return `item ${item}`
        })
        yield* Fiber.interrupt(others)
        assert.deepStrictEqual(made, items.map((item) => `item ${item}`))
        assert.isAtMost(most, 100)
      }))
  }
})
