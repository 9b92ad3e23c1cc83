import { assert, it } from "@effect/vitest"
import { Arbitrary, Array as Arr, Effect, Fiber, type Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { byId, ChangeFollower } from "../../../test/support/changeFollower.ts"
import { asMongo, type Differs } from "../../../test/support/serverDifferences.ts"
import { type ChangePage, type Document, DocumentStore, type StoredChange } from "../src/DocumentStore.ts"
import { CurrentUser } from "../src/internal/currentUser.ts"
import { withTransactionId } from "../src/shared/writeReceipt.ts"
import type { StoreError } from "../src/StoreError.ts"

type Store = DocumentStore["Service"]

const hour = 3_600_000
const day = 24 * hour

/** After all that other tests have written, so that the log has times in their order. */
const base = Date.UTC(2040, 0)

let collections = 0

/** A collection whose changes are recorded, and the place from which on they are. */
const recorded = Effect.gen(function*() {
  const store = yield* DocumentStore
  collections += 1
  const name = `recorded ${collections}`
  yield* store.changes.record(name, {})
  return { store, name, start: yield* store.changes.end }
})

const readAll = (store: Store, names: ReadonlyArray<string>, after: string) =>
  Effect.map(store.changes.read(names, { after, limit: 10_000 }), ({ changes }) => changes)

/** What happened, without what differs from run to run. */
const shown = (changes: ReadonlyArray<StoredChange>) =>
  changes.map((change) => [
    change.operation,
    change.id,
    ...change.operation === "insert"
      ? [change.after]
      : change.operation === "update"
      ? [change.before, change.after]
      : [change.before]
  ])

/** Transactions of writes of three collections, the last of which is not recorded. None of the writes fails. */
const anyTransactions = Schema.Array(Schema.Struct({
  writes: Schema.Array(Schema.Struct({
    of: Schema.Literals([0, 1, 2]),
    id: Schema.Literals([0, 1, 2]),
    kind: Schema.Literals(["put", "update", "updateAll", "change", "delete"])
  })).check(Schema.isMinLength(1), Schema.isMaxLength(6)),
  isOne: Schema.Boolean,
  isKept: Schema.Boolean
})).check(Schema.isMinLength(1), Schema.isMaxLength(6))

type Write = typeof anyTransactions.Type[number]["writes"][number]

const writeTo = (
  store: Store,
  names: ReadonlyArray<string>,
  { id, kind, of }: Write,
  n: number
): Effect.Effect<unknown, StoreError> => {
  const name = names[of]!
  const own = { _id: id }
  switch (kind) {
    case "put":
      return store.replaceOne(name, own, { n }, { upsert: true })
    case "update":
      return store.updateOne(name, own, { $inc: { n: 1_000 } })
    case "updateAll":
      return store.updateMany(name, {}, { $set: { [`x${n}`]: n } })
    case "change":
      return store.findOneAndUpdate(name, own, { $push: { list: n } }, { upsert: true })
    default:
      return store.deleteOne(name, own)
  }
}

/** What a store's log of changes has, whichever store it is. */
export const changeLogContract = <E>(
  name: string,
  layer: Layer.Layer<DocumentStore, E>,
  { differs = asMongo, isEmbedded = true }: { readonly isEmbedded?: boolean; readonly differs?: Differs } = {}
) =>
  it.layer(layer)(`ChangeLog / ${name}`, (it) => {
    it.effect("has every kind of change, in the order of the writes", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        yield* store.insertOne(name, { _id: 1, n: 1, tags: ["a"], at: new Date(5), nested: { x: 1, y: 2 } })
        yield* store.updateOne(name, { _id: 1 }, { $set: { n: 2, "nested.x": 3 }, $unset: { tags: "" } })
        yield* store.updateOne(name, { _id: 1 }, [{ $set: { sum: { $add: ["$n", "$nested.x"] } } }])
        yield* store.replaceOne(name, { _id: 1 }, { z: 0, at: new Date(5) })
        yield* store.findOneAndUpdate(name, { _id: 2 }, { $set: { n: 7 } }, { upsert: true })
        yield* store.findOneAndReplace(name, { _id: 2 }, { n: 8 })
        yield* store.findOneAndDelete(name, { _id: 2 })
        yield* store.deleteOne(name, { _id: 1 })
        const one = { _id: 1, n: 1, tags: ["a"], at: new Date(5), nested: { x: 1, y: 2 } }
        const two = { _id: 1, n: 2, at: new Date(5), nested: { x: 3, y: 2 } }
        const three = { ...two, sum: 5 }
        const four = { _id: 1, z: 0, at: new Date(5) }
        const changes = yield* readAll(store, [name], start)
        assert.deepStrictEqual(shown(changes), [
          ["insert", 1, one],
          ["update", 1, one, two],
          ["update", 1, two, three],
          ["update", 1, three, four],
          ["insert", 2, { _id: 2, n: 7 }],
          ["update", 2, { _id: 2, n: 7 }, { _id: 2, n: 8 }],
          ["delete", 2, { _id: 2, n: 8 }],
          ["delete", 1, four]
        ])
        assert.strictEqual(new Set(changes.map(({ position }) => position)).size, 8)
        assert.strictEqual(new Set(changes.map(({ transaction }) => transaction)).size, 8)
        assert.isTrue(changes.every(({ collection }) => collection === name))
      }))

    it.effect("has fields of any name before and after a change", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        const documents: ReadonlyArray<Document> = [
          { _id: 1, "": "a" },
          { _id: 1, "": "a", constructor: 1 },
          { _id: 1, toString: 2, "": "b" },
          { _id: 1, valueOf: 3 },
          { _id: 1, "": "c" }
        ]
        for (const document of documents) yield* store.replaceOne(name, { _id: 1 }, document, { upsert: true })
        assert.deepStrictEqual(
          shown(yield* readAll(store, [name], start)),
          documents.map((after, i) => i === 0 ? ["insert", 1, after] : ["update", 1, documents[i - 1], after])
        )
      }))

    it.effect("has nothing of writes that change nothing", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        yield* store.insertOne(name, { _id: 1, n: 1 })
        yield* store.updateOne(name, { _id: 1 }, { $set: { n: 1 } })
        yield* store.updateOne(name, { _id: 2 }, { $set: { n: 1 } })
        yield* store.deleteMany(name, { _id: 3 })
        yield* Effect.flip(store.insertOne(name, { _id: 1 }))
        assert.strictEqual((yield* readAll(store, [name], start)).length, 1)
      }))

    it.effect("has each document of writes of many", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        yield* store.insertMany(name, Array.from({ length: 700 }, (_, _id) => ({ _id, n: 0 })))
        yield* store.updateMany(name, { _id: { $lt: 300 } }, { $inc: { n: 1 } })
        yield* store.deleteMany(name, { _id: { $gte: 600 } })
        const changes = yield* readAll(store, [name], start)
        const counts = Arr.groupBy(changes, ({ operation }) => operation)
        assert.deepStrictEqual(
          [counts["insert"]?.length, counts["update"]?.length, counts["delete"]?.length],
          [700, 300, 100]
        )
      }))

    it.effect.prop(
      "is followed through any transactions that write recorded and other collections, and through those that fail",
      { transactions: Arbitrary.schema(anyTransactions) },
      ({ transactions }) =>
        Effect.gen(function*() {
          const { name, store } = yield* recorded
          const other = yield* recorded
          const { start } = other
          const names = [name, other.name, `plain ${name}`]
          const [followed, read] = [new ChangeFollower(names, start), new ChangeFollower(names.slice(0, 2), start)]
          const following = yield* Effect.forkChild(
            Stream.runForEachWhile(store.changes.stream(names.slice(0, 2), { after: start }), (page) =>
              Effect.sync(() => {
                followed.take(page)
                return !followed.collection(name).has("\"end\"")
              })),
            { startImmediately: true }
          )
          let n = 0
          for (const { isKept, isOne, writes } of transactions) {
            const all = Effect.forEach(writes, (write) => writeTo(store, names, write, n++), { discard: true })
            if (isOne) yield* Effect.ignore(store.transaction(isKept ? all : Effect.andThen(all, Effect.fail("no"))))
            else yield* all
          }
          yield* store.insertOne(name, { _id: "end" })
          yield* Fiber.join(following)
          yield* read.follow(store, 3)
          for (const each of names.slice(0, 2)) {
            const documents = byId(yield* store.find(each, {}))
            assert.deepStrictEqual(read.collection(each), documents)
            // A change of the other collection at the end may come later than the last one of the first.
            if (each === name) assert.deepStrictEqual(followed.collection(each), documents)
          }
        }),
      { arbitrary: { runs: 25 } }
    )

    it.effect.skipIf(differs("transactionTimes"))(
      "has the writes of a transaction together, and none of one that fails",
      () =>
        Effect.gen(function*() {
          const { name, start, store } = yield* recorded
          yield* store.insertOne(name, { _id: 0 })
          const { transaction } = yield* withTransactionId(store.transaction(Effect.gen(function*() {
            yield* store.insertMany(name, [{ _id: 1 }, { _id: 2 }])
            yield* store.updateOne(name, { _id: 0 }, { $set: { n: 1 } })
            yield* store.insertOne(name, { _id: 3 })
            yield* store.deleteOne(name, { _id: 3 })
          })))
          yield* Effect.flip(store.transaction(Effect.andThen(store.insertOne(name, { _id: 4 }), Effect.fail("no"))))
          const changes = yield* readAll(store, [name], start)
          const ofTransaction = changes.filter((change) => change.transaction === transaction)
          assert.sameDeepMembers(shown(changes.filter(({ id }) => id !== 3)), [
            ["insert", 0, { _id: 0 }],
            ["insert", 1, { _id: 1 }],
            ["insert", 2, { _id: 2 }],
            ["update", 0, { _id: 0 }, { _id: 0, n: 1 }]
          ])
          assert.isTrue(ofTransaction.length >= 3)
          assert.isTrue(changes.every((change) => change.transaction === transaction || change.operation === "insert"))
        })
    )

    it.effect("tells the transaction of a write, when it was and whose", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        const user = CurrentUser.of({ subject: "ann", roles: [], claims: {} })
        const written = yield* withTransactionId(
          Effect.provideService(store.insertOne(name, { _id: 1 }), CurrentUser, user)
        )
        const other = yield* withTransactionId(store.find(name, {}))
        const [change] = yield* readAll(store, [name], start)
        if (!differs("operationTimes")) assert.strictEqual(change?.transaction, written.transaction)
        assert.strictEqual(other.transaction, undefined)
        assert.instanceOf(change?.time, Date)
      }))

    it.effect("is read from any place, page by page", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        yield* Effect.forEach([1, 2, 3, 4, 5], (_id) => store.insertOne(name, { _id }))
        const changes = yield* readAll(store, [name], start)
        for (const [i, { position }] of changes.entries()) {
          assert.deepStrictEqual(shown(yield* readAll(store, [name], position)), shown(changes.slice(i + 1)))
        }
        const ids: Array<unknown> = []
        let page: ChangePage = { changes: [], position: start, isUpToDate: false }
        while (!page.isUpToDate) {
          page = yield* store.changes.read([name], { after: page.position, limit: 2 })
          assert.isTrue(page.changes.length <= 2)
          ids.push(...page.changes.map(({ id }) => id))
        }
        assert.deepStrictEqual(ids, [1, 2, 3, 4, 5])
      }))

    it.effect("has the changes of the collections that are asked for", () =>
      Effect.gen(function*() {
        const one = yield* recorded
        const other = yield* recorded
        const { start, store } = one
        yield* store.insertOne(one.name, { _id: 1 })
        yield* store.insertOne(other.name, { _id: 2 })
        yield* store.insertOne("not recorded at all", { _id: new Date().getTime() + collections })
        yield* store.insertOne(one.name, { _id: 3 })
        const idsOf = (names: ReadonlyArray<string>, after: string) =>
          Effect.map(readAll(store, names, after), (changes) => changes.map(({ id }) => id))
        assert.deepStrictEqual(yield* idsOf([one.name], start), [1, 3])
        assert.deepStrictEqual(yield* idsOf([other.name], other.start), [2])
        assert.deepStrictEqual(yield* idsOf([one.name, other.name], other.start), [1, 2, 3])
      }))

    it.effect("streams what there is and then what comes, to each reader", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        yield* store.insertOne(name, { _id: 0 })
        const readers = yield* Effect.forEach([1, 2, 3], () =>
          Effect.forkChild(
            store.changes.stream([name], { after: start }).pipe(
              Stream.flatMap(({ changes }) => Stream.fromIterable(changes)),
              Stream.take(101),
              Stream.runCollect
            ),
            { startImmediately: true }
          ))
        yield* Effect.forEach(
          Array.from({ length: 100 }, (_, i) => i + 1),
          (_id) => store.insertOne(name, { _id }),
          { concurrency: 4 }
        )
        const [one, ...others] = yield* Effect.forEach(readers, Fiber.join)
        assert.sameMembers(one!.map(({ id }) => Number(id)), Array.from({ length: 101 }, (_, i) => i))
        for (const other of others) assert.deepStrictEqual(other, one)
      }))

    it.effect("says where a stream begins before anything changes", () =>
      Effect.gen(function*() {
        const { name, store } = yield* recorded
        yield* store.insertOne(name, { _id: 0 })
        const [first] = yield* Stream.runCollect(Stream.take(store.changes.stream([name]), 1))
        assert.deepStrictEqual([first?.changes, first?.isUpToDate], [[], true])
        yield* store.insertOne(name, { _id: 1 })
        const changes = yield* readAll(store, [name], first!.position)
        assert.deepStrictEqual(changes.map(({ id }) => id), [1])
      }))

    it.effect("lets readers that fell behind read on, without a gap", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        const count = 6_000
        const slow = yield* Effect.forkChild(
          store.changes.stream([name], { after: start }).pipe(
            Stream.tap(({ changes }) => changes.length === 0 ? Effect.void : Effect.yieldNow),
            Stream.flatMap(({ changes }) => Stream.fromIterable(changes)),
            Stream.take(count),
            Stream.runCollect
          ),
          { startImmediately: true }
        )
        yield* store.insertMany(name, Array.from({ length: count }, (_, _id) => ({ _id })))
        const changes = yield* Fiber.join(slow)
        assert.deepStrictEqual(changes.map(({ id }) => id), Array.from({ length: count }, (_, i) => i))
      }))

    it.effect("rejects collections that are not recorded, and places of no log", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        const notRecorded = yield* Effect.flip(readAll(store, ["nothing"], start))
        assert.strictEqual(notRecorded._tag, "QueryRejected")
        for (const position of ["", "x", "0000000000000001_0123456789abcdef", "9999999999999999_"]) {
          const gone = yield* Effect.flip(readAll(store, [name], position))
          assert.strictEqual(gone._tag, "PositionGone")
          const ended = yield* Effect.flip(Stream.runDrain(store.changes.stream([name], { after: position })))
          assert.strictEqual(ended._tag, "PositionGone")
        }
      }))

    it.effect("has a place before the first change since a time", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        const idsSince = (time: number) =>
          Effect.flatMap(
            store.changes.since([name], new Date(time)),
            (place) => Effect.map(readAll(store, [name], place), (changes) => changes.map(({ id }) => id))
          )
        for (const [time, ids] of [[hour, [1, 2]], [2 * hour, [3]], [3 * hour, [4, 5]]] as const) {
          // A server has a clock of its own.
          if (isEmbedded) yield* TestClock.setTime(base + time)
          yield* store.insertMany(name, ids.map((_id) => ({ _id })))
        }
        const times = (yield* readAll(store, [name], start)).map(({ time }) => time.getTime())
        assert.deepStrictEqual(yield* idsSince(times[0]!), [1, 2, 3, 4, 5])
        assert.deepStrictEqual(yield* idsSince(times[4]! + day), [])
        // Positions of before a time that is to come are followed on.
        yield* store.insertOne(name, { _id: 6 })
        if (isEmbedded) {
          assert.deepStrictEqual(yield* idsSince(0), [1, 2, 3, 4, 5, 6])
          assert.deepStrictEqual(yield* idsSince(times[0]! + 1), [3, 4, 5, 6])
          assert.deepStrictEqual(yield* idsSince(times[2]!), [3, 4, 5, 6])
          assert.deepStrictEqual(yield* idsSince(times[3]!), [4, 5, 6])
        }
        const notRecorded = yield* Effect.flip(store.changes.since(["not recorded"], new Date(0)))
        assert.strictEqual(notRecorded._tag, "QueryRejected")
      }))

    it.effect.skipIf(!isEmbedded)("begins since a time with what is kept", () =>
      Effect.gen(function*() {
        const { name, store } = yield* recorded
        yield* store.insertOne(name, { _id: 1 })
        yield* store.changes.record(name, undefined)
        yield* store.changes.record(name, {})
        yield* store.insertOne(name, { _id: 2 })
        const place = yield* store.changes.since([name], new Date(0))
        assert.deepStrictEqual((yield* readAll(store, [name], place)).map(({ id }) => id), [2])
      }))

    it.effect.skipIf(!isEmbedded)("does not go back to before it was begun, or begun again", () =>
      Effect.gen(function*() {
        const { name, start, store } = yield* recorded
        yield* store.changes.record(name, { keep: "1 hour" })
        yield* store.insertOne(name, { _id: 1 })
        assert.strictEqual((yield* readAll(store, [name], start)).length, 1)
        yield* store.changes.record(name, undefined)
        yield* store.insertOne(name, { _id: 2 })
        yield* store.changes.record(name, {})
        const again = yield* store.changes.end
        yield* store.insertOne(name, { _id: 3 })
        assert.deepStrictEqual(
          (yield* readAll(store, [name], again)).map(({ id }) =>
            id
          ),
          [3]
        )
      }))
  })
