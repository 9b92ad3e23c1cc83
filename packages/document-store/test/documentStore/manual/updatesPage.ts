import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Difference, Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document, Filter, Update, UpdatePipeline } from "../../../src/DocumentStore.ts"
import { collectionOf, plain, type Tests } from "../collection.ts"

interface Options {
  readonly arrayFilters?: ReadonlyArray<Filter>
  readonly upsert?: boolean
  /** The difference of a server that errs. */
  readonly difference?: Difference
}

/** An update of all documents of a filter, and the documents that it changes or inserts as they are then. */
type Change = readonly [
  filter: Filter,
  update: Update | UpdatePipeline,
  changed: ReadonlyArray<Document> | symbol,
  options?: Options | undefined
]

/** Documents, and changes one after the other. */
export interface Changes {
  readonly documents: ReadonlyArray<Document>
  readonly changes: ReadonlyArray<Change>
}

export const rejected = Symbol("rejected")

/** Every identifier that the store makes: the manual shows none. */
export const made = "made"

export const changes = (documents: ReadonlyArray<Document>, ...list: ReadonlyArray<Change>): Changes => ({
  documents,
  changes: list
})

/** Changes of one document each, from its own state. */
export const eachOf = (
  ...list: ReadonlyArray<
    readonly [before: Document, update: Update | UpdatePipeline, after: Document | symbol, Options?]
  >
): ReadonlyArray<Changes> =>
  list.map(([before, update, after, options]) =>
    changes([{ _id: 1, ...before }], [
      {},
      update,
      typeof after === "symbol" ? after : [{ _id: 1, ...after }],
      options
    ])
  )

const known = (documents: ReadonlyArray<Document>) =>
  documents.map(({ _id, ...fields }) => ({ _id: typeof _id === "object" ? made : _id, ...fields }))

const check = Effect.fnUntraced(function*({ documents, changes }: Changes, differs: Differs) {
  const { all, name, store } = yield* collectionOf(documents)
  const expected = new Map((yield* all).map((document) => [document["_id"], document]))
  for (const [filter, update, changed, given = {}] of changes) {
    const { difference, ...options }: Options = given
    if (difference !== undefined && differs(difference)) return
    const call = options.upsert === true
      ? store.updateOne(name, filter, update, options)
      : store.updateMany(name, filter, update, options)
    if (typeof changed === "symbol") assert.strictEqual((yield* Effect.flip(call))._tag, "QueryRejected")
    else {
      yield* call
      for (const document of changed) expected.set(document["_id"], document)
    }
    assert.sameDeepMembers([plain(known(yield* all))].flat(), [plain([...expected.values()])].flat())
  }
})

/** One test for each page of MongoDB's manual: its updates, with the documents as the page shows them. */
export const updatePagesOf = (it: Tests, differs: Differs) => (title: string, ...parts: ReadonlyArray<Changes>) =>
  it.effect(
    `updates as the manual's examples of ${title}`,
    () => Effect.forEach(parts, (part) => check(part, differs), { discard: true })
  )
