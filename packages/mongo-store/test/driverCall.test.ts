import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Stream, Tracer } from "effect"
import { type CommandStartedEvent, GridFSBucket, MongoClient } from "mongodb"
import { inspect } from "node:util"
import { type FoundServer, freshDatabase, onMongo } from "../../../test/support/mongo.ts"
import type { Document } from "../../document-store/src/DocumentStore.ts"
import { makeDriverDeadlines } from "../src/driver/deadlines.ts"
import * as mongo from "../src/driver/driverCall.ts"
import * as bulkInsert from "../src/store/bulkInsert.ts"
import { makeMongoOperations } from "../src/store/operations.ts"

onMongo("internal/mongo / mongodb", (_, server) => {
  it.effect("closes the cursor of a stream that is left early", () =>
    Effect.gen(function*() {
      const { call, commands } = yield* observed(server)
      yield* insertMany(call, 100)
      const some = yield* Stream.runCollect(Stream.take(readAll(call), 5))
      assert.strictEqual(some.length, 5)
      assert.deepStrictEqual(commands(), ["insert", "find", "killCursors"])
    }))

  it.effect("fetches the next batch only when it is pulled", () =>
    Effect.gen(function*() {
      const { call, commands } = yield* observed(server)
      yield* insertMany(call, 25)
      const seen: Array<ReadonlyArray<string>> = []
      yield* Stream.runForEachArray(readAll(call), () => Effect.sync(() => seen.push(commands().slice(1))))
      assert.deepStrictEqual(seen, [["find"], ["find", "getMore"], ["find", "getMore", "getMore"]])
    }))

  it.effect("opens a cursor each time the stream is run, and not before", () =>
    Effect.gen(function*() {
      const { call, commands } = yield* observed(server)
      const all = readAll(call)
      assert.deepStrictEqual(commands(), [])
      yield* Stream.runDrain(all)
      yield* Stream.runDrain(all)
      assert.deepStrictEqual(commands(), ["find", "find"])
    }))

  it.effect("cancels the pending batch when a stream is interrupted", () =>
    Effect.gen(function*() {
      const { call, client } = yield* observed(server)
      yield* insertMany(call, 100)
      const sent = yield* Deferred.make<void>()
      client.on("commandStarted", () => Deferred.doneUnsafe(sent, Effect.void))
      const closed = yield* Deferred.make<string>()
      client.on("connectionClosed", (event) => Deferred.doneUnsafe(closed, Effect.succeed(event.reason)))
      const fiber = yield* Effect.forkChild(Stream.runDrain(readAll(call)))
      yield* Deferred.await(sent)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* Deferred.await(closed), "error")
      assert.strictEqual((yield* Stream.runCollect(readAll(call))).length, 100)
    }))

  it.effect("cancels any running read when it is interrupted", () =>
    Effect.gen(function*() {
      const { call, client } = yield* observed(server)
      yield* insertMany(call, 10)
      const operations = makeMongoOperations(call.session, () => Effect.succeed([]))
      const reads: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        operations.find("things", {}),
        operations.findById("things", 1),
        operations.count("things", {}),
        operations.estimatedCount("things"),
        operations.distinct("things", "_id", {})
      ]
      for (const read of reads) {
        const sent = yield* Deferred.make<void>()
        client.once("commandStarted", () => Deferred.doneUnsafe(sent, Effect.void))
        const closed = yield* Deferred.make<string>()
        client.once("connectionClosed", (event) => Deferred.doneUnsafe(closed, Effect.succeed(event.reason)))
        const fiber = yield* Effect.forkChild(read)
        yield* Deferred.await(sent)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* Deferred.await(closed), "error")
        assert.strictEqual(yield* operations.count("things", {}), 10)
      }
    }))

  it.effect("sends the time limit to the server in integer milliseconds, never 0", () =>
    Effect.gen(function*() {
      const { call, client } = yield* observed(server)
      const operations = makeMongoOperations(call.session, () => Effect.succeed([]))
      const sent: Array<unknown> = []
      client.on("commandStarted", ({ command }) => sent.push(command["maxTimeMS"]))
      const limited = (timeLimit: Duration.Input) =>
        Effect.all([
          operations.find("things", { timeLimit }),
          Stream.runDrain(operations.stream("things", { timeLimit })),
          operations.count("things", {}, { timeLimit }),
          operations.distinct("things", "_id", {}, { timeLimit }),
          Stream.runDrain(operations.aggregate("things", [], { timeLimit }))
        ])
      yield* limited("2.5 seconds")
      assert.deepStrictEqual(sent.splice(0), [2_500, 2_500, 2_500, 2_500, 2_500])
      yield* limited(Duration.infinity)
      assert.deepStrictEqual(sent.splice(0), [undefined, undefined, undefined, undefined, undefined])
      yield* Effect.ignore(operations.find("things", { timeLimit: 0 }))
      assert.deepStrictEqual(sent, [1])
    }))

  it.effect("waits for a write that is interrupted, and not for a read", () =>
    Effect.gen(function*() {
      const { call } = yield* observed(server)
      for (const [run, waits] of [[mongo.write, true], [mongo.remove, true], [mongo.read, false]] as const) {
        const begun = yield* Deferred.make<void>()
        let finish = () => {}
        let aborted = false
        const fiber = yield* Effect.forkChild(run(call, (_, signal?: AbortSignal) => {
          Deferred.doneUnsafe(begun, Effect.void)
          signal?.addEventListener("abort", () => {
            aborted = true
          })
          return new Promise<void>((resolve) => {
            finish = resolve
          })
        }))
        yield* Deferred.await(begun)
        const interruption = yield* Effect.forkChild(Fiber.interrupt(fiber))
        yield* Effect.yieldNow
        yield* Effect.yieldNow
        assert.strictEqual(fiber.pollUnsafe() === undefined, waits)
        assert.strictEqual(aborted, !waits)
        finish()
        yield* Fiber.join(interruption)
      }
    }))

  it.effect("dies of an unknown error, without the fields of the driver's error", () =>
    Effect.gen(function*() {
      const { call } = yield* observed(server)
      const exit = yield* Effect.exit(mongo.read(call, () => Promise.reject(new TypeError(`not a ${canary}`))))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.notInclude(inspect(exit, { depth: null }), canary)
    }))

  it.effect("makes one client span per call, with the names that OpenTelemetry gives, when there is a tracer", () =>
    Effect.gen(function*() {
      const { call, database } = yield* observed(server)
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      yield* Effect.exit(mongo.read(call, () => Promise.reject(new Error(canary)))).pipe(
        Effect.andThen(mongo.read(call, (collection) => collection.countDocuments())),
        Effect.withTracer(tracer)
      )
      assert.deepStrictEqual(spans.map((span) => [span.name, span.kind, span.status._tag]), [
        ["MongoStore.test", "client", "Ended"],
        ["MongoStore.test", "client", "Ended"]
      ])
      assert.deepStrictEqual(Object.fromEntries(spans[0]?.attributes ?? []), {
        "db.system.name": "mongodb",
        "db.namespace": database,
        "db.collection.name": "things",
        "db.operation.name": "test"
      })
      assert.notInclude(inspect(spans, { depth: null }), canary)
    }))
})

const canary = "canary-password"

const readAll = (call: mongo.MongoCall) =>
  mongo.readBatches(call, (collection, signal) => collection.find<Document>({}, { batchSize: 10, raw: true, signal }))

const insertMany = (call: mongo.MongoCall, count: number) =>
  bulkInsert.bulkInsert(call, Array.from({ length: count }, (_, index) => ({ _id: index })), true)

/** A call on a client whose commands can be looked at. */
const observed = Effect.fnUntraced(function*(server: FoundServer) {
  const database = yield* freshDatabase(server)
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => new MongoClient(server.url, { monitorCommands: true })),
    (client) => Effect.promise(() => client.close())
  )
  const commands: Array<string> = []
  client.on("commandStarted", (event: CommandStartedEvent) => commands.push(event.commandName))
  const session: mongo.MongoSession = {
    collection: (name) => client.db(database).collection(name),
    files: (bucketName) => new GridFSBucket(client.db(database), { bucketName }),
    startSession: () => client.startSession(),
    redact: (text) => text.replaceAll(canary, "<redacted>"),
    limit: 30_000,
    lookUpLimit: 30_000,
    deadlines: yield* makeDriverDeadlines,
    attributes: { "db.system.name": "mongodb", "db.namespace": database }
  }
  return { call: { session, operation: "test", collection: "things" }, client, commands: () => [...commands], database }
})
