/**
 * Matches that are written: looked for before their turn comes, and once more when it is there.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { beginStep, isStepDone } from "../../../internal/steps.ts"
import { documentKey } from "../../bson/keyEncoding.ts"
import type { Direction } from "../../bson/path.ts"
import { mapChunks, slice } from "../../mql/execution/batchIterator.ts"
import { tryMingo } from "../../mql/expression/operators.ts"
import type { Filter } from "../../mql/filter/parseFilter.ts"
import type { Problem } from "../../mql/limits/queryProblem.ts"
import type { DuplicateKey, ReadError } from "../../RepositoryError.ts"
import type { Watch, WatchedKeyValue } from "../../storage/orderedStore.ts"
import type { Catalog, Collection } from "../catalog/catalog.ts"
import type { Found } from "../planner/planExecutor.ts"
import { drain, findSource, take } from "./reads.ts"
import { inTurn, maxPerJob, outcome, runJob } from "./writeJob.ts"

/**
 * Which matches, and in what order.
 *
 * @internal
 */
export interface Request {
  readonly filter: Filter
  readonly sort?: ReadonlyArray<Direction>
}

/**
 * What is done with a match; nothing but what it is given may be written to.
 *
 * @internal
 */
export type Use<A, D extends DuplicateKey> = (collection: Collection, found: Found) => Result.Result<A, D | Problem>

// What is done without a match.
interface Without<A, D extends DuplicateKey> {
  readonly insert: () => Result.Result<A, D | Problem>
  /** Whether it does not matter when somebody writes a match meanwhile. */
  readonly isFinal: boolean
}

/** @internal */
export interface Matching {
  /**
   * Uses the first match, or does without one. It is looked for before its turn comes, since that may take long: when
   * it is no longer one by then, or there was none and something was written since, it is looked for again.
   */
  readonly onFirst: <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    request: Request,
    use: Use<A, D>,
    without: Without<A, D>
  ) => Effect.Effect<A, D | ReadError>
  /** Uses every match, a few in each job; what no longer matches by then is left alone. */
  readonly onEach: <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    filter: Filter,
    use: Use<A, D>
  ) => Effect.Effect<ReadonlyArray<A>, D | ReadError>
}

/** @internal */
export const makeMatching = (store: WatchedKeyValue, catalog: Catalog): Matching => {
  /** The match as it is now, if it still is one. */
  const current = (
    collection: Collection,
    filter: Filter,
    recordId: string | undefined
  ): Result.Result<Found | undefined, Problem> => {
    const document = recordId === undefined ? undefined : store.documents(collection.number).get(recordId)
    if (recordId === undefined || document === undefined) return Result.succeed(undefined)
    return Result.map(
      tryMingo(() => filter.matches(document)),
      (isMatch) => isMatch ? { recordId, document } : undefined
    )
  }

  const useMatch = <A, D extends DuplicateKey>(
    name: string,
    filter: Filter,
    recordIdIn: (collection: Collection) => string | undefined,
    use: Use<A, D>
  ): Result.Result<A | undefined, D | Problem> => {
    const collection = catalog.pending(name)
    if (collection === undefined) return Result.succeed(undefined)
    return Result.flatMap(
      current(collection, filter, recordIdIn(collection)),
      (found): Result.Result<A | undefined, D | Problem> =>
        found === undefined ? Result.succeed(undefined) : use(collection, found)
    )
  }

  const findFirst = (
    operation: string,
    name: string,
    { filter, sort = [] }: Request
  ): Effect.Effect<Found | undefined, ReadError> =>
    Effect.map(
      drain(store, operation, () => Result.succeed(slice(findSource(store, catalog, name, filter, sort, 1), 0, 1))),
      ([found]) => found
    )

  const watch = (name: string): CollectionWatch | undefined => {
    const collection = catalog.get(name)
    if (collection === undefined) return undefined
    const { close, written } = store.watch(collection.number)
    return { number: collection.number, seen: catalog.seen(name), written, close }
  }

  const hasMatch = (filter: Filter, recordIds: ReadonlyArray<string>, collection: Collection) => {
    for (const recordId of recordIds) {
      const found = current(collection, filter, recordId)
      if (Result.isFailure(found)) return Result.fail(found.failure)
      if (found.success !== undefined) return Result.succeed(true)
    }
    return Result.succeed(false)
  }

  /**
   * Inserts, unless a document is a match that was written since the watch began: of the others, none is one. Where many
   * were written, all but the last of them are looked at before its turn comes.
   */
  const insertUnmatched = <A, D extends DuplicateKey>(
    operation: string,
    name: string,
    filter: Filter,
    watched: CollectionWatch | undefined,
    insert: () => Result.Result<A, D | Problem>
  ): Effect.Effect<A | undefined, D | ReadError> => {
    const most = Math.ceil(maxPerJob / filter.effort)
    const tryInsert = (): Result.Result<A | Many | undefined, D | Problem> => {
      const collection = catalog.pending(name)
      if (collection === undefined && watched === undefined) return insert()
      if (watched?.seen === catalog.written(name)) return insert()
      const recordIds = watched?.written()
      if (collection === undefined || collection.number !== watched?.number || recordIds === undefined) return again
      if (recordIds.length > most) return Result.succeed(new Many(collection, recordIds, watch(name)))
      return Result.flatMap(
        hasMatch(filter, recordIds, collection),
        (isMatched): Result.Result<A | undefined, D | Problem> => isMatched ? again : insert()
      )
    }
    const look = ({ collection, recordIds }: Many, from: number): Effect.Effect<boolean, ReadError> =>
      Effect.flatMap(
        Effect.suspend(() =>
          Effect.fromResult(
            take(store, operation, () => hasMatch(filter, recordIds.slice(from, from + most), collection))
          )
        ),
        (isMatched) =>
          isMatched || from + most >= recordIds.length
            ? Effect.succeed(isMatched)
            : Effect.flatMap(Effect.yieldNow, () => look({ collection, recordIds, next: undefined }, from + most))
      )
    return Effect.flatMap(
      runJob(store, operation, tryInsert),
      (tried): Effect.Effect<A | undefined, D | ReadError> =>
        tried instanceof Many
          ? Effect.ensuring(
            Effect.flatMap(look(tried, 0), (isMatched) =>
              isMatched ? Effect.undefined : insertUnmatched(operation, name, filter, tried.next, insert)),
            Effect.sync(() =>
              tried.next?.close()
            )
          )
          : Effect.succeed(tried)
    )
  }

  const onFirst = <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    request: Request,
    use: Use<A, D>,
    without: Without<A, D>
  ): Effect.Effect<A, D | ReadError> => {
    const { filter } = request
    const key = pinnedKey(filter)
    if (key !== undefined) {
      // There is only one place to look at.
      return runJob(store, operation, () =>
        Result.flatMap(
          useMatch(name, filter, ({ number }) => store.entries(number).get(key), use),
          (used) => used === undefined ? without.insert() : Result.succeed(used)
        ))
    }
    const search = Effect.suspend(() => findFirst(operation, name, request))
    const useFound = ({ recordId }: Found) =>
      runJob(store, operation, () => useMatch(name, filter, () => recordId, use))
    if (without.isFinal) {
      const go: Effect.Effect<A, D | ReadError> = Effect.flatMap(search, (found) =>
        found === undefined
          ? outcome(operation, without.insert())
          : Effect.flatMap(useFound(found), (used) => used === undefined ? go : Effect.succeed(used)))
      return go
    }
    // What is written while it searches may be a match.
    const go: Effect.Effect<A, D | ReadError> = Effect.flatMap(
      Effect.acquireUseRelease(
        Effect.sync(() => watch(name)),
        (watch) =>
          Effect.flatMap(
            search,
            (found) =>
              found === undefined ? insertUnmatched(operation, name, filter, watch, without.insert) : useFound(found)
          ),
        (watch) => Effect.sync(() => watch?.close())
      ),
      (used) => used === undefined ? go : Effect.succeed(used)
    )
    return go
  }

  const onEach = <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    filter: Filter,
    use: Use<A, D>
  ): Effect.Effect<ReadonlyArray<A>, D | ReadError> => {
    const recordIds = mapChunks(
      findSource(store, catalog, name, filter),
      (found) => Result.succeed(found.map(({ recordId }) => recordId))
    )
    const perJob = Math.ceil(maxPerJob / filter.effort)
    const go = (
      all: ReadonlyArray<string>,
      from: number,
      results: Array<A>
    ): Effect.Effect<ReadonlyArray<A>, D | ReadError> =>
      from >= all.length
        ? Effect.succeed(results)
        : Effect.flatMap(
          runJob(store, operation, () => {
            beginStep()
            const used: Array<A> = []
            let next = from
            for (const recordId of all.slice(from, from + perJob)) {
              const result = useMatch(name, filter, () => recordId, use)
              if (Result.isFailure(result)) return Result.fail(result.failure)
              if (result.success !== undefined) used.push(result.success)
              next += 1
              if (isStepDone()) break
            }
            return Result.succeed({ next, used })
          }),
          ({ next, used }) => {
            for (const result of used) results.push(result)
            return inTurn(next < all.length, () => go(all, next, results))
          }
        )
    return Effect.flatMap(
      drain(store, operation, () => Result.succeed(recordIds)),
      (all) => Effect.uninterruptible(go(all, 0, []))
    )
  }

  return { onFirst, onEach }
}

// internal

interface CollectionWatch extends Watch {
  readonly number: number
  /** How many writes there were. */
  readonly seen: number
}

/** Too many documents were written to look at them in one job; those of `next` were written since. */
class Many {
  readonly collection: Collection
  readonly recordIds: ReadonlyArray<string>
  readonly next: CollectionWatch | undefined
  constructor(collection: Collection, recordIds: ReadonlyArray<string>, next: CollectionWatch | undefined) {
    this.collection = collection
    this.recordIds = recordIds
    this.next = next
  }
}

const again: Result.Result<undefined> = Result.succeed(undefined)

const pinnedKey = ({ constraints }: Filter): string | undefined => {
  const id = constraints.find((constraint) => constraint.kind === "in" && constraint.path === "_id")
  return id?.kind === "in" && id.values.length === 1 ? documentKey(id.values[0]) : undefined
}
