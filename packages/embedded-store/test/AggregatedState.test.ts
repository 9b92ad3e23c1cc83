import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshFolder } from "../../../test/support/folders.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"
import { aggregatedStateContract, during } from "./AggregatedState.contract.ts"

aggregatedStateContract("memory", EmbeddedStore.layerMemory)
aggregatedStateContract("embedded", freshFolder(EmbeddedStore.layerWith))

describe("the state of an aggregation", () => {
  it.effect("is the last commit once values of more than 256 MiB have been replaced", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      const text = "x".repeat(2 ** 20)
      yield* store.insertMany("things", Array.from({ length: 300 }, (_, _id) => ({ _id, n: 0, text })))
      const seen = yield* during(
        store.aggregate("things", [{ $project: { n: 1 } }]),
        store.updateMany("things", {}, { $set: { n: 1 } })
      )
      assert.deepStrictEqual(seen.map(({ _id }) => _id), Array.from({ length: 300 }, (_, _id) => _id))
      assert.deepStrictEqual([seen.at(0)?.["n"], seen.at(-1)?.["n"]], [0, 1])
    }).pipe(Effect.scoped))
})
