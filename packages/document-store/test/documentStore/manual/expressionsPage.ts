import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Difference, Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import { collectionOf, plain, type Tests } from "../collection.ts"

/** An expression, its value or {@link rejected} or {@link missing}, and the difference of a server that errs. */
export type Constant = readonly [expression: unknown, value: unknown, difference?: Difference]

/** An expression, its values for the documents in the order of their identifiers, or {@link rejected}. */
export type Each = readonly [expression: unknown, values: ReadonlyArray<unknown> | symbol, difference?: Difference]

/** A pipeline and its results, in their order if it sorts; or {@link rejected}. */
export type Run = readonly [
  pipeline: ReadonlyArray<Document>,
  results: ReadonlyArray<Document> | symbol,
  difference?: Difference
]

/** A part of a page: documents, calls and answers. */
type Part =
  & { readonly documents: ReadonlyArray<Document> }
  & ({ readonly each: ReadonlyArray<Each> } | {
    readonly runs: ReadonlyArray<Run>
  })

export const rejected = Symbol("rejected")
export const missing = Symbol("missing")

export const date = (text: string) => new Date(text)

/** Expressions without documents. */
export const constants = (table: ReadonlyArray<Constant>): Part => ({
  documents: [{ _id: 0 }],
  each: table.map(([expression, value, ...rest]) => [expression, value === rejected ? rejected : [value], ...rest])
})

/** Expressions over documents. */
export const each = (documents: ReadonlyArray<Document>, table: ReadonlyArray<Each>): Part => ({
  documents,
  each: table
})

/** Pipelines over documents. */
export const runs = (documents: ReadonlyArray<Document>, table: ReadonlyArray<Run>): Part => ({
  documents,
  runs: table
})

/** The value of an accumulator for each group, in the order of the groups. */
export const grouped = (
  key: unknown,
  accumulator: Document,
  values: ReadonlyArray<readonly [key: unknown, value: unknown]>,
  sort: Document = { _id: 1 },
  ...difference: readonly [] | readonly [Difference]
): Run => [
  [{ $sort: sort }, { $group: { _id: key, value: accumulator } }, { $sort: { _id: 1 } }],
  values.map(([_id, value]) => ({ _id, value })),
  ...difference
]

const holdsRejected = ([, values]: Each) => values === rejected

const field = (index: number) => `r${index}`

/** The documents of the results: all expressions are computed by one stage. */
const resultsOf = (documents: ReadonlyArray<Document>, table: ReadonlyArray<Each>) =>
  documents.map(({ _id }, row) => ({
    _id,
    ...Object.fromEntries(
      table.flatMap(([, values], index) => {
        const value = typeof values === "symbol" ? values : values[row]
        return value === missing ? [] : [[field(index), value]]
      })
    )
  }))

const checkRun = Effect.fnUntraced(
  function*(documents: ReadonlyArray<Document>, table: ReadonlyArray<Run>) {
    const { name, store } = yield* collectionOf(documents)
    for (const [pipeline, expected] of table) {
      if (typeof expected === "symbol") {
        const error = yield* Effect.flip(Stream.runCollect(store.aggregate(name, pipeline)))
        assert.strictEqual(error._tag, "QueryRejected", JSON.stringify(pipeline))
        continue
      }
      const results = plain(yield* Stream.runCollect(store.aggregate(name, pipeline)))
      const wanted = plain(expected)
      if (!Array.isArray(results) || !Array.isArray(wanted)) return assert.fail("not lists")
      if (pipeline.some((stage) => "$sort" in stage)) assert.deepStrictEqual(results, wanted)
      else assert.sameDeepMembers(results, wanted)
    }
  }
)

const checkEach = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>, table: ReadonlyArray<Each>) {
  const { name, store } = yield* collectionOf(documents)
  const answered = table.filter((row) => !holdsRejected(row))
  const computed = Object.fromEntries(answered.map(([expression], index) => [field(index), expression]))
  if (answered.length > 0) {
    const results = yield* Stream.runCollect(store.aggregate(name, [{ $sort: { _id: 1 } }, { $project: computed }]))
    assert.deepStrictEqual(plain(results), plain(resultsOf(documents, answered)))
  }
  for (const [expression] of table.filter(holdsRejected)) {
    const error = yield* Effect.flip(Stream.runCollect(store.aggregate(name, [{ $project: { r: expression } }])))
    assert.strictEqual(error._tag, "QueryRejected", JSON.stringify(expression))
  }
})

/** One test for each page of MongoDB's manual: its examples, with their values as the page shows them. */
export const pagesOf = (it: Tests, differs: Differs) => (title: string, ...parts: ReadonlyArray<Part>) => {
  const holds = ([, , difference]: Each | Run) => difference === undefined || !differs(difference)
  return it.effect(`answers the manual's examples of ${title}`, () =>
    Effect.forEach(parts, (part) =>
      "each" in part
        ? checkEach(part.documents, part.each.filter(holds))
        : checkRun(part.documents, part.runs.filter(holds)), { discard: true }))
}
