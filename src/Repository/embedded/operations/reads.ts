/**
 * The reads of the embedded store.
 *
 * A read runs in steps, between which other fibers run. Outside of a transaction it sees the writes that are committed
 * between its steps; each document is read as a whole, and `planExecutor` states which documents a scan returns.
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { beginStep } from "../../../internal/steps.ts"
import { documentKey } from "../../bson/keyEncoding.ts"
import { normalise, normaliseOperand } from "../../bson/normalise.ts"
import { type Direction, segmentsOf } from "../../bson/path.ts"
import type { Document, DocumentStore, FindOptions } from "../../DocumentStore.ts"
import { distinctValues } from "../../mql/aggregation/distinct.ts"
import { parsePipeline, splitLeadingFind } from "../../mql/aggregation/pipeline.ts"
import { type BatchIterator, ended, mapChunks, mapEach, retaining, slice } from "../../mql/execution/batchIterator.ts"
import { sorted } from "../../mql/execution/mergeSort.ts"
import { type Filter, matchAll, parseFilter } from "../../mql/filter/parseFilter.ts"
import { overtaken, type Problem, rejected, toError } from "../../mql/limits/queryProblem.ts"
import { makeMemory, type Memory } from "../../mql/limits/sizeLimits.ts"
import { computes, parseProjection } from "../../mql/projection/parseProjection.ts"
import { parseSort, sortTooLarge } from "../../mql/projection/sortSpec.ts"
import { isByScore, parseScoredProjection, withScore } from "../../mql/projection/textScore.ts"
import { QueryTimeout, type ReadError } from "../../RepositoryError.ts"
import type { KeyValue } from "../../storage/orderedStore.ts"
import { makeStopwatch, type Stopwatch } from "../../store/timeLimit.ts"
import { type Catalog, type Collection, textIndexOf } from "../catalog/catalog.ts"
import { type Found, scan } from "../planner/planExecutor.ts"
import { type Plan, planOf } from "../planner/queryPlan.ts"
import { countSource } from "./counts.ts"

type Store = DocumentStore["Service"]

/** @internal */
export type Reading = Pick<
  Store,
  "findById" | "find" | "findAndCount" | "stream" | "count" | "estimatedCount" | "distinct" | "aggregate"
>

/**
 * Passes the current time, in milliseconds, to an effect.
 *
 * @internal
 */
export const withNow = <A, E>(use: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => use(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()))

/**
 * Takes a step of a read; fails with a rejected query or a failure of the disk.
 *
 * @internal
 */
export const take = <A>(
  store: KeyValue,
  operation: string,
  step: () => Result.Result<A, Problem>
): Result.Result<A, ReadError> => {
  beginStep()
  return Result.flatMap(
    store.read(operation, step),
    (result): Result.Result<A, ReadError> => Result.mapError(result, (problem) => toError(problem, operation))
  )
}

/**
 * Reads an iterator to its end, interruptibly; it is opened with the first step. With a `taker`, the items are passed to it
 * as they come, and it may end the read.
 *
 * @internal
 */
export const drain = <A>(
  store: KeyValue,
  operation: string,
  open: () => Result.Result<BatchIterator<A>, Problem>,
  stopwatch?: Stopwatch,
  taker?: (items: ReadonlyArray<A>) => boolean
): Effect.Effect<ReadonlyArray<A>, ReadError> => {
  const all: Array<A> = []
  let source: BatchIterator<A> | undefined
  const turn = (): Result.Result<boolean, Problem> => {
    if (source === undefined) {
      const opened = open()
      if (Result.isFailure(opened)) return Result.fail(opened.failure)
      source = opened.success
    }
    for (let i = 0; i < stepsPerTurn; i++) {
      const items = source()
      if (Result.isFailure(items)) return Result.fail(items.failure)
      if (items.success === undefined) return atEnd
      for (const item of items.success) all.push(item)
    }
    return notAtEnd
  }
  const go = (): Effect.Effect<ReadonlyArray<A>, ReadError> => {
    if (stopwatch?.isOver() === true) return Effect.fail(new QueryTimeout({ operation }))
    const isEnded = take(store, operation, turn)
    if (Result.isFailure(isEnded)) return Effect.fail(isEnded.failure)
    const isEnough = taker !== undefined && all.length > 0 && !taker(all.splice(0))
    return isEnded.success || isEnough ? Effect.succeed(all) : Effect.flatMap(Effect.yieldNow, go)
  }
  return Effect.suspend(go)
}

/**
 * Parses a filter for a collection, whose text index decides about `$text`.
 *
 * @internal
 */
export const parseFilterOf = (
  catalog: Catalog,
  name: string,
  filter: unknown,
  now: number
): Result.Result<Filter, Problem> => parseFilter(filter, now, textIndexOf(catalog.get(name))?.text)

/**
 * The documents of a collection that match a filter, sorted if required.
 *
 * @internal
 */
export const findSource = (
  store: KeyValue,
  catalog: Catalog,
  name: string,
  filter: Filter,
  sort: ReadonlyArray<Direction> = [],
  wanted = Infinity,
  /** Receives the number of all matches, if sorting them reads them all anyway. */
  onMatches?: (matches: number) => void,
  /** The memory budget of a pipeline; a single sort has a budget of its own. */
  memory?: Memory
): BatchIterator<Found> => {
  const collection = catalog.get(name)
  if (collection === undefined) return () => ended
  const plan = planOf(collection, filter.constraints, sort, filter.search?.words)
  const scanned = scan(store, collection, plan, filter, {
    end: () => catalog.endOfRecords(collection),
    wanted: plan.isOrdered ? wanted : Infinity,
    isInOrder: plan.isOrdered && sort.length > 0
  })
  const matching = whileIndexed(catalog, collection, plan, scanned)
  if (plan.isOrdered) return matching
  onMatches?.(0)
  const found = onMatches === undefined ? matching : mapChunks(matching, (items) => {
    onMatches(items.length)
    return Result.succeed(items)
  })
  const { search } = filter
  const documentOf = search === undefined || !sort.some(isByScore)
    ? ({ document }: Found) => document
    : ({ document }: Found) => withScore(document, search)
  return memory === undefined
    ? sorted(found, documentOf, sort, wanted, makeMemory(sortTooLarge), sortedBytes)
    : sorted(found, documentOf, sort, wanted, memory)
}

// A document takes more bytes in memory than on disk; one that is in memory anyway only takes a slot in the list.
const sortedBytes = ({ bytes = 0 }: Found): number => 100 + 2 * bytes

// A dropped index loses its entries between two steps, so the scan would miss documents.
const whileIndexed = (
  catalog: Catalog,
  collection: Collection,
  plan: Plan,
  source: BatchIterator<Found>
): BatchIterator<Found> => {
  if (plan.kind === "all" || plan.index === collection.identifiers) return source
  const { number } = plan.index
  return () =>
    catalog.get(collection.name)?.indexes.some((index) => index.number === number) === true
      ? source()
      : Result.fail(overtaken("an index was dropped while it was read"))
}

/** @internal */
export const makeReading = (store: KeyValue, catalog: Catalog): Reading => {
  const parse = (name: string, filter: unknown, now: number) => parseFilterOf(catalog, name, filter, now)

  const find = (
    options: FindOptions,
    name: string,
    now: number,
    onMatches?: (matches: number) => void,
    memory?: Memory
  ): Result.Result<BatchIterator, Problem> => {
    const { limit, projection, skip = 0, sort } = options
    if (!isCount(skip) || !isCount(limit ?? 0)) {
      return Result.fail(rejected("skip and limit must be whole numbers from 0"))
    }
    const filter = parse(name, options.filter ?? {}, now)
    if (Result.isFailure(filter)) return Result.fail(filter.failure)
    const { search } = filter.success
    const directions = sort === undefined ? unsorted : parseSort(sort, search !== undefined)
    if (Result.isFailure(directions)) return Result.fail(directions.failure)
    const project = projection === undefined
      ? Result.succeed(undefined)
      : search === undefined
      ? parseProjection(projection, now)
      : parseScoredProjection(projection, now, search)
    if (Result.isFailure(project)) return Result.fail(project.failure)
    const wanted = limit === undefined ? Infinity : skip + limit
    const matching = findSource(store, catalog, name, filter.success, directions.success, wanted, onMatches, memory)
    const found = slice(matching, skip, limit)
    const documents = mapChunks(found, (items) => Result.succeed(items.map(({ document }) => document)))
    return Result.succeed(project.success === undefined ? documents : mapEach(documents, project.success))
  }

  /** Computed documents are all in memory at once, so they count towards the memory budget. */
  const findAll: typeof find = (options, ...given) =>
    Result.map(
      find(options, ...given),
      (source) => computes(options.projection) ? retaining(makeMemory(), source) : source
    )

  const collection = (name: string): BatchIterator =>
    mapChunks(
      findSource(store, catalog, name, matchAll),
      (items) => Result.succeed(items.map(({ document }) => document))
    )

  const aggregate = (
    name: string,
    pipeline: ReadonlyArray<Document>,
    now: number,
    random: () => number
  ): Result.Result<BatchIterator, Problem> => {
    const stages = Result.map(
      Result.mapError(normalise({ pipeline }, true), rejected),
      (document) => Arr.ensure(document["pipeline"])
    )
    if (Result.isFailure(stages)) return Result.fail(stages.failure)
    const { options, rest } = splitLeadingFind(stages.success)
    const memory = makeMemory()
    const transform = parsePipeline(rest, { now, random, collection, memory })
    if (Result.isFailure(transform)) return Result.fail(transform.failure)
    return Result.map(find(options, name, now, undefined, memory), transform.success)
  }

  const count = (name: string, filter: Filter): BatchIterator<number> =>
    countSource(store, catalog, name, filter, () => findSource(store, catalog, name, filter))

  const distinct = (
    name: string,
    path: string,
    filter: unknown,
    now: number
  ): Result.Result<BatchIterator<unknown>, Problem> =>
    path === "" || path.startsWith("$")
      ? Result.fail(rejected(`"${path}" is no path`))
      : Result.map(parse(name, filter, now), (parsed) =>
        distinctValues(
          mapChunks(
            findSource(store, catalog, name, parsed),
            (found) => Result.succeed(found.map(({ document }) => document))
          ),
          segmentsOf(path)
        ))

  const findById = (name: string, id: unknown): Result.Result<Document | undefined, Problem> => {
    const collection = catalog.get(name)
    if (collection === undefined) return Result.succeed(undefined)
    const documentOf = (value: unknown) => {
      const recordId = store.entries(collection.number).get(documentKey(value))
      return recordId === undefined ? undefined : store.documents(collection.number).get(recordId)
    }
    if (typeof id === "string") return Result.succeed(documentOf(id.toWellFormed()))
    return Result.map(Result.mapError(normaliseOperand(id), rejected), documentOf)
  }

  const countDocuments: Reading["count"] = (name, filter, options) =>
    Effect.map(
      run(
        store,
        "count",
        options?.timeLimit,
        (now) => Result.map(parse(name, filter, now), (parsed) => count(name, parsed))
      ),
      sumOf
    )

  const findAndCount: Reading["findAndCount"] = (name, options) =>
    Effect.suspend(() => {
      const { filter = {}, limit, timeLimit } = options
      let seen: number | undefined
      const found = limit === 0 ?
        Effect.succeed([]) :
        run(store, "findAndCount", timeLimit, (now) =>
          findAll(options, name, now, (matches) => {
            seen = (seen ?? 0) + matches
          }), options.take)
      return Effect.flatMap(found, (documents) =>
        seen === undefined
          ? Effect.map(countDocuments(name, filter, { timeLimit }), (total) => ({ documents, total }))
          : Effect.succeed({ documents, total: seen }))
    })

  return {
    findAndCount,
    findById: (name, id) => Effect.suspend(() => Effect.fromResult(take(store, "findById", () => findById(name, id)))),
    find: (name, options) =>
      options.limit === 0
        ? Effect.succeed([])
        : run(store, "find", options.timeLimit, (now) => findAll(options, name, now), options.take),
    stream: (name, options) =>
      pulled(store, "stream", options.timeLimit, Effect.succeed((now) => find(options, name, now))),
    count: countDocuments,
    estimatedCount: (name) =>
      Effect.map(drain(store, "estimatedCount", () => Result.succeed(count(name, matchAll))), sumOf),
    distinct: (name, path, filter, options) =>
      run(store, "distinct", options?.timeLimit, (now) => distinct(name, path, filter, now)),
    aggregate: (name, pipeline, options) =>
      pulled(
        store,
        "aggregate",
        options?.timeLimit,
        Effect.withFiber((fiber) => {
          const random = fiber.getRef(Random.Random)
          return Effect.succeed((now) => aggregate(name, pipeline, now, () => random.nextDoubleUnsafe()))
        })
      )
  }
}

// internal

// A read of few steps needs no turn of the event loop.
const stepsPerTurn = 2

const atEnd: Result.Result<boolean> = Result.succeed(true)
const notAtEnd: Result.Result<boolean> = Result.succeed(false)

const unsorted = Result.succeed([])

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0

const sumOf = (counts: ReadonlyArray<number>): number => counts.reduce((sum, count) => sum + count, 0)

const run = <A>(
  store: KeyValue,
  operation: string,
  timeLimit: Duration.Input | undefined,
  make: (now: number) => Result.Result<BatchIterator<A>, Problem>,
  taker?: (items: ReadonlyArray<A>) => boolean
): Effect.Effect<ReadonlyArray<A>, ReadError> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const stopwatch = makeStopwatch(clock, timeLimit)
    stopwatch.start()
    return drain(store, operation, () => make(clock.currentTimeMillisUnsafe()), stopwatch, taker)
  })

const pulled = (
  store: KeyValue,
  operation: string,
  timeLimit: Duration.Input | undefined,
  make: Effect.Effect<(now: number) => Result.Result<BatchIterator, Problem>>
): Stream.Stream<Document, ReadError> =>
  Stream.fromPull(Effect.flatMap(make, (make) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const stopwatch = makeStopwatch(clock, timeLimit)
      const source = take(store, operation, () => make(clock.currentTimeMillisUnsafe()))
      return Result.isSuccess(source)
        ? Effect.succeed(pullFrom(store, operation, source.success, stopwatch))
        : Effect.fail(source.failure)
    })))

const pullFrom = (
  store: KeyValue,
  operation: string,
  source: BatchIterator,
  stopwatch: Stopwatch
): Effect.Effect<Arr.NonEmptyReadonlyArray<Document>, ReadError | Cause.Done> => {
  let steps = 0
  const go: Effect.Effect<Arr.NonEmptyReadonlyArray<Document>, ReadError | Cause.Done> = Effect.suspend(() => {
    if (stopwatch.isOver()) return Effect.fail(new QueryTimeout({ operation }))
    const documents = take(store, operation, source)
    if (Result.isFailure(documents)) return Effect.fail(documents.failure)
    if (documents.success === undefined) return Cause.done()
    if (!Arr.isReadonlyArrayNonEmpty(documents.success)) return Effect.andThen(Effect.yieldNow, go)
    stopwatch.stop()
    steps += 1
    return steps % stepsPerTurn === 0
      ? Effect.as(Effect.yieldNow, documents.success)
      : Effect.succeed(documents.success)
  })
  return Effect.suspend(() => {
    stopwatch.start()
    return go
  })
}
