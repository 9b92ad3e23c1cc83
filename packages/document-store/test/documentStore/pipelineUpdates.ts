import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter, UpdateOneOptions, UpdatePipeline } from "../../src/DocumentStore.ts"
import { collectionOf, type Tests } from "./collection.ts"

type Case = [name: string, before: Document, update: UpdatePipeline, after: Document]

type Refusal = [name: string, update: UpdatePipeline, options?: UpdateOneOptions]

/** Updates whose changes are computed by the stages of a pipeline. */
export const pipelineUpdateContract = (it: Tests, differs: Differs) => {
  it.effect.each<Case>([
    ["sets fields from others", { a: 2, b: 3 }, [{ $set: { sum: { $add: ["$a", "$b"] }, a: "$b" } }], {
      a: 3,
      b: 3,
      sum: 5
    }],
    ["applies the stages in order", { a: 2 }, [
      { $addFields: { b: { $multiply: ["$a", 10] } } },
      { $set: { c: { $add: ["$b", 1] } } },
      { $unset: ["a", "b"] }
    ], { c: 21 }],
    ...differs("pathsThroughLists") ?
      [] :
      [
        ["sets fields within lists", { items: [{ n: 1 }, { n: 2 }] }, [{ $set: { "items.seen": true } }], {
          items: [{ n: 1, seen: true }, { n: 2, seen: true }]
        }] satisfies Case
      ],
    ["computes a list", { n: [5, 9, 7] }, [
      { $set: { n: { $filter: { input: "$n", cond: { $gte: ["$$this", 7] } } } } }
    ], { n: [9, 7] }],
    ["removes a field that is set to nothing", { a: 1, b: 2 }, [{ $set: { a: "$none", b: "$$REMOVE" } }], {}],
    ["keeps the identifier that a projection leaves out", { a: 1, b: 2 }, [{ $project: { _id: 0, a: 1 } }], { a: 1 }],
    ["projects", { a: 1, b: 2 }, [{ $project: { c: "$a" } }], { c: 1 }],
    ["leaves out fields", { a: 1, n: { x: 1, y: 2 } }, [{ $project: { "n.x": 0 } }], { a: 1, n: { y: 2 } }],
    ["replaces the document and keeps its identifier", { n: { x: 1 } }, [{ $replaceRoot: { newRoot: "$n" } }], {
      x: 1
    }],
    ["merges the document with defaults", { a: 1 }, [
      { $replaceWith: { $mergeObjects: [{ a: 0, b: 0 }, "$$ROOT"] } }
    ], { a: 1, b: 0 }],
    ["sets operators as values", {}, [{ $set: { a: { $literal: "$b" } } }], { a: "$b" }]
  ])("updates by a pipeline: %s", ([, before, update, after]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([1, 2, 3, 4].map((_id) => ({ _id, ...before })))
      const changed = { matchedCount: 1, modifiedCount: 1 }
      assert.deepStrictEqual(yield* store.updateOne(name, { _id: 1 }, update), changed)
      assert.deepStrictEqual(yield* store.findOneAndUpdate(name, { _id: 2 }, update), { _id: 2, ...before })
      const found = yield* store.findOneAndUpdate(name, { _id: 3 }, update, { returnDocument: "after" })
      assert.deepStrictEqual(found, { _id: 3, ...after })
      assert.deepStrictEqual(yield* store.updateMany(name, { _id: 4 }, update), changed)
      assert.deepStrictEqual(yield* all, [1, 2, 3, 4].map((_id) => ({ _id, ...after })))
    }))

  it.effect("updates by a pipeline: the examples of the manual", () =>
    Effect.gen(function*() {
      const members = yield* collectionOf([
        {
          _id: 1,
          member: "abc123",
          status: "A",
          points: 2,
          misc1: "note to self: confirm status",
          misc2: "Need to activate"
        },
        {
          _id: 2,
          member: "xyz123",
          status: "A",
          points: 60,
          misc1: "reminder: ping me at 100pts",
          misc2: "Some comment"
        }
      ])
      yield* members.store.updateMany(members.name, {}, [
        { $set: { status: "Modified", comments: ["$misc1", "$misc2"] } },
        { $unset: ["misc1", "misc2"] }
      ])
      assert.deepStrictEqual(yield* members.all, [
        {
          _id: 1,
          member: "abc123",
          status: "Modified",
          points: 2,
          comments: ["note to self: confirm status", "Need to activate"]
        },
        {
          _id: 2,
          member: "xyz123",
          status: "Modified",
          points: 60,
          comments: ["reminder: ping me at 100pts", "Some comment"]
        }
      ])
      const students = yield* collectionOf([
        { _id: 1, tests: [95, 92, 90] },
        { _id: 2, tests: [94, 88, 90] },
        { _id: 3, tests: [70, 75, 82] }
      ])
      yield* students.store.updateMany(students.name, {}, [
        { $set: { average: { $trunc: [{ $avg: "$tests" }, 0] } } },
        {
          $set: {
            grade: {
              $switch: {
                branches: [
                  { case: { $gte: ["$average", 90] }, then: "A" },
                  { case: { $gte: ["$average", 80] }, then: "B" }
                ],
                default: "F"
              }
            }
          }
        }
      ])
      assert.deepStrictEqual(yield* students.all, [
        { _id: 1, tests: [95, 92, 90], average: 92, grade: "A" },
        { _id: 2, tests: [94, 88, 90], average: 90, grade: "A" },
        { _id: 3, tests: [70, 75, 82], average: 75, grade: "F" }
      ])
      const cakes = yield* collectionOf([{ _id: 1, flavor: "chocolate" }, { _id: 3, flavor: "cherry" }])
      yield* cakes.store.updateOne(
        cakes.name,
        { $expr: { $eq: ["$flavor", "$$targetFlavor"] } },
        [{ $set: { flavor: "$$newFlavor" } }],
        { let: { targetFlavor: "cherry", newFlavor: "orange" } }
      )
      assert.deepStrictEqual(yield* cakes.all, [{ _id: 1, flavor: "chocolate" }, { _id: 3, flavor: "orange" }])
    }))

  it.effect("knows the time and the variables of let in a pipeline's update", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 1 }, { _id: 2, n: 5 }])
      yield* store.updateMany(name, { n: { $gte: 1 } }, [{ $set: { n: { $add: ["$n", "$$more.n"] }, at: "$$NOW" } }], {
        let: { more: { n: { $add: [1, 2] } } }
      })
      const documents = yield* all
      assert.deepStrictEqual(documents.map(({ n }) => n), [4, 8])
      const [first, second] = documents.map(({ at }) => at)
      assert.instanceOf(first, Date)
      assert.deepStrictEqual(first, second)
    }))

  it.effect.each<[string, Filter, UpdatePipeline, Document]>([
    ["the filter's equalities", { _id: 7, a: 1, b: { $gt: 1 } }, [{ $set: { c: { $add: ["$a", 1] } } }], {
      _id: 7,
      a: 1,
      c: 2
    }],
    ["the pipeline's identifier", { a: 1 }, [{ $set: { _id: 7 } }], { _id: 7, a: 1 }],
    ["the filter's identifier, which the pipeline leaves out", { _id: 7, a: { b: 1 } }, [{ $replaceWith: "$a" }], {
      _id: 7,
      b: 1
    }]
  ])("upserts by a pipeline from %s", ([, filter, update, after]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      assert.deepStrictEqual(yield* store.updateOne(name, filter, update, { upsert: true }), {
        matchedCount: 0,
        modifiedCount: 0,
        upsertedId: 7
      })
      assert.deepStrictEqual(yield* all, [after])
    }))

  it.effect("says that nothing is modified by a pipeline that computes what is there", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, a: 1 }, { _id: 2, a: 2 }])
      assert.deepStrictEqual(yield* store.updateMany(name, {}, [{ $set: { a: { $max: ["$a", 2] } } }]), {
        matchedCount: 2,
        modifiedCount: 1
      })
    }))

  it.effect.each<Refusal>([
    ["without stages", []],
    ["with a stage that computes no document of each", [{ $match: { a: 1 } }]],
    ["with a stage of several documents", [{ $unwind: "$a" }]],
    ["with an unknown stage", [{ $nope: {} }]],
    ["with a stage of two operators", [{ $set: { b: 1 }, $unset: "a" }]],
    ["with update operators", [{ $inc: { a: 1 } }]],
    ...differs("pipelineUpdates") ? [] : [
      ["with an empty $set", [{ $set: {} }]],
      ["with array filters", [{ $set: { b: 1 } }], { arrayFilters: [{ "x.a": 1 }] }]
    ] satisfies ReadonlyArray<Refusal>,
    ["that changes the identifier", [{ $set: { _id: 2 } }]],
    ["that replaces the identifier", [{ $replaceWith: { _id: 2 } }]],
    ["that gives no document", [{ $replaceWith: "$a" }]],
    ["with an unknown variable", [{ $set: { b: "$$none" } }]],
    ["that fails to compute", [{ $set: { b: { $divide: ["$a", 0] } } }]]
  ])("refuses an update by a pipeline %s", ([, update, options]) =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: 1 }])
      for (
        const call of [
          Effect.asVoid(store.updateOne(name, { _id: 1 }, update, options)),
          Effect.asVoid(store.updateMany(name, {}, update, options)),
          Effect.asVoid(store.findOneAndUpdate(name, { a: 1 }, update, options))
        ]
      ) assert.strictEqual((yield* Effect.flip(call))._tag, "QueryRejected")
      assert.deepStrictEqual(yield* all, [{ _id: 1, a: 1 }])
    }))

  it.effect("keeps unique indexes when it updates by a pipeline", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, a: 1 }, { _id: 2, a: 2 }])
      yield* store.createIndexes(name, [{ name: "a", key: { a: 1 }, unique: true }])
      const duplicate = yield* Effect.flip(store.updateOne(name, { _id: 1 }, [{ $set: { a: { $add: ["$a", 1] } } }]))
      assert.strictEqual(duplicate._tag, "DuplicateKey")
      yield* store.updateOne(name, { a: 2 }, [{ $set: { a: { $add: ["$a", 1] } } }])
      assert.deepStrictEqual(yield* store.find(name, { filter: { a: 3 } }), [{ _id: 2, a: 3 }])
      assert.deepStrictEqual(yield* all, [{ _id: 1, a: 1 }, { _id: 2, a: 3 }])
    }))

  it.effect("computes each of many concurrent updates by a pipeline from the one before", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 0 }])
      const increment = store.updateOne(name, {}, [{ $set: { n: { $add: ["$n", 1] } } }])
      yield* Effect.all(Array.from({ length: 50 }, () => increment), { concurrency: 25, discard: true })
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 50 }])
      yield* store.transaction(Effect.andThen(increment, increment))
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 52 }])
    }))
}
