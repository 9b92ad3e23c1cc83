/** How long a read without a fiber holds the event loop, by the work that is counted. */
import { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { workDone } from "../../../document-store/src/internal/stepBudget.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"

describe("a read at once", () => {
  it.effect("ends with the step in which its documents are costly to test", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore
      const text = "aaaaaaaaab".repeat(10_000)
      yield* store.insertMany("bigs", Array.from({ length: 8 }, (_, i) => ({ _id: i, text })))
      const filter = { $or: Array.from({ length: 90 }, (_, i) => ({ text: { $regex: `aaaaaaaaac${i}` } })) }
      yield* store.insertOne("one", { _id: 0, text })
      const begin = workDone()
      assert.deepStrictEqual(yield* store.find("one", { filter, limit: 50 }), [])
      const one = workDone() - begin
      assert.isAbove(one, 1_000_000, "a document takes longer than a step")
      const before = workDone()
      assert.isUndefined(store.find.atOnce?.("bigs", { filter, limit: 50 }, 0))
      const work = workDone() - before
      assert.isAbove(work, 1_000_000)
      assert.isBelow(work, 2 * one)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
