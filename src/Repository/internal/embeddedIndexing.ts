/**
 * The embedded store's indexes: made in small jobs, so that others can read and write meanwhile.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { DocumentStore, IndexDescription } from "../DocumentStore.ts"
import type { DuplicateKey, StoreError, StoreUnavailable } from "../RepositoryError.ts"
import { type Catalog, type Collection, type Index, makeIndex } from "./catalog.ts"
import type { DocumentWriter } from "./documentWriter.ts"
import { everything, type KeyValue } from "./keyValue.ts"
import { type Problem, rejected, toError, unsupported } from "./problem.ts"

/** @internal */
export type Indexing = Pick<DocumentStore["Service"], "createIndexes" | "listIndexes">

/**
 * Also gives up the indexes that a process that ended has not finished.
 *
 * @internal
 */
export const makeIndexing = (
  store: KeyValue,
  catalog: Catalog,
  writer: DocumentWriter
): Effect.Effect<Indexing, StoreUnavailable> => {
  const install = (name: string, description: IndexDescription): Effect.Effect<void, StoreError> => {
    if (isIdentifier(description)) return Effect.void
    return Effect.flatMap(
      store.write(operation, () => begin(catalog.ensure(name), description)),
      (begun): Effect.Effect<void, StoreError> => {
        if (Result.isFailure(begun)) return Effect.fail(toError(begun.failure, operation))
        const index = begun.success
        return index === undefined
          ? Effect.void
          : Effect.onError(fill(name, index, everything.start), () => Effect.ignore(drop(name, index)))
      }
    )
  }

  /** Adds the index to its collection, so that writers keep it; unless it is there already. */
  const begin = (collection: Collection, description: IndexDescription): Result.Result<Index | undefined, Problem> => {
    const wanted = normalised(description)
    const same = collection.indexes.find((index) => index.description.name === wanted.name)
    if (same !== undefined) {
      return isSameIndex(same.description, wanted)
        // Nobody else is making it: whoever was has left.
        ? Result.succeed(same.isReady ? undefined : same)
        : Result.fail(rejected(`there is another index named "${wanted.name}"`))
    }
    const twin = collection.indexes.find((index) => isSameIndex(index.description, wanted))
    if (twin !== undefined) return Result.fail(rejected(`the index is there as "${twin.description.name}"`))
    const index = makeIndex(catalog.nextNumber(), wanted)
    catalog.save({ ...collection, indexes: [...collection.indexes, index] })
    return Result.succeed(index)
  }

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
    const some: Array<readonly [key: string, document: Parameters<DocumentWriter["index"]>[3]]> = []
    store.documents(collection.number).scan(
      { ...everything, start: from },
      (key, document) => some.push([key, document]) < maxPerJob
    )
    for (const [key, document] of some) {
      const current = catalog.ensure(collection.name)
      const index = current.indexes.find((index) => index.number === number)
      const added = index === undefined ? Result.succeed(undefined) : writer.index(current, index, key, document)
      if (Result.isFailure(added)) return Result.fail(added.failure)
    }
    const last = some.at(-1)?.[0]
    if (some.length === maxPerJob && last !== undefined) return Result.succeed(`${last}\0`)
    const current = catalog.ensure(collection.name)
    catalog.save({
      ...current,
      indexes: current.indexes.map((index) => index.number === number ? { ...index, isReady: true } : index)
    })
    return Result.succeed(undefined)
  }

  const drop = (name: string, { number }: Index): Effect.Effect<void, StoreUnavailable> => {
    const clear: Effect.Effect<void, StoreUnavailable> = Effect.suspend(() =>
      Effect.flatMap(
        store.write(operation, () => {
          const keys: Array<string> = []
          const entries = store.entries(number)
          entries.scanKeys(everything, (key) => keys.push(key) < maxPerJob)
          for (const key of keys) entries.remove(key)
          return keys.length
        }),
        (removed) => removed < maxPerJob ? Effect.void : Effect.flatMap(Effect.yieldNow, () => clear)
      )
    )
    return Effect.andThen(
      store.write(operation, () => {
        const collection = catalog.ensure(name)
        catalog.save({ ...collection, indexes: collection.indexes.filter((index) => index.number !== number) })
      }),
      clear
    )
  }

  return Effect.gen(function*() {
    const oneAtATime = yield* Semaphore.make(1)
    for (const collection of Array.from(catalog.all)) {
      for (const index of collection.indexes) if (!index.isReady) yield* drop(collection.name, index)
    }
    return {
      createIndexes: (name, descriptions) => {
        const problem = descriptions.map(problemOf).find((problem) => problem !== undefined)
        return problem === undefined
          ? oneAtATime.withPermit(Effect.forEach(descriptions, (description) => install(name, description), {
            discard: true
          }))
          : Effect.fail(toError(problem, operation))
      },
      listIndexes: (name) =>
        Effect.sync(() =>
          (catalog.get(name)?.indexes ?? []).filter(({ isReady }) => isReady).map(({ description }) => description)
        )
    }
  })
}

// internal

const operation = "createIndexes"

const maxPerJob = 256

const problemOf = ({ key, name }: IndexDescription): Problem | undefined => {
  const fields = Object.entries(key)
  if (name === "" || fields.length === 0) return rejected("an index needs a name and at least one path")
  const kind = fields.map(([, direction]) => direction).find((direction) => typeof direction === "string")
  if (kind !== undefined) return unsupported(`an index of kind "${kind}"`)
  const wrong = fields.find(([path, direction]) =>
    (direction !== 1 && direction !== -1)
    || path.split(".").some((segment) => segment === "" || segment.startsWith("$"))
  )
  return wrong === undefined ? undefined : rejected(`"${wrong[0]}" can't be indexed by ${wrong[1]}`)
}

// It is always there.
const isIdentifier = ({ key }: IndexDescription): boolean => Object.keys(key).length === 1 && key["_id"] !== undefined

const normalised = ({ key, name, sparse, unique }: IndexDescription): IndexDescription => ({
  name,
  key: { ...key },
  ...unique === true ? { unique } : {},
  ...sparse === true ? { sparse } : {}
})

const isSameIndex = (a: IndexDescription, b: IndexDescription): boolean =>
  (a.unique === true) === (b.unique === true)
  && (a.sparse === true) === (b.sparse === true)
  && JSON.stringify(Object.entries(a.key)) === JSON.stringify(Object.entries(b.key))
