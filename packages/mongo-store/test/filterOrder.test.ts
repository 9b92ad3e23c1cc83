/** Filters whose conditions are evaluated in an order: what they find and write, and what is sent. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { onMongo } from "../../../test/support/mongo.ts"
import { hasExpression, observed, unordered } from "../../../test/support/observedStore.ts"
import { type Document, DocumentStore, type Filter } from "../../document-store/src/DocumentStore.ts"
import {
  conjunctionOf,
  fallibleLast,
  fallibleMatchesLast,
  type OperationName,
  type StoreOperations
} from "../../document-store/src/shared.ts"
import type { StoreError } from "../../document-store/src/StoreError.ts"
import { type FilteredWrites, writesInOrder } from "../src/store/filterOrder.ts"

type Name = Exclude<OperationName, "insertOne" | "insertMany" | "estimatedCount">

const every = { sort: { n: -1 }, skip: 1, limit: 3, projection: { n: 1, tags: 1 } } as const

/** Each operation with a filter. */
const calls: {
  readonly [N in Name]: (_: StoreOperations, filter: Filter) => Effect.Effect<unknown, StoreError>
} = {
  findById: (_, filter) => _.findById("notes", 2, { filter }),
  find: (_, filter) => _.find("notes", { filter, ...every }),
  findAndCount: (_, filter) => {
    const taken: Array<Document> = []
    return Effect.map(
      _.findAndCount("notes", { filter, ...every, sort: { n: 1 }, take: (all) => (taken.push(...all), true) }),
      ({ total }) => ({ taken, total })
    )
  },
  stream: (_, filter) => Stream.runCollect(_.stream("notes", { filter, sort: { n: 1 }, skip: 0, projection: {} })),
  count: (_, filter) => _.count("notes", filter),
  distinct: (_, filter) =>
    Effect.map(
      Effect.all([_.distinct("notes", "tags", filter), _.distinct("notes", "inner.m", filter)]),
      (all) => all.map((values) => values.map((value) => JSON.stringify(value)).toSorted())
    ),
  aggregate: (_, filter) =>
    Stream.runCollect(_.aggregate("notes", [{ $match: filter }, { $sort: { n: 1 } }, { $project: { n: 1 } }])),
  replaceOne: (_, filter) => _.replaceOne("notes", filter, { n: 9, owner: "ann" }),
  updateOne: (_, filter) => _.updateOne("notes", filter, { $inc: { m: 1 } }),
  updateMany: (_, filter) => _.updateMany("notes", filter, { $inc: { m: 1 } }),
  findOneAndUpdate: (_, filter) =>
    _.findOneAndUpdate("notes", filter, { $inc: { m: 1 } }, { sort: { n: -1 }, returnDocument: "after" }),
  findOneAndReplace: (_, filter) => _.findOneAndReplace("notes", filter, { n: 9 }, { sort: { n: -1 } }),
  findOneAndDelete: (_, filter) => _.findOneAndDelete("notes", filter, { sort: { n: -1 }, projection: { n: 1 } }),
  deleteOne: (_, filter) => _.deleteOne("notes", filter),
  deleteMany: (_, filter) => _.deleteMany("notes", filter)
}

const documents: ReadonlyArray<Document> = [
  { _id: 1, owner: "ann", n: 1, tags: ["a", "b"], inner: { m: 1 } },
  { _id: 2, owner: "ann", n: 2, tags: [], inner: { m: [1, 2] } },
  { _id: "three", owner: "ann", n: 3, tags: null, inner: 3 },
  { _id: 4, owner: "ann", n: 4, tags: "a" },
  { _id: 5, owner: "ben", n: 0, tags: ["c"], text: "secret" }
]

/** The documents anew, and what an operation gives and leaves behind. */
const outcome = Effect.fnUntraced(function*(name: Name, filter: Filter) {
  const store = yield* DocumentStore
  yield* store.deleteMany("notes", {})
  yield* store.insertMany("notes", documents)
  const given = yield* calls[name](store, filter)
  return { name, given, left: yield* store.find("notes", { sort: { n: 1, _id: 1 } }) }
})

const names = Object.keys(calls) as ReadonlyArray<Name>

const own: Filter = { owner: "ann" }

/** Fails for the document of another owner. */
const failing: Filter = { $expr: { $gte: [{ $divide: [4, "$n"] }, 1] } }

const asked: ReadonlyArray<Filter> = [
  { $expr: { $gt: ["$n", 1] } },
  { $expr: { $eq: ["$n", 7] } },
  { $or: [{ $expr: { $eq: ["$n", 1] } }, { n: { $gt: 2 } }] },
  { $nor: [{ $expr: { $eq: ["$n", 1] } }] },
  { n: { $lt: 4 }, $expr: { $ne: ["$n", 1] } },
  { $and: [{ tags: "a" }, { $expr: { $gt: ["$n", 0] } }] }
]

const conditions: ReadonlyArray<Filter> = [
  own,
  { $or: [{ owner: "ann" }, { n: { $gt: 3 } }] },
  { owner: { $in: ["ann", "ben"] }, deleted: null },
  { $expr: { $gt: ["$n", 0] } }
]

const Case = Schema.Struct({
  asked: Schema.Literals(asked.map((_, i) => i)),
  condition: Schema.Literals(conditions.map((_, i) => i)),
  name: Schema.Literals(names)
})

onMongo("filterOrder / mongodb", (layer, server) => {
  it.layer(layer)((it) => {
    it.effect.prop(
      "finds and writes the documents of the same filter in any order",
      [Case],
      ([{ asked: given, condition, name }]) =>
        Effect.gen(function*() {
          const [filter, limit] = [asked[given]!, conditions[condition]!]
          const plain = yield* outcome(name, { $and: [limit, filter] })
          assert.deepStrictEqual(yield* outcome(name, conjunctionOf(limit, fallibleLast(filter))), plain)
        }),
      { arbitrary: { runs: 30 } }
    )

    it.effect("evaluates what may fail for documents that match the other conditions only", () =>
      Effect.gen(function*() {
        const { find, transaction, updateMany } = yield* DocumentStore
        // It is first, so that a server which keeps the order would fail.
        const filter = conjunctionOf(fallibleLast(failing), own)
        for (const name of names) {
          assert.deepStrictEqual(
            yield* outcome(name, filter),
            yield* outcome(name, { ...own, n: { $lte: 4, $gte: 1 } })
          )
        }
        assert.strictEqual((yield* Effect.flip(find("notes", { filter: fallibleLast(failing) })))._tag, "QueryRejected")
        yield* outcome("count", filter)
        const updated = yield* transaction(updateMany("notes", filter, { $set: { n: 1 } }))
        assert.deepStrictEqual(updated, { matchedCount: 4, modifiedCount: 3 })
      }))

    it.effect("refuses a write with a collation, whose index would not be that of identifiers", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const filter = conjunctionOf(own, fallibleLast(failing))
        const options = { collation: { locale: "en" } }
        assert.strictEqual((yield* Effect.flip(store.deleteMany("notes", filter, options)))._tag, "QueryRejected")
      }))
  })

  it.effect("sends no expression beside other conditions", () =>
    Effect.gen(function*() {
      const { commands, store } = yield* observed(server)
      yield* Effect.gen(function*() {
        for (const name of names) {
          for (const given of asked) {
            yield* commands
            yield* outcome(name, conjunctionOf(own, fallibleLast(given)))
            const sent = (yield* commands).filter(hasExpression)
            assert.isNotEmpty(sent, name)
            assert.deepStrictEqual(sent.flatMap(unordered), [], name)
          }
        }
        const { aggregate } = yield* DocumentStore
        for (
          const pipeline of [
            [{ $match: own }, { $set: { m: 1 } }, ...fallibleMatchesLast([{ $match: failing }])],
            fallibleMatchesLast([{ $match: { n: { $gt: 0 } } }, { $sort: { n: 1 } }, { $match: failing }])
              .map((stage, i) => i === 0 ? { $match: conjunctionOf(own, Object(stage["$match"])) } : stage)
          ]
        ) {
          yield* commands
          yield* Stream.runDrain(aggregate("notes", pipeline))
          const [sent, ...others] = yield* commands
          assert.isEmpty(others)
          assert.strictEqual(sent?.sent["pipeline"].length, pipeline.length + 1)
          assert.deepStrictEqual([sent].flatMap((one) => one === undefined ? [] : unordered(one)), [])
        }
      }).pipe(Effect.provide(store))
    }))

  it.effect("sends filters as they are without other conditions, or without what may fail", () =>
    Effect.gen(function*() {
      const { commands, store } = yield* observed(server)
      yield* Effect.gen(function*() {
        const sent = ["find", "update", "delete"] as const
        const filters = [fallibleLast({ $expr: { $gt: ["$n", 1] } }), conjunctionOf(own, fallibleLast({ n: 1 }))]
        for (const filter of filters) {
          yield* commands
          const { deleteMany, find, updateMany } = yield* DocumentStore
          yield* find("notes", { filter })
          yield* updateMany("notes", filter, { $inc: { m: 1 } })
          yield* deleteMany("notes", filter)
          const all = yield* commands
          assert.deepStrictEqual(all.map(({ name }) => name), [...sent])
          assert.deepStrictEqual(all.map(({ sent }) => sent["filter"] ?? (sent["updates"] ?? sent["deletes"])[0].q), [
            filter,
            filter,
            filter
          ])
        }
      }).pipe(Effect.provide(store))
    }))
})

const never = () => Effect.die("unused")

const unused: FilteredWrites = {
  replaceOne: never,
  updateOne: never,
  updateMany: never,
  findOneAndUpdate: never,
  findOneAndReplace: never,
  findOneAndDelete: never,
  deleteOne: never,
  deleteMany: never
}

const askedWithin = conjunctionOf(own, fallibleLast(failing))

/** The identifiers that a filter of a write begins with. */
const idsIn = (filter: Filter): ReadonlyArray<unknown> => Object(filter["$and"])[0]._id.$in

it.effect("writes another match if the first one has changed meanwhile", () =>
  Effect.gen(function*() {
    const found = [[{ _id: 1 }], [{ _id: 2 }]]
    const written: Array<unknown> = []
    const { deleteOne } = writesInOrder(() => Effect.sync(() => found.shift() ?? []), unused, {
      ...unused,
      deleteOne: (_, filter) => Effect.sync(() => written.push(idsIn(filter)) - 1)
    })
    assert.strictEqual(yield* deleteOne("notes", askedWithin), 1)
    assert.deepStrictEqual(written, [[1], [2]])
  }))

it.effect("writes many documents in batches, and each of them once", () =>
  Effect.gen(function*() {
    const ids = Array.from({ length: 2050 }, (_, i) => i % 2 === 0 ? i : `${i}`)
    const written: Array<ReadonlyArray<unknown>> = []
    const update = Effect.fnUntraced(function*(found: ReadonlyArray<unknown>) {
      const { updateMany } = writesInOrder(() => Effect.succeed(found.map((_id) => ({ _id }))), unused, {
        ...unused,
        updateMany: (_, filter) =>
          Effect.sync(() => {
            written.push(idsIn(filter))
            return { matchedCount: idsIn(filter).length, modifiedCount: 1 }
          })
      })
      return yield* updateMany("notes", askedWithin, { $set: { n: 1 } })
    })
    // One that is moved while it is read may be found twice.
    assert.deepStrictEqual(yield* update([...ids, ids[3], 1]), { matchedCount: 2051, modifiedCount: 3 })
    assert.deepStrictEqual(written.map(({ length }) => length), [1000, 1000, 51])
    assert.deepStrictEqual(written.splice(0).flat(), [...ids, 1])
    assert.deepStrictEqual(yield* update([]), { matchedCount: 0, modifiedCount: 1 })
    assert.deepStrictEqual(written, [[]])
  }))
