/** What transactions see of each other. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, type Layer, Random, Ref } from "effect"
import { setImmediate } from "node:timers/promises"
import { type Document, DocumentStore } from "../../../src/Repository/DocumentStore.ts"
import type { StoreError } from "../../../src/Repository/RepositoryError.ts"
import { collectionOf, type Store } from "./documentStore/collection.ts"

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
    const test = <A, E>(name: string, run: () => Effect.Effect<A, E, DocumentStore>) => it.effect(name, run, 60_000)

    test("shows one state to each transaction, while others transfer", () =>
      Effect.gen(function*() {
        for (const accounts of [2, 20]) {
          const { audits, checks, transfers } = yield* soak(yield* DocumentStore, { accounts, seconds: 2 })
          assert.isAbove(Math.min(transfers, audits, checks), 3)
        }
      }))

    test("loses no change that many transactions make of one document", () =>
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

    test("inserts what it finds nowhere, however much others write meanwhile", () =>
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
      test("inserts one document where many find none", () =>
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

      test("lets no two transactions each write what the other one has read", () =>
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

      test("lets nothing come into a range that a transaction has searched, and minds nothing beside it", () =>
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

/**
 * Transfers between accounts for so long, beside audits that only read, and checks that read all and write. Fails when
 * any of them sees another sum.
 */
const soak = Effect.fnUntraced(function*(
  store: Store,
  { accounts, seconds }: { readonly accounts: number; readonly seconds: number }
) {
  const { name } = yield* collectionOf(
    Array.from({ length: accounts }, (_, _id) => ({ _id, amount: 100, kind: _id % 2 }))
  )
  yield* store.createIndexes(name, [{ name: "kind", key: { kind: 1 } }])
  const total = (documents: ReadonlyArray<Document | undefined>) =>
    documents.reduce((sum, document) => sum + Number(document?.["amount"]), 0)
  const expected = 100 * accounts
  const end = (yield* Clock.currentTimeMillis) + seconds * 1_000
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

  const times = (work: Effect.Effect<unknown, unknown>) => {
    let done = 0
    return Effect.as(
      Effect.repeat(Effect.tap(work, () => Effect.sync(() => done += 1)), {
        while: () => Effect.map(Clock.currentTimeMillis, (now) => now < end)
      }),
      () => done
    )
  }
  const counts = yield* Effect.all([transfer, transfer, transfer, transfer, check, ...audits].map(times), {
    concurrency: "unbounded"
  })
  const [a = 0, b = 0, c = 0, d = 0, checks = 0, ...read] = counts.map((done) => done())
  assert.deepStrictEqual(wrong, [])
  assert.strictEqual(total(yield* store.find(name, {})), expected)
  return { transfers: a + b + c + d, audits: read.reduce((sum, n) => sum + n, 0), checks }
})
