import { assert } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document } from "../../src/DocumentStore.ts"
import { collectionOf, idsOf, type Tests } from "./collection.ts"

type Case = [name: string, options: Document, after: ReadonlyArray<Document>]

/** Stages that write what a pipeline computes: `$out` and `$merge`. */
export const pipelineWriteContract = (it: Tests, differs: Differs) => {
  it.effect.each<Case>([
    ["merges documents, and inserts new ones", {}, [
      { _id: 1, total: 5, note: "old" },
      { _id: 2, total: 7 },
      { _id: 3, note: "kept" }
    ]],
    ["replaces documents", { whenMatched: "replace" }, [
      { _id: 1, total: 5 },
      { _id: 2, total: 7 },
      { _id: 3, note: "kept" }
    ]],
    ["keeps existing documents", { whenMatched: "keepExisting" }, [
      { _id: 1, total: 1, note: "old" },
      { _id: 2, total: 7 },
      { _id: 3, note: "kept" }
    ]],
    ["discards new documents", { whenNotMatched: "discard" }, [
      { _id: 1, total: 5, note: "old" },
      { _id: 3, note: "kept" }
    ]],
    ["updates documents by a pipeline", { whenMatched: [{ $set: { total: { $add: ["$total", "$$new.total"] } } }] }, [
      { _id: 1, total: 6, note: "old" },
      { _id: 2, total: 7 },
      { _id: 3, note: "kept" }
    ]],
    ["updates documents by a pipeline with variables", {
      let: { more: { $multiply: ["$total", 10] } },
      whenMatched: [{ $set: { total: { $add: ["$total", "$$more"] } } }]
    }, [
      { _id: 1, total: 51, note: "old" },
      { _id: 2, total: 7 },
      { _id: 3, note: "kept" }
    ]]
  ])("$merge %s", ([, options, after]) =>
    Effect.gen(function*() {
      const source = yield* collectionOf([{ _id: 1, total: 5 }, { _id: 2, total: 7 }])
      const target = yield* collectionOf([{ _id: 1, total: 1, note: "old" }, { _id: 3, note: "kept" }])
      const { store } = source
      const stages = [{ $match: {} }, { $merge: { into: target.name, ...options } }]
      assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(source.name, stages)), [])
      assert.deepStrictEqual(yield* target.all, after)
    }))

  it.effect("$merge finds documents by the fields of a unique index", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, dept: "A", salary: 10 }, {
        _id: 2,
        dept: "B",
        salary: 20
      }])
      const target = yield* collectionOf([{ _id: 7, dept: "A", salary: 1 }])
      const pipeline = [
        { $group: { _id: "$dept", salary: { $sum: "$salary" } } },
        { $project: { _id: 0, dept: "$_id", salary: 1 } },
        { $merge: { into: target.name, on: "dept", whenMatched: "merge" } }
      ]
      const refused = yield* Effect.flip(Stream.runDrain(store.aggregate(name, pipeline)))
      assert.strictEqual(refused._tag, "QueryRejected")
      yield* store.createIndexes(target.name, [{ name: "dept", key: { dept: 1 }, unique: true }])
      yield* Stream.runDrain(store.aggregate(name, pipeline))
      const found = yield* target.find({ sort: { dept: 1 }, projection: { _id: 0 } })
      assert.deepStrictEqual(found, [{ dept: "A", salary: 10 }, { dept: "B", salary: 20 }])
      assert.deepStrictEqual(yield* target.find({ filter: { dept: "A" } }), [{ _id: 7, dept: "A", salary: 10 }])
    }))

  it.effect("$merge ends when it writes the collection that it reads", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 1 }, { _id: 2, n: 2 }])
      yield* Stream.runDrain(store.aggregate(name, [
        { $set: { n: { $multiply: ["$n", 10] } } },
        { $merge: { into: name, whenMatched: "replace" } }
      ]))
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 10 }, { _id: 2, n: 20 }])
    }))

  it.effect.skipIf(differs("pipelineWrites"))(
    "$out replaces a collection and keeps its indexes",
    () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf([{ _id: 1, a: 1 }, { _id: 2, a: 2 }, { _id: 3, a: 2 }])
        const target = yield* collectionOf([{ _id: 8, a: 8 }, { _id: 9, a: 9 }])
        yield* store.createIndexes(target.name, [{ name: "a", key: { a: 1 }, unique: true }])
        const out = { $out: target.name }
        assert.deepStrictEqual(
          yield* Stream.runCollect(store.aggregate(name, [{ $match: { _id: { $lt: 3 } } }, out])),
          []
        )
        assert.deepStrictEqual(yield* target.all, [{ _id: 1, a: 1 }, { _id: 2, a: 2 }])
        const duplicate = yield* Effect.flip(Stream.runDrain(store.aggregate(name, [{ $match: {} }, out])))
        assert.strictEqual(duplicate._tag, "QueryRejected")
        assert.deepStrictEqual(yield* target.all, [{ _id: 1, a: 1 }, { _id: 2, a: 2 }])
        assert.deepStrictEqual((yield* store.listIndexes(target.name)).map(({ name }) => name), ["a"])
      })
  )

  it.effect.each<[string, ReadonlyArray<Document>]>([
    ["$out before another stage", [{ $out: "a" }, { $match: {} }]],
    ["$merge before another stage", [{ $merge: { into: "a" } }, { $match: {} }]],
    ["$merge without a collection", [{ $merge: { on: "_id" } }]],
    ["$merge with an unknown action", [{ $merge: { into: "a", whenMatched: "explode" } }]],
    ...differs("pipelineWrites") ? [] : [
      ["$merge with a stage that no update has", [{
        $merge: { into: "a", whenMatched: [{ $match: {} }] }
      }]] satisfies [string, ReadonlyArray<Document>]
    ],
    ["$merge of what it finds, when that fails", [{ $merge: { into: "itself", whenMatched: "fail" } }]],
    ["$merge of what it does not find, when that fails", [{
      $merge: { into: "no such collection", whenNotMatched: "fail" }
    }]]
  ])("refuses %s", ([, pipeline]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1 }])
      const stages = pipeline.map((stage) =>
        JSON.parse(JSON.stringify(stage).replace("\"itself\"", JSON.stringify(name))) as Document
      )
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(store.aggregate(name, stages))))._tag, "QueryRejected")
    }))

  it.effect.each([
    [{ $out: "never written" }],
    [{ $merge: { into: "never written" } }]
  ])("refuses %j in a transaction", ([stage]) =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1 }])
      const written = store.transaction(Stream.runDrain(store.aggregate(name, stage === undefined ? [] : [stage])))
      assert.strictEqual((yield* Effect.flip(written))._tag, "Unsupported")
      assert.deepStrictEqual(yield* store.find("never written", {}), [])
    }))

  it.effect.skipIf(differs("pipelineWrites"))(
    "$out leaves one whole result when many replace a collection at once, or are interrupted",
    () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(Array.from({ length: 300 }, (_, i) => ({ _id: i, part: i % 3 })))
        const target = yield* collectionOf([{ _id: -1 }])
        const outs = yield* Effect.forEach(
          [0, 1, 2],
          (part) =>
            Effect.forkChild(Stream.runDrain(store.aggregate(name, [{ $match: { part } }, { $out: target.name }])))
        )
        yield* Effect.yieldNow
        yield* Fiber.interrupt(outs[1]!)
        yield* Effect.forEach(outs, (fiber) => Fiber.await(fiber))
        const documents = yield* target.all
        assert.strictEqual(documents.length, 100)
        assert.strictEqual(new Set(documents.map(({ part }) => part)).size, 1)
      })
  )

  it.effect.skipIf(differs("pipelineWrites"))("$merge by many fibers adds up", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, n: 1 }, { _id: 2, n: 1 }])
      const target = yield* collectionOf([])
      const merge = Stream.runDrain(store.aggregate(name, [{ $match: {} }, {
        $merge: { into: target.name, whenMatched: [{ $set: { n: { $add: ["$n", "$$new.n"] } } }] }
      }]))
      yield* Effect.all(Array.from({ length: 20 }, () => merge), { concurrency: 10, discard: true })
      const documents = yield* target.all
      assert.deepStrictEqual(idsOf(documents), [1, 2])
      assert.deepStrictEqual(documents.map(({ n }) => n), [20, 20])
    }))
}
