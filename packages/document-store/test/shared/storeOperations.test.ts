import { makeTransactional, mayHaveChanged, storeOperations } from "@appkernel/document-store/shared"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { DocumentStore, EmbeddedStore } from "../../../../src/index.ts"
import { argumentsOf, names, recording, runOperation } from "../../../../test/support/recordedStore.ts"

describe("The table of operations", () => {
  it("says whether documents may have changed, by the result", () => {
    const unchanged: { readonly [gives: string]: unknown } = {
      insertions: { insertedCount: 0, failures: [] },
      update: { matchedCount: 1, modifiedCount: 0 },
      number: 0
    }
    for (const name of names) {
      const { gives, kind, privilege } = storeOperations[name]
      assert.strictEqual(privilege, kind === "replace" ? "update" : kind, name)
      if (kind !== "read" && gives in unchanged) assert.isFalse(mayHaveChanged(name, unchanged[gives]), name)
    }
    assert.isFalse(mayHaveChanged("findOneAndDelete", undefined))
    assert.isTrue(mayHaveChanged("findOneAndDelete", { _id: 1 }))
    // These may have inserted a document.
    assert.isTrue(mayHaveChanged("findOneAndUpdate", undefined))
    assert.isTrue(mayHaveChanged("insertOne", undefined))
    assert.isTrue(mayHaveChanged("updateOne", { matchedCount: 0, modifiedCount: 0, upsertedId: 1 }))
    assert.isTrue(mayHaveChanged("deleteMany", 2))
    assert.isTrue(mayHaveChanged("insertMany", { insertedCount: 1, failures: [] }))
  })

  it.effect("has each operation join the transaction, with its arguments, and be refused once that has failed", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const [direct, within] = [recording(store), recording(store)]
      const { operations, transaction } = makeTransactional(direct.operations, {
        begin: Effect.succeed({
          operations: within.operations,
          hasConflict: Effect.succeed(false),
          commit: Effect.void,
          rollback: Effect.void
        }),
        retry: (attempt) => attempt
      })
      for (const name of names) {
        const call = { name, args: ["Thing", ...Object.values(argumentsOf(name))] }
        yield* store.deleteMany("Thing", {})
        yield* runOperation(operations, name)
        assert.deepStrictEqual([direct.calls.splice(0), within.calls], [[call], []])
        yield* store.deleteMany("Thing", {})
        yield* transaction(runOperation(operations, name))
        assert.deepStrictEqual([direct.calls, within.calls.splice(0)], [[], [call]])
        const failed = yield* Effect.exit(transaction(Effect.gen(function*() {
          yield* Effect.ignore(operations.count("Thing", { $nonsense: 1 }))
          yield* Effect.ignore(runOperation(operations, name))
        })))
        assert.isTrue(Exit.isFailure(failed), name)
        assert.deepStrictEqual(within.calls.splice(0).map((call) => call.name), ["count"])
      }
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
