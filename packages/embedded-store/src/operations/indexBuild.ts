/**
 * Builds and drops the embedded store's indexes in small jobs, between which other reads and writes run.
 *
 * From the first job on, every write maintains the new index. Reads use it when all documents are in it. A unique index
 * rejects duplicates while it is built. A failed build is dropped. One build runs at a time. Opening the store drops a build
 * that a crash has interrupted, and completes an interrupted drop.
 */
import type { DocumentStore, IndexDescription } from "@appkernel/document-store/DocumentStore"
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import { makeSync, missingIndexesOf } from "@appkernel/document-store/shared"
import type { DuplicateKey, StoreError } from "@appkernel/document-store/StoreError"
import {
  fromProblem,
  isIndexKind,
  normalise,
  parseCollation,
  type Problem,
  queryProblem,
  toError,
  unsupported
} from "@appkernel/mql/internal"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { Catalog } from "../catalog/catalog.ts"
import { type Collection, type Index, makeIndex } from "../catalog/collection.ts"
import { checkedName } from "../catalog/collectionName.ts"
import { parsePart } from "../catalog/partialIndex.ts"
import { costOfBytes, type StoredDocument } from "../planner/candidates.ts"
import { everything, type KeyValue, type StoreFailure } from "../storage/orderedStore.ts"
import type { DocumentWriter } from "./documentWriter.ts"
import type { BeginExpiry } from "./ttl.ts"
import { maxPerJob, writeFailureOf } from "./writeJob.ts"

export type Indexing = Pick<
  DocumentStore["Service"],
  "createIndexes" | "listIndexes" | "syncIndexes" | "dropIndexes"
>

/** Makes the operations on indexes. Before, drops interrupted builds and completes interrupted drops. */
export const makeIndexing = Effect.fnUntraced(function*(
  store: KeyValue,
  catalog: Catalog,
  writer: DocumentWriter,
  beginExpiry: BeginExpiry
): Effect.fn.Return<Indexing, StoreFailure> {
  const context: IndexContext = { store, catalog, writer, beginExpiry }
  const oneAtATime = yield* Semaphore.make(1)
  yield* recover(context)
  const { dropIndexes, syncIndexes } = makeSync({
    list: (name) => Effect.sync(() => installedIn(context, name)),
    create: (name, index) => installAll(context, name, [index]),
    drop: (name, indexName) =>
      Effect.suspend(() => {
        const index = catalog.get(name)?.indexes.find(({ description }) => description.name === indexName)
        return index === undefined
          ? Effect.succeed(false)
          : Effect.as(Effect.uninterruptible(drop(context, name, index)), true)
      })
  })
  return {
    createIndexes: (name, descriptions) => oneAtATime.withPermit(installAll(context, name, descriptions)),
    syncIndexes: (name, descriptions) =>
      Effect.suspend(() => {
        // The check comes before any index is dropped.
        const problem = descriptions.map(buildProblem).find((problem) => problem !== undefined)
        return problem === undefined
          ? oneAtATime.withPermit(syncIndexes(name, descriptions))
          : Effect.fail(toError(problem, "syncIndexes"))
      }),
    dropIndexes: (name, names) => oneAtATime.withPermit(dropIndexes(name, names)),
    listIndexes: (name) => Effect.sync(() => installedIn(context, name))
  }
})

// internal

const operation = "createIndexes"

interface IndexContext {
  readonly store: KeyValue
  readonly catalog: Catalog
  readonly writer: DocumentWriter
  readonly beginExpiry: BeginExpiry
}

/** Completes interrupted drops, drops interrupted builds, and starts the expiry of existing TTL indexes. */
const recover = Effect.fnUntraced(function*(context: IndexContext): Effect.fn.Return<void, StoreFailure> {
  const { beginExpiry, catalog } = context
  for (const number of yield* Effect.fromResult(halfDropped(context))) yield* clear(context, number)
  for (const collection of Array.from(catalog.committed.values())) {
    for (const index of collection.indexes) {
      if (!index.isReady) yield* drop(context, collection.name, index)
      if (index.isOutdated) yield* rebuild(context, collection.name, index)
      if (index.isReady && index.description.expireAfterSeconds !== undefined) yield* beginExpiry
    }
  }
})

/** Rebuilds an index whose keys follow the collation of another version of `Intl`. */
const rebuild = (
  context: IndexContext,
  name: string,
  { description }: Index
): Effect.Effect<void, StoreFailure> =>
  Effect.catchTag(
    install(context, name, description),
    ["DuplicateKey", "QueryRejected", "QueryTimeout", "Unsupported"],
    (error) => Effect.logWarning(`The index "${description.name}" of "${name}" can't be built by newer rules`, error)
  )

/** The numbers of dropped indexes that still have entries. */
const halfDropped = ({ catalog, store }: IndexContext): Result.Result<ReadonlyArray<number>, StoreFailure> =>
  store.read(
    operation,
    () => catalog.droppedIndexNumbers.filter((number) => store.entries(number).keyAt(everything, 0) !== undefined)
  )

const installedIn = ({ catalog }: IndexContext, name: string): ReadonlyArray<IndexDescription> =>
  (catalog.get(name)?.indexes ?? []).filter(({ isReady }) => isReady).map(({ description }) => description)

const installAll = Effect.fnUntraced(function*(
  context: IndexContext,
  name: string,
  descriptions: ReadonlyArray<IndexDescription>
): Effect.fn.Return<void, StoreError> {
  const problem = descriptions.map(buildProblem).find((problem) => problem !== undefined)
  if (problem !== undefined) return yield* toError(problem, operation)
  yield* fromProblem(checkedName(name), operation)
  const missing = yield* Effect.fromResult(missingIndexesOf(operation, name, descriptions, installedIn(context, name)))
  // One build runs at a time, so an unfinished index is left from a failed build that could not be dropped.
  const unfinished = (context.catalog.get(name)?.indexes ?? []).filter(({ isReady }) => !isReady)
  for (const index of unfinished) yield* drop(context, name, index)
  for (const description of missing) yield* install(context, name, frozen(description))
})

const install = (
  context: IndexContext,
  name: string,
  description: IndexDescription
): Effect.Effect<void, StoreError> => {
  const { beginExpiry, catalog, store } = context
  return Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
    const index = yield* store.write(operation, () => begin(context, catalog.ensure(name), description))
    yield* Effect.onError(
      restore(fill(context, name, index)),
      () => Effect.ignore(drop(context, name, index))
    )
    if (description.expireAfterSeconds !== undefined) yield* beginExpiry
  }))
}

/** For jobs: adds the empty index to its collection, so that every write maintains it. */
const begin = ({ catalog }: IndexContext, collection: Collection, description: IndexDescription): Index => {
  const index = makeIndex(catalog.nextNumber(), description)
  catalog.save({ ...collection, indexes: [...collection.indexes, index] })
  return index
}

const fill = Effect.fnUntraced(function*(
  context: IndexContext,
  name: string,
  index: Index
): Effect.fn.Return<void, StoreError> {
  let from: string | undefined = everything.start
  while (from !== undefined) {
    if (from !== everything.start) yield* Effect.yieldNow
    const start: string = from
    const next: Result.Result<string | undefined, DuplicateKey | Problem> = yield* context.store.write(
      operation,
      () => fillSome(context, context.catalog.ensure(name), index, start)
    )
    if (Result.isFailure(next)) return yield* writeFailureOf(next.failure, operation)
    from = next.success
  }
})

/** For jobs: puts some documents into the index. Returns where to continue, or `undefined` when the index is complete. */
const fillSome = (
  { catalog, store, writer }: IndexContext,
  collection: Collection,
  { number }: Index,
  from: string
): Result.Result<string | undefined, DuplicateKey | Problem> => {
  beginStep()
  const some: Array<StoredDocument> = []
  let left = maxPerJob
  store.documents(collection.number).scan({ ...everything, start: from }, (recordId, document, bytes) => {
    some.push({ recordId, document })
    left -= costOfBytes(bytes)
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

/** Removes an index from its collection, then its entries in further jobs. */
const drop = Effect.fnUntraced(function*(
  context: IndexContext,
  name: string,
  { number }: Index
): Effect.fn.Return<void, StoreFailure> {
  const { catalog, store } = context
  yield* store.write(operation, () => {
    const collection = catalog.ensure(name)
    catalog.save({ ...collection, indexes: collection.indexes.filter((index) => index.number !== number) })
  })
  yield* clear(context, number)
})

const clear = Effect.fnUntraced(function*(
  { store }: IndexContext,
  number: number
): Effect.fn.Return<void, StoreFailure> {
  while ((yield* store.write(operation, () => clearSome(store, number))) === maxPerJob) yield* Effect.yieldNow
})

/** For jobs: removes some entries of a dropped index; returns how many. */
const clearSome = (store: KeyValue, number: number): number => {
  const keys: Array<string> = []
  const entries = store.entries(number)
  entries.scanKeys(everything, (key) => keys.push(key) < maxPerJob)
  // No snapshot reads a dropped index, so no replaced value is passed.
  for (const key of keys) entries.remove(key, undefined)
  return keys.length
}

// Copies and freezes a description, since the caller may change its object later.
const frozen = (description: IndexDescription): IndexDescription =>
  description.partialFilterExpression === undefined
    ? description
    : {
      ...description,
      partialFilterExpression: Result.getOrElse(normalise(description.partialFilterExpression, true), () => ({}))
    }

/** Why the embedded store can't build an index; `undefined` if it can. */
const buildProblem = ({ collation, key, partialFilterExpression, unique }: IndexDescription): Problem | undefined => {
  const collator = parseCollation(collation)
  if (Result.isFailure(collator)) return collator.failure
  const kinds = Object.values(key)
  // Hashed indexes are for shards. In this store they contain the values themselves.
  const kind = kinds.find((kind) =>
    typeof kind === "string" && kind !== "text" && kind !== "hashed" && !isIndexKind(kind)
  )
  if (kind !== undefined) return unsupported(`an index of kind "${kind}"`)
  if (Object.keys(key).some((path) => path.split(".").includes("$**"))) return unsupported("an index over all fields")
  if (kinds.includes("text") && !kinds.every((kind) => kind === "text")) {
    return unsupported("a text index with other fields")
  }
  if (kinds.some(isIndexKind)) {
    if (unique === true) return unsupported("a unique index of locations")
    if (kinds.includes("2d") && (kinds[0] !== "2d" || kinds.filter(isIndexKind).length > 1)) {
      return queryProblem("a 2d index has one location, as its first field")
    }
  }
  const part = partialFilterExpression === undefined ? undefined : parsePart(partialFilterExpression, collator.success)
  return part !== undefined && Result.isFailure(part) ? part.failure : undefined
}
