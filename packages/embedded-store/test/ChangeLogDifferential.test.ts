/**
 * Random writes of every kind. At every place of the log, what follows from the changes so far is what the collection has, and
 * what a change says of the document before it is what was there.
 *
 * `CHANGE_STEPS=100000 npx vitest run packages/embedded-store/test/ChangeLogDifferential.test.ts` runs as many writes.
 */
import type { Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Random, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { byId, ChangeFollower } from "../../../test/support/changeFollower.ts"
import { freshDirectory } from "../../../test/support/folders.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

type Store = DocumentStore["Service"]

const steps = Number(process.env["CHANGE_STEPS"] ?? 400)

const ids = 30

const int = (max: number) => Random.nextIntBetween(0, max)

const documentOf = Effect.gen(function*() {
  const n = yield* int(5)
  return {
    n,
    ...(yield* int(2)) === 0 ? { tags: [`t${yield* int(3)}`, { deep: [n] }] } : {},
    ...(yield* int(3)) === 0 ? { at: new Date(yield* int(4)) } : {},
    ...(yield* int(4)) === 0 ? { expires: new Date(Date.UTC(2026, 0, 1) + (yield* int(100)) * 3_600_000) } : {},
    text: "x".repeat(yield* int(40))
  }
})

/** One write, or several in a transaction. */
const writeTo = (store: Store, name: string): Effect.Effect<unknown> =>
  Effect.gen(function*() {
    const _id = yield* int(ids)
    const document = yield* documentOf
    const some = { n: yield* int(5) }
    switch (yield* int(17)) {
      case 0:
      case 1:
        return yield* Effect.ignore(store.insertOne(name, { _id, ...document }))
      case 2:
        return yield* store.insertMany(
          name,
          Array.from({ length: 6 }, (_, i) => ({ ...document, _id: (_id + i) % ids })),
          { ordered: (yield* int(2)) === 0 }
        )
      case 3:
        return yield* store.replaceOne(name, { _id }, document, { upsert: true })
      case 4:
        return yield* store.updateOne(name, { _id }, { $set: { n: some.n, "added.deep": _id }, $unset: { tags: "" } })
      case 5:
        return yield* store.updateMany(name, some, { $inc: { n: 1 }, $push: { list: some.n } })
      case 6:
        return yield* store.updateMany(name, some, [{ $set: { sum: { $add: ["$n", 1] }, text: "$$REMOVE" } }])
      case 7:
        return yield* store.findOneAndUpdate(name, some, { $rename: { text: "was" } }, { sort: { _id: -1 } })
      case 8:
        return yield* store.findOneAndReplace(name, { _id }, { ...document, replaced: true }, { upsert: true })
      case 9:
        return yield* store.findOneAndDelete(name, some)
      case 10:
        return yield* store.deleteOne(name, { _id })
      case 11:
        return yield* store.deleteMany(name, { ...some, _id: { $gt: _id } })
      case 12: {
        const end = yield* int(2)
        return yield* Effect.ignore(store.transaction(Effect.gen(function*() {
          yield* store.updateMany(name, some, { $set: { inTransaction: document.n } })
          yield* store.replaceOne(name, { _id }, document, { upsert: true })
          yield* store.deleteOne(name, { _id: (_id + 1) % ids })
          yield* store.replaceOne(name, { _id: (_id + 1) % ids }, { again: true }, { upsert: true })
          if (end === 0) return yield* Effect.fail("rolled back")
        })))
      }
      case 13:
        return yield* Effect.ignore(
          store.aggregate(name, [{ $match: some }, { $set: { merged: true } }, {
            $merge: { into: name, whenMatched: "merge", whenNotMatched: "insert" }
          }]).pipe(Stream.runDrain)
        )
      case 14:
        return (yield* int(8)) > 0 ? undefined : yield* Stream.runDrain(
          store.aggregate(name, [{ $match: { n: { $lt: 3 } } }, { $set: { out: true } }, { $out: name }])
        )
      case 15:
        return yield* store.insertOne("others", { by: _id, _id: `${_id} ${yield* Random.nextIntBetween(0, 2 ** 40)}` })
      default:
        return yield* TestClock.adjust("30 minutes")
    }
  }).pipe(Effect.orDie)

const differential = (
  name: string,
  open: Effect.Effect<
    { readonly store: Store; readonly reopen: Effect.Effect<Store, unknown, Scope.Scope> },
    unknown,
    Scope.Scope
  >
) =>
  it.effect(
    `follows ${steps} random writes / ${name}`,
    () =>
      Effect.gen(function*() {
        const opened = yield* open
        let { store } = opened
        yield* TestClock.setTime(Date.UTC(2026, 0, 1))
        yield* store.changes.record("things", {})
        yield* store.createIndexes("things", [
          { name: "n", key: { n: 1 } },
          { name: "expires", key: { expires: 1 }, expireAfterSeconds: 0 }
        ])
        const eager = new ChangeFollower(["things"], yield* store.changes.end)
        const lazy = new ChangeFollower(["things"], eager.position)
        for (let step = 0; step < steps; step++) {
          yield* writeTo(store, "things")
          let found: ReadonlyArray<Document>
          // Documents may expire while they are read.
          do {
            yield* eager.follow(store, 1_000)
            found = yield* store.find("things", {})
          } while (eager.position !== (yield* store.changes.end))
          assert.deepStrictEqual(eager.collection("things"), byId(found))
          if (step % 97 === 96) yield* lazy.follow(store, 7)
          if (step % 199 === 198) store = yield* opened.reopen
        }
        yield* lazy.follow(store, 3)
        assert.deepStrictEqual(lazy.collection("things"), eager.collection("things"))
        assert.strictEqual(lazy.changes, eager.changes)
        console.log(`${name}: ${steps} writes, ${eager.changes} changes`)
      }).pipe(Effect.scoped, Random.withSeed(process.env["CHANGE_SEED"] ?? "changes")),
    steps * 100 + 120_000
  )

differential(
  "memory",
  Effect.map(EmbeddedStore.makeMemory, (store) => ({ store, reopen: Effect.succeed(store) }))
)

differential(
  "embedded",
  Effect.gen(function*() {
    const path = yield* freshDirectory
    let scope = yield* Scope.make()
    const opened = Effect.gen(function*() {
      scope = yield* Scope.make()
      return yield* Scope.provide(EmbeddedStore.make({ path }), scope)
    })
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    return {
      store: yield* opened,
      reopen: Effect.andThen(Effect.suspend(() => Scope.close(scope, Exit.void)), opened)
    }
  })
)
