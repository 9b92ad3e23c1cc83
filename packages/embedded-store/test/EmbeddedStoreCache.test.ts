import type { Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Random, Scope } from "effect"
import { freshDirectory } from "../../../test/support/folders.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

type Store = DocumentStore["Service"]

const shared = Array.from({ length: 12 }, (_, i) => `shared ${String(i).padStart(2, "0")}`)

// Like a search for the identifier, but by a scan of the documents, which leaves the cache as it is.
const byScan = (store: Store, id: string) =>
  Effect.map(store.find("things", { filter: { _id: { $gte: id, $lte: id } } }), ([document]) => document)

/** Reads a document in all ways, in one turn: all see the same. */
const read = (store: Store, id: string) =>
  Effect.gen(function*() {
    const document = yield* store.findById("things", id)
    assert.deepStrictEqual(yield* byScan(store, id), document)
    const found = yield* Effect.result(store.find("things", { filter: { code: document?.["code"] ?? `no ${id}` } }))
    // Its index may have been dropped meanwhile.
    if (found._tag === "Success") assert.deepStrictEqual(found.success, document === undefined ? [] : [document])
    return document
  })

it.live(
  "EmbeddedStore with cached documents / embedded: reads stored documents completely",
  () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const scope = yield* Scope.make()
      const store = yield* Scope.provide(EmbeddedStore.make({ path: folder }), scope)
      yield* store.createIndexes("things", [{ name: "code", key: { code: 1 }, unique: true }])
      yield* store.insertMany("things", shared.map((_id) => ({ _id, code: `code of ${_id}`, n: 0, sum: 0 })))
      // What is told to be added to each, and what may have been.
      const told = new Map(shared.map((id) => [id, 0]))
      const work = { busy: 0 }
      let refusals = 0
      let transactions = 0
      const pick = Effect.map(Random.nextIntBetween(0, shared.length - 1), (i) => shared[i] ?? "")
      const count = (id: string) => told.set(id, (told.get(id) ?? 0) + 1)
      const add = (id: string) => store.updateOne("things", { _id: id }, { $inc: { n: 1, sum: 2 } })

      const sharedWriter = Effect.gen(function*() {
        const [a, b] = [yield* pick, yield* pick]
        const luck = yield* Random.nextIntBetween(0, 6)
        if (luck <= 1) {
          yield* add(a)
          count(a)
        } else if (luck === 2) {
          yield* store.updateMany("things", { _id: { $in: shared } }, { $inc: { n: 1, sum: 2 } })
          for (const id of shared) count(id)
        } else if (luck === 3) {
          const exit = yield* Effect.exit(
            store.updateOne("things", { _id: a }, { $set: { code: `code of ${b}` }, $inc: { n: 1, sum: 2 } })
          )
          if (a === b) count(a)
          assert.strictEqual(Exit.isSuccess(exit), a === b)
          if (a !== b) refusals += 1
        } else if (luck === 4) {
          yield* store.findOneAndUpdate("things", { code: `code of ${a}` }, { $inc: { n: 1, sum: 2 } })
          count(a)
        } else {
          const fails = luck === 6
          const exit = yield* Effect.exit(store.transaction(Effect.gen(function*() {
            yield* add(a)
            const within = yield* store.findById("things", a)
            assert.strictEqual(Number(within?.["sum"]), 2 * Number(within?.["n"]))
            yield* Effect.yieldNow
            yield* add(b)
            if (fails) yield* store.insertOne("things", { _id: a, code: "another" })
          })))
          transactions += 1
          // One that had no luck for too long is refused, too.
          if (fails) assert.isTrue(Exit.isFailure(exit))
          if (Exit.isSuccess(exit)) {
            count(a)
            count(b)
          }
        }
        const document = yield* read(store, a)
        assert.isAtLeast(Number(document?.["n"]), told.get(a) ?? 0)
      })

      /** Whoever writes alone knows exactly what is there. */
      const ownWriter = (name: string) => {
        let expected: Document | undefined
        let version = 0
        const id = `own ${name}`
        const codeOf = (version: number) => `code of ${id} ${version}`
        return Effect.gen(function*() {
          version += 1
          const next = { _id: id, code: codeOf(version), n: version, sum: 2 * version }
          const luck = yield* Random.nextIntBetween(0, 5)
          if (expected === undefined) {
            const result = yield* store.insertMany("things", [next, { ...next, _id: `${id} twin` }], { ordered: false })
            assert.strictEqual(result.failures.length, 1)
            expected = next
          } else if (luck === 0) {
            yield* store.deleteOne("things", { _id: id })
            expected = undefined
          } else if (luck === 1) {
            yield* Effect.exit(
              store.transaction(Effect.andThen(store.replaceOne("things", { _id: id }, next), Effect.fail("no")))
            )
          } else if (luck === 2) {
            yield* store.transaction(Effect.gen(function*() {
              yield* store.deleteMany("things", { _id: id })
              assert.isUndefined(yield* store.findById("things", id))
              yield* store.insertOne("things", next)
              assert.deepStrictEqual(yield* store.findById("things", id), next)
            }))
            expected = next
          } else {
            yield* store.replaceOne("things", { _id: id }, next)
            expected = next
          }
          for (let i = 0; i < 3; i++) {
            assert.deepStrictEqual(yield* read(store, id), expected)
            // What it was known by before leads nowhere.
            const former = yield* store.find("things", { filter: { code: codeOf(version - i) } })
            assert.deepStrictEqual(former, expected?.["n"] === version - i ? [expected] : [])
          }
        })
      }

      const times = (n: number, effect: Effect.Effect<unknown, unknown>) =>
        Effect.gen(function*() {
          work.busy += 1
          for (let i = 0; i < n; i++) {
            yield* effect
            if ((yield* Random.next) < 0.2) yield* Effect.sleep("1 millis")
          }
          work.busy -= 1
        })
      /** Makes an index and drops it, and reads by it what is there by the identifiers. */
      const indexer = Effect.gen(function*() {
        yield* store.createIndexes("things", [{ name: "n", key: { n: 1 } }])
        for (let i = 0; i < 5; i++) {
          const found = yield* store.find("things", { filter: { n: { $gte: 0 } }, sort: { n: 1 }, limit: 10 })
          const again = yield* Effect.forEach(found, ({ _id }) => store.findById("things", _id))
          assert.deepStrictEqual<unknown>(again, found)
          yield* Effect.yieldNow
        }
        yield* store.dropIndexes("things", ["n"])
      })
      const last = new Map<string, number>()
      const reader = (pause: Effect.Effect<unknown>) =>
        Effect.gen(function*() {
          while (work.busy > 0) {
            for (const id of shared) {
              const known = told.get(id) ?? 0
              const document = yield* read(store, id)
              const n = Number(document?.["n"])
              assert.isAtLeast(n, Math.max(known, last.get(id) ?? 0))
              assert.strictEqual(document?.["sum"], 2 * n)
              last.set(id, n)
            }
            yield* pause
          }
        })
      const writes = 60
      yield* Effect.all([
        ...Array.from({ length: 6 }, () => times(writes, sharedWriter)),
        ...["a", "b", "c", "d"].map((name) => times(writes, ownWriter(name))),
        times(writes / 4, indexer),
        ...[Effect.yieldNow, Effect.sleep("1 millis"), Effect.sleep("3 millis")].map(reader)
      ], { concurrency: "unbounded" })
      assert.isAbove(refusals, 3)
      assert.isAbove(transactions, 3)
      const ids = [...shared, ...["a", "b", "c", "d"].map((name) => `own ${name}`)]
      const cached = yield* Effect.forEach(ids, (id) => read(store, id))
      for (const id of shared) {
        const known = told.get(id) ?? 0
        assert.strictEqual((yield* store.findById("things", id))?.["n"], known)
      }
      yield* Scope.close(scope, Exit.void)
      const again = yield* EmbeddedStore.make({ path: folder })
      assert.deepStrictEqual(yield* Effect.forEach(ids, (id) => byScan(again, id)), cached)
    })
)
