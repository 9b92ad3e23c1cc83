/** What transactions see of each other. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, type Layer, Random, Ref } from "effect"
import { setImmediate } from "node:timers/promises"
import { type Document, DocumentStore } from "../src/DocumentStore.ts"
import type { StoreError } from "../src/StoreError.ts"
import { collectionOf, type Store } from "./documentStore/collection.ts"

const byOther = /,"by":"other"/g

/** Runs in a fiber that knows nothing of the transaction around. */
const outside = (effect: Effect.Effect<unknown, unknown>) => Effect.promise(() => Effect.runPromise(effect))

/**
 * Every store shows a transaction one state (snapshot isolation); `isSerializable` says that a store also notices when
 * others write what a transaction has only read.
 */
export const isolationContract = <E>(
  name: string,
  layer: Layer.Layer<DocumentStore, E>,
  { isSerializable }: { readonly isSerializable: boolean }
) =>
  it.layer(layer, { excludeTestServices: true })(`isolation / ${name}`, (it) => {
    const test = <A, E>(name: string, run: () => Effect.Effect<A, E, DocumentStore>) => it.effect(name, run)

    test("shows one state to each transaction, during concurrent transfers", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        for (const accounts of [2, 20]) yield* soak(store, { accounts, times: isSerializable ? 100 : 20 })
      }))

    test("loses no change of many transactions to one document", () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf([{ _id: 1, n: 0 }])
        const increment = store.transaction(Effect.gen(function*() {
          const document = yield* store.findById(name, 1)
          yield* Effect.yieldNow
          yield* store.updateOne(name, { _id: 1 }, { $set: { n: Number(document?.["n"]) + 1 } })
        }))
        yield* Effect.all(Array.from({ length: 30 }, () => Effect.repeat(increment, { times: 4 })), { concurrency: 30 })
        assert.deepStrictEqual(yield* store.findById(name, 1), { _id: 1, n: 150 })
      }))

    test("inserts a missing document, with any concurrent writes", () =>
      Effect.gen(function*() {
        const { name, store } = yield* collectionOf(Array.from({ length: 2_000 }, (_, _id) => ({ _id, code: "old" })))
        const others = yield* Effect.forkChild(
          Effect.forever(Effect.andThen(store.updateOne(name, { _id: 1 }, { $inc: { n: 1 } }), Effect.yieldNow))
        )
        const codes = Array.from({ length: 10 }, (_, i) => `code ${i}`)
        const upsert = (code: string) => store.updateOne(name, { code }, { $inc: { n: 1 } }, { upsert: true })
        yield* Effect.forEach([...codes, ...codes], upsert)
        yield* Fiber.interrupt(others)
        const found = yield* store.find(name, { filter: { code: { $ne: "old" } } })
        assert.sameMembers(
          found.map(({ code, n }) => `${String(code)}: ${String(n)}`),
          codes.map((code) => `${code}: 2`)
        )
      }))

    if (isSerializable) {
      test("inserts one document when many concurrent upserts find none", () =>
        Effect.gen(function*() {
          const { name, store } = yield* collectionOf(Array.from({ length: 1_000 }, (_, _id) => ({ _id, code: "old" })))
          const codes = Array.from({ length: 120 }, (_, i) => `code ${i % 3}`)
          yield* Effect.forEach(
            codes,
            (code) => store.updateOne(name, { code }, { $inc: { n: 1 } }, { upsert: true }),
            { concurrency: 60 }
          )
          const found = yield* store.find(name, { filter: { n: { $gte: 1 } }, sort: { code: 1 } })
          assert.deepStrictEqual(found.map(({ code, n }) => [code, n]), [["code 0", 40], ["code 1", 40], [
            "code 2",
            40
          ]])
        }))

      test("commits many writes atomically, with other reads and writes before and after", () =>
        Effect.gen(function*() {
          const { name, reads, see, state, store, transaction } = yield* manyWrites(8_000)
          const before = yield* see
          const fiber = yield* Effect.forkChild(transaction)
          const seen: Array<ReadonlyArray<string>> = []
          let other: Fiber.Fiber<unknown, unknown> | undefined
          while (fiber.pollUnsafe() === undefined) {
            if (!state.isCommitting) yield* Effect.yieldNow
            else {
              // Whatever writes now comes afterwards.
              other ??= yield* Effect.forkChild(store.updateOne(name, { _id: 7_999 }, { $set: { by: "other" } }))
              seen.push(yield* see)
            }
          }
          yield* Fiber.join(fiber)
          if (other !== undefined) yield* Fiber.join(other)
          assert.isAbove(seen.length, 3)
          yield* store.updateOne(name, { _id: 7_999 }, { $unset: { by: 1 } })
          const after = yield* see
          for (const [i, read] of reads.entries()) {
            assert.notStrictEqual(before[i], after[i], read)
            const states = seen.map((results) =>
              results[i] === before[i] ? "before" : results[i]?.replace(byOther, "") === after[i] ? "after" : results[i]
            )
            assert.deepStrictEqual(
              states,
              states.toSorted((a, b) => Number(a === "after") - Number(b === "after")),
              read
            )
            assert.deepStrictEqual(states.filter((state) => state !== "before" && state !== "after"), [], read)
          }
          assert.strictEqual(yield* store.count(name, { at: "old" }), 0)
          assert.strictEqual(yield* store.count(name, { at: "new" }), 10_000)
        }))

      test("writes everything or nothing when a transaction of many writes is interrupted", () =>
        Effect.gen(function*() {
          const { see, state, transaction } = yield* manyWrites(4_000)
          const before = yield* see
          const early = yield* Effect.forkChild(transaction, { startImmediately: true })
          yield* Fiber.interrupt(early)
          assert.deepStrictEqual([state.isCommitting, yield* see], [false, before])
          const late = yield* Effect.forkChild(transaction)
          while (!state.isCommitting) yield* Effect.yieldNow
          // The commit is waited for, and its outcome is another than the caller is told of.
          const exit = yield* Effect.andThen(Fiber.interrupt(late), Fiber.await(late))
          assert.isTrue(Exit.hasInterrupts(exit))
          const after = yield* see
          assert.isTrue(after.every((found, i) => found !== before[i]))
          // Without a commit in between, it is as it was.
          yield* Effect.sleep("20 millis")
          assert.deepStrictEqual(yield* see, after)
        }))

      test("lets no two transactions each write what the other has read", () =>
        Effect.gen(function*() {
          // One of two doctors has to stay on call.
          const { all, name, store } = yield* collectionOf([{ _id: "a", onCall: true }, { _id: "b", onCall: true }])
          const leave = (_id: string) =>
            store.transaction(Effect.gen(function*() {
              const others = yield* store.count(name, { onCall: true, _id: { $ne: _id } })
              yield* Effect.yieldNow
              if (others > 0) yield* store.updateOne(name, { _id }, { $set: { onCall: false } })
            }))
          for (let i = 0; i < 20; i++) {
            yield* Effect.all([leave("a"), leave("b")], { concurrency: 2 })
            assert.strictEqual((yield* all).filter(({ onCall }) => onCall === true).length, 1)
            yield* store.updateMany(name, {}, { $set: { onCall: true } })
          }
        }))

      test("rejects concurrent inserts into a range that a transaction has searched, but not outside of it", () =>
        Effect.gen(function*() {
          const { name, store } = yield* collectionOf(Array.from({ length: 50 }, (_, _id) => ({ _id, at: _id * 10 })))
          yield* store.createIndexes(name, [{ name: "at", key: { at: 1 } }])
          const book = Effect.fnUntraced(function*(_id: string, other: Effect.Effect<unknown, unknown>) {
            const attempts = yield* Ref.make(0)
            const free = yield* store.transaction(Effect.gen(function*() {
              const attempt = yield* Ref.updateAndGet(attempts, (n) => n + 1)
              const taken = yield* store.count(name, { at: { $gt: 100, $lt: 110 } })
              if (attempt === 1) yield* outside(other)
              if (taken === 0) yield* store.insertOne(name, { _id, at: 105 })
              return taken === 0
            }))
            return { free, attempts: yield* Ref.get(attempts) }
          })
          const beside = store.insertOne(name, { _id: "beside", at: 95 })
          assert.deepStrictEqual(yield* book("first", beside), { free: true, attempts: 1 })
          yield* store.deleteOne(name, { _id: "first" })
          const within = store.insertOne(name, { _id: "within", at: 104 })
          assert.deepStrictEqual(yield* book("second", within), { free: false, attempts: 2 })
        }))
    }
  })

/** What a transaction makes of many documents, and what others may see meanwhile: all of it or nothing. */
const manyWrites = Effect.fnUntraced(function*(size: number) {
  const { name, store } = yield* collectionOf(
    Array.from({ length: size }, (_, _id) => ({ _id, n: _id % 10, at: "old" }))
  )
  yield* store.createIndexes(name, [{ name: "n", key: { n: 1 } }])
  const state = { isCommitting: false }
  const transaction = store.transaction(Effect.gen(function*() {
    yield* store.updateMany(name, {}, { $set: { at: "new" }, $inc: { n: 100 } })
    yield* store.deleteMany(name, { _id: { $lt: size / 4 } })
    yield* store.insertMany(name, Array.from({ length: size / 2 }, (_, i) => ({ _id: size + i, n: i % 10, at: "new" })))
    state.isCommitting = true
  }))
  const some = [0, 1, size / 2, size - 1, size, size + 1]
  const reads: { readonly [name: string]: Effect.Effect<ReadonlyArray<Document>, StoreError> } = {
    findById: Effect.map(store.findById(name, size - 1), (found) => found === undefined ? [] : [found]),
    byIds: store.find(name, { filter: { _id: { $in: some } }, sort: { _id: 1 } }),
    first: store.find(name, { limit: 3 }),
    last: store.find(name, { sort: { _id: -1 }, limit: 3 }),
    lowest: store.find(name, { sort: { n: 1 }, limit: 3 }),
    highest: store.find(name, { sort: { n: -1 }, limit: 3 }),
    ofIndex: store.find(name, { filter: { n: 5 }, limit: 3 }),
    count: Effect.map(store.estimatedCount(name), (count) => [{ count }])
  }
  const see = Effect.forEach(Object.entries(reads), ([, read]) => Effect.map(read, (found) => JSON.stringify(found)))
  return { name, store, reads: Object.keys(reads), see, state, transaction }
})

/**
 * Transfers between accounts, beside audits that only read, and checks that read all and write, until there were so many
 * of each. Fails when any of them sees another sum.
 */
const soak = Effect.fnUntraced(function*(
  store: Store,
  { accounts, times }: { readonly accounts: number; readonly times: number }
) {
  const { name } = yield* collectionOf(
    Array.from({ length: accounts }, (_, _id) => ({ _id, amount: 100, kind: _id % 2 }))
  )
  yield* store.createIndexes(name, [{ name: "kind", key: { kind: 1 } }])
  const total = (documents: ReadonlyArray<Document | undefined>) =>
    documents.reduce((sum, document) => sum + Number(document?.["amount"]), 0)
  const expected = 100 * accounts
  const pick = Random.nextIntBetween(0, accounts - 1)
  const wrong: Array<string> = []
  const see = (what: string, sum: number) => {
    if (sum !== expected) wrong.push(`${what}: ${sum}`)
  }
  // What is being committed may be there to read before the store says so.
  const perhapsTurn = Effect.flatMap(
    Random.next,
    (luck) => luck < 0.3 ? Effect.promise(() => setImmediate()) : Effect.void
  )

  const transfer = Effect.gen(function*() {
    const [from, to, amount] = [yield* pick, yield* pick, yield* Random.nextIntBetween(1, 9)]
    yield* store.transaction(Effect.gen(function*() {
      const source = yield* store.findById(name, from)
      yield* perhapsTurn
      yield* store.updateOne(name, { _id: from }, { $set: { amount: Number(source?.["amount"]) - amount } })
      const target = yield* store.findById(name, to)
      yield* store.updateOne(name, { _id: to }, { $set: { amount: Number(target?.["amount"]) + amount } })
    }))
  })

  const ids = Array.from({ length: accounts }, (_, _id) => _id)
  const audit = (what: string, read: Effect.Effect<ReadonlyArray<Document | undefined>, StoreError>) =>
    Effect.map(store.transaction(read), (documents) => see(what, total(documents)))
  const audits = [
    ...Array.from(
      { length: 6 },
      () => audit("one by one", Effect.forEach(ids, (id) => Effect.tap(store.findById(name, id), perhapsTurn)))
    ),
    audit("all", store.find(name, {})),
    audit(
      "by an index",
      Effect.map(
        Effect.forEach([0, 1], (kind) => Effect.tap(store.find(name, { filter: { kind } }), perhapsTurn)),
        (kinds) => kinds.flat()
      )
    )
  ]

  const check = store.transaction(Effect.gen(function*() {
    const sum = total(yield* store.find(name, { filter: { kind: { $gte: 0 } } }))
    yield* perhapsTurn
    see("before a write", sum)
    yield* store.replaceOne(`${name} checks`, { _id: "last" }, { sum }, { upsert: true })
    see("after a write", total(yield* store.find(name, {})))
  }))

  const done = { transfer: 0, check: 0, audit: 0 }
  const repeated = (kind: keyof typeof done, work: Effect.Effect<unknown, unknown>) =>
    Effect.repeat(Effect.tap(work, () => Effect.sync(() => done[kind]++)), {
      while: () => Math.min(...Object.values(done)) < times
    })
  const works = [
    ...Array.from({ length: 4 }, () => repeated("transfer", transfer)),
    repeated("check", check),
    ...audits.map((audit) => repeated("audit", audit))
  ]
  yield* Effect.all(works, { concurrency: "unbounded" })
  assert.deepStrictEqual(wrong, [])
  assert.strictEqual(total(yield* store.find(name, {})), expected)
})
