/** What a store answers to the calls of a scenario. */
import { EJSON } from "bson"
import { Effect, Stream } from "effect"
import type { Document, DocumentStore } from "../../../packages/document-store/src/DocumentStore.ts"
import type { Call, Scenario } from "./scenario.ts"
import { targetDocuments, withTargets } from "./targets.ts"

export type Store = DocumentStore["Service"]

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
  const { collation } = call
  const all = Effect.map(store.find(name, { sort: { _id: 1 } }), inOrder)
  const after = <A, E>(write: Effect.Effect<A, E>) =>
    Effect.flatMap(write, (result) => Effect.map(all, (documents) => `${textOf({ result })}\n${documents}`))
  switch (call.call) {
    case "find": {
      const { call: _, ...options } = call
      const found = Effect.map(store.find(name, options), options.sort === undefined ? unordered : inOrder)
      // MongoDB counts no documents by their distances.
      const counted = textOf(call.filter).includes("\"$near")
        ? distancesOf(store, name, call)
        : Effect.map(store.count(name, call.filter, { collation }), String)
      return Effect.zipWith(found, counted, (documents, count) => `${count}\n${documents}`)
    }
    case "distinct":
      return Effect.map(store.distinct(name, call.path, call.filter, { collation }), unordered)
    case "aggregate":
      return Effect.map(
        Stream.runCollect(store.aggregate(name, call.pipeline, { collation })),
        call.pipeline.length === 1 && "$geoNear" in Object(call.pipeline[0]) ? byDistance : inOrder
      )
    case "write":
      return writeTo(store, name, call.pipeline, collation)
    case "updateMany":
      return after(
        store.updateMany(name, call.filter, call.update, { arrayFilters: call.arrayFilters, let: call.let, collation })
      )
    case "updateOne": {
      const { arrayFilters, filter, update, upsert } = call
      return after(store.updateOne(name, filter, update, { arrayFilters, let: call.let, upsert, collation }))
    }
    case "findOneAndUpdate": {
      const { arrayFilters, filter, projection, update } = call
      const options = { arrayFilters, let: call.let, projection, collation, returnDocument: "after" } as const
      return after(store.findOneAndUpdate(name, filter, update, options))
    }
    case "replaceOne":
      return after(store.replaceOne(name, call.filter, call.document, { collation }))
    case "deleteMany":
      return after(store.deleteMany(name, call.filter, { collation }))
  }
}

/** Documents at equal distances have no order: the distances in their order, and the documents in any. */
const byDistance = (documents: ReadonlyArray<Document>): string =>
  `${documents.map(({ d }) => Number(d).toFixed(6)).join()}\n${unordered(documents)}`

/** The distances of what a query by distances finds, in the order of its documents. */
const distancesOf = Effect.fnUntraced(function*(store: Store, name: string, { filter, sort }: Call & { call: "find" }) {
  const { g, ...query } = filter
  const { $geometry, $maxDistance, $minDistance, $near, $nearSphere } = { ...Object(g), ...Object(g).$near }
  if (sort !== undefined) return ""
  const $geoNear = {
    near: $geometry ?? $near ?? $nearSphere,
    maxDistance: $maxDistance,
    minDistance: $minDistance,
    spherical: $near === undefined,
    distanceField: "d",
    key: "g",
    query
  }
  const places = yield* Stream.runCollect(store.aggregate(name, [{ $geoNear }]))
  const distances = new Map(places.map(({ _id, d }) => [textOf(_id), Number(d).toFixed(6)]))
  const found = yield* store.find(name, { filter })
  return found.map(({ _id }) => distances.get(textOf(_id))).join()
})

/** Runs a pipeline that writes, and gives what its collections have then. */
const writeTo = Effect.fnUntraced(function*(
  store: Store,
  name: string,
  pipeline: ReadonlyArray<Document>,
  collation: Call["collation"]
) {
  const target = `${name} out`
  yield* store.createIndexes(target, [{ name: "n", key: { n: 1 }, unique: true }])
  yield* store.deleteMany(target, {})
  yield* store.insertMany(target, targetDocuments)
  const results = yield* Stream.runCollect(store.aggregate(name, withTargets(pipeline, name), { collation }))
  const contents = yield* Effect.forEach(
    [name, target, `${name} none`],
    (collection) => store.find(collection, { sort: { _id: 1 } })
  )
  return [results, ...contents].map(inOrder).join("\n\n")
})

/** Shared by the stages that read another collection. */
export const others: ReadonlyArray<Document> = [
  { _id: 101, n: 1, v: "a", s: "a", l: [1, 2], o: { x: 1 } },
  { _id: 102, n: [1, 2], v: 1, c: [{ x: 1 }, { x: "a", y: 2 }] },
  { _id: 103, v: null, s: "A", t: new Date(0) },
  { _id: 104, n: 1.5, v: [1, "a"], s: "ab", l: [] }
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
export const answersOf = Effect.fnUntraced(function*(store: Store, { calls, documents, indexes, rules }: Scenario) {
  collections += 1
  const name = `scenario ${collections}`
  const created = yield* answerOf(Effect.as(store.createIndexes(name, indexes), ""))
  const ruled = yield* answerOf(
    rules === undefined ? Effect.succeed("") : Effect.as(store.setValidator(name, rules), "")
  )
  const insertion = Effect.map(
    store.insertMany(name, documents, { ordered: false }),
    ({ failures }) => failures.map(({ index }) => index).join()
  )
  const inserted = yield* answerOf(insertion)
  const answers: Array<Answer> = [{
    text: `${created.text}${ruled.text}${inserted.text}`,
    reason: created.reason ?? ruled.reason ?? inserted.reason
  }]
  for (const call of calls) {
    const answer = yield* answerOf(perform(store, name, call))
    answers.push(answer)
    if (answer.text === "broken" || (answer.text === "rejected" && isWrite(call))) break
  }
  return answers
})
