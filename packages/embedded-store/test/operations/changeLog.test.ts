import type { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { change } from "../../../../test/support/damage.ts"
import { freshDirectory } from "../../../../test/support/folders.ts"
import { CurrentUser } from "../../../document-store/src/internal/currentUser.ts"
import { Catalog } from "../../src/catalog/catalog.ts"
import { ChangeRecorder } from "../../src/catalog/changeRecorder.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"
import { makeChangeLog } from "../../src/operations/changeLog.ts"
import * as keyValueMemory from "../../src/storage/memory/store.ts"
import type { KeyValue } from "../../src/storage/orderedStore.ts"

type Store = DocumentStore["Service"]

const inFolder = <A, E>(path: string, use: (store: Store) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path }), use))

const idsAfter = (store: Store, after: string) =>
  Effect.map(store.changes.read(["things"], { after, limit: 10_000 }), ({ changes }) => changes.map(({ id }) => id))

const insert = (store: Store, ids: ReadonlyArray<number>) =>
  Effect.forEach(ids, (_id) => store.insertOne("things", { _id, text: "x".repeat(1_000) }))

describe("changeLog / embedded", () => {
  it.effect("numbers the changes of all collections without gaps, in the order of their places", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      yield* store.changes.record("things", {})
      yield* store.changes.record("others", {})
      const start = yield* store.changes.end
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, i) => i),
        (_id) =>
          _id % 10 === 0
            ? Effect.ignore(store.transaction(Effect.andThen(insert(store, [_id]), Effect.fail("no"))))
            : store.insertOne(_id % 3 === 0 ? "others" : "things", { _id }),
        { concurrency: 8 }
      )
      const { changes } = yield* store.changes.read(["things", "others"], { after: start, limit: 1_000 })
      assert.deepStrictEqual(
        changes.map(({ position }) => Number(position.slice(0, 16))),
        Array.from({ length: 180 }, (_, i) => i + 1)
      )
      assert.deepStrictEqual(
        changes.map(({ position }) => position).toSorted(),
        changes.map(({ position }) => position)
      )
    }))

  it.effect("says when and by whom a document was changed, and that nobody did where it expired", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      yield* TestClock.setTime(1_000)
      yield* store.changes.record("things", {})
      yield* store.createIndexes("things", [{ name: "at", key: { at: 1 }, expireAfterSeconds: 10 }])
      const start = yield* store.changes.end
      const user = CurrentUser.of({ subject: "ann", roles: [], claims: {} })
      yield* Effect.provideService(store.insertOne("things", { _id: 1, at: new Date(1_000) }), CurrentUser, user)
      yield* Effect.provideService(
        store.transaction(store.updateOne("things", { _id: 1 }, { $set: { n: 1 } })),
        CurrentUser,
        user
      )
      yield* TestClock.adjust("5 minutes")
      const { changes } = yield* store.changes.read(["things"], { after: start, limit: 10 })
      assert.deepStrictEqual(changes.map(({ operation, who }) => [operation, who]), [
        ["insert", "ann"],
        ["update", "ann"],
        ["delete", undefined]
      ])
      assert.deepStrictEqual(changes[0]?.time, new Date(1_000))
    }))

  it.effect("removes what is older than every model keeps it, and says so to who asks for it", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      yield* store.changes.record("things", { keep: "2 hours" })
      yield* store.changes.record("others", { keep: "1 hour" })
      const start = yield* store.changes.end
      yield* insert(store, [1, 2, 3])
      yield* TestClock.adjust("90 minutes")
      assert.deepStrictEqual(yield* idsAfter(store, start), [1, 2, 3])
      yield* insert(store, [4])
      const last = yield* store.changes.end
      yield* TestClock.adjust("31 minutes")
      const gone = yield* Effect.flip(idsAfter(store, start))
      assert.deepStrictEqual([gone._tag, "position" in gone && gone.position], ["PositionGone", start])
      yield* TestClock.adjust("5 hours")
      assert.deepStrictEqual(yield* idsAfter(store, last), [])
      yield* insert(store, [5])
      assert.deepStrictEqual(yield* idsAfter(store, last), [5])
    }))

  it.effect("does not grow beyond its size for long", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.changes.record("things", { maxSize: "100 KiB" })
          const start = yield* store.changes.end
          yield* insert(store, Array.from({ length: 400 }, (_, i) => i))
          yield* TestClock.adjust("1 minute")
          yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.yieldNow)
          yield* insert(store, [400])
          assert.strictEqual((yield* Effect.flip(idsAfter(store, start)))._tag, "PositionGone")
        }))
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          const [first] = yield* Stream.runCollect(Stream.take(store.changes.stream(["things"]), 1))
          yield* insert(store, [401])
          assert.deepStrictEqual(yield* idsAfter(store, first!.position), [401])
        }))
    }))

  it.effect("ends the stream of a reader whose next changes are gone", () =>
    Effect.gen(function*() {
      const store = yield* EmbeddedStore.makeMemory
      yield* store.changes.record("things", { keep: "1 hour" })
      const start = yield* store.changes.end
      const read = yield* Effect.forkChild(
        Effect.flip(Stream.runForEach(
          store.changes.stream(["things"], { after: start }),
          ({ changes }) => changes.length === 0 ? Effect.void : Effect.sleep("3 hours")
        )),
        { startImmediately: true }
      )
      yield* insert(store, [1])
      yield* TestClock.adjust("30 minutes")
      yield* store.insertMany("things", Array.from({ length: 5_000 }, (_, i) => ({ _id: i + 2 })))
      yield* TestClock.adjust("2 hours")
      yield* insert(store, [9_999])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* Fiber.join(read))._tag, "PositionGone")
    }))

  it.effect("is trimmed though its oldest changes are damaged, as soon as the next one is old", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const [start, second] = yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.changes.record("things", { keep: "2 hours" })
          const start = yield* store.changes.end
          for (const _id of [1, 2, 3]) {
            yield* store.insertOne("things", { _id, text: `the text of ${_id}` })
            yield* TestClock.adjust("30 minutes")
          }
          const { position } = yield* store.changes.read(["things"], { after: start, limit: 2 })
          return [start, position] as const
        }))
      change(folder, "the text of 1", "the next of 1")
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("40 minutes")
          assert.strictEqual((yield* Effect.flip(idsAfter(store, start)))._tag, "DataDamaged")
          yield* TestClock.adjust("30 minutes")
          // Waits for the write before it.
          yield* insert(store, [4])
          assert.strictEqual((yield* Effect.flip(idsAfter(store, start)))._tag, "PositionGone")
          assert.deepStrictEqual(yield* idsAfter(store, second), [3, 4])
        }))
    }))

  it.effect("goes on behind a last change that is damaged", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(folder, (store) =>
        Effect.andThen(
          store.changes.record("things", {}),
          Effect.forEach([1, 2], (_id) => store.insertOne("things", { _id, text: `the text of ${_id}` }))
        ))
      change(folder, "the text of 2", "the next of 2")
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          const damaged = yield* store.changes.end
          assert.strictEqual(Number(damaged.slice(0, 16)), 2)
          yield* store.insertOne("things", { _id: 3 })
          assert.deepStrictEqual(yield* idsAfter(store, damaged), [3])
        }))
    }))

  it.effect("is tried to be trimmed once a minute while that fails", () =>
    Effect.gen(function*() {
      const store = yield* keyValueMemory.make
      let reads = 0
      const failing: KeyValue = {
        ...store,
        read: (operation) => {
          reads += 1
          return Result.fail(new StoreUnavailable({ operation, detail: "the disk is broken", retryable: false }))
        }
      }
      const recorder = new ChangeRecorder(store)
      const log = yield* makeChangeLog(failing, new Catalog(store, { recorder }), recorder)
      yield* log.record("things", {})
      yield* TestClock.adjust("3 minutes")
      assert.strictEqual(reads, 4)
    }))

  it.live("fails the streams that wait for a change when the store is closed", () =>
    Effect.gen(function*() {
      for (const make of [EmbeddedStore.makeMemory, EmbeddedStore.make({ path: yield* freshDirectory })]) {
        const following = yield* Effect.scoped(Effect.gen(function*() {
          const store = yield* make
          yield* store.changes.record("things", {})
          const seen = yield* Deferred.make<void>()
          const stream = Stream.runForEach(store.changes.stream(["things"]), () => Deferred.succeed(seen, undefined))
          const fiber = yield* Effect.forkDetach(Effect.flip(stream))
          yield* Deferred.await(seen)
          yield* Effect.sleep("20 millis")
          return Effect.andThen(Fiber.join(fiber), (first) =>
            Effect.map(Effect.flip(Stream.runDrain(store.changes.stream(["things"]))), (later) => [first, later]))
        }))
        const failures = yield* Effect.timeout(following, "5 seconds")
        assert.deepStrictEqual(
          failures.map(({ message }) =>
            message.includes("the store is closed")
          ),
          [true, true]
        )
      }
    }))

  it.live("is part of a backup, whose changes since are not those of what is restored", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const [path, to, restored] = [`${folder}/data`, `${folder}/backup`, `${folder}/restored`]
      const [start, before] = yield* inFolder(path, (store) =>
        Effect.gen(function*() {
          yield* store.changes.record("things", {})
          const start = yield* store.changes.end
          yield* insert(store, [1, 2])
          return [start, yield* store.changes.end] as const
        }))
      yield* EmbeddedStore.backup({ path, to })
      const since = yield* inFolder(path, (store) => Effect.andThen(insert(store, [3, 4]), store.changes.end))
      yield* EmbeddedStore.restore({ from: to, path: restored })
      yield* inFolder(restored, (store) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* idsAfter(store, start), [1, 2])
          assert.strictEqual((yield* Effect.flip(idsAfter(store, since)))._tag, "PositionGone")
          yield* insert(store, [5, 6, 7])
          assert.deepStrictEqual(yield* idsAfter(store, before), [5, 6, 7])
          assert.strictEqual((yield* Effect.flip(idsAfter(store, since)))._tag, "PositionGone")
        }))
    }))
})
