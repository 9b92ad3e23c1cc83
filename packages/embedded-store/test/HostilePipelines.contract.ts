import { assert, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Stream } from "effect"
import { attacks, fill } from "../../../test/support/hostilePipelines.ts"
import { turnsOf } from "../../../test/support/turns.ts"
import { type Document, DocumentStore } from "../../document-store/src/DocumentStore.ts"

/** Pipelines that would take all memory or time of a process. */
export const hostilePipelines = (
  name: "memory" | "embedded",
  layer: Layer.Layer<DocumentStore, unknown>
): void => {
  it.layer(layer, { excludeTestServices: true })(`Hostile pipelines / ${name}`, (it) => {
    const filled = Effect.gen(function*() {
      const store = yield* DocumentStore
      if ((yield* store.count("one", {})) === 0) yield* fill(store)
      return store
    })

    // What one document takes does not depend on where it is read, nor does what is computed before a pipeline is refused.
    it.effect.each(
      attacks.filter(({ collection, ends }) => name === "memory" || collection !== "one" && ends.includes("done"))
    )(
      "$name: ends within the time limit, and other requests get responses",
      ({ collection, ends, pipeline, timeLimit }) =>
        Effect.gen(function*() {
          const store = yield* filled
          const asked = Stream.runDrain(store.aggregate(collection, pipeline, { timeLimit }))
          const answers = yield* Effect.forkChild(
            Effect.forever(Effect.andThen(Effect.sleep("1 millis"), store.findById("few", 7)))
          )
          let end: string = "done"
          const { longest } = yield* turnsOf(Effect.match(asked, {
            onFailure: ({ _tag }) => {
              end = _tag
            },
            onSuccess: () => {}
          }))
          yield* Fiber.interrupt(answers)
          assert.include(ends, end)
          assert.isBelow(longest, mostTurn)
        })
    )

    it.effect("rejects an update that makes a document too large", () =>
      Effect.gen(function*() {
        const store = yield* filled
        yield* store.insertMany("updated", [{ _id: 1, list: [], other: [] }])
        yield* store.updateOne("updated", { _id: 1 }, { $set: { "list.1400000": 1 } })
        const padded = yield* Effect.flip(store.updateOne("updated", { _id: 1 }, { $set: { "other.1400000": 1 } }))
        assert.strictEqual(padded._tag, "QueryRejected")
        assert.strictEqual(yield* store.count("updated", { other: { $size: 0 }, list: { $size: 1_400_001 } }), 1)
        const piped = yield* Effect.flip(store.updateOne("updated", { _id: 1 }, [
          { $set: { list: { $concatArrays: ["$list", "$list"] } } }
        ]))
        assert.strictEqual(piped._tag, "QueryRejected")
        if (name === "memory") return
        yield* store.replaceOne("updated", { _id: 1 }, { list: ["x".repeat(9 * 2 ** 20)] })
        const pushed = yield* Effect.flip(
          store.updateOne("updated", { _id: 1 }, { $push: { list: { $each: ["x".repeat(9 * 2 ** 20)] } } })
        )
        assert.strictEqual(pushed._tag, "QueryRejected")
        assert.strictEqual(yield* store.count("updated", { list: { $size: 1 } }), 1)
      }))

    // The rest depends on what is computed alone.
    if (name === "embedded") return

    it.effect("limits the cost of filters and projections, too", () =>
      Effect.gen(function*() {
        const store = yield* filled
        const endless = {
          $gt: [{ $size: { $map: { input: "$numbers", in: { $size: { $reverseArray: "$documents" } } } } }, 0]
        }
        const slow = { $expr: { $gt: [{ $size: { $map: { input: { $range: [0, 5_000] }, in: "$$this.x" } } }, 0] } }
        const large = { r: { $range: [0, 20_000] } }
        yield* store.insertMany("slow", Array.from({ length: 60 }, (_, _id) => ({ _id })))
        const rejected = {
          find: store.find("one", { filter: { $expr: endless } }),
          count: store.count("one", { $expr: endless }),
          distinct: store.distinct("one", "a", { $expr: endless }),
          updateOne: store.updateOne("one", { $expr: endless }, { $set: { b: 1 } }),
          updateMany: store.updateMany("one", { $expr: endless }, { $set: { b: 1 } }),
          deleteOne: store.deleteOne("one", { $expr: endless }),
          deleteMany: store.deleteMany("one", { $expr: endless }),
          projection: store.find("one", { projection: { r: endless } }),
          projections: store.find("few", { projection: large }),
          arrayFilters: store.updateOne("one", {}, { $set: { "documents.$[d].b": 1 } }, {
            arrayFilters: [{ $and: [{ d: 1 }], $expr: endless }]
          })
        }
        for (const [name, call] of Object.entries<Effect.Effect<unknown, { readonly _tag: string }>>(rejected)) {
          const { longest } = yield* turnsOf(Effect.map(Effect.flip(call), ({ _tag }) => {
            assert.strictEqual(_tag, "QueryRejected", name)
          }))
          assert.isBelow(longest, mostTurn, name)
        }
        assert.strictEqual(yield* Stream.runCount(store.stream("few", { projection: large })), 1_000)
        const allowed = {
          find: store.find("slow", { filter: slow }),
          count: store.count("slow", slow),
          updateMany: store.updateMany("slow", slow, { $set: { b: 1 } }),
          deleteMany: store.deleteMany("slow", slow)
        }
        for (const [name, call] of Object.entries<Effect.Effect<unknown, { readonly _tag: string }>>(allowed)) {
          const { longest } = yield* turnsOf(call)
          assert.isBelow(longest, mostTurn, name)
        }
        assert.strictEqual(yield* store.count("slow", {}), 0)
        assert.strictEqual(yield* store.count("one", { b: { $exists: false } }), 1)
      }))

    it.effect("evaluates expressions within the cost budget", () =>
      Effect.gen(function*() {
        const store = yield* filled
        const doubled = yield* Stream.runCollect(store.aggregate("one", [
          ...Array.from({ length: 15 }, () => ({ $addFields: { a: { $concatArrays: ["$a", "$a"] } } })),
          { $project: { _id: 0, n: { $size: "$a" } } }
        ]))
        assert.deepStrictEqual(doubled, [{ n: 2 ** 16 }])
        const grouped = yield* Stream.runCollect(store.aggregate("many", [
          { $group: { _id: null, all: { $push: "$$ROOT" }, texts: { $addToSet: "$s" } } }
        ]))
        assert.strictEqual(lengthOf(grouped[0]?.["all"]), 100_000)
        assert.strictEqual(lengthOf(grouped[0]?.["texts"]), 100_000)
        const unwound = yield* Stream.runCollect(store.aggregate("few", [
          { $addFields: { other: "$list" } },
          { $unwind: "$list" },
          { $limit: 20_000 },
          { $unwind: "$other" },
          { $count: "n" }
        ]))
        assert.deepStrictEqual(unwound, [{ n: 2_000_000 }])
        const best = yield* Stream.runCollect(store.aggregate("many", [
          { $addFields: { r: { $range: [0, 200] } } },
          { $sort: { _id: -1 } },
          { $limit: 2 },
          { $project: { n: { $size: "$r" } } }
        ]))
        assert.deepStrictEqual(best, [{ _id: 99_999, n: 200 }, { _id: 99_998, n: 200 }])
      }))

    it.effect("names the exceeded limit", () =>
      Effect.gen(function*() {
        const store = yield* filled
        const refusals: ReadonlyArray<readonly [detail: string, collection: string, stage: Document]> = [
          ["an expression has too much to compute for one document", "one", {
            $project: { r: { $map: { input: "$numbers", in: "$documents.b" } } }
          }],
          ["a document or a value of it has more than 16 MiB, or more than 200 levels", "one", {
            $project: { r: { $map: { input: "$numbers", in: "$text" } } }
          }],
          ["the pipeline needs more than 100 MiB of memory", "many", {
            $group: { _id: null, all: { $push: { $range: [0, 1_000] } } }
          }]
        ]
        for (const [detail, collection, stage] of refusals) {
          const error = yield* Effect.flip(Stream.runDrain(store.aggregate(collection, [stage])))
          assert.strictEqual(error.message, `The store rejected the aggregate: ${detail}`)
        }
      }))

    it.effect(
      "returns the memory that a pipeline in a $lookup has left when it ends, and no more",
      () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const text = "x".repeat(40_000)
          yield* store.insertMany("joined", Array.from({ length: 60 }, (_, _id) => ({ _id, text })))
          const first = (pipeline: ReadonlyArray<Document>) => ({
            $lookup: {
              from: "joined",
              let: { id: "$_id" },
              pipeline: [
                { $match: { $expr: { $gte: ["$_id", { $multiply: ["$$id", 0] }] } } },
                ...pipeline,
                { $limit: 1 },
                { $project: { _id: 1 } }
              ],
              as: "first"
            }
          })
          const held = { $fill: { sortBy: { _id: 1 }, output: { text: { method: "locf" } } } }
          for (const lookup of [first([held]), first([first([held])])]) {
            const found = yield* Stream.runCollect(
              store.aggregate("joined", [lookup, { $group: { _id: "$first", n: { $sum: 1 } } }])
            )
            assert.deepStrictEqual(found, [{ _id: [{ _id: 0 }], n: 60 }])
            const error = yield* Effect.flip(Stream.runDrain(
              store.aggregate("joined", [lookup, { $group: { _id: null, all: { $push: { $range: [0, 240_000] } } } }])
            ))
            assert.include(error.message, "more than 100 MiB")
          }
        })
    )

    it.effect("limits the stages of an update, and what they compute for one document", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
        yield* store.insertOne("wide", { _id: 1, ...fields })
        const stages = (count: number) => Array.from({ length: count }, (_, i) => ({ $set: { k0: i } }))
        for (const [count, detail] of [[1_001, "1000 stages"], [1_000, "too much to compute"]] as const) {
          const error = yield* Effect.flip(store.updateOne("wide", { _id: 1 }, stages(count)))
          assert.include(error.message, detail)
        }
        yield* store.updateOne("wide", { _id: 1 }, stages(10))
        assert.strictEqual(yield* store.count("wide", { k0: 9 }), 1)
      }))
  })
}

// internal

// Milliseconds that a small read may have to wait: 100, and what it may take now and then to collect the garbage.
const mostTurn = 200

const lengthOf = (value: unknown): number => Array.isArray(value) ? value.length : 0
