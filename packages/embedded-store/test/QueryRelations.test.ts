import { type Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Layer, Result, Stream } from "effect"
import { either, oneOf, type Some } from "../../../test/support/choices.ts"
import { answersOf, textOf } from "../../../test/support/differential/answers.ts"
import { pipelines } from "../../../test/support/differential/pipelines.ts"
import { filters, sorts } from "../../../test/support/differential/queries.ts"
import { scenarios } from "../../../test/support/differential/scenario.ts"
import {
  anything,
  common,
  documents,
  ints,
  listOf,
  numbers,
  partial,
  paths,
  record
} from "../../../test/support/differential/values.ts"
import { layerInSmallTurns } from "../../../test/support/smallTurns.ts"
import { collectionOf } from "../../document-store/test/documentStore/collection.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 100)

const options = { timeout: 240_000 + runs * 100, arbitrary: { runs } }

class InSmallTurns extends Context.Service<InSmallTurns, DocumentStore["Service"]>()("test/InSmallTurns") {}

const stores = Layer.mergeAll(
  EmbeddedStore.layerMemory,
  Layer.effect(InSmallTurns, DocumentStore).pipe(Layer.provide(layerInSmallTurns))
)

/** What has to hold for any filter, pipeline or update, whatever a server says. */
it.layer(stores)("queries", (it) => {
  const texts = (list: ReadonlyArray<unknown>) => list.map(textOf)

  /** A filter or pipeline that is rejected is rejected in each of its forms. */
  const unlessRejected = <A, E>(effect: Effect.Effect<A, E>) => Effect.map(Effect.result(effect), Result.getOrUndefined)

  it.effect.prop(
    "find a document by a filter or by its contrary, never by both, and by $match alike",
    { documents, filter: filters },
    ({ documents, filter }) =>
      Effect.gen(function*() {
        const { all, ids, name, store } = yield* collectionOf(documents)
        const found = yield* unlessRejected(ids(filter))
        const others = yield* unlessRejected(ids({ $nor: [filter] }))
        assert.strictEqual(found === undefined, others === undefined)
        if (found === undefined || others === undefined) return
        assert.sameMembers([...found, ...others], (yield* all).map(({ _id }) => _id))
        const pipeline = [{ $match: filter }, { $sort: { _id: 1 } }]
        const matched = yield* Stream.runCollect(store.aggregate(name, pipeline))
        assert.deepStrictEqual(matched.map(({ _id }) => _id), found)
        assert.deepStrictEqual(yield* ids({ $and: [filter, filter] }), found)
        assert.deepStrictEqual(yield* ids({ $or: [filter, { $nor: [{}] }] }), found)
      }),
    options
  )

  it.effect.prop(
    "sort alike with a limit and without, forwards and backwards, in a find and in a pipeline",
    { documents, sort: sorts, skip: oneOf(0, 1, 2), limit: oneOf(1, 2, 3) },
    ({ documents, limit, skip, sort }) =>
      Effect.gen(function*() {
        const { find, name, store } = yield* collectionOf(documents)
        const sorted = yield* unlessRejected(find({ sort }))
        const part = yield* unlessRejected(find({ sort, skip, limit }))
        if (sorted === undefined) return assert.isUndefined(part)
        assert.deepStrictEqual(part, sorted.slice(skip, skip + limit))
        const stages = [{ $sort: sort }, { $skip: skip }, { $limit: limit }]
        assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(name, stages)), part)
      }),
    options
  )

  it.effect.prop(
    "give the first results of a pipeline, however many are asked for",
    { documents, pipeline: pipelines, limit: oneOf(1, 2, 3) },
    ({ documents, limit, pipeline }) =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(documents)
        const results = yield* unlessRejected(Stream.runCollect(store.aggregate(name, pipeline)))
        if (results === undefined) return
        const first = yield* Stream.runCollect(store.aggregate(name, [...pipeline, { $limit: limit }]))
        assert.deepStrictEqual(texts(first), texts(results.slice(0, limit)))
        const pulled = yield* Stream.runCollect(Stream.take(store.aggregate(name, pipeline), limit))
        assert.deepStrictEqual(texts(pulled), texts(results.slice(0, limit)))
      }),
    options
  )

  it.effect.prop(
    "answer in many small turns as at once",
    [scenarios],
    ([scenario]) =>
      Effect.gen(function*() {
        // Several documents to a turn, and several turns to a batch.
        const documents = [0, 100, 200, 300].flatMap((more) =>
          scenario.documents.map((document) => ({ ...document, _id: Number(document["_id"]) + more }))
        )
        const many = { ...scenario, documents }
        const atOnce = yield* answersOf(yield* DocumentStore, many)
        const inTurns = yield* answersOf(yield* InSmallTurns, many)
        // The reasons name the collections.
        assert.deepStrictEqual(inTurns.map(({ text }) => text), atOnce.map(({ text }) => text))
      }),
    { ...options, arbitrary: { runs: Math.ceil(runs / 2) } }
  )

  const isComparable = (value: unknown): boolean => !Number.isNaN(Number(String(value)))

  it.effect.prop(
    "compare numbers in $expr as in a filter",
    {
      values: listOf(numbers, 6, 1),
      operator: oneOf("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"),
      value: Arbitrary.filter(numbers, isComparable)
    },
    ({ operator, value, values }) =>
      Effect.gen(function*() {
        const { ids } = yield* collectionOf(values.filter(isComparable).map((n, _id) => ({ _id, n })))
        assert.deepStrictEqual(
          yield* ids({ $expr: { [operator]: ["$n", value] } }),
          yield* ids({ n: { [operator]: value } })
        )
      }),
    options
  )

  const change = (operator: string, operand: Some<unknown>): Some<Document> =>
    Arbitrary.map(Arbitrary.all([paths, operand]), ([path, value]): Document => ({ [operator]: { [path]: value } }))

  const idempotent = either(
    change("$set", anything),
    change("$unset", oneOf("")),
    change("$min", common),
    change("$max", common),
    change("$addToSet", either<unknown>(common, record({ $each: listOf(common, 3) }))),
    change("$pull", either<unknown>(common, partial({ x: common }), record({ $gte: ints }))),
    change("$pullAll", listOf(common, 3))
  )

  it.effect.prop(
    "change nothing by an idempotent update that they have made already",
    { documents, filter: filters, update: idempotent },
    ({ documents, filter, update }) =>
      Effect.gen(function*() {
        const { all, name, store } = yield* collectionOf(documents)
        const first = yield* unlessRejected(store.updateMany(name, filter, update))
        if (first === undefined) return
        const after = texts(yield* all)
        const second = yield* store.updateMany(name, filter, update)
        // MongoDB counts an item that $unset makes null again.
        if (!Object.hasOwn(update, "$unset")) assert.strictEqual(second.modifiedCount, 0)
        assert.deepStrictEqual(texts(yield* all), after)
      }),
    options
  )
})
