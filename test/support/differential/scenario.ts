/**
 * Scenarios: documents, indexes and calls of a store, and what a store answers. They are plain data, so that they can be
 * shrunk and printed.
 */
import { EJSON } from "bson"
import { Arbitrary, Effect, Stream } from "effect"
import type { Document, DocumentStore, IndexDescription, Sort } from "../../../src/Repository/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { pipelines } from "./pipelines.ts"
import { filters, indexLists, positionalFilters, projections, sorts } from "./queries.ts"
import { type Change, replacements, updates } from "./updates.ts"
import { documents, listOf, paths, record, weighted } from "./values.ts"

export type Store = DocumentStore["Service"]

interface Find {
  readonly call: "find"
  readonly filter: Document
  readonly sort?: Sort | undefined
  readonly skip?: number | undefined
  readonly limit?: number | undefined
  readonly projection?: Document | undefined
}

export type Call =
  | Find
  | { readonly call: "distinct"; readonly path: string; readonly filter: Document }
  | { readonly call: "aggregate"; readonly pipeline: ReadonlyArray<Document> }
  | ({ readonly call: "updateMany"; readonly filter: Document } & Change)
  | ({ readonly call: "updateOne"; readonly filter: Document; readonly upsert: boolean } & Change)
  | (
    & { readonly call: "findOneAndUpdate"; readonly filter: Document; readonly projection?: Document | undefined }
    & Change
  )
  | { readonly call: "replaceOne"; readonly filter: Document; readonly document: Document }
  | { readonly call: "deleteMany"; readonly filter: Document }

export interface Scenario {
  readonly documents: ReadonlyArray<Document>
  readonly indexes: ReadonlyArray<IndexDescription>
  readonly calls: ReadonlyArray<Call>
}

const ids = either<Document>(
  oneOf<Document>({ _id: 1 }, { _id: 2 }, { _id: 7 }),
  Arbitrary.map(Arbitrary.all([oneOf(1, 2), filters]), ([_id, filter]): Document => ({ ...filter, _id }))
)

const reads: Some<Call> = weighted<Call>(
  [4, Arbitrary.map(record({ filter: filters }), ({ filter }): Call => ({ call: "find", filter: filter as Document }))],
  [
    3,
    Arbitrary.map(
      Arbitrary.all([filters, sorts, oneOf(0, 0, 1), oneOf<number | undefined>(undefined, 1, 3)]),
      ([filter, sort, skip, limit]): Call => ({ call: "find", filter, sort, skip, limit })
    )
  ],
  [
    2,
    Arbitrary.map(
      Arbitrary.all([filters, projections]),
      ([filter, projection]): Call => ({ call: "find", filter, projection })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([positionalFilters, oneOf("c.$", "l.$")]),
      ([filter, path]): Call => ({ call: "find", filter, projection: { [path]: 1 } })
    )
  ],
  [1, Arbitrary.map(Arbitrary.all([paths, filters]), ([path, filter]): Call => ({ call: "distinct", path, filter }))],
  [7, Arbitrary.map(pipelines, (pipeline): Call => ({ call: "aggregate", pipeline }))]
)

const writes: Some<Call> = weighted<Call>(
  [
    5,
    Arbitrary.map(
      Arbitrary.all([filters, updates]),
      ([filter, change]): Call => ({ call: "updateMany", ...change, filter: change.filter ?? filter })
    )
  ],
  [
    3,
    Arbitrary.map(
      Arbitrary.all([ids, updates, oneOf(false, true)]),
      ([filter, change, upsert]): Call => ({
        call: "updateOne",
        upsert,
        ...change,
        filter: { ...change.filter, ...filter }
      })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([ids, updates]),
      ([filter, change]): Call => ({ call: "findOneAndUpdate", ...change, filter: { ...change.filter, ...filter } })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([ids, replacements]),
      ([filter, document]): Call => ({ call: "replaceOne", filter, document })
    )
  ],
  [1, Arbitrary.map(filters, (filter): Call => ({ call: "deleteMany", filter }))]
)

export const scenarios: Some<Scenario> = record({
  documents,
  indexes: indexLists,
  calls: listOf(weighted<Call>([3, reads], [1, writes]), 6, 1)
}) as unknown as Some<Scenario>

/** What a store answers to a call: the result with its types as a text, or that it failed, and why. */
export interface Answer {
  readonly text: string
  readonly reason?: string | undefined
}

/** The values of `bson`'s classes and the numbers, whatever build they are of. */
export const textOf = (value: unknown): string => EJSON.stringify(value, { relaxed: false })

const unordered = (documents: ReadonlyArray<unknown>): string => documents.map(textOf).toSorted().join("\n")

const inOrder = (documents: ReadonlyArray<unknown>): string => documents.map(textOf).join("\n")

export const isWrite = ({ call }: Call): boolean => !["find", "distinct", "aggregate"].includes(call)

/** Performs one call. */
const perform = (store: Store, name: string, call: Call) => {
  const all = Effect.map(store.find(name, { sort: { _id: 1 } }), inOrder)
  const after = <A, E>(write: Effect.Effect<A, E>) =>
    Effect.flatMap(write, (result) => Effect.map(all, (documents) => `${textOf({ result })}\n${documents}`))
  switch (call.call) {
    case "find": {
      const { call: _, ...options } = call
      const found = Effect.map(store.find(name, options), options.sort === undefined ? unordered : inOrder)
      return Effect.zipWith(found, store.count(name, call.filter), (documents, count) => `${count}\n${documents}`)
    }
    case "distinct":
      return Effect.map(store.distinct(name, call.path, call.filter), unordered)
    case "aggregate":
      return Effect.map(Stream.runCollect(store.aggregate(name, call.pipeline)), inOrder)
    case "updateMany":
      return after(store.updateMany(name, call.filter, call.update, { arrayFilters: call.arrayFilters }))
    case "updateOne": {
      const { arrayFilters, filter, update, upsert } = call
      return after(store.updateOne(name, filter, update, { arrayFilters, upsert }))
    }
    case "findOneAndUpdate": {
      const { arrayFilters, filter, projection, update } = call
      return after(store.findOneAndUpdate(name, filter, update, { arrayFilters, projection, returnDocument: "after" }))
    }
    case "replaceOne":
      return after(store.replaceOne(name, call.filter, call.document))
    case "deleteMany":
      return after(store.deleteMany(name, call.filter))
  }
}

/** Shared by the stages that read another collection. */
export const others: ReadonlyArray<Document> = [
  { _id: 101, n: 1, v: "a" },
  { _id: 102, n: [1, 2], v: 1 },
  { _id: 103, v: null },
  { _id: 104, n: 1.5, v: [1, "a"] }
]

let collections = 0

const answerOf = <E extends { readonly _tag: string; readonly message: string }>(
  effect: Effect.Effect<string, E>
): Effect.Effect<Answer> =>
  effect.pipe(
    Effect.match({
      onSuccess: (text): Answer => ({ text }),
      onFailure: ({ _tag, message }): Answer => ({
        text: _tag === "Unsupported" ? "unsupported" : "rejected",
        reason: message
      })
    }),
    Effect.catchDefect((defect) => Effect.succeed<Answer>({ text: "broken", reason: String(defect) }))
  )

/**
 * Runs a scenario in a new collection: the answer to its insertion, and to each call. Nothing follows a rejected write, since
 * what it has written before is up to the store.
 */
export const answersOf = Effect.fnUntraced(function*(store: Store, { calls, documents, indexes }: Scenario) {
  collections += 1
  const name = `scenario ${collections}`
  const created = yield* answerOf(Effect.as(store.createIndexes(name, indexes), ""))
  const insertion = Effect.map(
    store.insertMany(name, documents, { ordered: false }),
    ({ failures }) => failures.map(({ index }) => index).join()
  )
  const inserted = yield* answerOf(insertion)
  const answers: Array<Answer> = [{
    text: `${created.text}${inserted.text}`,
    reason: created.reason ?? inserted.reason
  }]
  for (const call of calls) {
    const answer = yield* answerOf(perform(store, name, call))
    answers.push(answer)
    if (answer.text === "broken" || (answer.text === "rejected" && isWrite(call))) break
  }
  return answers
})
