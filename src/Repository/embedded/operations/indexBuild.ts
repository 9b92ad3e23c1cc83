/**
 * The embedded store's indexes: made in small jobs, so that others can read and write meanwhile.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { beginStep, isStepDone } from "../../../internal/steps.ts"
import { normalise } from "../../bson/normalise.ts"
import type { DocumentStore, IndexDescription } from "../../DocumentStore.ts"
import { type Problem, toError, unsupported } from "../../mql/limits/queryProblem.ts"
import type { DuplicateKey, StoreError, StoreUnavailable } from "../../RepositoryError.ts"
import { everything, type KeyValue } from "../../storage/orderedStore.ts"
import { missingOf } from "../../store/indexDefinition.ts"
import { makeSync } from "../../store/indexSync.ts"
import { type Catalog, type Collection, type Index, makeIndex } from "../catalog/catalog.ts"
import { parsePart } from "../catalog/partialIndex.ts"
import { costOf, type Found } from "../planner/planExecutor.ts"
import type { DocumentWriter } from "./documentWriter.ts"
import type { BeginExpiry } from "./ttl.ts"

/** @internal */
export type Indexing = Pick<
  DocumentStore["Service"],
  "createIndexes" | "listIndexes" | "syncIndexes" | "dropIndexes" | "setValidator"
>

/**
 * Also gives up the indexes that a process that ended has not finished, and finishes with those that it was dropping.
 *
 * @internal
 */
export const makeIndexing = (
  store: KeyValue,
  catalog: Catalog,
  writer: DocumentWriter,
  beginExpiry: BeginExpiry
): Effect.Effect<Indexing, StoreUnavailable> => {
  const install = (name: string, description: IndexDescription): Effect.Effect<void, StoreError> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        store.write(operation, () => begin(catalog.ensure(name), description)),
        (index) =>
          restore(fill(name, index, everything.start)).pipe(
            Effect.onError(() => Effect.ignore(drop(name, index))),
            Effect.andThen(description.expireAfterSeconds === undefined ? Effect.void : beginExpiry)
          )
      )
    )

  /** Adds the index to its collection, so that writers keep it. */
  const begin = (collection: Collection, description: IndexDescription): Index => {
    const index = makeIndex(catalog.nextNumber(), description)
    catalog.save({ ...collection, indexes: [...collection.indexes, index] })
    return index
  }

  const installAll = (
    name: string,
    descriptions: ReadonlyArray<IndexDescription>
  ): Effect.Effect<void, StoreError> =>
    Effect.suspend(() => {
      const problem = descriptions.map(problemOf).find((problem) => problem !== undefined)
      if (problem !== undefined) return Effect.fail(toError(problem, operation))
      const missing = missingOf(operation, name, descriptions, listed(name))
      if (Result.isFailure(missing)) return Effect.fail(missing.failure)
      // Nobody else is making them: whoever was has left, and could not clear up.
      const unfinished = (catalog.get(name)?.indexes ?? []).filter(({ isReady }) => !isReady)
      return Effect.andThen(
        Effect.forEach(unfinished, (index) => drop(name, index), { discard: true }),
        Effect.forEach(missing.success, (description) => install(name, frozen(description)), { discard: true })
      )
    })

  const listed = (name: string): ReadonlyArray<IndexDescription> =>
    (catalog.get(name)?.indexes ?? []).filter(({ isReady }) => isReady).map(({ description }) => description)

  const fill = (name: string, index: Index, from: string): Effect.Effect<void, StoreError> =>
    Effect.flatMap(
      store.write(operation, () => fillSome(catalog.ensure(name), index, from)),
      (next): Effect.Effect<void, StoreError> => {
        if (Result.isFailure(next)) {
          return Effect.fail("kind" in next.failure ? toError(next.failure, operation) : next.failure)
        }
        const start = next.success
        return start === undefined ? Effect.void : Effect.flatMap(Effect.yieldNow, () => fill(name, index, start))
      }
    )

  /** Puts some more documents into the index; where to go on, or `undefined` when all are in it. */
  const fillSome = (
    collection: Collection,
    { number }: Index,
    from: string
  ): Result.Result<string | undefined, DuplicateKey | Problem> => {
    beginStep()
    const some: Array<Found> = []
    let left = maxPerJob
    store.documents(collection.number).scan({ ...everything, start: from }, (recordId, document, bytes) => {
      some.push({ recordId, document })
      left -= costOf(bytes)
      return left > 0
    })
    let last: string | undefined
    for (const found of some) {
      const current = catalog.ensure(collection.name)
      const index = current.indexes.find((index) => index.number === number)
      const added = index === undefined ? Result.succeed(undefined) : writer.index(current, index, found)
      if (Result.isFailure(added)) return Result.fail(added.failure)
      last = found.recordId
      if (isStepDone()) break
    }
    if (last !== undefined && (left <= 0 || last !== some.at(-1)?.recordId)) return Result.succeed(`${last}\0`)
    const current = catalog.ensure(collection.name)
    catalog.save({
      ...current,
      indexes: current.indexes.map((index) => index.number === number ? { ...index, isReady: true } : index)
    })
    return Result.succeed(undefined)
  }

  const clear = (number: number): Effect.Effect<void, StoreUnavailable> =>
    Effect.flatMap(
      store.write(operation, () => {
        const keys: Array<string> = []
        const entries = store.entries(number)
        entries.scanKeys(everything, (key) => keys.push(key) < maxPerJob)
        // Nobody reads it any more.
        for (const key of keys) entries.remove(key, undefined)
        return keys.length
      }),
      (removed) => removed < maxPerJob ? Effect.void : Effect.flatMap(Effect.yieldNow, () => clear(number))
    )

  const drop = (name: string, { number }: Index): Effect.Effect<void, StoreUnavailable> =>
    Effect.andThen(
      store.write(operation, () => {
        const collection = catalog.ensure(name)
        catalog.save({ ...collection, indexes: collection.indexes.filter((index) => index.number !== number) })
      }),
      clear(number)
    )

  /** Indexes that are gone, but have entries: whoever dropped them was interrupted. */
  const halfDropped = Effect.suspend(() =>
    Effect.fromResult(store.read(operation, () =>
      catalog.forsaken.filter((number) => {
        let isEmpty = true
        store.entries(number).scanKeys(everything, () => isEmpty = false)
        return !isEmpty
      })))
  )

  const { dropIndexes, syncIndexes } = makeSync({
    list: (name) => Effect.sync(() => listed(name)),
    create: (name, index) => installAll(name, [index]),
    drop: (name, indexName) =>
      Effect.suspend(() => {
        const index = catalog.get(name)?.indexes.find(({ description }) => description.name === indexName)
        return index === undefined ? Effect.succeed(false) : Effect.as(Effect.uninterruptible(drop(name, index)), true)
      })
  })

  return Effect.gen(function*() {
    const oneAtATime = yield* Semaphore.make(1)
    for (const number of yield* halfDropped) yield* clear(number)
    for (const collection of Array.from(catalog.all)) {
      for (const index of collection.indexes) {
        if (!index.isReady) yield* drop(collection.name, index)
        else if (index.description.expireAfterSeconds !== undefined) yield* beginExpiry
      }
    }
    return {
      createIndexes: (name, descriptions) => oneAtATime.withPermit(installAll(name, descriptions)),
      syncIndexes: (name, descriptions) =>
        Effect.suspend(() => {
          // Before anything is dropped.
          const problem = descriptions.map(problemOf).find((problem) => problem !== undefined)
          return problem === undefined
            ? oneAtATime.withPermit(syncIndexes(name, descriptions))
            : Effect.fail(toError(problem, "syncIndexes"))
        }),
      dropIndexes: (name, names) => oneAtATime.withPermit(dropIndexes(name, names)),
      listIndexes: (name) => Effect.sync(() => listed(name)),
      setValidator: (_, jsonSchema) =>
        jsonSchema === undefined
          // There never was one.
          ? Effect.void
          : Effect.fail(toError(unsupported("a rule for all documents of a collection"), "setValidator"))
    }
  })
}

// internal

const operation = "createIndexes"

const maxPerJob = 256

// So that nobody changes it afterwards.
const frozen = (description: IndexDescription): IndexDescription =>
  description.partialFilterExpression === undefined
    ? description
    : {
      ...description,
      partialFilterExpression: Result.getOrElse(normalise(description.partialFilterExpression, true), () => ({}))
    }

/** What this store can't do. */
const problemOf = ({ key, partialFilterExpression }: IndexDescription): Problem | undefined => {
  const kinds = Object.values(key)
  const kind = kinds.find((kind) => typeof kind === "string" && kind !== "text")
  if (kind !== undefined) return unsupported(`an index of kind "${kind}"`)
  if (Object.keys(key).some((path) => path.split(".").includes("$**"))) return unsupported("an index over all fields")
  if (kinds.includes("text") && !kinds.every((kind) => kind === "text")) {
    return unsupported("a text index with other fields")
  }
  const part = partialFilterExpression === undefined ? undefined : parsePart(partialFilterExpression)
  return part !== undefined && Result.isFailure(part) ? part.failure : undefined
}
