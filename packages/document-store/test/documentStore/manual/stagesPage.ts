import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Difference, Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document, FindOptions, IndexDescription } from "../../../src/DocumentStore.ts"
import { collectionOf, plain, type Tests } from "../collection.ts"

/** The names of the collections that a page has beside its first one. */
type Names = { readonly [collection: string]: string }

/** What a collection has after a pipeline that writes. */
interface Written {
  readonly collection: string
  readonly documents: ReadonlyArray<Document>
  readonly options: FindOptions
}

/** A pipeline over the first collection, and its results in any order, or in their order if the last stage sorts. */
export type Run = readonly [
  pipeline: ReadonlyArray<Document> | ((names: Names) => ReadonlyArray<Document>),
  results: ReadonlyArray<Document> | Written | symbol,
  difference?: Difference
]

/** The documents of the first collection, those of others, and pipelines. */
export interface Runs {
  readonly documents: ReadonlyArray<Document>
  readonly others: { readonly [collection: string]: ReadonlyArray<Document> }
  readonly indexes?: { readonly [collection: string]: ReadonlyArray<IndexDescription> }
  readonly runs: ReadonlyArray<Run>
}

export const rejected = Symbol("rejected")

export const date = (text: string) => new Date(text)

export const runs = (documents: ReadonlyArray<Document>, ...runs: ReadonlyArray<Run>): Runs => ({
  documents,
  others: {},
  runs
})

/** Pipelines over several collections, whose names they get. */
export const joins = (
  documents: ReadonlyArray<Document>,
  others: Runs["others"],
  ...runs: ReadonlyArray<Run>
): Runs => ({ documents, others, runs })

/** Pipelines with indexes; those of the first collection are of `self`. */
export const indexed = (indexes: Runs["indexes"] & {}, runs: Runs): Runs => ({ ...runs, indexes })

/** The documents of a collection after a pipeline that writes them, by their identifiers unless the options say otherwise. */
export const into = (
  collection: string,
  documents: ReadonlyArray<Document>,
  options: FindOptions = { sort: { _id: 1 } }
): Written => ({ collection, documents, options })

const isList = (results: Run[1]): results is ReadonlyArray<Document> => Array.isArray(results)

const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : [value]

const check = Effect.fnUntraced(function*({ documents, indexes = {}, others, runs }: Runs, differs: Differs) {
  const { name, store } = yield* collectionOf(documents)
  const names: { [collection: string]: string } = { self: name }
  for (const [other, list] of Object.entries(others)) names[other] = (yield* collectionOf(list)).name
  for (const [collection, list] of Object.entries(indexes)) yield* store.createIndexes(names[collection] ?? "", list)
  for (const [given, expected, difference] of runs) {
    if (difference !== undefined && differs(difference)) continue
    const pipeline = typeof given === "function" ? given(names) : given
    const call = Stream.runCollect(store.aggregate(name, pipeline))
    if (typeof expected === "symbol") {
      assert.strictEqual((yield* Effect.flip(call))._tag, "QueryRejected", JSON.stringify(pipeline))
      continue
    }
    const results = listOf(plain(yield* call))
    if (!isList(expected)) {
      assert.deepStrictEqual(results, [])
      const found = yield* store.find(names[expected.collection] ?? "", expected.options)
      assert.deepStrictEqual(plain(found), plain(expected.documents))
      continue
    }
    const wanted = listOf(plain(expected))
    if ("$sort" in (pipeline.at(-1) ?? {})) assert.deepStrictEqual(results, wanted)
    else assert.sameDeepMembers([...results], [...wanted])
  }
})

/** One test for each page of MongoDB's manual: its pipelines, with their results as the page shows them. */
export const stagePagesOf = (it: Tests, differs: Differs) => (title: string, ...parts: ReadonlyArray<Runs>) =>
  it.effect(
    `aggregates as the manual's examples of ${title}`,
    () => Effect.forEach(parts, (part) => check(part, differs), { discard: true })
  )
