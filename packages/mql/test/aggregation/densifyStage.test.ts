import type { Document } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { aggregate } from "../../src/aggregation/aggregate.ts"

const densified = (values: ReadonlyArray<unknown>, range: Document) =>
  Stream.fromIterable(values.map((d) => ({ d }))).pipe(
    (documents) => aggregate(documents, [{ $densify: { field: "d", range } }]),
    Stream.runCollect,
    Effect.map((all) => Array.from(all, ({ d }) => d))
  )

const dates = (...days: ReadonlyArray<string>) => days.map((day) => new Date(day))

describe("$densify", () => {
  it.effect("steps from the value before, as MongoDB does", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* densified(dates("2021-01-31", "2021-05-01"), { step: 1, unit: "month", bounds: "full" }),
        dates("2021-01-31", "2021-02-28", "2021-03-28", "2021-04-28", "2021-05-01")
      )
      assert.deepStrictEqual(
        yield* densified(dates("2021-03-28"), { step: 1, unit: "month", bounds: dates("2021-01-31", "2021-04-30") }),
        dates("2021-01-31", "2021-02-28", "2021-03-28", "2021-04-28")
      )
      assert.deepStrictEqual(yield* densified([0, 0.5], { step: 0.1, bounds: "full" }), [
        0,
        0.1,
        0.2,
        0.1 + 0.2,
        0.4,
        0.5
      ])
      assert.deepStrictEqual(yield* densified([1, 1, 2.5, 4], { step: 1, bounds: [0, 4] }), [0, 1, 1, 2, 2.5, 3, 4])
    }))

  it.effect("needs values of the type of its step", () =>
    Effect.gen(function*() {
      yield* Effect.flip(densified([1], { step: 1, unit: "day", bounds: "full" }))
      yield* Effect.flip(densified(dates("2021-01-31"), { step: 1, bounds: "full" }))
    }))
})
