import { type Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { freshFolder } from "../../../test/support/folders.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

const total = 1_000

// More than a reader looks at before it lets others run.
const movesPerTurn = 400

for (
  const [name, layer] of [
    ["memory", EmbeddedStore.layerMemory],
    ["embedded", freshFolder(EmbeddedStore.layerWith)]
  ] as const
) {
  it.layer(layer, { excludeTestServices: true })(`EmbeddedStore whose documents move / ${name}`, (it) => {
    let collections = 0

    const withThings = Effect.gen(function*() {
      const store = yield* DocumentStore
      const name = `things ${collections += 1}`
      yield* store.createIndexes(name, [{ name: "n", key: { n: 1 } }])
      yield* store.insertMany(name, Array.from({ length: total }, (_, _id): Document => ({ _id, n: _id })))
      return { name, store }
    })

    /** Moves every `step`th document behind all others, again and again, in the order of the index. */
    const movesOf = (store: DocumentStore["Service"], name: string, from: number, step: number) =>
      Effect.gen(function*() {
        let moves = 0
        for (let round = 1;; round++) {
          for (let _id = from; _id < total; _id += step) {
            yield* store.updateOne(name, { _id }, { $set: { n: round * total + _id } })
            moves += step
            if (moves % movesPerTurn < step) yield* Effect.yieldNow
          }
        }
      })

    it.effect.each([1, 20])(
      "updates each document once while %s others move it",
      (movers) =>
        Effect.gen(function*() {
          const { name, store } = yield* withThings
          const moving = yield* Effect.forEach(
            Array.from({ length: movers }, (_, i) => i),
            (i) => Effect.forkChild(movesOf(store, name, i, movers))
          )
          const result = yield* store.updateMany(name, { n: { $gte: 0 } }, { $inc: { times: 1 } })
          yield* Fiber.interruptAll(moving)
          const documents = yield* store.find(name, {})
          const times = documents.map((document) => Number(document["times"] ?? 0))
          assert.deepStrictEqual(
            { ...result, most: Math.max(...times), times: times.reduce((sum, n) => sum + n, 0) },
            { matchedCount: total, modifiedCount: total, most: 1, times: total }
          )
        })
    )

    it.effect("reads only what matches while it is moved ahead, again and again", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const name = `due ${collections += 1}`
        yield* store.createIndexes(name, [{ name: "due", key: { due: 1 } }])
        yield* store.insertMany(name, Array.from({ length: 2 * total }, (_, _id) => ({ _id, due: _id % 2 ? _id : -1 })))
        let moves = 0
        const move = Effect.suspend(() => {
          const _id = 1 + 2 * (moves++ % total)
          return store.updateOne(name, { _id }, { $set: { due: 2 * total + moves } })
        })
        const some = Effect.all(Array.from({ length: 40 }, () => move), { concurrency: 40, discard: true })
        const due = store.stream(name, { filter: { due: { $gte: 0 } } })
        const found = yield* Stream.runCollect(Stream.tap(due, () => some))
        assert.deepStrictEqual(found.filter(({ due }) => Number(due) < 0), [])
        assert.strictEqual(new Set(found.map(({ _id }) => _id)).size, total)
        assert.strictEqual(found.length, total)
      }))

    it.effect("each of many concurrent updates that move documents updates each document once", () =>
      Effect.gen(function*() {
        const { name, store } = yield* withThings
        const updates = 4
        const results = yield* Effect.all(
          Array.from(
            { length: updates },
            () => store.updateMany(name, { n: { $gte: 0 } }, { $inc: { n: total, times: 1 } })
          ),
          { concurrency: updates }
        )
        const documents = yield* store.find(name, {})
        assert.deepStrictEqual(
          results,
          Array.from({ length: updates }, () => ({
            matchedCount: total,
            modifiedCount: total
          }))
        )
        assert.isTrue(documents.every(({ _id, n, times }) => times === updates && n === Number(_id) + updates * total))
      }))

    it.effect("concurrent removals count each moved document once", () =>
      Effect.gen(function*() {
        const { name, store } = yield* withThings
        const moving = yield* Effect.forkChild(movesOf(store, name, 0, 1))
        const removed = yield* Effect.all(
          Array.from({ length: 4 }, () => store.deleteMany(name, { n: { $gte: 0 } })),
          { concurrency: 4 }
        )
        yield* Fiber.interrupt(moving)
        assert.strictEqual(removed.reduce((sum, n) => sum + n, 0), total)
        assert.strictEqual(yield* store.count(name, {}), 0)
      }))
  })
}
