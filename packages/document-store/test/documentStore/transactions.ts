import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Ref, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { DocumentStore } from "../../src/DocumentStore.ts"
import { afterCommit } from "../../src/shared.ts"
import type { StoreError } from "../../src/StoreError.ts"
import { collectionOf, idsOf, type Store, type Tests } from "./collection.ts"

/** All or nothing, and nobody sees anything in between. */
export const transactionContract = (it: Tests) => {
  // Attempts after the first may wait for a moment.
  const test = <A, E>(name: string, run: () => Effect.Effect<A, E, DocumentStore>) =>
    it.effect(name, () => TestClock.withLive(run()))

  test("commits all writes of a transaction, and returns its result", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 1 }, { _id: 2, n: 2 }, { _id: 3, n: 3 }])
      const result = yield* store.transaction(Effect.gen(function*() {
        yield* store.insertOne(name, { _id: 4, n: 4 })
        yield* store.insertMany(name, [{ _id: 5, n: 5 }, { _id: 6, n: 6 }])
        yield* store.updateOne(name, { _id: 1 }, { $inc: { n: 10 } })
        yield* store.replaceOne(name, { _id: 2 }, { replaced: true })
        yield* store.updateMany(name, { n: { $gte: 4 } }, { $set: { big: true } })
        yield* store.findOneAndUpdate(name, { _id: 5 }, { $unset: { big: "" } })
        yield* store.deleteOne(name, { _id: 3 })
        yield* store.deleteMany(name, { _id: 6 })
        return "done"
      }))
      assert.strictEqual(result, "done")
      assert.deepStrictEqual(yield* all, [
        { _id: 1, n: 11, big: true },
        { _id: 2, replaced: true },
        { _id: 4, n: 4, big: true },
        { _id: 5, n: 5 }
      ])
      assert.strictEqual(yield* store.count(name, {}), 4)
    }))

  test("runs what follows a commit, each of it, and nothing after a rollback", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const done: Array<string> = []
      const later = (text: string) => afterCommit(Effect.sync(() => void done.push(text)))
      const result = yield* store.transaction(Effect.gen(function*() {
        yield* later("first")
        yield* afterCommit(Effect.die("A defect"))
        yield* store.insertOne(name, { _id: 1 })
        yield* later("last")
        assert.deepStrictEqual(done, [])
        return "committed"
      }))
      yield* Effect.flip(store.transaction(Effect.andThen(later("never"), Effect.fail("rolled back"))))
      yield* later("outside")
      assert.deepStrictEqual([result, ...done], ["committed", "first", "last", "outside"])
      assert.deepStrictEqual(yield* all, [{ _id: 1 }])
    }))

  test("lets a transaction read its own writes, also by an index", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 300 }, (_, _id) => ({ _id, n: _id })))
      yield* store.createIndexes(name, [{ name: "n", key: { n: 1 } }])
      yield* store.transaction(Effect.gen(function*() {
        yield* store.insertOne(name, { _id: 1_000, n: 7 })
        yield* store.deleteOne(name, { _id: 8 })
        yield* store.updateOne(name, { _id: 9 }, { $set: { n: 7 } })
        assert.deepStrictEqual(yield* store.findById(name, 1_000), { _id: 1_000, n: 7 })
        assert.isUndefined(yield* store.findById(name, 8))
        const found = yield* store.find(name, { filter: { n: { $gte: 6, $lte: 9 } }, sort: { n: 1, _id: 1 } })
        assert.deepStrictEqual(idsOf(found), [6, 7, 9, 1_000])
        const down = yield* store.find(name, { filter: { n: { $lte: 7 } }, sort: { n: -1, _id: -1 }, limit: 4 })
        assert.deepStrictEqual(idsOf(down), [1_000, 9, 7, 6])
        const last = yield* store.find(name, { sort: { _id: -1 }, limit: 2 })
        assert.deepStrictEqual(idsOf(last), [1_000, 299])
        assert.strictEqual(yield* store.count(name, {}), 300)
        assert.strictEqual(yield* store.count(name, { n: 7 }), 3)
        assert.strictEqual(yield* store.estimatedCount(name), 300)
        assert.sameMembers([...(yield* store.distinct(name, "n", { _id: { $gte: 298 } }))], [298, 299, 7])
        const sums = yield* Stream.runCollect(
          store.aggregate(name, [{ $match: { n: 7 } }, { $group: { _id: null, ids: { $sum: "$_id" } } }])
        )
        assert.deepStrictEqual(sums, [{ _id: null, ids: 1_016 }])
      }))
    }))

  test("streams in a transaction, and writes meanwhile", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf(Array.from({ length: 1_200 }, (_, _id) => ({ _id, n: 0 })))
      yield* store.transaction(Effect.gen(function*() {
        yield* store.insertOne(name, { _id: 1_200, n: 0 })
        let seen = 0
        yield* Stream.runForEach(store.stream(name, { sort: { _id: 1 } }), ({ _id }) => {
          seen += 1
          return Number(_id) % 100 === 0 ? store.updateOne(name, { _id }, { $inc: { n: 1 } }) : Effect.void
        })
        assert.strictEqual(seen, 1_201)
      }))
      assert.strictEqual(yield* store.count(name, { n: 1 }), 13)
    }))

  const writesOf = (store: Store, name: string) =>
    Effect.all([
      store.insertOne(name, { _id: 2 }),
      store.updateOne(name, { _id: 1 }, { $set: { n: 2 } }),
      store.insertOne(`${name} too`, { _id: 1 })
    ])

  test("writes nothing of a transaction that fails, dies or is interrupted", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 1 }])
      const write = writesOf(store, name)
      const failed = yield* Effect.exit(store.transaction(Effect.andThen(write, Effect.fail("no"))))
      assert.deepStrictEqual(failed, Exit.fail("no"))
      const died = yield* Effect.exit(store.transaction(Effect.andThen(write, Effect.die("bug"))))
      assert.isTrue(Exit.hasDies(died))
      const written = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        store.transaction(Effect.andThen(write, Effect.andThen(Deferred.succeed(written, undefined), Effect.never)))
      )
      yield* Deferred.await(written)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 1 }])
      assert.deepStrictEqual(yield* store.find(`${name} too`, {}), [])
      yield* store.transaction(write)
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 2 }, { _id: 2 }])
    }))

  test("isolates a transaction's writes until the commit, and shows writes committed before its start", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, n: 1 }])
      yield* store.createIndexes(name, [{ name: "n", key: { n: 1 }, unique: true }])
      const written = yield* Deferred.make<void>()
      const seen = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(store.transaction(Effect.gen(function*() {
        yield* writesOf(store, name)
        yield* Deferred.succeed(written, undefined)
        yield* Deferred.await(seen)
      })))
      yield* Deferred.await(written)
      assert.deepStrictEqual(yield* all, [{ _id: 1, n: 1 }])
      assert.deepStrictEqual(yield* store.find(name, { filter: { n: 1 } }), [{ _id: 1, n: 1 }])
      assert.deepStrictEqual(yield* Stream.runCollect(store.stream(`${name} too`, {})), [])
      assert.strictEqual(yield* store.count(name, {}), 1)
      yield* Deferred.succeed(seen, undefined)
      yield* Fiber.join(fiber)
      assert.strictEqual(yield* store.count(name, {}), 2)
      assert.deepStrictEqual(yield* store.find(name, { filter: { n: 2 } }), [{ _id: 1, n: 2 }])
    }))

  test("includes the writes of child fibers that a transaction waits for", () =>
    Effect.gen(function*() {
      const { all, ids, name, store } = yield* collectionOf([])
      const insert = (_id: number) => store.insertOne(name, { _id })
      yield* store.transaction(Effect.forEach([1, 2, 3, 4, 5], insert, { concurrency: 5 }))
      const failed = yield* Effect.exit(store.transaction(Effect.gen(function*() {
        const fibers = yield* Effect.forEach([6, 7], (_id) => Effect.forkChild(insert(_id)))
        yield* Fiber.joinAll(fibers)
        return yield* Effect.fail("no")
      })))
      assert.deepStrictEqual(failed, Exit.fail("no"))
      assert.deepStrictEqual(idsOf(yield* all), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* ids({}), [1, 2, 3, 4, 5])
    }))

  test("rejects operations of a fiber that has outlived its transaction", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      const go = yield* Deferred.make<void>()
      const fiber = yield* store.transaction(
        Effect.forkDetach(Effect.flip(Effect.andThen(Deferred.await(go), store.insertOne(name, { _id: 1 }))))
      )
      yield* Deferred.succeed(go, undefined)
      assert.deepInclude({ ...(yield* Fiber.join(fiber)) }, { _tag: "StoreUnavailable", retryable: false })
      assert.deepStrictEqual(yield* all, [])
    }))

  test("makes a nested transaction part of the outer one", () =>
    Effect.gen(function*() {
      const { ids, name, store } = yield* collectionOf([])
      const insert = (_id: number) => store.insertOne(name, { _id })
      yield* store.transaction(Effect.gen(function*() {
        yield* insert(1)
        yield* store.transaction(insert(2))
        assert.deepStrictEqual(yield* ids({}), [1, 2])
      }))
      const outer = yield* Effect.exit(
        store.transaction(Effect.andThen(store.transaction(insert(3)), Effect.fail("no")))
      )
      assert.deepStrictEqual(outer, Exit.fail("no"))
      const inner = yield* Effect.flip(store.transaction(Effect.gen(function*() {
        yield* insert(4)
        yield* Effect.ignore(store.transaction(Effect.andThen(insert(5), Effect.fail("no"))))
      })))
      assert.strictEqual(inner._tag, "QueryRejected")
      assert.deepStrictEqual(yield* ids({}), [1, 2])
    }))

  test("fails with DuplicateKey in a transaction, and writes nothing, even if the failure is caught", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, v: 1 }])
      yield* store.createIndexes(name, [{ name: "v", key: { v: 1 }, unique: true }])
      const duplicates: ReadonlyArray<Effect.Effect<unknown, StoreError>> = [
        store.insertOne(name, { _id: 3, v: 1 }),
        store.insertOne(name, { _id: 3, v: 2 }),
        store.updateOne(name, { _id: 2 }, { $set: { v: 1 } }),
        store.insertMany(name, [{ _id: 3, v: 3 }, { _id: 4, v: 2 }]),
        store.findOneAndReplace(name, { _id: 1 }, { v: 2 })
      ]
      for (const duplicate of duplicates) {
        for (const write of [duplicate, Effect.ignore(duplicate)]) {
          const insert = store.insertOne(name, { _id: 2, v: 2 })
          const error = yield* Effect.flip(store.transaction(Effect.andThen(insert, Effect.asVoid(write))))
          assert.deepInclude({ ...error }, { _tag: "DuplicateKey", collection: name, index: "v", fields: ["v"] })
        }
      }
      assert.deepStrictEqual(yield* all, [{ _id: 1, v: 1 }])
    }))

  test("executes no further operation in a failed transaction", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1 }])
      const error = yield* Effect.flip(store.transaction(Effect.gen(function*() {
        yield* Effect.ignore(store.insertOne(name, { _id: 1 }))
        const next = yield* Effect.flip(store.findById(name, 1))
        assert.strictEqual(next._tag, "QueryRejected")
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(store.stream(name, {}))))._tag, "QueryRejected")
      })))
      assert.propertyVal(error, "_tag", "DuplicateKey")
      assert.deepStrictEqual(yield* all, [{ _id: 1 }])
    }))

  test("lets documents swap unique values, but never share one", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: 1, v: "a" }, { _id: 2, v: "b" }])
      yield* store.createIndexes(name, [{ name: "v", key: { v: 1 }, unique: true }])
      const move = (_id: number, v: string) => store.updateOne(name, { _id }, { $set: { v } })
      yield* store.transaction(Effect.all([move(1, "c"), move(2, "a"), move(1, "b")]))
      assert.deepStrictEqual(yield* all, [{ _id: 1, v: "b" }, { _id: 2, v: "a" }])
      yield* store.transaction(
        Effect.andThen(store.deleteOne(name, { _id: 1 }), store.insertOne(name, { _id: 3, v: "b" }))
      )
      assert.strictEqual((yield* Effect.flip(store.insertOne(name, { _id: 4, v: "b" })))._tag, "DuplicateKey")
      yield* store.insertOne(name, { _id: 5, v: "c" })
    }))

  test("keeps the total during concurrent transfers", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([1, 2, 3, 4].map((_id) => ({ _id, amount: 100 })))
      const transfer = (from: number, to: number, amount: number) =>
        store.transaction(Effect.gen(function*() {
          const [source, target] = yield* Effect.all([store.findById(name, from), store.findById(name, to)])
          yield* store.updateOne(name, { _id: from }, { $set: { amount: Number(source?.["amount"]) - amount } })
          yield* Effect.yieldNow
          yield* store.updateOne(name, { _id: to }, { $set: { amount: Number(target?.["amount"]) + amount } })
        }))
      yield* Effect.forEach(
        Array.from({ length: 48 }, (_, i) => i),
        (i) => transfer(1 + i % 4, 1 + (i + 1 + i % 3) % 4, 1 + i % 5),
        { concurrency: 16 }
      )
      const expected = [100, 100, 100, 100]
      for (let i = 0; i < 48; i++) {
        expected[i % 4] = (expected[i % 4] ?? 0) - (1 + i % 5)
        const to = (i + 1 + i % 3) % 4
        expected[to] = (expected[to] ?? 0) + 1 + i % 5
      }
      assert.deepStrictEqual(yield* all, expected.map((amount, i) => ({ _id: i + 1, amount })))
    }))

  test("retries a transaction when other writes have changed what it has read", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, n: 0 }, { _id: 2, n: 0 }])
      const attempts = yield* Ref.make(0)
      yield* store.transaction(Effect.gen(function*() {
        const attempt = yield* Ref.updateAndGet(attempts, (n) => n + 1)
        const document = yield* store.findById(name, 1)
        // Somebody else is in between, the first time.
        if (attempt === 1) yield* outside(store.updateOne(name, { _id: 1 }, { $inc: { n: 10 } }))
        yield* store.updateOne(name, { _id: 1 }, { $set: { n: Number(document?.["n"]) + 1 } })
      }))
      assert.strictEqual(yield* Ref.get(attempts), 2)
      assert.deepStrictEqual(yield* store.findById(name, 1), { _id: 1, n: 11 })
    }))

  test("reads one state of the store during concurrent writes", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1, n: 0 }, { _id: 2, n: 0 }])
      const attempts = yield* Ref.make(0)
      const both = yield* store.transaction(Effect.gen(function*() {
        const attempt = yield* Ref.updateAndGet(attempts, (n) => n + 1)
        const before = yield* store.find(name, { sort: { _id: 1 } })
        if (attempt === 1) {
          yield* outside(store.updateMany(name, {}, { $inc: { n: 1 } }))
          yield* outside(store.insertOne(name, { _id: 3 }))
        }
        const again = yield* store.findById(name, 2)
        return [before, again, yield* store.count(name, {})] as const
      }))
      const [before, again, count] = both
      assert.deepStrictEqual(again, before[1])
      assert.strictEqual(count, before.length)
    }))

  test("writes nothing twice when it is retried", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([{ _id: "count", n: 0 }])
      const increment = (by: number) =>
        store.transaction(Effect.gen(function*() {
          const document = yield* store.findById(name, "count")
          yield* store.insertOne(name, { _id: by })
          yield* store.replaceOne(name, { _id: "count" }, { n: Number(document?.["n"]) + 1 })
        }))
      yield* Effect.forEach(Array.from({ length: 20 }, (_, i) => i), increment, { concurrency: 20 })
      assert.strictEqual((yield* all).length, 21)
      assert.deepStrictEqual(yield* store.findById(name, "count"), { _id: "count", n: 20 })
    }))

  test("creates a collection that several transactions use first at the same time", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      yield* Effect.forEach([1, 2, 3, 4], (_id) => store.transaction(store.insertOne(name, { _id })), {
        concurrency: 4
      })
      assert.deepStrictEqual(idsOf(yield* all), [1, 2, 3, 4])
    }))

  test("rejects operations that can't be part of a transaction", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([])
      const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        store.createIndexes(name, [{ name: "a", key: { a: 1 } }]),
        store.syncIndexes(name, []),
        store.dropIndexes(name),
        store.listIndexes(name),
        store.setValidator(name, {})
      ]
      for (const call of calls) {
        const error = yield* store.transaction(Effect.flip(call))
        assert.strictEqual(error._tag, "Unsupported")
      }
      assert.deepStrictEqual(yield* store.listIndexes(name), [])
    }))

  test("commits without any write or read", () =>
    Effect.gen(function*() {
      const { name, store } = yield* collectionOf([{ _id: 1 }])
      assert.strictEqual(yield* store.transaction(Effect.succeed(1)), 1)
      assert.deepStrictEqual(yield* store.transaction(store.findById(name, 1)), { _id: 1 })
      const nothing = store.transaction(
        Effect.andThen(store.insertOne(name, { _id: 2 }), store.deleteOne(name, { _id: 2 }))
      )
      assert.strictEqual(yield* nothing, 1)
      assert.strictEqual(yield* store.count(name, {}), 1)
    }))
}

/** Does something on behalf of somebody who is not in the transaction. */
const outside = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.callback<A, E>((resume) => {
    Effect.runCallback(effect, { onExit: (exit) => resume(exit) })
  })
