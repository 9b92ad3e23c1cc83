import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Collection, type Document, MongoServerError, Timestamp } from "mongodb"
import { DocumentStore } from "../../../src/Repository/DocumentStore.ts"
import { makeChangeLog } from "../../../src/Repository/mongo/changeLog.ts"
import { makeDeadlines } from "../../../src/Repository/mongo/deadlines.ts"
import type { MongoSession } from "../../../src/Repository/mongo/driverCall.ts"
import { ChangeFollower } from "../../support/changeFollower.ts"
import { onMongo } from "../../support/mongo.ts"

/** A log on a server that answers commands by this function. */
const logOn = (
  answer: (command: Document) => Document,
  watch: () => object = () => assert.fail("no change stream is opened")
) =>
  Effect.gen(function*() {
    const deadlines = yield* makeDeadlines
    const commands: Array<Document> = []
    const db = {
      command: (command: Document) => {
        commands.push(command)
        return Promise.resolve().then(() => answer(command))
      },
      createCollection: (name: string, options: Document) => {
        commands.push({ create: name, ...options })
        return Promise.resolve({})
      },
      watch
    }
    const session: MongoSession = {
      // What the log uses of a collection.
      collection: (collectionName) => ({ collectionName, db }) as unknown as Collection,
      redact: (text) => text,
      attributes: {},
      startSession: () => assert.fail("no session is started"),
      limit: 5_000,
      lookUpLimit: 5_000,
      deadlines
    }
    return { commands, log: yield* makeChangeLog(session) }
  })

const images = { changeStreamPreAndPostImages: { enabled: true } }

describe("changeLog", () => {
  it.live("lets the server keep images of documents before and after a change", () =>
    Effect.gen(function*() {
      const { commands, log } = yield* logOn(({ hello }) => hello === 1 ? { setName: "rs0" } : {})
      yield* log.record("orders", {})
      assert.deepStrictEqual(commands, [{ hello: 1 }, { collMod: "orders", ...images }])
    }))

  it.live("makes a collection that is missing", () =>
    Effect.gen(function*() {
      const { commands, log } = yield* logOn(({ hello }) => {
        if (hello === 1) return { msg: "isdbgrid" }
        throw new MongoServerError({ message: "ns does not exist", code: 26 })
      })
      yield* log.record("orders", {})
      assert.deepStrictEqual(commands.at(-1), { create: "orders", ...images })
    }))

  it.live("names the collection and what is missing where there is no replica set, or an older server", () =>
    Effect.gen(function*() {
      const single = yield* logOn(() => ({}))
      const old = yield* logOn(({ hello }) => {
        if (hello === 1) return { setName: "rs0" }
        throw new MongoServerError({ message: "BSON field 'changeStreamPreAndPostImages' is unknown", code: 40_415 })
      })
      const needs = "The store does not support a log of the changes of \"orders\", which needs a replica set of " +
        "MongoDB 6.0 or newer: "
      assert.strictEqual(
        (yield* Effect.flip(single.log.record("orders", {}))).message,
        `${needs}the server is no member of a replica set (record)`
      )
      assert.strictEqual(
        (yield* Effect.flip(old.log.record("orders", {}))).message,
        `${needs}BSON field 'changeStreamPreAndPostImages' is unknown (record)`
      )
      assert.deepStrictEqual(single.commands, [{ hello: 1 }])
    }))

  it.live("shares a change stream with all who follow the collections, and opens another one after it has failed", () =>
    Effect.gen(function*() {
      const opened: Array<{ readonly fail: (code: number) => void; isClosed: boolean }> = []
      const { log } = yield* logOn(
        ({ hello }) => hello === 1 ? { setName: "rs0" } : { operationTime: new Timestamp({ t: 1, i: 1 }) },
        () => {
          const { promise, reject } = Promise.withResolvers<never>()
          const one = {
            fail: (code: number) => reject(new MongoServerError({ message: "no more", code })),
            isClosed: false
          }
          opened.push(one)
          const close = () => {
            one.isClosed = true
            return Promise.resolve()
          }
          return { tryNext: () => promise, close }
        }
      )
      yield* log.record("orders", {})
      const begin = Effect.gen(function*() {
        const pull = yield* Stream.toPull(log.stream(["orders"]))
        yield* pull
        return pull
      })
      const follow = Effect.asVoid(begin)
      yield* Effect.scoped(Effect.andThen(follow, follow))
      assert.deepStrictEqual(opened.map(({ isClosed }) => isClosed), [true])
      const pull = yield* begin
      yield* follow
      assert.strictEqual(opened.length, 2)
      opened[1]!.fail(286)
      assert.strictEqual((yield* Effect.flip(pull))._tag, "PositionGone")
      yield* follow
      assert.deepStrictEqual(opened.map(({ isClosed }) => isClosed), [true, true, false])
    }))
})

onMongo("changeLog on a server / mongodb", (layer) => {
  it.layer(layer)((it) => {
    it.effect("follows writes one by one", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.changes.record("things", {})
        const follower = new ChangeFollower(["things"], yield* store.changes.end)
        const writes: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          store.insertOne("things", { _id: 1, n: 1, list: [1, 2] }),
          store.updateOne("things", { _id: 1 }, { $inc: { n: 1 }, $push: { list: 3 } }),
          store.updateOne("things", { _id: 1 }, [{ $set: { sum: { $sum: "$list" } } }]),
          store.replaceOne("things", { _id: 2 }, { z: 1 }, { upsert: true }),
          store.replaceOne("things", { _id: 2 }, { z: 2 }),
          store.deleteOne("things", { _id: 1 }),
          store.transaction(store.insertMany("things", [{ _id: 3 }, { _id: 4 }]))
        ]
        for (const write of writes) {
          yield* write
          yield* follower.follow(store, 100)
        }
        assert.strictEqual(follower.changes, 8)
        assert.deepStrictEqual([...follower.collection("things").values()], [{ _id: 2, z: 2 }, { _id: 3 }, { _id: 4 }])
      }))
  })
})
