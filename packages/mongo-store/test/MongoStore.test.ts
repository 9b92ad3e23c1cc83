import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope, Stream, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type Server, type Socket } from "node:net"
import { inspect } from "node:util"
import { doorTo } from "../../../test/support/door.ts"
import { failCommand, freshDatabase, freshStore, onMongo } from "../../../test/support/mongo.ts"
import { differencesOf } from "../../../test/support/serverDifferences.ts"
import { type Document, DocumentStore } from "../../document-store/src/DocumentStore.ts"
import { documentStoreContract } from "../../document-store/test/DocumentStore.contract.ts"
import { unknownOutcome } from "../src/driver/classifyError.ts"
import * as MongoStore from "../src/MongoStore.ts"

// A password that must not be seen anywhere.
const canary = "canary-password"

onMongo("MongoStore / mongodb", (layer, server) => {
  documentStoreContract("mongodb", layer, differencesOf(server))

  it.layer(layer)((it) => {
    it.effect("describes its host and database", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        assert.match(store.description, /^MongoDB at [^/@]+:\d+\/appkernel_test_/)
      }))

    it.effect("omits undefined keys of a document", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.insertOne("undefined", { _id: 1, a: undefined, b: { c: undefined } })
        assert.deepStrictEqual(yield* store.findById("undefined", 1), { _id: 1, b: {} })
      }))

    it.effect("inserts the other documents beside those that the driver refuses, as beside those of the server", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.insertOne("refused", { _id: 1 })
        const refused = [{ _id: 2, "a\0b": 1 }, { _id: 3, text: "x".repeat(17 * 1024 * 1024) }]
        const tried = (ordered: boolean, documents: ReadonlyArray<Document>) =>
          Effect.map(store.insertMany("refused", documents, { ordered }), ({ failures, insertedCount }) => [
            insertedCount,
            ...failures.map(({ error, index }) => `${index} ${error._tag}`)
          ])
        assert.deepStrictEqual(yield* tried(false, [{ _id: 4 }, ...refused, { _id: 1 }, { _id: 5 }]), [
          2,
          "1 QueryRejected",
          "2 QueryRejected",
          "3 DuplicateKey"
        ])
        assert.deepStrictEqual(yield* tried(true, [{ _id: 6 }, ...refused, { _id: 7 }]), [1, "1 QueryRejected"])
        assert.deepStrictEqual(yield* tried(true, [{ _id: 1 }, { _id: 7 }, ...refused]), [0, "0 DuplicateKey"])
        assert.deepStrictEqual(yield* tried(false, refused), [0, "0 QueryRejected", "1 QueryRejected"])
        const stored = yield* store.find("refused", { sort: { _id: 1 } })
        assert.deepStrictEqual(stored.map(({ _id }) => _id), [1, 4, 5, 6])
      }))

    it.effect("treats undefined in a filter as null, never as match-all", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const all = "null"
        yield* store.insertMany(all, [{ _id: 1, a: 1 }, { _id: 2, a: null }, { _id: 3, a: 3 }])
        const filter = { a: undefined }
        assert.deepStrictEqual(yield* store.find(all, { filter }), [{ _id: 2, a: null }])
        assert.deepStrictEqual(yield* Stream.runCollect(store.stream(all, { filter })), [{ _id: 2, a: null }])
        assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(all, [{ $match: filter }])), [{
          _id: 2,
          a: null
        }])
        assert.strictEqual(yield* store.count(all, filter), 1)
        assert.strictEqual((yield* store.updateMany(all, filter, { $set: { b: 1 } })).matchedCount, 1)
        const either = { $or: [filter, { b: { $in: [undefined] }, a: { $exists: undefined } }] }
        assert.strictEqual((yield* store.updateOne(all, either, { $set: { b: 2 } })).matchedCount, 1)
        assert.strictEqual((yield* store.replaceOne(all, filter, { a: null, c: 1 })).matchedCount, 1)
        assert.strictEqual(yield* store.deleteMany(all, filter), 1)
        assert.strictEqual(yield* store.deleteOne(all, filter), 0)
        assert.strictEqual(yield* store.count(all, {}), 2)
        assert.isUndefined(yield* store.findById(all, undefined))
      }))

    it.effect("compares an identifier as one value, also one that looks like an operator", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.insertOne("ids", { _id: { tenant: 1, number: 2 } })
        assert.isDefined(yield* store.findById("ids", { tenant: 1, number: 2 }))
        assert.isUndefined(yield* store.findById("ids", { $ne: null }))
        assert.isUndefined(yield* store.findById("ids", /./))
      }))

    it.effect("does not mutate an inserted document", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const document = Object.freeze({ _id: 1, tags: Object.freeze(["a"]) })
        yield* store.insertOne("frozen", document)
        yield* store.insertMany("frozen", [Object.freeze({ _id: 2 })])
        assert.strictEqual(yield* store.count("frozen", {}), 2)
      }))

    it.effect("names the fields of documents that insertMany rejects", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.createIndexes("many", [{
          name: "by name",
          key: { "name.last": 1, "name.first": 1 },
          unique: true
        }])
        const name = { first: "A", last: "B" }
        const result = yield* store.insertMany("many", [
          { _id: 1, name },
          { _id: 2, name },
          { _id: 1, name: { first: "C" } },
          { _id: 3 }
        ], { ordered: false })
        assert.strictEqual(result.insertedCount, 2)
        assert.deepStrictEqual(result.failures.map(({ error, index }) => [index, factsOf(error)]), [
          [1, { _tag: "DuplicateKey", collection: "many", index: "by name", fields: ["name.last", "name.first"] }],
          [2, { _tag: "DuplicateKey", collection: "many", index: "_id_", fields: ["_id"] }]
        ])
      }))

    it.effect.each<[string, (store: DocumentStore["Service"]) => Effect.Effect<unknown, unknown>]>([
      ["an unknown operator", (store) => store.find("bad", { filter: { a: { $foo: 1 } } })],
      ["an unknown operator, counting", (store) => store.count("bad", { $foo: 1 })],
      ["an unknown operator, removing", (store) => store.deleteMany("bad", { $foo: 1 })],
      ["an unknown update operator", (store) => store.updateOne("bad", {}, { $foo: { a: 1 } })],
      ["an update without operators", (store) => store.updateMany("bad", {}, { a: 1 })],
      ["a replacement with operators", (store) => store.replaceOne("bad", {}, { $set: { a: 1 } })],
      ["a changed identifier", (store) => store.updateOne("bad", { _id: 1 }, { $set: { _id: 2 } })],
      ["two changes of one path", (store) => store.updateOne("bad", {}, { $set: { a: 1 }, $inc: { a: 1 } })],
      ["a path through a text", (store) => store.updateOne("bad", { _id: 1 }, { $set: { "text.b": 1 } })],
      ["an unknown stage", (store) => Stream.runDrain(store.aggregate("bad", [{ $foo: 1 }]))],
      ["a malformed expression", (store) => store.find("bad", { filter: { a: { $regex: "(" } } })],
      ["a negative skip", (store) => store.find("bad", { skip: -1 })],
      ["a negative limit", (store) => Stream.runDrain(store.stream("bad", { limit: -1 }))],
      ["a limit that is no whole number", (store) => store.find("bad", { limit: 1.5 })],
      ["an invalid name of a collection", (store) => store.insertOne("$bad", { _id: 1 })],
      ["no name of a collection", (store) => store.insertOne("", { _id: 1 })],
      ["a document that is too large", (store) => store.insertOne("bad", { _id: 3, a: "x".repeat(2 ** 24) })],
      ["a document that contains itself", (store) => store.insertOne("bad", itself)],
      [
        "a pipeline that writes what is there",
        (store) => Stream.runDrain(store.aggregate("bad", [{ $merge: { into: "bad", whenMatched: "fail" } }]))
      ]
    ])("rejects %s", ([, run]) =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.replaceOne("bad", { _id: 1 }, { text: "text" }, { upsert: true })
        const error = yield* Effect.flip(run(store))
        assert.propertyVal(error, "_tag", "QueryRejected")
      }))
  })

  it.effect("several processes can install the same indexes concurrently", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      const indexes = [{ name: "a", key: { a: 1 as const }, unique: true }, { name: "b", key: { b: -1 as const } }]
      const stores = yield* Effect.all(Array.from({ length: 5 }, () => MongoStore.make({ host: server.url, db })))
      yield* Effect.forEach(stores, (store) => store.createIndexes("same", indexes), { concurrency: 5 })
      yield* Effect.forEach(stores, (store) => store.syncIndexes("same", indexes), { concurrency: 5 })
      assert.deepStrictEqual(yield* stores[0]?.listIndexes("same") ?? Effect.void, [
        { name: "a", key: { a: 1 }, unique: true },
        { name: "b", key: { b: -1 } }
      ])
    }))

  it.effect("fails when it is used after its scope was closed", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      const scope = yield* Scope.make()
      const store = yield* MongoStore.make({ host: server.url, db }).pipe(Scope.provide(scope))
      yield* store.insertOne("a", { _id: 1 })
      yield* Scope.close(scope, Exit.void)
      const error = yield* Effect.flip(store.count("a", {}))
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.propertyVal(error, "retryable", false)
    }))

  it.effect("fails at start when the credentials are wrong, and does not show them", () =>
    Effect.gen(function*() {
      const host = server.url.replace("://", `://app:${canary}@`)
      const error = yield* Effect.flip(MongoStore.make({ host, db: "app" }))
      assert.deepStrictEqual(factsOf(error), {
        _tag: "StoreUnavailable",
        operation: "connect",
        detail: "authentication failed",
        retryable: false
      })
    }).pipe(Effect.scoped))

  it.effect("uses the URL's database unless another one is configured", () =>
    Effect.gen(function*() {
      const url = new URL(server.url)
      url.pathname = "/from_url"
      const named = yield* MongoStore.make({ host: url.href })
      assert.isTrue(named.description.endsWith("/from_url"))
      const configured = yield* MongoStore.make({ host: url.href, db: "configured" })
      assert.isTrue(configured.description.endsWith("/configured"))
      url.pathname = "/"
      const neither = yield* MongoStore.make({ host: url.href })
      assert.isTrue(neither.description.endsWith("/app"))
    }))

  it.effect("reads in a transaction from the primary, wherever else it reads", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      const options = "readPreference=secondaryPreferred&readConcernLevel=local"
      const host = `${server.url}${server.url.includes("?") ? "&" : "?"}${options}`
      const store = yield* MongoStore.make({ host, db })
      yield* store.insertOne("primary", { _id: 1 })
      const found = yield* store.transaction(Effect.all([store.find("primary", {}), store.count("primary", {})]))
      assert.deepStrictEqual(found, [[{ _id: 1 }], 1])
    }))

  it.effect("survives a restart of the server", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      const door = yield* doorTo(server.url)
      yield* door.open
      const host = `mongodb://127.0.0.1:${door.port}/?directConnection=true`
      const store = yield* Effect.eventually(MongoStore.make({ host, db, serverSelectionTimeout: "1 second" }))
      yield* store.insertOne("kept", { _id: 1 })
      for (let round = 0; round < 2; round++) {
        yield* door.close
        for (const call of [store.findById("kept", 1), store.insertOne("kept", { _id: `lost ${round}` })]) {
          const error = yield* Effect.flip(call)
          assert.deepInclude(factsOf(error), { _tag: "StoreUnavailable", retryable: true })
        }
        yield* door.open
        // The driver may look for its server for longer than it waits for it.
        assert.deepStrictEqual(yield* Effect.eventually(store.find("kept", {})), [{ _id: 1 }])
        yield* store.transaction(store.updateOne("kept", { _id: 1 }, { $set: { round } }))
        yield* store.replaceOne("kept", { _id: 1 }, {})
      }
    }))

  describe.runIf(server.failPoints)("when the server misbehaves", () => {
    const appName = "appkernel-misbehaving"
    const fail = (
      mode: { readonly times: number } | "alwaysOn",
      failCommands: ReadonlyArray<string>,
      data: Readonly<Record<string, unknown>>
    ) => failCommand(server, mode, { appName, failCommands, ...data })

    // Looked at often, so that the end of an election is noticed soon.
    const monitoring = "serverMonitoringMode=poll&heartbeatFrequencyMS=500"

    it.layer(freshStore(server, `appName=${appName}&${monitoring}`))((it) => {
      it.effect("survives one closed connection", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          yield* fail({ times: 1 }, ["insert"], { closeConnection: true })
          yield* store.insertOne("closed", { _id: 1 })
          yield* fail({ times: 1 }, ["find"], { closeConnection: true })
          assert.deepStrictEqual(yield* store.find("closed", {}), [{ _id: 1 }])
        }))

      it.effect("fails while connections are closed, retryably unless it may have written, and works again afterwards", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const harmless: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            store.findById("lost", 1),
            store.find("lost", {}),
            Stream.runDrain(store.stream("lost", {})),
            Stream.runDrain(store.aggregate("lost", [])),
            store.count("lost", {}),
            store.estimatedCount("lost"),
            store.distinct("lost", "a", {}),
            store.createIndexes("lost", [{ name: "a", key: { a: 1 } }]),
            store.listIndexes("lost")
          ]
          const writes: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            store.findOneAndUpdate("lost", {}, { $set: { a: 1 } }),
            store.findOneAndReplace("lost", {}, { a: 1 }),
            store.findOneAndDelete("lost", {}),
            store.insertOne("lost", { _id: 1 }),
            store.insertMany("lost", [{ _id: 1 }]),
            store.replaceOne("lost", {}, { a: 1 }),
            store.updateOne("lost", {}, { $set: { a: 1 } }),
            store.updateMany("lost", {}, { $set: { a: 1 } }),
            store.deleteOne("lost", {}),
            store.deleteMany("lost", {}),
            Stream.runDrain(store.aggregate("lost", [{ $merge: "lost_too" }]))
          ]
          const commands = [
            "find",
            "aggregate",
            "count",
            "distinct",
            "insert",
            "update",
            "delete",
            "findAndModify",
            "createIndexes",
            "listIndexes"
          ]
          for (const [index, operation] of [...harmless, ...writes].entries()) {
            yield* Effect.scoped(Effect.gen(function*() {
              yield* fail("alwaysOn", commands, { closeConnection: true })
              const { _tag, detail, retryable } = factsOf(yield* Effect.flip(operation))
              assert.deepStrictEqual([_tag, retryable], ["StoreUnavailable", index < harmless.length], `${index}`)
              assert.strictEqual(String(detail).endsWith(unknownOutcome), index >= harmless.length, `${index}`)
            }))
            yield* operation
          }
        }))

      it.effect.each([
        [11600, "StoreUnavailable", true],
        [50, "StoreUnavailable", true],
        [112, "StoreUnavailable", true],
        [13, "StoreUnavailable", false],
        [14031, "StoreUnavailable", false],
        [2, "QueryRejected", undefined],
        [66, "QueryRejected", undefined],
        [121, "QueryRejected", undefined],
        [40324, "QueryRejected", undefined],
        [59, "Unsupported", undefined],
        [115, "Unsupported", undefined]
      ])("classifies code %i of a read and of a write", ([errorCode, tag, retryable]) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          yield* fail({ times: 4 }, ["find", "insert"], { errorCode })
          for (const operation of [store.find("codes", {}), store.insertOne("codes", { _id: 1 })]) {
            const error = yield* Effect.flip(operation)
            assert.strictEqual(error._tag, tag)
            assert.strictEqual("retryable" in error ? error.retryable : undefined, retryable)
            yield* fail({ times: 4 }, ["find", "insert"], { errorCode })
          }
        }))

      it.effect("dies of an unknown error code", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          yield* fail({ times: 2 }, ["find"], { errorCode: 8 })
          const exit = yield* Effect.exit(store.find("codes", {}))
          assert.isTrue(Exit.hasDies(exit))
        }))

      it.effect("says that a write is not to be repeated that is not acknowledged in time", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const writeConcernError = { code: 64, errmsg: "waiting for replication timed out" }
          const detail = `waiting for replication timed out: ${unknownOutcome}`
          yield* fail({ times: 1 }, ["insert"], { writeConcernError })
          const one = yield* Effect.flip(store.insertOne("late", { _id: 1 }))
          assert.deepInclude(factsOf(one), { detail, retryable: false })
          yield* fail({ times: 1 }, ["insert"], { writeConcernError })
          const many = yield* Effect.flip(store.insertMany("late", [{ _id: 2 }]))
          assert.deepInclude(factsOf(many), { detail, retryable: false })
        }))

      it.effect("cancels an interrupted read, and stays usable", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const reads: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            store.find("slow", {}),
            store.findById("slow", 1),
            Stream.runDrain(store.stream("slow", {})),
            Stream.runDrain(store.aggregate("slow", [])),
            store.count("slow", {}),
            store.estimatedCount("slow"),
            store.distinct("slow", "a", {})
          ]
          const commands = ["find", "aggregate", "count", "distinct"]
          const blockTimeMS = 60_000
          for (const read of reads) {
            const begun = performance.now()
            yield* Effect.scoped(Effect.gen(function*() {
              yield* fail("alwaysOn", commands, { blockConnection: true, blockTimeMS })
              const fiber = yield* Effect.forkChild(read)
              yield* TestClock.withLive(Effect.sleep("50 millis"))
              yield* Fiber.interrupt(fiber)
            }))
            yield* Effect.forEach(Array.from({ length: 20 }), () => store.find("slow", {}), { concurrency: 10 })
            assert.isBelow(performance.now() - begun, blockTimeMS)
          }
        }))

      it.effect("fails a read that the server ends at its time limit, or does not answer", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const commands = ["find", "aggregate", "distinct"]
          const [timeLimit, blockTimeMS] = ["100 millis", 60_000] as const
          const reads = {
            find: store.find("slow", { timeLimit }),
            stream: Stream.runDrain(store.stream("slow", { timeLimit })),
            count: store.count("slow", {}, { timeLimit }),
            distinct: store.distinct("slow", "a", {}, { timeLimit }),
            aggregate: Stream.runDrain(store.aggregate("slow", [], { timeLimit }))
          }
          for (const [operation, read] of Object.entries<Effect.Effect<unknown, unknown>>(reads)) {
            for (const trouble of [{ errorCode: 50 }, { blockConnection: true, blockTimeMS }]) {
              yield* fail({ times: 2 }, commands, trouble)
              const begun = performance.now()
              const error = yield* TestClock.withLive(Effect.flip(read))
              assert.deepStrictEqual(factsOf(error), { _tag: "QueryTimeout", operation })
              assert.isBelow(performance.now() - begun, blockTimeMS)
            }
          }
          yield* fail({ times: 1 }, ["ping"], { errorCode: 50 })
          assert.deepStrictEqual(yield* store.find("slow", { timeLimit }), [])
        }))

      it.effect("retries a read after an election", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          yield* store.insertOne("elected", { _id: 1 })
          const reads: ReadonlyArray<readonly [number, Effect.Effect<unknown, unknown>, unknown]> = [
            [10107, store.find("elected", {}), [{ _id: 1 }]],
            [11602, store.findById("elected", 1), { _id: 1 }],
            [189, Stream.runCollect(store.stream("elected", {})), [{ _id: 1 }]],
            [91, Stream.runCollect(store.aggregate("elected", [])), [{ _id: 1 }]],
            [10107, store.count("elected", {}), 1],
            [10107, store.estimatedCount("elected"), 1],
            [10107, store.distinct("elected", "_id", {}), [1]]
          ]
          for (const [errorCode, read, result] of reads) {
            yield* fail({ times: 1 }, ["find", "aggregate", "count", "distinct"], { errorCode })
            assert.deepStrictEqual(yield* read, result)
          }
        }))

      it.effect("retries a write after an election or a broken connection, and applies it once", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const troubles = [{ errorCode: 10107, errorLabels: ["RetryableWriteError"] }, { closeConnection: true }]
          for (const [place, trouble] of troubles.entries()) {
            const _id = `written ${place}`
            const failing = ["insert", "update", "findAndModify"]
            const write = <A, E>(effect: Effect.Effect<A, E>) =>
              Effect.scoped(Effect.andThen(fail({ times: 1 }, failing, trouble), effect))
            yield* write(store.insertOne("retried", { _id, n: 0 }))
            yield* write(store.updateOne("retried", { _id }, { $inc: { n: 1 } }))
            yield* write(store.findOneAndUpdate("retried", { _id }, { $inc: { n: 1 } }))
            assert.deepStrictEqual(yield* store.findById("retried", _id), { _id, n: 2 })
          }
        }))

      const attempted = Effect.fnUntraced(function*(collection: string) {
        const store = yield* DocumentStore
        yield* store.replaceOne(collection, { _id: "before" }, {}, { upsert: true })
        let attempts = 0
        const run = store.transaction(Effect.gen(function*() {
          attempts += 1
          yield* store.insertOne(collection, { _id: 1, attempts })
          yield* store.updateOne(collection, { _id: 1 }, { $inc: { n: 1 } })
        }))
        return { store, run: TestClock.withLive(run), attempts: () => attempts }
      })

      it.effect.each<[string, ReadonlyArray<string>, object]>([
        ["another transaction wrote the same", ["update"], { errorCode: 112, errorLabels: [transient] }],
        ["there was an election", ["update"], { errorCode: 10107, errorLabels: [transient] }],
        ["the connection breaks", ["update"], { closeConnection: true }],
        ["the connection breaks at the first write", ["insert"], { closeConnection: true }],
        ["the commit says so", ["commitTransaction"], { errorCode: 251, errorLabels: [transient] }]
      ])("runs a whole transaction again when %s", ([why, commands, trouble]) =>
        Effect.gen(function*() {
          const { attempts, run, store } = yield* attempted(`again: ${why}`)
          yield* fail({ times: 2 }, commands, { ...trouble })
          yield* run
          assert.strictEqual(attempts(), 3)
          assert.deepStrictEqual(yield* store.findById(`again: ${why}`, 1), { _id: 1, attempts: 3, n: 1 })
        }))

      it.effect.each<[string, object]>([
        ["the connection breaks", { closeConnection: true }],
        ["there was an election", { errorCode: 10107 }],
        ["the majority is late", { writeConcernError: { code: 64, errmsg: "waiting for replication timed out" } }]
      ])("commits a transaction again, and does not run it again, when %s", ([why, trouble]) =>
        Effect.gen(function*() {
          const { attempts, run, store } = yield* attempted(`commit: ${why}`)
          yield* fail({ times: 3 }, ["commitTransaction"], { ...trouble })
          yield* run
          assert.strictEqual(attempts(), 1)
          assert.deepStrictEqual(yield* store.findById(`commit: ${why}`, 1), { _id: 1, attempts: 1, n: 1 })
        }))

      it.effect("fails a transaction when the commit fails permanently", () =>
        Effect.gen(function*() {
          const { attempts, run, store } = yield* attempted("refused")
          yield* fail({ times: 1 }, ["commitTransaction"], { errorCode: 257 })
          assert.strictEqual((yield* Effect.flip(run))._tag, "QueryRejected")
          assert.strictEqual(attempts(), 1)
          assert.isUndefined(yield* store.findById("refused", 1))
        }))

      it.effect("keeps no writes of a transaction whose abort fails, and stays usable", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          yield* store.insertOne("unaborted", { _id: "before" })
          yield* fail({ times: 1 }, ["abortTransaction"], { errorCode: 251 })
          const insert = store.insertOne("unaborted", { _id: 1 })
          const exit = yield* Effect.exit(store.transaction(Effect.andThen(insert, Effect.fail("no"))))
          assert.deepStrictEqual(exit, Exit.fail("no"))
          assert.deepStrictEqual(yield* store.find("unaborted", {}), [{ _id: "before" }])
          yield* store.transaction(store.insertOne("unaborted", { _id: 2 }))
        }))

      it.effect("waits for a write that is interrupted", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          yield* fail({ times: 1 }, ["insert"], { blockConnection: true, blockTimeMS: 300 })
          const fiber = yield* Effect.forkChild(store.insertOne("slow", { _id: 1 }))
          yield* TestClock.withLive(Effect.sleep("50 millis"))
          yield* Fiber.interrupt(fiber)
          assert.isDefined(yield* store.findById("slow", 1))
        }))
    })
  })
})

/** The driver's own, in milliseconds. */
const limitOfDriver = 30_000

describe("MongoStore", () => {
  it.effect("fails within the time limit, with the reason, when no server listens", () =>
    Effect.gen(function*() {
      const begun = performance.now()
      const error = yield* Effect.flip(MongoStore.make({ host: "127.0.0.1:1", connectTimeout: "1 second" }))
      assert.isBelow(performance.now() - begun, limitOfDriver)
      assert.deepStrictEqual(factsOf(error), {
        _tag: "StoreUnavailable",
        operation: "connect",
        detail: "connect ECONNREFUSED 127.0.0.1:1",
        retryable: true
      })
    }))

  it.effect("fails within the time limit when the server never answers", () =>
    Effect.gen(function*() {
      const { port } = yield* silentServer
      const begun = performance.now()
      const host = `127.0.0.1:${port}`
      const error = yield* Effect.flip(MongoStore.make({ host, connectTimeout: "300 millis" }))
      assert.isBelow(performance.now() - begun, limitOfDriver)
      assert.deepInclude(factsOf(error), { _tag: "StoreUnavailable", operation: "connect", retryable: true })
    }))

  it.effect.each([
    `mongodb://app:${canary}@127.0.0.1:1/shop`,
    `app:${canary}@127.0.0.1:1`,
    `mongodb://app:${canary}@127.0.0.1:1/shop?unknownOption=1`,
    `mongodb://app:${canary}@127.0.0.1:1/shop?maxPoolSize=many`,
    `mongodb://app:${canary}@127.0.0.1:1/shop?readPreference=nowhere`,
    `mongodb://app:${canary}@127.0.0.1:1/shop?authMechanism=NOPE`,
    `mongodb://app:${canary}@127.0.0.1:1/shop?tlsCAFile=/nowhere&tls=true`,
    `mongodb://app@127.0.0.1:1/?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:${canary}`,
    `mongodb://127.0.0.1:1/?proxyHost=127.0.0.1&proxyPort=1&proxyUsername=a&proxyPassword=${canary}`,
    `mongodb://app:${canary}@127.0.0.1:1/sh%24op.x`,
    `mongodb+srv://app:${canary}@nowhere.invalid/shop`,
    `mongodb+srv://app:${canary}@127.0.0.1:1/shop`,
    `mongodb://app:${canary}`,
    `mongodb://app:${canary}@`,
    `mongodb://app:${canary}@@127.0.0.1:1/shop`,
    `mongodb://app:${canary}/@127.0.0.1:1/shop`,
    `mongodb://app:${canary}?@127.0.0.1:1/shop`,
    `mongodb://app:%zz${canary}@127.0.0.1:1/shop`,
    `postgres://app:${canary}@127.0.0.1:1/shop`
  ])("does not show the credentials of %$", (host) =>
    Effect.gen(function*() {
      const written: Array<unknown> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          written.push(span)
          return span
        }
      })
      const logger = Logger.make((options) => written.push(options.message, options.cause))
      const exit = yield* Effect.exit(MongoStore.make({ host, connectTimeout: "100 millis" })).pipe(
        Effect.tap((exit) => Effect.logError("no store", exit)),
        Effect.withSpan("start"),
        Effect.withTracer(tracer),
        Effect.provide(Logger.layer([logger]))
      )
      assert.isTrue(Exit.hasFails(exit), "a failure, not a defect")
      assert.notInclude(inspect([exit, written], { depth: null }), canary)
      assert.notInclude(JSON.stringify(exit), canary)
      assert.notInclude(String(exit), canary)
    }))
})

const factsOf = (error: unknown): Readonly<Record<string, unknown>> => Object.fromEntries(Object.entries(Object(error)))

const itself: Record<string, unknown> = { _id: 1 }
itself["self"] = itself

const transient = "TransientTransactionError"

/** A server that takes connections and says nothing. */
const silentServer = Effect.acquireRelease(
  Effect.callback<{ readonly server: Server; readonly sockets: Set<Socket>; readonly port: number }>((resume) => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ server, sockets, port }))
    })
  }),
  ({ server, sockets }) =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
)
