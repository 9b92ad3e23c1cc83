import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Stream } from "effect"
import {
  type Collection,
  type Document,
  type GridFSBucket,
  MongoNetworkError,
  MongoServerError,
  Timestamp
} from "mongodb"
import { ChangeFollower } from "../../../test/support/changeFollower.ts"
import { onMongo } from "../../../test/support/mongo.ts"
import { DocumentStore } from "../../document-store/src/DocumentStore.ts"
import { makeDriverDeadlines } from "../src/driver/deadlines.ts"
import type { MongoSession } from "../src/driver/driverCall.ts"
import { makeOplog } from "../src/store/changeLog.ts"

const trial = "appkernel_changes_"

/** A change stream of these events, and then of what `then` gives. */
const streamOf = (events: ReadonlyArray<Document>, then: () => Promise<null>) => {
  const rest = [...events]
  const stream = {
    resumeToken: undefined as unknown,
    closed: false,
    tryNext: () => {
      const event = rest.shift()
      if (event === undefined) return then()
      stream.resumeToken = event["_id"]
      return Promise.resolve(event)
    },
    close: () => Promise.resolve()
  }
  return stream
}

const nothing = () => Promise.resolve(null)

const token = (n: number) => ({ _data: `0${n}` })

/** The event of a document's `n`-th state. */
const eventOf = (n: number, state: unknown): Document => ({
  _id: token(n),
  clusterTime: new Timestamp({ t: 1, i: n + 1 }),
  wallTime: new Date(n),
  ns: { coll: "orders" },
  documentKey: { _id: 1 },
  operationType: n === 0 ? "insert" : "update",
  fullDocument: { _id: 1, n: state },
  ...n === 0 ? {} : { fullDocumentBeforeChange: { _id: 1 } }
})

/** A log on a server that answers commands by this function, and tells these states of the document by which it is tried. */
const logOn = (
  answer: (command: Document) => Document,
  watch: (options: Document) => object = () => assert.fail("no change stream is opened"),
  states: ReadonlyArray<unknown> = [0, 1, 2]
) =>
  Effect.gen(function*() {
    const deadlines = yield* makeDriverDeadlines
    const commands: Array<Document> = []
    const db = {
      command: (command: Document) => {
        if (command["ping"] === undefined && !String(command["collMod"]).startsWith(trial)) commands.push(command)
        return Promise.resolve().then(() => answer(command))
      },
      createCollection: (name: string, options: Document) => {
        if (!name.startsWith(trial)) commands.push({ create: name, ...options })
        return Promise.resolve({})
      },
      watch: ([stage]: ReadonlyArray<Document>, options: Document) =>
        stage!["$match"]["ns.coll"].$in[0].startsWith(trial)
          ? streamOf(states.map((state, n) => eventOf(n, state)), nothing)
          : watch(options)
    }
    const written = () => Promise.resolve({})
    const writes = { insertOne: written, updateOne: written, drop: written }
    const session: MongoSession = {
      // What the log uses of a collection.
      collection: (collectionName) => ({ collectionName, db, ...writes }) as unknown as Collection,
      // The log has no files.
      files: () => ({}) as GridFSBucket,
      redact: (text) => text,
      attributes: {},
      startSession: () => assert.fail("no session is started"),
      limit: 5_000,
      lookUpLimit: 0,
      deadlines
    }
    return { commands, log: yield* makeOplog(session) }
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
      const { commands, log } = yield* logOn(({ collMod, hello }) => {
        if (collMod === undefined) return hello === 1 ? { msg: "isdbgrid" } : {}
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

  it.live("says at the start when the server tells documents as they became later, and once", () =>
    Effect.gen(function*() {
      const messages: Array<unknown> = []
      const logger = Logger.layer([Logger.make(({ message }) => messages.push(...[message].flat()))])
      for (const states of [[2, 2, 2], [], [0, 1, 2]]) {
        const { log } = yield* logOn(({ hello }) => hello === 1 ? { setName: "rs0" } : {}, undefined, states)
        yield* Effect.provide(Effect.andThen(log.record("orders", {}), log.record("others", {})), logger)
      }
      const begin = "This server tells changes of documents wrongly, and so do streams and the logs of changes: " +
        "the states 0, 1, 2 of a document came as "
      const end = ". MongoDB 6.0 and newer tells them as they were"
      assert.deepStrictEqual(messages, [`${begin}2, 2, 2${end}`, `${begin}none${end}`])
    }))

  it.live("begins a change stream again where it was when it fails or does not answer, and says so", () =>
    Effect.gen(function*() {
      const messages: Array<string> = []
      const starts: Array<Document> = []
      const disconnected = () => Promise.reject(new MongoNetworkError("the connection is lost"))
      const streams = [
        () => streamOf([eventOf(0, 0), eventOf(1, 1)], disconnected),
        () => streamOf([eventOf(2, 2)], () => new Promise<never>(() => {})),
        () => streamOf([eventOf(3, 3)], disconnected),
        ...Array.from({ length: 3 }, () => () => streamOf([], disconnected))
      ]
      const { log } = yield* logOn(
        ({ hello }) => hello === 1 ? { setName: "rs0" } : { operationTime: new Timestamp({ t: 1, i: 0 }) },
        ({ resumeAfter, startAtOperationTime }) => {
          starts.push(resumeAfter ?? startAtOperationTime)
          return streams[starts.length - 1]!()
        }
      )
      yield* log.record("orders", {})
      const seen: Array<unknown> = []
      const failure = yield* Stream.runForEach(log.stream(["orders"]), ({ changes }) =>
        Effect.sync(() => {
          for (const change of changes) seen.push(change.operation === "delete" ? undefined : change.after["n"])
        })).pipe(
          Effect.flip,
          Effect.provide(Logger.layer([Logger.make(({ message }) => messages.push(String([message].flat()[0])))]))
        )
      assert.deepStrictEqual(seen, [0, 1, 2, 3])
      // It gives up when four in a row have told nothing.
      assert.strictEqual(failure._tag, "StoreUnavailable")
      const first = new Timestamp({ t: 1, i: 1 })
      assert.deepStrictEqual(starts, [first, token(1), token(2), token(3), token(3), token(3)])
      assert.deepStrictEqual(messages, Array(5).fill("The change stream of orders is begun again"))
    }))

  it.live("ends where a change has no documents, and when its database is dropped", () =>
    Effect.gen(function*() {
      const { fullDocument: _after, ...without } = eventOf(1, 1)
      const dropped = { ...streamOf([], nothing), closed: true }
      for (const stream of [dropped, streamOf([{ ...without, fullDocument: null }], nothing)]) {
        const { log } = yield* logOn(
          ({ hello }) => hello === 1 ? { setName: "rs0" } : { operationTime: new Timestamp({ t: 1, i: 0 }) },
          () => stream
        )
        yield* log.record("orders", {})
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(log.stream(["orders"]))))._tag, "PositionGone")
      }
    }))

  it.live("goes on from where a long search was given up", () =>
    Effect.gen(function*() {
      const at = (t: number) => ({ _data: `82${t.toString(16).padStart(8, "0")}00000000` })
      const starts: Array<unknown> = []
      const { log } = yield* logOn(
        ({ hello }) => hello === 1 ? { setName: "rs0" } : { operationTime: new Timestamp({ t: 9, i: 0 }) },
        ({ resumeAfter }) => {
          starts.push(resumeAfter)
          const stream = streamOf(starts.length === 1 ? [] : [{ ...eventOf(0, 0), _id: at(7) }], () => {
            stream.resumeToken = at(starts.length === 1 ? 5 : 9)
            return Promise.resolve(null)
          })
          return stream
        }
      )
      yield* log.record("orders", {})
      const read = (after: string) => log.read(["orders"], { after, limit: 10 })
      const first = yield* read("0000000100000000z")
      assert.deepStrictEqual([first.changes.length, first.isUpToDate], [0, false])
      const second = yield* read(first.position)
      assert.deepStrictEqual([second.changes.length, second.isUpToDate], [1, true])
      assert.deepStrictEqual(starts, [undefined, at(5)])
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
      // A change that is too large for an event, which no reader gets beyond.
      const other = yield* begin
      opened[2]!.fail(10_334)
      assert.strictEqual((yield* Effect.flip(other))._tag, "PositionGone")
      yield* follow
      assert.deepStrictEqual(opened.map(({ isClosed }) => isClosed), [true, true, true, false])
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
