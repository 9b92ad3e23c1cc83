/** What an aggregation of the embedded store sees of others' writes: one state of all its collections. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Random, Stream } from "effect"
import { freshFolder } from "../../../test/support/folders.ts"
import type { Document, DocumentStore } from "../../document-store/src/DocumentStore.ts"
import { collectionOf } from "../../document-store/test/documentStore/collection.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

const accounts = 400

const expected = 2 * accounts * 100

const aggregatedStateContract = <E>(name: string, layer: Layer.Layer<DocumentStore, E>) =>
  it.layer(layer, { excludeTestServices: true })(`the state of an aggregation / ${name}`, (it) => {
    it.effect("is one state of all its collections, during concurrent transfers", () =>
      Effect.gen(function*() {
        const { aggregate, audits, transfer } = yield* bank
        const wrong: Array<string> = []
        const audit = ([what, pipeline]: readonly [string, ReadonlyArray<Document>]) =>
          Effect.map(aggregate(pipeline), ([found]) => {
            if (found?.["sum"] !== expected) wrong.push(`${what}: ${String(found?.["sum"])}`)
          })
        const writers = yield* Effect.forEach(
          Array.from({ length: 6 }),
          () => Effect.forkChild(Effect.forever(transfer))
        )
        yield* Effect.forEach(Array.from({ length: 40 }, () => audits).flat(), audit, { concurrency: 8 })
        yield* Fiber.interruptAll(writers)
        assert.deepStrictEqual(wrong, [])
      }))

    it.effect.each(["aggregate", "stream"] as const)(
      "is the one before writes to documents that are read later: %s",
      (operation) =>
        Effect.gen(function*() {
          const { name, store } = yield* collectionOf(many)
          const filter = { n: { $gte: 0 } }
          const stream = operation === "aggregate"
            ? store.aggregate(name, [{ $match: filter }])
            : store.stream(name, { filter, sort: { _id: 1 }, snapshot: true })
          const seen = yield* during(
            stream,
            Effect.gen(function*() {
              yield* store.updateMany(name, {}, { $set: { n: -1 } })
              yield* store.deleteMany(name, { _id: { $gte: many.length / 2 } })
              yield* store.insertOne(name, { _id: "late", n: 1 })
            })
          )
          assert.deepStrictEqual(seen, many)
          assert.strictEqual(yield* store.count(name, { n: -1 }), many.length / 2)
        })
    )

    it.effect("is that of each part of a stream that asks for none", () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(many)
        const seen = yield* during(
          store.stream(name, { sort: { _id: 1 } }),
          store.updateMany(name, {}, { $set: { n: -1 } })
        )
        assert.strictEqual(seen.at(-1)?.["n"], -1)
      }))

    it.effect("has no index that was built later", () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(many)
        const { name: other } = yield* collectionOf(many)
        const seen = yield* during(
          store.aggregate(name, [{ $unionWith: { coll: other, pipeline: [{ $match: { n: { $gte: 0 } } }] } }]),
          store.createIndexes(other, [{ name: "n", key: { n: 1 } }])
        )
        assert.deepStrictEqual(seen, [...many, ...many])
      }))

    it.effect("can't be read by an index that was dropped", () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(many)
        yield* store.createIndexes(name, [{ name: "n", key: { n: 1 } }])
        const error = yield* Effect.flip(
          during(store.aggregate(name, [{ $match: { n: { $gte: 0 } } }]), store.dropIndexes(name, ["n"]))
        )
        assert.deepInclude(error, { _tag: "StoreUnavailable", retryable: true })
      }))
  })

const many = Array.from({ length: 1_000 }, (_, _id) => ({ _id, n: _id }))

/** What a stream has, with an effect that runs after its first documents. */
const during = <E, E2>(stream: Stream.Stream<Document, E>, effect: Effect.Effect<unknown, E2>) => {
  const run = Effect.runSync(Effect.cached(effect))
  return Stream.runCollect(Stream.tap(stream, () => run))
}

/** Accounts in two collections, transfers between any two of them, and pipelines that sum up all. */
const bank = Effect.gen(function*() {
  const documents = Array.from({ length: accounts }, (_, _id) => ({ _id, amount: 100, kind: _id % 2 }))
  const { name: checking, store } = yield* collectionOf(documents)
  const { name: savings } = yield* collectionOf(documents)
  yield* store.createIndexes(savings, [{ name: "amount", key: { amount: 1 } }])
  const names = [checking, savings]
  const pick = Effect.gen(function*() {
    return [names[yield* Random.nextIntBetween(0, 1)] ?? "", yield* Random.nextIntBetween(0, accounts - 1)] as const
  })
  const add = ([name, _id]: readonly [string, number], amount: number) =>
    store.updateOne(name, { _id }, { $inc: { amount } })
  const transfer = Effect.gen(function*() {
    const [from, to, amount] = [yield* pick, yield* pick, yield* Random.nextIntBetween(1, 10)]
    yield* store.transaction(Effect.andThen(add(from, -amount), add(to, amount)))
    yield* Effect.yieldNow
  })
  const sum = { $group: { _id: null, sum: { $sum: "$amount" } } }
  const both = { $project: { sum: { $add: ["$sum", { $first: "$other.sum" }] } } }
  const audits: ReadonlyArray<readonly [string, ReadonlyArray<Document>]> = [
    ["$unionWith", [{ $unionWith: savings }, sum]],
    ["$unionWith by an index", [{ $unionWith: { coll: savings, pipeline: [{ $sort: { amount: 1 } }] } }, sum]],
    ["$lookup of a pipeline", [sum, { $lookup: { from: savings, pipeline: [sum], as: "other" } }, both]],
    ["$lookup by a field", [
      { $lookup: { from: savings, localField: "_id", foreignField: "_id", as: "other" } },
      { $group: { _id: null, sum: { $sum: { $add: ["$amount", { $first: "$other.amount" }] } } } }
    ]],
    ["$graphLookup", [
      {
        $graphLookup: { from: savings, startWith: "$_id", connectFromField: "none", connectToField: "_id", as: "other" }
      },
      { $group: { _id: null, sum: { $sum: { $add: ["$amount", { $first: "$other.amount" }] } } } }
    ]],
    ["$facet", [
      { $facet: { all: [{ $unionWith: savings }, sum] } },
      { $project: { sum: { $first: "$all.sum" } } }
    ]]
  ]
  const aggregate = (pipeline: ReadonlyArray<Document>) => Stream.runCollect(store.aggregate(checking, pipeline))
  return { aggregate, audits, transfer }
})

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
