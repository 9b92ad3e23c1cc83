import { type Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Stream } from "effect"
import { freshFolder } from "../../../test/support/folders.ts"
import { turnsOf } from "../../../test/support/turns.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

const total = 200_000

// Milliseconds that a request may have to wait for another one's search.
const most = 100

for (
  const [name, layer] of [
    ["memory", EmbeddedStore.layerMemory],
    ["embedded", freshFolder(EmbeddedStore.layerWith)]
  ] as const
) {
  it.layer(layer, { excludeTestServices: true })(
    `EmbeddedStore with many documents / ${name}`,
    (it) => {
      const withThings = Effect.gen(function*() {
        const store = yield* DocumentStore
        if ((yield* store.count("things", {})) === 0) {
          for (let from = 0; from < total; from += 10_000) {
            yield* store.insertMany("things", Array.from({ length: 10_000 }, (_, i) => thing(from + i)))
          }
        }
        return store
      })

      it.effect("yields to other fibers while it scans all documents", () =>
        Effect.gen(function*() {
          const store = yield* withThings
          const searches = {
            count: store.count("things", { text: { $regex: "no[nm]e$" } }),
            find: store.find("things", { filter: { $or: [{ text: { $regex: "no[nm]e$" } }, { tags: "none" }] } }),
            sort: store.find("things", { sort: { n: 1, text: -1 } }),
            group: Stream.runDrain(store.aggregate("things", [{ $group: { _id: "$text", n: { $max: "$n" } } }])),
            distinct: store.distinct("things", "text", {})
          }
          let all = 0
          for (const [name, search] of Object.entries<Effect.Effect<unknown, unknown>>(searches)) {
            const { longest, whole } = yield* turnsOf(search)
            assert.isBelow(longest, most, name)
            all += whole
          }
          // Otherwise they were too short to tell.
          assert.isAbove(all, 3 * most)
        }))

      it.effect("stops at once when it is interrupted or times out", () =>
        Effect.gen(function*() {
          const store = yield* withThings
          const sort = { n: 1, text: -1 } as const
          const [whole, sorted] = yield* Effect.timed(store.find("things", { sort }))
          assert.strictEqual(sorted.length, total)
          const fiber = yield* Effect.forkChild(store.find("things", { sort }))
          yield* Effect.sleep("20 millis")
          const [interrupting] = yield* Effect.timed(Fiber.interrupt(fiber))
          assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
          const [limited, error] = yield* Effect.timed(
            Effect.flip(store.find("things", { sort, timeLimit: "20 millis" }))
          )
          assert.strictEqual(error._tag, "QueryTimeout")
          for (const time of [interrupting, limited]) {
            assert.isTrue(Duration.isLessThan(time, Duration.times(whole, 0.5)), `${String(time)} of ${String(whole)}`)
          }
        }))
    }
  )
}

// internal

const thing = (_id: number): Document => ({ _id, n: _id % 1000, text: `text ${_id}`, tags: ["a", "b", _id % 7] })
