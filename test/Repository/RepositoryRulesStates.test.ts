import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, Repository } from "../../src/index.ts"
import { as, Marked, type Plain, Recorded, repositories, twoOwners, under } from "../support/ruled.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

// Each has the fields of `Plain`.
const plainOf = (model: unknown) => model as typeof Plain

/** Which recorded states and which deleted documents the rules of a caller admit, whichever store is under it. */
storeMatrix((name, store) =>
  it.layer(repositories.pipe(Layer.provideMerge(store)))(`States under rules / ${name}`, (it) => {
    it.effect("shows the states that the rules admit, of documents that they admit now", () =>
      Effect.gen(function*() {
        const { ann, bob, mine, theirs, unknown } = yield* twoOwners(plainOf(Recorded))
        const recorded = yield* Repository.for(Recorded)
        const { count } = yield* DocumentStore.DocumentStore
        const times: Array<DateTime.Utc> = []
        for (const owner of [bob, ann, bob, ann]) {
          yield* TestClock.adjust("1 minute")
          yield* recorded.patch(mine, { owner, state: `of ${owner}` })
          times.push(yield* DateTime.now)
        }
        // Revisions 1 (Ann), 2 (Bob), 3 (Ann), 4 (Bob), 5 (Ann).
        const statesOf = Effect.fnUntraced(function*(id: string) {
          const streamed = yield* Stream.runCollect(recorded.history.stream(id))
          const at = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (revision) => recorded.history.at(id, { revision }))
          const then = yield* Effect.forEach(times, (time) => recorded.history.at(id, { time }))
          return {
            list: (yield* recorded.history(id)).map(({ revision }) => revision),
            page: (yield* recorded.history(id, { pageSize: 2 })).map(({ revision }) => revision),
            next: (yield* recorded.history(id, { pageSize: 2, before: { revision: 3 } })).map(({ revision }) =>
              revision
            ),
            streamed: streamed.map(({ revision }) => revision),
            at: at.map(Option.match({ onNone: () => 0, onSome: ({ revision }) => revision })),
            then: then.map(Option.match({ onNone: () => 0, onSome: ({ revision }) => revision }))
          }
        })
        const none = { list: [], page: [], next: [], streamed: [], at: [0, 0, 0, 0, 0, 0], then: [0, 0, 0, 0] }
        assert.deepStrictEqual(yield* statesOf(mine), {
          list: [5, 4, 3, 2, 1],
          page: [5, 4],
          next: [2, 1],
          streamed: [5, 4, 3, 2, 1],
          at: [1, 2, 3, 4, 5, 0],
          then: [2, 3, 4, 5]
        })
        assert.deepStrictEqual(yield* statesOf(mine).pipe(as(ann)), {
          list: [5, 3, 1],
          page: [5, 3],
          next: [1],
          streamed: [5, 3, 1],
          at: [1, 0, 3, 0, 5, 0],
          then: [0, 3, 0, 5]
        })
        assert.deepStrictEqual(yield* statesOf(mine).pipe(as(bob)), none)
        assert.deepStrictEqual(yield* statesOf(theirs).pipe(as(ann)), none)
        assert.deepStrictEqual(yield* statesOf(unknown).pipe(as(ann)), none)
        // A delete marks the document, which the rules then still admit; a purge removes it.
        yield* recorded.deleteById(mine)
        assert.deepStrictEqual((yield* statesOf(mine).pipe(as(ann))).list, [6, 5, 3, 1])
        assert.strictEqual(yield* recorded.history.purge(mine).pipe(as(bob)), 0)
        yield* recorded.purgeById(mine)
        assert.deepStrictEqual(yield* statesOf(mine).pipe(as(ann)), none)
        const entries = count("Recorded.history", { document_id: mine })
        assert.strictEqual(yield* entries, 7)
        const unrestricted = yield* Repository.unrestricted(Recorded)
        assert.strictEqual((yield* unrestricted.history(mine).pipe(as(ann))).length, 7)
        assert.strictEqual(yield* recorded.history.purge(theirs).pipe(as(bob)), 1)
      }))

    it.effect("records what a caller writes, and nothing of what is denied", () =>
      Effect.gen(function*() {
        const { ann, mine, prefix, theirs } = yield* twoOwners(plainOf(Recorded))
        const recorded = yield* Repository.for(Recorded)
        yield* Effect.gen(function*() {
          yield* recorded.patch(mine, { state: "patched" })
          yield* recorded.updateMany(undefined, ($) => [$.state.set("updated")])
          yield* Effect.flip(recorded.patch(mine, { owner: "somebody" }))
          yield* Effect.flip(recorded.updateMany(undefined, ($) => [$.owner.set("somebody")]))
          yield* Effect.flip(recorded.deleteById(theirs))
          yield* recorded.deleteById(`${prefix}-2`)
          yield* recorded.restoreById(`${prefix}-2`)
          yield* recorded.purgeById(`${prefix}-4`)
        }).pipe(as(ann))
        const changesOf = (id: string) =>
          Effect.map(recorded.history(id), (states) => states.map(({ change }) => change).toReversed())
        assert.deepStrictEqual(yield* changesOf(mine), ["insert", "patch", "update"])
        assert.deepStrictEqual(yield* changesOf(theirs), ["insert"])
        assert.deepStrictEqual(yield* changesOf(`${prefix}-2`), ["insert", "update", "delete", "restore"])
        assert.deepStrictEqual(yield* changesOf(`${prefix}-4`), ["insert", "update", "purge"])
      }))

    it.effect.each([["Marked", Marked], ["Recorded", Recorded]] as const)(
      "deletes, restores and purges the caller's %s documents",
      ([, model]) =>
        Effect.gen(function*() {
          const { ann, bob, mine, prefix, theirs, unknown } = yield* twoOwners(plainOf(model))
          const marked = yield* Repository.for(model as typeof Marked)
          const stateOf = Effect.fnUntraced(function*(id: string) {
            const found = yield* Effect.result(marked.findById(id, { deleted: "include" }))
            return found._tag === "Failure" ? "gone" : found.success.deleted === undefined ? "there" : "deleted"
          })
          const states = Effect.forEach([0, 1, 2, 3, 4, 5], (i) => stateOf(`${prefix}-${i}`))
          assert.strictEqual(yield* marked.deleteAll.pipe(as(ann)), 3)
          assert.deepStrictEqual(yield* states, ["deleted", "there", "deleted", "there", "deleted", "there"])
          yield* marked.deleteById(`${prefix}-3`)
          yield* Effect.gen(function*() {
            for (const id of [`${prefix}-3`, theirs, unknown]) {
              assert.strictEqual((yield* Effect.flip(marked.restoreById(id)))._tag, "DocumentNotFound")
              assert.strictEqual((yield* Effect.flip(marked.purgeById(id)))._tag, "DocumentNotFound")
            }
            assert.strictEqual(yield* marked.count(undefined, { deleted: "include" }), 3)
            assert.strictEqual(yield* marked.count(undefined, { deleted: "only" }), 3)
            assert.strictEqual((yield* marked.restoreById(mine)).owner, ann)
            assert.strictEqual(yield* marked.restoreMany(($) => $.points.equals(2)), 1)
            assert.strictEqual(yield* marked.restoreMany(($) => $.owner.equals(bob)), 0)
            assert.strictEqual(yield* marked.purge(), 1)
          }).pipe(as(ann))
          assert.deepStrictEqual(yield* states, ["there", "there", "there", "deleted", "gone", "there"])
          // A restore is a write, which the check may reject.
          const closed = under({ owner: { $eq: bob } }, { state: { $eq: "closed" } })
          assert.strictEqual((yield* Effect.flip(marked.restoreById(`${prefix}-3`)).pipe(closed))._tag, "AccessDenied")
          assert.strictEqual(
            (yield* Effect.flip(marked.restoreMany(($) => $.owner.equals(bob))).pipe(closed))._tag,
            "AccessDenied"
          )
          assert.strictEqual(yield* stateOf(`${prefix}-3`), "deleted")
        })
    )
  })
)
