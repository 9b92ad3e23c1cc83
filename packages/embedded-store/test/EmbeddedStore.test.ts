import { DocumentStore, type FindOptions } from "@appkernel/document-store/DocumentStore"
import { afterCommit, RetryClock } from "@appkernel/document-store/shared"
import { DuplicateKey } from "@appkernel/document-store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Fiber, Random, Result, Scope, Stream } from "effect"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { setImmediate } from "node:timers/promises"
import { freshDirectory, freshFolder } from "../../../test/support/folders.ts"
import { printed, runProgram } from "../../../test/support/processes.ts"
import { documentStoreContract } from "../../document-store/test/DocumentStore.contract.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"
import * as keyValueLmdb from "../src/storage/lmdb/store.ts"
import type { KeyValue } from "../src/storage/orderedStore.ts"

documentStoreContract("memory", EmbeddedStore.layerMemory)
documentStoreContract("embedded", freshFolder(EmbeddedStore.layerWith))

for (
  const [name, layer] of [["memory", EmbeddedStore.layerMemory], [
    "embedded",
    freshFolder(EmbeddedStore.layerWith)
  ]] as const
) {
  describe(`EmbeddedStore / ${name}`, () => {
    it.effect("rejects a new name with a null character, which no document can have", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.insertOne("things", { _id: 1, a: 1 })
        const rejected = yield* Effect.flip(store.updateOne("things", { _id: 1 }, { $rename: { a: "x\0y" } }))
        assert.strictEqual(rejected._tag, "QueryRejected")
        assert.deepStrictEqual(yield* store.find("things", {}), [{ _id: 1, a: 1 }])
      }).pipe(Effect.provide(layer)))

    it.effect("counts documents without a field whose name is empty, whatever was counted before", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.insertMany("things", [{ _id: 1, "": 5 }, { _id: 2, "": 6 }, { _id: 3 }])
        for (const name of ["all", "", "all", ""]) {
          const count = yield* store.count("things", name === "all" ? {} : { "": null })
          assert.strictEqual(count, name === "all" ? 3 : 1)
        }
      }).pipe(Effect.provide(layer)))

    it.effect("lets what follows a commit write, also after a transaction that had the store alone", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.insertOne("things", { _id: 1, n: 0 })
        const outside = yield* Effect.context<never>()
        let attempts = 0
        yield* store.transaction(Effect.gen(function*() {
          attempts += 1
          yield* store.findById("things", 1)
          if (attempts <= 3) {
            // It is no part of the transaction.
            yield* Effect.promise(() =>
              Effect.runPromiseWith(outside)(store.updateOne("things", { _id: 1 }, { $inc: { n: 1 } }))
            )
          }
          yield* store.updateOne("things", { _id: 1 }, { $inc: { n: 10 } })
          yield* afterCommit(Effect.asVoid(Effect.orDie(store.insertOne("things", { _id: 2 }))))
        })).pipe(Effect.provideService(RetryClock, withoutSeconds))
        assert.deepStrictEqual([attempts, yield* store.find("things", {})], [4, [{ _id: 1, n: 13 }, { _id: 2 }]])
      }).pipe(Effect.provide(layer)))
  })
}

describe("EmbeddedStore / embedded", () => {
  it.effect("has its documents and indexes after it is reopened", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const indexes = [
        { name: "n", key: { n: 1 }, unique: true },
        { name: "tags and time", key: { tags: 1, "at.time": -1 }, sparse: true }
      ] as const
      const document = { _id: "ä", n: 1, tags: ["a", "b"], at: { time: 1 } }
      yield* inFolder(folder, (store) =>
        Effect.andThen(store.createIndexes("things ✓", indexes), store.insertOne("things ✓", document)))
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* store.listIndexes("things ✓"), indexes)
          assert.deepStrictEqual(yield* store.find("things ✓", { filter: { tags: "b" } }), [document])
          const duplicate = yield* Effect.flip(store.insertOne("things ✓", { _id: 2, n: 1 }))
          assert.deepStrictEqual(
            { ...duplicate },
            { ...new DuplicateKey({ collection: "things ✓", index: "n", fields: ["n"] }) }
          )
          yield* store.insertOne("other things", { _id: 1 })
          assert.strictEqual(yield* store.count("things ✓", {}), 1)
        }))
    }))

  it.effect("keeps insertion order across a reopen", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(folder, (store) => store.insertMany("things", [{ _id: 3 }, { _id: 2 }]))
      yield* inFolder(folder, (store) => store.insertOne("things", { _id: 1 }))
      const found = yield* inFolder(folder, (store) => store.find("things", {}))
      assert.deepStrictEqual(found, [{ _id: 3 }, { _id: 2 }, { _id: 1 }])
    }))

  it.effect("keeps writes acknowledged before it was closed, and rejects later ones", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const scope = yield* Scope.make()
      const store = yield* Scope.provide(EmbeddedStore.make({ path: folder }), scope)
      const fibers = yield* Effect.forEach(
        Array.from({ length: 300 }, (_, i) => i),
        (_id) => Effect.forkChild(Effect.result(store.insertOne("things", { _id })), { startImmediately: true })
      )
      yield* Scope.close(scope, Exit.void)
      const results = yield* Fiber.joinAll(fibers)
      const refused = yield* Effect.flip(store.insertOne("things", { _id: "late" }))
      assert.strictEqual(refused.message, "The store is unavailable (insertOne): the store is closed")
      assert.strictEqual((yield* Effect.flip(store.find("things", {})))._tag, "StoreUnavailable")
      const transaction = yield* Effect.flip(store.transaction(store.insertOne("things", { _id: "late" })))
      assert.strictEqual(transaction._tag, "StoreUnavailable")
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          const written = results.filter(Result.isSuccess).length
          assert.strictEqual(yield* store.count("things", {}), written)
          assert.strictEqual(written, 300)
        }))
    }))

  it.effect("reports in one line why a folder can't be opened", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(path.join(folder, "file"), "text")
      fs.mkdirSync(path.join(folder, "locked", "lock.mdb"), { recursive: true })
      for (const [place, text] of [["short", "no"], ["damaged", "no database".repeat(2_000)]] as const) {
        fs.mkdirSync(path.join(folder, place))
        fs.writeFileSync(path.join(folder, place, "data.mdb"), text)
      }
      for (const place of ["file", "file/below", "locked", "short", "damaged"]) {
        const error = yield* Effect.flip(Effect.scoped(EmbeddedStore.make({ path: path.join(folder, place) })))
        assert.strictEqual(error._tag, "StoreUnavailable")
        const start = `The store is unavailable (open): folder ${path.join(folder, place)} can't be used: `
        assert.strictEqual(error.message.slice(0, start.length), start)
        assert.notInclude(error.message, "\n")
      }
    }))

  it.effect("reads large documents in small batches, by any plan", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const text = "x".repeat(1_000_000)
      const documents = Array.from({ length: 40 }, (_, _id) => ({ _id, n: _id % 7, text }))
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.createIndexes("things", [{ name: "n", key: { n: 1 } }])
          yield* store.insertMany("things", documents)
          const searches: ReadonlyArray<FindOptions> = [
            {},
            { filter: { _id: { $gte: 0 } } },
            { sort: { _id: -1 } },
            { filter: { n: { $gte: 0 } } },
            { sort: { n: 1, _id: 1 } }
          ]
          for (const search of searches) {
            let turns = 0
            const others = yield* Effect.forkChild(
              Effect.forever(Effect.andThen(Effect.yieldNow, Effect.sync(() => turns++)))
            )
            assert.strictEqual((yield* store.find("things", search)).length, 40)
            yield* Fiber.interrupt(others)
            assert.isAbove(turns, 6)
          }
        }))
    }))

  it.effect("keeps a transaction's failure when the store is closed meanwhile", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const store = yield* Scope.provide(EmbeddedStore.make({ path: yield* freshDirectory }), scope)
      yield* store.insertOne("things", { _id: 1 })
      const close = outside(Effect.andThen(
        store.updateOne("things", { _id: 1 }, { $set: { n: 1 } }),
        Scope.close(scope, Exit.void)
      ))
      const failing = (after: Effect.Effect<unknown, unknown>) =>
        Effect.flip(store.transaction(Effect.andThen(Effect.andThen(store.findById("things", 1), close), after)))
      assert.strictEqual(yield* failing(Effect.fail("mine")), "mine")
      for (const use of [store.findById("things", 1), store.insertOne("things", { _id: 2 })]) {
        assert.include({ ...yield* Effect.flip(store.transaction(use)) }, { _tag: "StoreUnavailable" })
      }
    }))

  it.effect.each<[format: number, change: (store: KeyValue) => void]>([
    [1, ({ catalog }) => catalog.remove("format", undefined)],
    [4, ({ catalog }) => catalog.put("format", { version: 4 }, undefined)]
  ])("refuses a folder in format %i", ([format, change]) =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(folder, (store) => store.insertOne("things", { _id: 1 }))
      yield* Effect.scoped(
        Effect.flatMap(keyValueLmdb.make(folder), (store) => store.write("test", () => change(store)))
      )
      for (let i = 0; i < 2; i++) {
        const error = yield* Effect.flip(inFolder(folder, () => Effect.void))
        assert.strictEqual(
          error.message,
          `The store is unavailable (open): folder ${folder} was written in format ${format} by another version; ` +
            "this one reads format 3"
        )
      }
    }))
})

describe("EmbeddedStore and other processes / embedded", () => {
  const program = (task: string, folder: string, round = "0") =>
    runProgram(programFile, { TASK: task, FOLDER: folder, ROUND: round })

  it.effect(
    "has every acknowledged write after the process was killed in the middle of others",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const acknowledged: Array<string> = []
        for (const round of ["0", "1", "2"]) {
          const other = yield* program("writeForever", folder, round)
          yield* printed(other, `wrote ${round}-7-20\n`)
          other.process.kill("SIGKILL")
          assert.strictEqual(yield* other.ended, "SIGKILL")
          // A line that was cut short is no acknowledgement.
          for (const [, id] of other.output().matchAll(/wrote (\S+)\n/g)) acknowledged.push(id ?? "")
          yield* inFolder(folder, (store) =>
            Effect.gen(function*() {
              assert.isAbove(acknowledged.length, 100)
              const documents = yield* store.find("things", {})
              const updated = documents.filter((document) => document["updated"] === true).map(({ _id }) => _id)
              assert.includeMembers(updated, acknowledged)
              // What was not acknowledged is there as a whole or not at all: no index knows more or less.
              assert.sameMembers(
                (yield* store.find("things", { filter: { n: { $gte: "" } } })).map(({ _id }) => _id),
                documents.map(({ _id }) => _id)
              )
              for (const writer of [0, 7]) {
                assert.sameDeepMembers(
                  [...yield* store.find("things", { filter: { of: writer } })],
                  documents.filter((document) => document["of"] === writer)
                )
              }
              const [first] = acknowledged
              const duplicate = yield* Effect.flip(store.insertOne("things", { _id: "new", n: first }))
              assert.strictEqual(duplicate._tag, "DuplicateKey")
            }))
        }
      })
  )

  it.effect.runIf(process.platform !== "win32")("continues after the disk was full", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      // No file may grow beyond 2 MiB.
      const { stdout } = spawnSync(
        "sh",
        ["-c", "ulimit -f 4096; exec \"$0\" --conditions=source \"$1\"", process.execPath, programFile],
        { env: { ...process.env, TASK: "fill", FOLDER: folder }, encoding: "utf8" }
      )
      const said = new Map(stdout.trim().split("\n").map((line) => [line.split(" ", 1)[0], line]))
      assert.match(
        said.get("refused") ?? stdout,
        /^refused StoreUnavailable The store is unavailable \(insertOne\): the disk did not take it or give it: /
      )
      assert.strictEqual(said.get("kept"), "kept true")
      assert.strictEqual(said.get("removed"), "removed 1,1,1,1")
      // Of writes that were to be committed together, only those fail for which there is no room.
      assert.strictEqual(said.get("together"), "together false,true,false,true")
      assert.strictEqual(said.get("others"), "others 1,3")
      assert.strictEqual(said.get("again"), "again 3")
      assert.isTrue(said.has("done"))
      assert.strictEqual(yield* inFolder(folder, (store) => store.count("others", {})), 3)
    }))
})

const stores = [["memory", EmbeddedStore.layerMemory], ["embedded", freshFolder(EmbeddedStore.layerWith)]] as const

for (const [name, layer] of stores) {
  it.layer(layer)(`EmbeddedStore / ${name}`, (it) => {
    const withThings = Effect.gen(function*() {
      const store = yield* DocumentStore
      collections += 1
      const things = `things ${collections}`
      yield* store.insertMany(
        things,
        Array.from({ length: 5_000 }, (_, _id) => ({ _id, n: _id % 7, text: `text ${_id}` }))
      )
      return { store, things }
    })

    it.effect("yields to other fibers while it scans many documents", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        for (
          const long of [
            store.count(things, { text: "none" }),
            store.find(things, { sort: { n: 1, text: -1 } }),
            store.updateMany(things, { n: { $gte: 0 } }, { $set: { m: 1 } }),
            Stream.runDrain(store.aggregate(things, [{ $group: { _id: "$text", n: { $sum: 1 } } }])),
            Stream.runDrain(store.stream(things, {})),
            store.distinct(things, "text", {}),
            store.transaction(store.count(things, { text: "none" })),
            store.createIndexes(things, [{ name: "text", key: { text: 1 } }]),
            store.deleteMany(things, { n: { $gte: 0 } })
          ]
        ) {
          let turns = 0
          const others = yield* Effect.forkChild(
            Effect.forever(Effect.andThen(Effect.yieldNow, Effect.sync(() => turns++)))
          )
          yield* long
          yield* Fiber.interrupt(others)
          assert.isAbove(turns, 8)
        }
      }))

    it.effect("stops a scan when it is interrupted", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        const reads: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          store.count(things, { text: "none" }),
          store.find(things, { sort: { n: 1, text: -1 } }),
          store.distinct(things, "text", {}),
          store.findOneAndUpdate(things, { text: "none" }, { $set: { m: 1 } }),
          store.transaction(store.count(things, { text: "none" })),
          Stream.runDrain(store.aggregate(things, [{ $unwind: "$text" }, { $match: { text: "none" } }]))
        ]
        for (const long of reads) {
          const fiber = yield* Effect.forkChild(Effect.asVoid(long), { startImmediately: true })
          yield* Fiber.interrupt(fiber)
          assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        }
      }))

    it.effect("ends a read that takes longer than its time limit", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        const timeLimit = "1 second"
        const reads = {
          find: store.find(things, { filter: { text: "none" }, timeLimit }),
          stream: Stream.runDrain(store.stream(things, { sort: { text: 1 }, timeLimit })),
          count: store.count(things, { text: "none" }, { timeLimit }),
          distinct: store.distinct(things, "text", {}, { timeLimit }),
          aggregate: Stream.runDrain(store.aggregate(things, [{ $group: { _id: "$text" } }], { timeLimit }))
        }
        for (const [operation, read] of Object.entries<Effect.Effect<unknown, unknown>>(reads)) {
          const error = yield* Effect.flip(slowly(read))
          assert.deepStrictEqual({ ...Object(error) }, { _tag: "QueryTimeout", operation })
          yield* read
        }
        assert.strictEqual((yield* slowly(store.find(things, { filter: { _id: 1 }, timeLimit }))).length, 1)
      }))

    it.effect("commits a transaction under contention", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        let written = 0
        let attempts = 0
        let isOver = false
        const others = yield* Effect.forkChild(Effect.repeat(
          Effect.andThen(
            store.updateOne(things, { _id: 1 }, { $inc: { n: 1 } }),
            Effect.sync(() => written += 1)
          ),
          { until: () => isOver }
        ))
        yield* store.transaction(Effect.gen(function*() {
          attempts += 1
          const before = yield* store.findById(things, 1)
          const count = yield* store.count(things, { text: "none" })
          yield* store.updateOne(things, { _id: 1 }, { $set: { n: Number(before?.["n"]) + 1_000_000 + count } })
        }))
        const soFar = written
        yield* store.updateOne(things, { _id: 2 }, { $set: { n: 0 } })
        yield* store.updateOne(things, { _id: 2 }, { $set: { n: 1 } })
        isOver = true
        yield* Fiber.join(others)
        assert.isAbove(attempts, 1)
        assert.isAbove(written, soFar)
        assert.strictEqual((yield* store.findById(things, 1))?.["n"], 1 + 1_000_000 + written)
      }))

    it.effect(
      "lets a transaction run exclusively once, for a second at most, while others read",
      () =>
        Effect.gen(function*() {
          const { store, things } = yield* withThings
          let attempts = 0
          // Whoever comes while the transaction has the store for itself writes as soon as that is over.
          const waits: Array<number> = []
          const error = yield* store.transaction(Effect.gen(function*() {
            attempts += 1
            yield* store.findById(things, 1)
            if (attempts === 6) return yield* outside(Effect.flip(store.transaction(readAndFail(store, things))))
            const [took] = yield* outside(Effect.timed(store.updateOne(things, { _id: 1 }, { $inc: { n: 1 } })))
            waits.push(Duration.toSeconds(took))
            yield* store.updateOne(things, { _id: 2 }, { $inc: { n: 1 } })
            return undefined
          }))
          assert.deepStrictEqual([error, attempts], ["mine", 6])
          assert.deepStrictEqual(waits.map((wait) => wait >= 0.9), [false, false, false, true, false])
        })
    )

    it.effect("swaps unique values in concurrent transactions", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const ids = Array.from({ length: 8 }, (_, id) => id)
        yield* store.createIndexes("swapped", [{ name: "code", key: { code: 1 }, unique: true }])
        yield* store.insertMany("swapped", ids.map((_id) => ({ _id, code: `code ${_id}` })))
        // What was just written may be read before the store says so.
        const perhapsTurn = Effect.flatMap(
          Random.next,
          (luck) => luck < 0.7 ? Effect.promise(() => setImmediate()) : Effect.void
        )
        const swap = (a: number, b: number) =>
          store.transaction(Effect.gen(function*() {
            const one = yield* store.findById("swapped", a)
            yield* perhapsTurn
            const two = yield* store.findById("swapped", b)
            yield* store.deleteOne("swapped", { _id: a })
            yield* store.updateOne("swapped", { _id: b }, { $set: { code: one?.["code"] } })
            yield* perhapsTurn
            yield* store.insertOne("swapped", { _id: a, code: two?.["code"] })
          }))
        const swapSome = Effect.gen(function*() {
          const a = yield* Random.nextIntBetween(0, 7)
          yield* swap(a, (a + (yield* Random.nextIntBetween(1, 7))) % 8)
        })
        yield* Effect.all(Array.from({ length: 12 }, () => Effect.repeat(swapSome, { times: 300 })), {
          concurrency: "unbounded"
        })
        const found = yield* store.find("swapped", { sort: { _id: 1 } })
        assert.deepStrictEqual(found.map(({ _id }) => _id), ids)
        assert.sameMembers(found.map(({ code }) => code), ids.map((id) => `code ${id}`))
      }))

    it.effect("reads a stream as it is pulled, without a read transaction held open", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        const seen: Array<unknown> = []
        yield* Stream.runForEach(store.stream(things, { sort: { _id: 1 } }), ({ _id }) =>
          Effect.gen(function*() {
            seen.push(_id)
            if (_id === 0) {
              yield* store.insertOne(things, { _id: 5_000 })
              yield* store.deleteMany(things, { _id: { $gte: 1_000, $lt: 4_900 } })
            }
          }))
        assert.strictEqual(seen.at(-1), 5_000)
        assert.notInclude(seen, 4_000)
        assert.strictEqual(new Set(seen).size, seen.length)
      }))

    it.effect("returns documents in insertion order, also after updates", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const ids = (from: typeof store) => Effect.map(from.find("order", {}), (found) => found.map(({ _id }) => _id))
        yield* store.insertMany("order", [{ _id: "e" }, { _id: "c" }, { _id: "x" }])
        yield* store.updateOne("order", { _id: "c" }, { $set: { text: "much longer" } })
        yield* store.deleteOne("order", { _id: "e" })
        yield* store.insertOne("order", { _id: "e" })
        yield* store.transaction(Effect.gen(function*() {
          yield* store.deleteOne("order", { _id: "e" })
          yield* store.insertMany("order", [{ _id: "b" }, { _id: "e" }, { _id: "a" }])
          yield* store.replaceOne("order", { _id: "x" }, { text: "another" })
          assert.deepStrictEqual(yield* ids(store), ["c", "x", "b", "e", "a"])
        }))
        yield* store.updateOne("order", { _id: "z" }, { $set: { text: "new" } }, { upsert: true })
        assert.deepStrictEqual(yield* ids(store), ["c", "x", "b", "e", "a", "z"])
        assert.deepStrictEqual(
          yield* Stream.runCollect(Stream.map(store.aggregate("order", [{ $addFields: { n: 1 } }]), ({ _id }) => _id)),
          ["c", "x", "b", "e", "a", "z"]
        )
      }))

    it.effect("does not stream documents that are inserted while it runs", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        let seen = 0
        yield* Stream.runForEach(store.stream(things, {}), ({ _id }) => {
          seen += 1
          return store.insertOne(things, { _id: `copy of ${String(_id)}` })
        })
        assert.strictEqual(seen, 5_000)
        assert.strictEqual(yield* store.count(things, {}), 10_000)
      }))

    it.effect("concurrent upserts insert one document without a unique index", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        const results = yield* Effect.all(
          Array.from({ length: 40 }, () =>
            store.updateOne(things, { name: "one" }, { $inc: { hits: 1 } }, { upsert: true })),
          { concurrency: 40 }
        )
        assert.strictEqual(
          results.filter(({ upsertedId }) =>
            upsertedId !== undefined
          ).length,
          1
        )
        const found = yield* store.find(things, { filter: { name: "one" } })
        assert.deepStrictEqual(found.map((document) => document["hits"]), [40])
      }))

    it.effect("builds a complete and exact index during concurrent writes", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        const writes = Effect.forEach(Array.from({ length: 60 }, (_, i) => i * 80), (i) =>
          Effect.all([
            store.insertOne(things, { _id: -1 - i, n: i % 7 }),
            store.updateOne(things, { _id: i }, { $set: { n: [i % 5, 6] } }),
            store.deleteOne(things, { _id: i + 1 }),
            store.updateMany(things, { _id: { $gte: i + 2, $lt: i + 9 } }, { $unset: { n: "" } })
          ]))
        yield* Effect.all([store.createIndexes(things, [{ name: "n", key: { n: 1, text: -1 } }]), writes], {
          concurrency: 2
        })
        const all = yield* store.find(things, {})
        for (const n of [null, 0, 4, 6]) {
          const holds = (value: unknown) => value === n || (Array.isArray(value) && value.includes(n))
          assert.sameMembers(
            (yield* store.find(things, { filter: { n } })).map(({ _id }) => _id),
            all.filter((document) => holds(document["n"] ?? null)).map(({ _id }) => _id)
          )
        }
      }))

    it.effect("counts all documents correctly after writes since the last count", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        assert.strictEqual(yield* store.count(things, {}), 5_000)
        yield* Effect.all([
          store.insertOne(things, { _id: "a" }),
          Effect.result(store.insertOne(things, { _id: "a" })),
          store.deleteMany(things, { n: 3 }),
          store.updateMany(things, { n: 4 }, { $set: { n: 5 } }),
          store.replaceOne(things, { _id: "b" }, {}, { upsert: true }),
          store.count(things, {})
        ], { concurrency: 6 })
        assert.strictEqual(yield* store.count(things, {}), yield* store.count(things, { _id: { $exists: true } }))
      }))

    it.effect.each(["(a+)+$", "(a|aa)*c", "([a-z]+)*\\d"])(
      "is not blocked by the pattern %s",
      (pattern) =>
        Effect.gen(function*() {
          const { store, things } = yield* withThings
          yield* store.insertOne(things, { _id: "long", text: `${"a".repeat(50_000)}!` })
          assert.strictEqual(yield* store.count(things, { _id: "long", text: { $regex: pattern } }), 0)
          const matches = yield* Stream.runCollect(store.aggregate(things, [
            { $match: { _id: "long" } },
            { $project: { matches: { $regexMatch: { input: "$text", regex: pattern } } } }
          ]))
          assert.deepStrictEqual(matches, [{ _id: "long", matches: false }])
        })
    )

    it.effect.each<[string, ReadonlyArray<object>, ReadonlyArray<object>]>([
      ["$lookup", [
        { $match: { _id: 1 } },
        { $lookup: { from: "people", localField: "n", foreignField: "_id", as: "people" } },
        { $project: { people: 1 } }
      ], [{ _id: 1, people: [{ _id: 1, name: "Ann" }] }]],
      ["$unionWith", [
        { $match: { _id: 1 } },
        { $project: { n: 1 } },
        { $unionWith: { coll: "people", pipeline: [{ $match: { name: "Bob" } }] } }
      ], [{ _id: 1, n: 1 }, { _id: 2, name: "Bob" }]],
      ["$bucket", [
        { $bucket: { groupBy: "$_id", boundaries: [0, 10, 5_000], output: { count: { $sum: 1 } } } }
      ], [{ _id: 0, count: 10 }, { _id: 10, count: 4_990 }]],
      ["$sortByCount and $limit", [{ $match: { _id: { $lt: 8 } } }, { $sortByCount: "$n" }, { $limit: 1 }], [
        { _id: 0, count: 2 }
      ]],
      ["$sample", [{ $sample: { size: 3 } }, { $count: "n" }], [{ n: 3 }]],
      ["$regexFindAll", [
        { $match: { _id: 12 } },
        { $project: { _id: 0, all: { $regexFindAll: { input: "$text", regex: "(\\d)" } } } }
      ], [{ all: [{ match: "1", idx: 5, captures: ["1"] }, { match: "2", idx: 6, captures: ["2"] }] }]],
      ["$$NOW, which is the program's own", [
        { $match: { _id: 1 } },
        { $project: { now: { $toLong: "$$NOW" } } }
      ], [{ _id: 1, now: 0 }]]
    ])("has %s in its pipelines", ([, pipeline, expected]) =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        yield* Effect.result(store.insertMany("people", [{ _id: 1, name: "Ann" }, { _id: 2, name: "Bob" }]))
        const stages = pipeline.map((stage) => ({ ...stage }))
        assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(things, stages)), expected)
      }))

    it.effect("finds by an index of hashes, which can't be unique", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        const index = { name: "hashes", key: { text: "hashed" } }
        yield* store.createIndexes(things, [index])
        yield* store.insertOne(things, { _id: "hashed", text: "h" })
        assert.deepStrictEqual((yield* store.listIndexes(things)).map(({ key }) => key), [index.key])
        assert.deepStrictEqual((yield* store.find(things, { filter: { text: "h" } })).map(({ _id }) => _id), ["hashed"])
        const error = yield* Effect.flip(
          store.createIndexes(things, [{ name: "unique", key: { n: "hashed" }, unique: true }])
        )
        assert.include(error.message, "the index \"unique\" of hashes can't be unique")
      }))

    it.effect("names unsupported features", () =>
      Effect.gen(function*() {
        const { store, things } = yield* withThings
        const calls = {
          $where: store.find(things, { filter: { $where: "true" } }),
          $function: store.count(things, { $expr: { $function: { body: "return true", args: [], lang: "js" } } }),
          "$out into a named database": Stream.runDrain(store.aggregate(things, [{ $out: { db: "a", coll: "b" } }])),
          "$merge into a named database": Stream.runDrain(
            store.aggregate(things, [{ $merge: { into: { db: "a", coll: "b" } } }])
          ),
          "$geoNear in the pipeline of another stage": Stream.runDrain(
            store.aggregate(things, [{ $unionWith: { coll: things, pipeline: [{ $geoNear: { near: [0, 0] } }] } }])
          ),
          $accumulator: Stream.runDrain(store.aggregate(things, [{ $group: { _id: null, n: { $accumulator: {} } } }])),
          "an index of kind \"geoHaystack\"": store.createIndexes(things, [{
            name: "t",
            key: { text: "geoHaystack" }
          }]),
          "an index over all fields": store.createIndexes(things, [{ name: "t", key: { "$**": 1 } }]),
          "a text index with other fields": store.createIndexes(things, [{ name: "t", key: { n: 1, text: "text" } }]),
          "a partial index with $or": store.createIndexes(things, [
            { name: "t", key: { n: 1 }, partialFilterExpression: { $or: [{ n: 1 }, { n: 2 }] } }
          ])
        }
        for (const [feature, call] of Object.entries<Effect.Effect<unknown, { readonly _tag: string }>>(calls)) {
          const error = yield* Effect.flip(call)
          assert.strictEqual(error._tag, "Unsupported")
          assert.strictEqual("feature" in error ? error.feature : undefined, feature)
        }
      }))
  })
}

// internal

let collections = 0

/** Does something while every look at the clock takes 100 milliseconds. */
const slowly = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    let looks = 0
    return Effect.provideService(effect, Clock.Clock, {
      ...clock,
      monotonicTimeNanosUnsafe: () => BigInt(looks += 1) * 100_000_000n
    })
  })

/** Does it as somebody who has nothing to do with the transaction of this fiber. */
const outside = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A> => Effect.promise(() => Effect.runPromise(effect))

const readAndFail = (store: DocumentStore["Service"], things: string) =>
  Effect.andThen(store.findById(things, 1), Effect.fail("mine"))

const programFile = path.join(import.meta.dirname, "../../../test/support/embeddedProgram.ts")

/** A clock in which the second never passes after which a transaction no longer has the store alone. */
const withoutSeconds = Object.assign(Object.create(Clock.Clock.defaultValue()) as Clock.Clock, {
  sleep: (duration: Duration.Duration) =>
    Duration.toMillis(duration) < 1_000 ? Clock.Clock.defaultValue().sleep(duration) : Effect.never
})

const inFolder = <A, E>(folder: string, use: (store: DocumentStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), use))
