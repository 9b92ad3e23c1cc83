/** What becomes of operations whose server takes connections and does not answer. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { doorTo } from "../../../test/support/door.ts"
import { freshDatabase, onMongo, withClient } from "../../../test/support/mongo.ts"
import type { DocumentStore } from "../../document-store/src/DocumentStore.ts"
import * as MongoStore from "../src/MongoStore.ts"

type Store = DocumentStore["Service"]
type Operations = { readonly [name: string]: Effect.Effect<unknown, unknown> }

// Both together are the limit of an operation that has none of its own.
const serverSelectionTimeout = "300 millis"
const socketTimeout = "600 millis"

// The driver's own heartbeat notices the server only after ten seconds; what is beyond the limit is for a busy machine.
const patience = "6 seconds"

onMongo("MongoStore with a frozen server / mongodb", (_, server) => {
  const connectedWith = (timeouts: { readonly socketTimeout: "600 millis" | "1 minute" }) =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      const door = yield* doorTo(server.url)
      yield* door.open
      const host = `mongodb://127.0.0.1:${door.port}/?directConnection=true`
      const connectTimeout = "300 millis"
      // A busy machine may need more than the limits for what no test is about.
      const store = yield* Effect.eventually(
        MongoStore.make({ host, db, connectTimeout, serverSelectionTimeout, ...timeouts })
      )
      yield* withClient(server, (client) =>
        client.db(db).collection<{ _id: number; n: number }>("things").insertOne({ _id: 1, n: 0 }))
      yield* Effect.eventually(store.findById("things", 1))
      return { store, freeze: door.freeze, thaw: door.thaw }
    })

  const connected = connectedWith({ socketTimeout })

  /** A store whose server has stopped to answer, and what makes it answer again. */
  const frozen = Effect.tap(connected, ({ freeze }) => freeze)

  /** What each operation fails with, all of them begun at once. */
  const failuresOf = (operations: Operations) =>
    Effect.forEach(
      Object.entries(operations),
      ([name, operation]) =>
        Effect.map(
          Effect.timeoutOption(Effect.flip(operation), patience),
          (error) => [name, error._tag === "Some" ? factsOf(error.value) : "nothing for six seconds"] as const
        ),
      { concurrency: 100 }
    ).pipe(Effect.map((failures) => Object.fromEntries(failures)))

  const readsOf = (store: Store, options: { readonly timeLimit?: "100 millis" } = {}): Operations => ({
    findById: store.findById("things", 1, options),
    find: store.find("things", options),
    findAndCount: store.findAndCount("things", options),
    stream: Stream.runDrain(store.stream("things", options)),
    count: store.count("things", {}, options),
    distinct: store.distinct("things", "n", {}, options),
    aggregate: Stream.runDrain(store.aggregate("things", [], options))
  })

  it.live("ends every read", () =>
    Effect.gen(function*() {
      const { store } = yield* frozen
      const failures = yield* failuresOf({
        ...readsOf(store),
        estimatedCount: store.estimatedCount("things"),
        listIndexes: store.listIndexes("things")
      })
      for (const [name, failure] of Object.entries(failures)) {
        assert.propertyVal(failure, "_tag", "StoreUnavailable", name)
        assert.propertyVal(failure, "retryable", true, name)
      }
    }))

  it.live("waits for one document only as long as for a list of HTTP, however long other answers may take", () =>
    Effect.gen(function*() {
      const { freeze, store } = yield* connectedWith({ socketTimeout: "1 minute" })
      yield* freeze
      const error = yield* Effect.flip(store.findById("things", 1))
      assert.propertyVal(error, "detail", "the server did not answer within 5s 500ms")
    }))

  it.live("ends a read at its time limit", () =>
    Effect.gen(function*() {
      const { store } = yield* frozen
      const failures = yield* failuresOf(readsOf(store, { timeLimit: "100 millis" }))
      for (const [name, failure] of Object.entries(failures)) assert.propertyVal(failure, "_tag", "QueryTimeout", name)
    }))

  it.live("ends every write, and says that its outcome is unknown", () =>
    Effect.gen(function*() {
      const { store, thaw } = yield* frozen
      const failures = yield* failuresOf({
        insertOne: store.insertOne("things", { _id: 2 }),
        insertMany: store.insertMany("things", [{ _id: 3 }, { _id: 4 }]),
        replaceOne: store.replaceOne("things", { _id: 1 }, { n: 1 }),
        updateOne: store.updateOne("things", { _id: 1 }, { $inc: { n: 1 } }),
        updateMany: store.updateMany("things", {}, { $inc: { n: 1 } }),
        findOneAndUpdate: store.findOneAndUpdate("things", { _id: 1 }, { $inc: { n: 1 } }),
        findOneAndReplace: store.findOneAndReplace("things", { _id: 1 }, { n: 1 }),
        findOneAndDelete: store.findOneAndDelete("things", { _id: 2 }),
        deleteOne: store.deleteOne("things", { _id: 2 }),
        deleteMany: store.deleteMany("things", { _id: 2 }),
        setValidator: store.setValidator("things", undefined)
      })
      for (const [name, failure] of Object.entries(failures)) {
        assert.propertyVal(failure, "_tag", "StoreUnavailable", name)
      }
      const uncertain = "the server did not answer within 900ms: what was written, if anything, is not known"
      assert.deepInclude(failures["insertOne"], { detail: uncertain, retryable: false })
      yield* thaw
      yield* Effect.eventually(store.replaceOne("things", { _id: 1 }, { n: 7 }))
      assert.deepStrictEqual(yield* store.findById("things", 1), { _id: 1, n: 7 })
    }))

  it.live("ends a transaction when any of its commands gets no answer", () =>
    Effect.gen(function*() {
      const { freeze, store, thaw } = yield* connected
      let isFrozen = false
      const frozenInside = Effect.andThen(freeze, Effect.sync(() => (isFrozen = true)))
      const insert = store.insertOne("things", { _id: 5 })
      const { committed } = yield* failuresOf({ committed: store.transaction(Effect.andThen(insert, frozenInside)) })
        .pipe(
          // A busy machine may need more than the limit for the insertion.
          Effect.repeat({ until: () => isFrozen })
        )
      assert.deepInclude(committed, {
        _tag: "StoreUnavailable",
        detail: "the outcome is unknown: the server has not said whether the transaction is committed",
        retryable: false
      })
      const { written } = yield* failuresOf({ written: store.transaction(store.insertOne("things", { _id: 6 })) })
      assert.propertyVal(written, "_tag", "StoreUnavailable")
      yield* thaw
      assert.isUndefined(yield* Effect.eventually(store.findById("things", 6)))
    }))

  it.live("ends an interrupted write when the server never answers", () =>
    Effect.gen(function*() {
      const { store } = yield* frozen
      const fiber = yield* Effect.forkChild(store.updateOne("things", { _id: 1 }, { $inc: { n: 1 } }))
      yield* Effect.sleep("50 millis")
      assert.isTrue((yield* Effect.timeoutOption(Fiber.interrupt(fiber), patience))._tag === "Some")
    }))
})

const factsOf = (error: unknown): Readonly<Record<string, unknown>> => Object.fromEntries(Object.entries(Object(error)))
