import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Difference, Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document, Filter } from "../../../src/DocumentStore.ts"
import { collectionOf, plain, type Tests } from "../collection.ts"

/** A filter, the identifiers of its documents or {@link rejected}, and the difference of a server that errs. */
type Find = readonly [filter: Filter, ids: ReadonlyArray<unknown> | symbol, difference?: Difference]

/** A filter, a projection and the documents that it leaves, or {@link rejected}. */
type Projected = readonly [
  filter: Filter,
  projection: Document,
  documents: ReadonlyArray<Document> | symbol,
  difference?: Difference
]

export const rejected = Symbol("rejected")

/** One test for each page of MongoDB's manual: its filters, with the identifiers of the documents that they find. */
export const findPagesOf =
  (it: Tests, differs: Differs) => (title: string, documents: ReadonlyArray<Document>, ...table: ReadonlyArray<Find>) =>
    it.effect(`finds as the manual's examples of ${title}`, () =>
      Effect.gen(function*() {
        const { ids, name, store } = yield* collectionOf(documents)
        for (const [filter, expected, difference] of table) {
          if (difference !== undefined && differs(difference)) continue
          if (typeof expected === "symbol") {
            const error = yield* Effect.flip(store.find(name, { filter }))
            assert.strictEqual(error._tag, "QueryRejected", JSON.stringify(filter))
          } else assert.deepStrictEqual(yield* ids(filter), [...expected], JSON.stringify(filter))
        }
      }))

/** One test for each page of MongoDB's manual: its projections, with the documents as the page shows them. */
export const projectionPagesOf =
  (it: Tests, differs: Differs) =>
  (title: string, documents: ReadonlyArray<Document>, ...table: ReadonlyArray<Projected>) =>
    it.effect(`projects as the manual's examples of ${title}`, () =>
      Effect.gen(function*() {
        const { find } = yield* collectionOf(documents)
        for (const [filter, projection, expected, difference] of table) {
          if (difference !== undefined && differs(difference)) continue
          const found = find({ filter, projection, sort: { _id: 1 } })
          if (typeof expected === "symbol") assert.strictEqual((yield* Effect.flip(found))._tag, "QueryRejected")
          else assert.deepStrictEqual(plain(yield* found), plain(expected), JSON.stringify(projection))
        }
      }))
