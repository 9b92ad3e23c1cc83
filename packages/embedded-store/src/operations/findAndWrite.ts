/**
 * Finds documents and writes them.
 *
 * A search may take long, so it runs outside of the write job. The job checks again that each document matches. A write of
 * the first match is atomic: if the found document no longer matches, the search starts again. An insertion without a match
 * (upsert) checks in its job that no document has become a match since the search began. A write of all matches takes
 * several jobs, with other writes in between. It writes each document at most once, and only while it matches. Whoever names
 * the identifiers needs no search.
 */
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import type { DuplicateKey, ReadError } from "@appkernel/document-store/StoreError"
import {
  catchRejection,
  type Direction,
  documentKey,
  type Filter,
  mapChunks,
  type Problem,
  slice
} from "@appkernel/mql/internal"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Catalog } from "../catalog/catalog.ts"
import type { Collection } from "../catalog/collection.ts"
import type { StoredDocument } from "../planner/candidates.ts"
import type { WatchedKeyValue, WriteRecorder } from "../storage/orderedStore.ts"
import { findSource } from "./matchingDocuments.ts"
import { collect, runStep } from "./readSteps.ts"
import { maxPerJob, outcome, runJob } from "./writeJob.ts"

/** The filter of a write, and the order that decides which match is the first. */
export interface MatchRequest {
  readonly filter: Filter
  readonly sort?: ReadonlyArray<Direction>
}

/** Writes a match within a job. It may write to no other document. */
export type WriteMatch<A, D extends DuplicateKey> = (
  collection: Collection,
  found: StoredDocument
) => Result.Result<A, D | Problem>

/** The write without a match. */
interface Otherwise<A, D extends DuplicateKey> {
  readonly insert: () => Result.Result<A, D | Problem>
  /** Whether nothing is inserted, so that a document that becomes a match meanwhile does not matter. */
  readonly isFinal: boolean
}

export interface Matching {
  /** Writes the first match, or runs `otherwise` without a match. */
  readonly onFirst: <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    request: MatchRequest,
    write: WriteMatch<A, D>,
    otherwise: Otherwise<A, D>
  ) => Effect.Effect<A, D | ReadError>
  /** Writes every match, a few in each job. Skips documents that no longer match in their job. */
  readonly onEach: <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    filter: Filter,
    write: WriteMatch<A, D>
  ) => Effect.Effect<ReadonlyArray<A>, D | ReadError>
}

export const makeMatching = (store: WatchedKeyValue, catalog: Catalog): Matching => {
  const context = { store, catalog }
  return {
    onFirst: (operation, name, request, write, otherwise) => {
      const [key] = idKeysOf(request.filter, 1)
      if (key !== undefined) return writeById({ ...context, operation, name }, key, request.filter, write, otherwise)
      return otherwise.isFinal
        ? writeFirst({ ...context, operation, name }, request, write, otherwise)
        : writeFirstOrInsert({ ...context, operation, name }, request, write, otherwise)
    },
    onEach: (operation, name, filter, write) => writeEach({ ...context, operation, name }, filter, write)
  }
}

// internal

interface MatchContext {
  readonly store: WatchedKeyValue
  readonly catalog: Catalog
  readonly operation: string
  /** The name of the collection. */
  readonly name: string
}

/** Finds a record in its collection, when its job runs. */
type RecordIn = (collection: Collection) => string | undefined

/** Reads a record in its current state, if it matches. */
const currentMatch = (
  { store }: MatchContext,
  collection: Collection,
  filter: Filter,
  recordId: string | undefined
): Result.Result<StoredDocument | undefined, Problem> => {
  const document = recordId === undefined ? undefined : store.documents(collection.number).get(recordId)
  if (recordId === undefined || document === undefined) return Result.succeed(undefined)
  return Result.map(
    catchRejection(() => filter.matches(document)),
    (isMatch) => isMatch ? { recordId, document } : undefined
  )
}

/** For jobs: writes a record if it still matches, otherwise returns `undefined`. */
const writeMatch = <A, D extends DuplicateKey>(
  context: MatchContext,
  filter: Filter,
  recordIn: RecordIn,
  write: WriteMatch<A, D>
): Result.Result<A | undefined, D | Problem> => {
  const collection = context.catalog.pending(context.name)
  if (collection === undefined) return Result.succeed(undefined)
  return Result.flatMap(
    currentMatch(context, collection, filter, recordIn(collection)),
    (found): Result.Result<A | undefined, D | Problem> =>
      found === undefined ? Result.succeed(undefined) : write(collection, found)
  )
}

/** Writes the document with an identifier in one job, without a search. */
const writeById = <A, D extends DuplicateKey>(
  context: MatchContext,
  key: string,
  filter: Filter,
  write: WriteMatch<A, D>,
  otherwise: Otherwise<A, D>
): Effect.Effect<A, D | ReadError> =>
  runJob(context.store, context.operation, () =>
    Result.flatMap(
      writeMatch(context, filter, recordOfKey(context, key), write),
      (written) => written === undefined ? otherwise.insert() : Result.succeed(written)
    ))

/** The record with an identifier, in the state of the job. */
const recordOfKey = ({ store }: MatchContext, key: string) => ({ number }: Collection): string | undefined =>
  store.entries(number).get(key)

/** The keys of the identifiers that a filter names, if they are so many at most; else none. */
const idKeysOf = ({ collator, constraints }: Filter, most: number): ReadonlyArray<string> => {
  // In a collation, several identifiers may be equal.
  if (collator !== undefined) return []
  const id = constraints.find((constraint) => constraint.kind === "in" && constraint.path === "_id")
  return id?.kind === "in" && id.values.length <= most ? id.values.map((value) => documentKey(value)) : []
}

const findFirst = (
  { catalog, name, operation, store }: MatchContext,
  { filter, sort = [] }: MatchRequest
): Effect.Effect<StoredDocument | undefined, ReadError> =>
  Effect.map(
    collect(store, operation, () => Result.succeed(slice(findSource(store, catalog, name, filter, sort, 1), 0, 1))),
    ([found]) => found
  )

const writeFound = <A, D extends DuplicateKey>(
  context: MatchContext,
  filter: Filter,
  { recordId }: StoredDocument,
  write: WriteMatch<A, D>
): Effect.Effect<A | undefined, D | ReadError> =>
  runJob(context.store, context.operation, () => writeMatch(context, filter, () => recordId, write))

const writeFirst = Effect.fnUntraced(function*<A, D extends DuplicateKey>(
  context: MatchContext,
  request: MatchRequest,
  write: WriteMatch<A, D>,
  otherwise: Otherwise<A, D>
): Effect.fn.Return<A, D | ReadError> {
  while (true) {
    const found = yield* findFirst(context, request)
    if (found === undefined) return yield* outcome(context.operation, otherwise.insert())
    const written = yield* writeFound(context, request.filter, found, write)
    if (written !== undefined) return written
  }
})

/** Watches the collection during the search, since a document that is written meanwhile may be a match. */
const writeFirstOrInsert = Effect.fnUntraced(function*<A, D extends DuplicateKey>(
  context: MatchContext,
  request: MatchRequest,
  write: WriteMatch<A, D>,
  { insert }: Otherwise<A, D>
): Effect.fn.Return<A, D | ReadError> {
  const { filter } = request
  while (true) {
    const written = yield* Effect.acquireUseRelease(
      Effect.sync(() => watchCollection(context)),
      (watch) =>
        Effect.flatMap(
          findFirst(context, request),
          (found) =>
            found === undefined
              ? insertUnmatched(context, filter, watch, insert)
              : writeFound(context, filter, found, write)
        ),
      (watch) => Effect.sync(() => watch?.close())
    )
    if (written !== undefined) return written
  }
})

interface CollectionWatch extends WriteRecorder {
  readonly number: number
  /** The number of committed writes when the watch began. */
  readonly seen: number
}

const watchCollection = ({ catalog, name, store }: MatchContext): CollectionWatch | undefined => {
  const collection = catalog.get(name)
  if (collection === undefined) return undefined
  const { close, written } = store.watch(collection.number)
  return { number: collection.number, seen: catalog.seen(name), written, close }
}

/** The records that were written during a search, if they are too many for one job. */
class ManyWrites {
  readonly collection: Collection
  readonly recordIds: ReadonlyArray<string>
  constructor(collection: Collection, recordIds: ReadonlyArray<string>) {
    this.collection = collection
    this.recordIds = recordIds
  }
}

/** Inserts, unless a record written since the watch began matches. Many records are checked outside of the job. */
const insertUnmatched = <A, D extends DuplicateKey>(
  context: MatchContext,
  filter: Filter,
  watch: CollectionWatch | undefined,
  insert: () => Result.Result<A, D | Problem>
): Effect.Effect<A | undefined, D | ReadError> =>
  Effect.suspend(() => {
    let next: CollectionWatch | undefined
    // A job may run again.
    const watchNext = () => {
      next?.close()
      next = watchCollection(context)
    }
    return Effect.ensuring(
      Effect.flatMap(
        runJob(context.store, context.operation, () => tryInsert(context, filter, watch, insert, watchNext)),
        (tried): Effect.Effect<A | undefined, D | ReadError> =>
          tried instanceof ManyWrites
            ? Effect.flatMap(
              hasMatchInTurns(context, filter, tried),
              (isMatched) => isMatched ? Effect.undefined : insertUnmatched(context, filter, next, insert)
            )
            : Effect.succeed(tried)
      ),
      Effect.sync(() => next?.close())
    )
  })

const checkedPerJob = (filter: Filter): number => Math.ceil(maxPerJob / filter.relativeCost)

/** For jobs: inserts, or returns `undefined` if the search must be repeated. `watchNext` begins to watch later writes. */
const tryInsert = <A, D extends DuplicateKey>(
  context: MatchContext,
  filter: Filter,
  watch: CollectionWatch | undefined,
  insert: () => Result.Result<A, D | Problem>,
  watchNext: () => void
): Result.Result<A | ManyWrites | undefined, D | Problem> => {
  const { catalog, name } = context
  const collection = catalog.pending(name)
  if (collection === undefined && watch === undefined) return insert()
  if (watch?.seen === catalog.written(name)) return insert()
  const recordIds = watch?.written()
  if (collection === undefined || collection.number !== watch?.number || recordIds === undefined) {
    return Result.succeed(undefined)
  }
  if (recordIds.length > checkedPerJob(filter)) {
    watchNext()
    return Result.succeed(new ManyWrites(collection, recordIds))
  }
  return Result.flatMap(
    hasMatch(context, filter, recordIds, collection),
    (isMatched): Result.Result<A | undefined, D | Problem> => isMatched ? Result.succeed(undefined) : insert()
  )
}

const hasMatch = (
  context: MatchContext,
  filter: Filter,
  recordIds: ReadonlyArray<string>,
  collection: Collection
): Result.Result<boolean, Problem> => {
  for (const recordId of recordIds) {
    const found = currentMatch(context, collection, filter, recordId)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    if (found.success !== undefined) return Result.succeed(true)
  }
  return Result.succeed(false)
}

const hasMatchInTurns = Effect.fnUntraced(function*(
  context: MatchContext,
  filter: Filter,
  { collection, recordIds }: ManyWrites
): Effect.fn.Return<boolean, ReadError> {
  const count = checkedPerJob(filter)
  for (let from = 0; from < recordIds.length; from += count) {
    if (from > 0) yield* Effect.yieldNow
    const some = recordIds.slice(from, from + count)
    const isMatched = yield* Effect.fromResult(
      runStep(context.store, context.operation, () => hasMatch(context, filter, some, collection))
    )
    if (isMatched) return true
  }
  return false
})

const writeEach = Effect.fnUntraced(function*<A, D extends DuplicateKey>(
  context: MatchContext,
  filter: Filter,
  write: WriteMatch<A, D>
): Effect.fn.Return<ReadonlyArray<A>, D | ReadError> {
  const { catalog, name, operation, store } = context
  // One job, which no search has to precede.
  const keys = idKeysOf(filter, checkedPerJob(filter))
  if (keys.length > 0) {
    return yield* Effect.uninterruptible(writeInJobs(context, filter, keys, (key) => recordOfKey(context, key), write))
  }
  const recordIds = yield* collect(store, operation, () =>
    Result.succeed(
      mapChunks(
        findSource(store, catalog, name, filter),
        (found) => found.map(({ recordId }) => recordId)
      )
    ))
  return yield* Effect.uninterruptible(writeInJobs(context, filter, recordIds, (recordId) => () => recordId, write))
})

const writeInJobs = Effect.fnUntraced(function*<A, D extends DuplicateKey>(
  context: MatchContext,
  filter: Filter,
  names: ReadonlyArray<string>,
  recordOf: (name: string) => RecordIn,
  write: WriteMatch<A, D>
): Effect.fn.Return<ReadonlyArray<A>, D | ReadError> {
  const results: Array<A> = []
  let from = 0
  while (from < names.length) {
    if (from > 0) yield* Effect.yieldNow
    const { done, written } = yield* runJob(
      context.store,
      context.operation,
      () => writeSome(context, filter, names.slice(from, from + checkedPerJob(filter)), recordOf, write)
    )
    for (const result of written) results.push(result)
    from += done
  }
  return results
})

/** For jobs: writes as many records as the step allows. */
const writeSome = <A, D extends DuplicateKey>(
  context: MatchContext,
  filter: Filter,
  names: ReadonlyArray<string>,
  recordOf: (name: string) => RecordIn,
  write: WriteMatch<A, D>
): Result.Result<{ readonly done: number; readonly written: ReadonlyArray<A> }, D | Problem> => {
  beginStep()
  const written: Array<A> = []
  let done = 0
  for (const name of names) {
    const result = writeMatch(context, filter, recordOf(name), write)
    if (Result.isFailure(result)) return Result.fail(result.failure)
    if (result.success !== undefined) written.push(result.success)
    done += 1
    if (isStepDone()) break
  }
  return Result.succeed({ done, written })
}
