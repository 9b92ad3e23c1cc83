import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CurrentUser, DocumentStore, Index, Model, Repository } from "../../src/index.ts"
import { documentOperationsOf } from "../../src/Repository/internal.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Contract extends Model.Class<Contract>()("Contract", {
  id: Model.id(),
  title: Schema.String,
  group: Schema.String,
  secret: Schema.String.pipe(Model.optional, Model.omitted),
  ...Model.audited,
  ...Model.versioned,
  ...Model.softDeleted,
  ...Model.historied
}) {}

/** With nothing but a history. */
class Stock extends Model.Class<Stock>()("Stock", {
  id: Model.id(),
  code: Schema.String.pipe(Model.indexed(Index.unique)),
  amount: Schema.Int,
  ...Model.historied
}) {}

class Shelf extends Model.Class<Shelf>()("Shelf", {
  id: Model.id(),
  places: Schema.Array(Schema.Int),
  ...Model.historied
}) {}

class Tag extends Model.Class<Tag>()("Tag", { id: Model.id() }) {}

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id(),
  tag: Model.reference(() => Tag, { onDelete: "null" }).pipe(Model.optional),
  ...Model.softDeleted,
  ...Model.historied
}) {}

const repositories = Layer.mergeAll(
  Repository.layer(Contract),
  Repository.layer(Stock),
  Repository.layer(Shelf),
  Repository.layer(Tag),
  Repository.layer(Letter)
)

/** What a repository keeps of the states of documents, whichever store is under it. */
storeMatrix((name, store, server) => {
  // One test changes this many documents at once. SecantusDB is slow.
  const many = server?.name.startsWith("SecantusDB") === true ? 1_000 : 10_000
  it.layer(repositories.pipe(Layer.provideMerge(store)))(`History / ${name}`, (it) => {
    // Attempts of a transaction after the first may wait for a moment.
    const test = <A, E>(
      name: string,
      run: () => Effect.Effect<
        A,
        E,
        | DocumentStore.DocumentStore
        | Repository.RepositoryOf<"Contract">
        | Repository.RepositoryOf<"Stock">
        | Repository.RepositoryOf<"Shelf">
      >,
      timeout?: number
    ) => it.effect(name, () => TestClock.withLive(run()), timeout)

    const stockOf = (code: string, amount = 0) => new Stock({ id: code, code, amount })

    const changesOf = Effect.fnUntraced(function*(id: string) {
      const stocks = yield* Repository.for(Stock)
      const history = yield* stocks.history(id)
      return history.map(({ change, document, revision }) => [revision, change, document["amount"]])
    })

    it.effect("records each state of a document, with operation, time and user", () =>
      Effect.gen(function*() {
        const contracts = yield* Repository.for(Contract)
        const at = <A, E, R>(millis: number, user: string | undefined, effect: Effect.Effect<A, E, R>) =>
          Effect.andThen(
            TestClock.setTime(millis),
            user === undefined
              ? effect
              : Effect.provideService(effect, CurrentUser, { subject: user, roles: [], claims: {} })
          )

        const draft = yield* Model.finalise(Contract, { title: "a", group: "each", secret: "s" })
        const inserted = yield* at(1_000, "U1", contracts.insert(draft))
        const replaced = yield* at(2_000, undefined, contracts.replace(new Contract({ ...inserted, title: "b" })))
        const patched = yield* at(3_000, "U2", contracts.patch(draft.id, { title: "c" }))
        yield* at(4_000, "U2", contracts.updateOne(($) => $.id.equals(draft.id), ($) => [$.title.set("d")]))
        yield* at(5_000, "U3", contracts.deleteById(draft.id))
        const restored = yield* at(6_000, "U3", contracts.restoreById(draft.id))
        yield* at(7_000, "U4", contracts.purgeById(draft.id))

        const history = yield* contracts.history(draft.id)
        assert.deepStrictEqual(
          history.map(({ by, change, document, id, revision, time }) => [
            id === draft.id,
            revision,
            change,
            time.epochMilliseconds,
            by,
            document["title"],
            document["version"]
          ]),
          [
            [true, 7, "purge", 7_000, "U4", "d", 6],
            [true, 6, "restore", 6_000, "U3", "d", 6],
            [true, 5, "delete", 5_000, "U3", "d", 5],
            [true, 4, "update", 4_000, "U2", "d", 4],
            [true, 3, "patch", 3_000, "U2", "c", 3],
            [true, 2, "replace", 2_000, undefined, "b", 2],
            [true, 1, "insert", 1_000, "U1", "a", 1]
          ]
        )
        const instances = yield* Effect.forEach(history, ({ instance }) => instance)
        assert.deepStrictEqual(instances[6], inserted)
        assert.deepStrictEqual(instances[5], replaced)
        assert.deepStrictEqual(instances[4], patched)
        assert.strictEqual(instances[2]?.deleted?.epochMilliseconds, 5_000)
        assert.deepStrictEqual(instances[1], restored)
        assert.deepStrictEqual([instances[6]?.secret, instances[6]?.revision], ["s", 1])
        assert.instanceOf(instances[0], Contract)
      }))

    it.effect("has no state of a deleted document whose reference is set to null later", () =>
      Effect.gen(function*() {
        const [tags, letters] = [yield* Repository.for(Tag), yield* Repository.for(Letter)]
        const tag = yield* tags.insert(yield* Model.finalise(Tag, {}))
        const letter = yield* Model.finalise(Letter, { tag: tag.id })
        yield* TestClock.setTime(1_000)
        yield* letters.insert(letter)
        yield* TestClock.setTime(2_000)
        yield* letters.deleteById(letter.id)
        yield* TestClock.setTime(3_000)
        yield* tags.deleteById(tag.id)
        assert.strictEqual((yield* letters.history(letter.id))[0]?.change, "update")
        const isThere = (seconds: number) =>
          Effect.map(letters.history.at(letter.id, { time: DateTime.makeUnsafe(seconds * 1_000) }), Option.isSome)
        assert.deepStrictEqual([yield* isThere(1), yield* isThere(2), yield* isThere(3)], [true, false, false])
        yield* letters.restoreById(letter.id)
        assert.isTrue(yield* isThere(4))
      }))

    it.effect("returns the state of a revision, and the state at a time", () =>
      Effect.gen(function*() {
        const contracts = yield* Repository.for(Contract)
        const draft = yield* Model.finalise(Contract, { title: "a", group: "moments" })
        yield* TestClock.setTime(1_000)
        yield* contracts.insert(draft)
        yield* TestClock.setTime(2_000)
        yield* contracts.patch(draft.id, { title: "b" })
        yield* TestClock.setTime(3_000)
        yield* contracts.deleteById(draft.id)
        yield* TestClock.setTime(4_000)
        yield* contracts.restoreById(draft.id)
        const titleAt = (point: Repository.HistoryPoint) =>
          Effect.map(
            contracts.history.at(draft.id, point),
            (state) => Option.getOrUndefined(Option.map(state, ({ change, document }) => [change, document["title"]]))
          )
        const revisions = [0, 1, 2, 3, 4, 5].map((revision) => ({ revision }))
        assert.deepStrictEqual(yield* Effect.forEach(revisions, titleAt), [
          undefined,
          ["insert", "a"],
          ["patch", "b"],
          ["delete", "b"],
          ["restore", "b"],
          undefined
        ])
        const times = [999, 1_000, 1_999, 2_500, 3_500, 9_000].map((millis) => ({ time: DateTime.makeUnsafe(millis) }))
        assert.deepStrictEqual(yield* Effect.forEach(times, titleAt), [
          undefined,
          ["insert", "a"],
          ["insert", "a"],
          ["patch", "b"],
          undefined,
          ["restore", "b"]
        ])
        assert.isTrue(Option.isNone(yield* contracts.history.at("none", { revision: 1 })))
      }))

    test("reads the states by pages, and as a stream", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        yield* stocks.insert(stockOf("pages"))
        for (let i = 0; i < 6; i++) yield* stocks.patch("pages", { amount: i + 1 })
        const first = yield* stocks.history("pages", { pageSize: 3 })
        const second = yield* stocks.history("pages", { pageSize: 3, before: first.at(-1) })
        const third = yield* stocks.history("pages", { pageSize: 3, before: second.at(-1) })
        const revisions = [first, second, third].map((page) => page.map(({ revision }) => revision))
        assert.deepStrictEqual(revisions, [[7, 6, 5], [4, 3, 2], [1]])
        const amounts = Stream.map(stocks.history.stream("pages"), ({ document }) => document["amount"])
        assert.deepStrictEqual(yield* Stream.runCollect(amounts), [6, 5, 4, 3, 2, 1, 0])
        assert.deepStrictEqual(yield* Stream.runCollect(Stream.take(amounts, 2)), [6, 5])
        assert.deepStrictEqual(yield* stocks.history("none"), [])
      }))

    test("records every kind of write", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        const saved = yield* stocks.save(stockOf("writes", 1))
        assert.strictEqual(saved.revision, 1)
        assert.strictEqual((yield* stocks.save(new Stock({ ...saved, amount: 2 }))).revision, 2)
        const before = yield* stocks.findOneAndUpdate(
          ($) => $.code.equals("writes"),
          ($) => [$.amount.increment(1)],
          { returnDocument: "before" }
        )
        const after = yield* stocks.findOneAndUpdate(($) => $.code.equals("writes"), ($) => [$.amount.increment(1)])
        assert.deepStrictEqual([before, after].map(Option.map(({ amount }) => amount)), [
          Option.some(2),
          Option.some(4)
        ])
        yield* stocks.updateMany(($) => $.code.equals("writes"), ($) => [$.amount.increment(1)])
        yield* stocks.patch("writes", { amount: 5 })
        yield* stocks.deleteById("writes")
        yield* documentOperationsOf(stocks).insert({ _id: "writes", code: "writes", amount: 9 })
        yield* stocks.bulkInsert([stockOf("writes bulk", 3)])
        assert.strictEqual(yield* stocks.deleteMany(($) => $.code.in(["writes", "writes bulk"])), 2)
        assert.deepStrictEqual(yield* changesOf("writes"), [
          [8, "delete", 9],
          [7, "insert", 9],
          [6, "delete", 5],
          [5, "update", 5],
          [4, "update", 4],
          [3, "update", 3],
          [2, "replace", 2],
          [1, "insert", 1]
        ])
        assert.deepStrictEqual(yield* changesOf("writes bulk"), [[2, "delete", 3], [1, "insert", 3]])
        assert.strictEqual(yield* stocks.history.purge("writes"), 8)
        assert.deepStrictEqual(yield* changesOf("writes"), [])
        yield* stocks.insert(stockOf("writes", 1))
        assert.deepStrictEqual(yield* changesOf("writes"), [[1, "insert", 1]])
      }))

    test("continues after a purge of what is there, also when the document comes again", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        yield* stocks.insert(stockOf("purged", 1))
        yield* stocks.patch("purged", { amount: 2 })
        assert.strictEqual(yield* stocks.history.purge("purged"), 2)
        yield* stocks.patch("purged", { amount: 3 })
        yield* stocks.deleteById("purged")
        yield* stocks.insert(stockOf("purged", 4))
        for (const amount of [5, 6, 7]) yield* stocks.patch("purged", { amount })
        const revisions = (yield* stocks.history("purged")).map(({ change, revision }) => [revision, change])
        assert.deepStrictEqual(revisions, [[8, "patch"], [7, "patch"], [6, "patch"], [5, "insert"], [4, "delete"], [
          3,
          "patch"
        ]])
      }))

    test("records no failed write", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        yield* stocks.insert(stockOf("nothing", 1))
        const none = yield* stocks.updateOne(($) => $.code.equals("none"), ($) => [$.amount.set(1)])
        assert.strictEqual(none.matchedCount, 0)
        assert.isTrue(Option.isNone(yield* stocks.findOneAndUpdate(($) => $.id.equals("no"), ($) => [$.amount.set(1)])))
        const taken = stocks.insert(new Stock({ id: "nothing too", code: "nothing", amount: 1 }))
        assert.strictEqual((yield* Effect.flip(taken))._tag, "DuplicateKey")
        assert.strictEqual((yield* Effect.flip(stocks.insert(stockOf("nothing"))))._tag, "DuplicateKey")
        assert.strictEqual((yield* Effect.flip(stocks.replace(stockOf("none"))))._tag, "DocumentNotFound")
        assert.strictEqual((yield* Effect.flip(stocks.deleteById("none")))._tag, "DocumentNotFound")
        yield* stocks.patch("nothing", { amount: 1 })
        const fails = Repository.transaction(
          Effect.andThen(stocks.patch("nothing", { amount: 2 }), Effect.fail("no" as const))
        )
        assert.strictEqual(yield* Effect.flip(fails), "no")
        assert.deepStrictEqual(yield* changesOf("nothing"), [[1, "insert", 1]])
        assert.deepStrictEqual(yield* changesOf("nothing too"), [])
        assert.deepStrictEqual(yield* changesOf("none"), [])
      }))

    test("is part of the transaction of its write", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        yield* Repository.transaction(Effect.gen(function*() {
          yield* stocks.insert(stockOf("joined", 1))
          yield* stocks.patch("joined", { amount: 2 })
          assert.deepStrictEqual(yield* changesOf("joined"), [[2, "patch", 2], [1, "insert", 1]])
          yield* stocks.deleteById("joined")
        }))
        assert.deepStrictEqual(yield* changesOf("joined"), [[3, "delete", 2], [2, "patch", 2], [1, "insert", 1]])
      }))

    test("stops a bulk insert at the first rejected instance, and keeps the states of those before it", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        const instances = ["b1", "b2", "b1", "b3"].map((code, i) => new Stock({ id: `${code} ${i}`, code, amount: i }))
        const error = yield* Effect.flip(stocks.bulkInsert(instances))
        if (error._tag !== "BulkInsertFailed") return assert.fail(error._tag)
        assert.deepStrictEqual(
          [error.insertedCount, error.failures.map(({ error, index }) => [index, error._tag])],
          [2, [[2, "DuplicateKey"]]]
        )
        assert.strictEqual(yield* stocks.count(($) => $.code.in(["b1", "b2", "b3"])), 2)
        assert.deepStrictEqual(yield* changesOf("b2 1"), [[1, "insert", 1]])
        assert.deepStrictEqual(yield* changesOf("b1 2"), [])
      }))

    test("inserts all valid instances in an unordered bulk insert", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        const instances = ["u1", "u1", "u2", "u2", "u3"].map((code, i) =>
          new Stock({ id: `${code} ${i}`, code, amount: i })
        )
        const error = yield* Effect.flip(stocks.bulkInsert(instances, { ordered: false }))
        if (error._tag !== "BulkInsertFailed") return assert.fail(error._tag)
        assert.deepStrictEqual([error.insertedCount, error.failures.map(({ index }) => index)], [3, [1, 3]])
        assert.deepStrictEqual(yield* changesOf("u3 4"), [[1, "insert", 4]])
        assert.deepStrictEqual(yield* changesOf("u2 3"), [])
      }))

    test("records the earlier state of a document that is older than its history", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const stocks = yield* Repository.for(Stock)
        for (const code of ["old 1", "old 2", "old 3"]) yield* store.insertOne("Stock", { _id: code, code, amount: 5 })
        assert.strictEqual((yield* stocks.findById("old 1")).revision, 0)
        yield* stocks.patch("old 1", { amount: 6 })
        yield* stocks.updateMany(($) => $.code.startsWith("old"), ($) => [$.amount.increment(10)])
        yield* stocks.deleteById("old 2")
        assert.deepStrictEqual(yield* changesOf("old 1"), [[2, "update", 16], [1, "patch", 6], [0, "baseline", 5]])
        assert.deepStrictEqual(yield* changesOf("old 2"), [[2, "delete", 15], [1, "update", 15], [0, "baseline", 5]])
        yield* store.insertOne("Stock", { _id: "old 4", code: "old 4", amount: 5 })
        yield* stocks.deleteById("old 4")
        assert.deepStrictEqual(yield* changesOf("old 4"), [[1, "delete", 5], [0, "baseline", 5]])
        yield* stocks.insert(stockOf("old 4", 1))
        assert.deepStrictEqual((yield* changesOf("old 4"))[0], [2, "insert", 1])
      }))

    test("neither loses nor repeats a state under concurrent writes", () =>
      Effect.gen(function*() {
        const stocks = yield* Repository.for(Stock)
        const ids = ["race 1", "race 2"]
        for (const id of ids) yield* stocks.insert(stockOf(id))
        const increment = (id: string) =>
          Effect.retry(stocks.updateOne(($) => $.id.equals(id), ($) => [$.amount.increment(1)]), {
            while: ({ _tag }) => _tag === "StoreUnavailable"
          })
        yield* Effect.forEach(Array.from({ length: 40 }, (_, i) => ids[i % 2]!), increment, { concurrency: 8 })
        for (const id of ids) {
          const states = yield* changesOf(id)
          assert.deepStrictEqual(
            states.toReversed(),
            Array.from({ length: 21 }, (_, i) => [i + 1, i === 0 ? "insert" : "update", i])
          )
        }
      }))

    test("records the states of an update of many documents", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const stocks = yield* Repository.for(Stock)
        const kept = (change: string) =>
          store.count("Stock.history", { document_id: { $gte: "many", $lt: "many~" }, change })
        const all = Array.from({ length: many }, (_, i) => stockOf(`many ${i}`, i))
        assert.strictEqual(yield* stocks.bulkInsert(all.slice(0, 500)), 500)
        assert.strictEqual(yield* kept("insert"), 500)
        const others = all.slice(500).map(({ amount, code, id }) => ({ _id: id, code, amount, revision: 1 }))
        yield* store.insertMany("Stock", others)
        const updated = yield* stocks.updateMany(($) => $.id.startsWith("many"), ($) => [$.amount.increment(1)])
        assert.deepStrictEqual(updated, { matchedCount: many, modifiedCount: many })
        assert.strictEqual(yield* kept("update"), many)
        assert.deepStrictEqual(yield* changesOf("many 7"), [[2, "update", 8], [1, "insert", 7]])
        const removed = yield* stocks.deleteMany(($) => $.id.startsWith("many").and($.amount.lessThan(501)))
        assert.deepStrictEqual([removed, yield* kept("delete")], [500, 500])
      }))

    test("changes the list element that the condition matched", () =>
      Effect.gen(function*() {
        const lists = yield* Repository.for(Shelf)
        yield* lists.bulkInsert([new Shelf({ id: "s1", places: [1, 2] }), new Shelf({ id: "s2", places: [2, 3] })])
        yield* lists.updateMany(($) => $.places.contains(2), ($) => [$.places.matched.set(9)])
        const states = yield* Effect.forEach(["s1", "s2"], (id) => lists.history(id, { pageSize: 1 }))
        assert.deepStrictEqual(states.flat().map(({ document }) => document["places"]), [[1, 9], [9, 3]])
      }))
  })
})
