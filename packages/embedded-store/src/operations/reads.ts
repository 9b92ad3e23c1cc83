/**
 * The read operations of the embedded store, which run in steps. An aggregation reads a snapshot, and so does a stream that
 * asks for one; other reads don't, see `readSteps`.
 */
import type { CollationOptions, Document, DocumentStore, FindOptions } from "@appkernel/document-store/DocumentStore"
import type { ReadError } from "@appkernel/document-store/StoreError"
import {
  type BatchIterator,
  catchRejection,
  computes,
  conflict,
  distinctValues,
  type ExpressionContext,
  type Filter,
  isDocument,
  makeMemory,
  mapChunks,
  mapEach,
  matchAll,
  type Memory,
  normalise,
  normaliseOperand,
  orReject,
  parseCollation,
  parsePipeline,
  parseProjection,
  parseScoredProjection,
  parseSort,
  plainStored,
  plainStoredList,
  plainValue,
  type Problem,
  queryProblem,
  reject,
  retaining,
  segmentsOf,
  slice,
  splitLeadingFind
} from "@appkernel/mql/internal"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Catalog, ReadCatalog } from "../catalog/catalog.ts"
import type { Collection } from "../catalog/collection.ts"
import type { KeyValue, ReadTables } from "../storage/orderedStore.ts"
import { countSource } from "./counts.ts"
import { documentWithId } from "./documentWithId.ts"
import { geoNear, leadingGeoNear } from "./geoNear.ts"
import { findSource, parseFilterOf, testOf } from "./matchingDocuments.ts"
import { collect, readAll, readAtOnce, readStream, runStep, withNow } from "./readSteps.ts"

type Store = DocumentStore["Service"]

export type EmbeddedReads = Pick<
  Store,
  "findById" | "find" | "findAndCount" | "stream" | "count" | "estimatedCount" | "distinct" | "aggregate"
>

export const makeEmbeddedReads = (
  store: KeyValue,
  catalog: Catalog,
  openState: () => ReadState = () => ({ store, catalog, isExpired: () => false, close: () => {} })
): EmbeddedReads => {
  const context = { store, catalog }
  const withId = (name: string, id: unknown, filter?: Document, now = 0) =>
    runStep(store, "findById", () => documentById(context, name, id, filter, now))
  return {
    findById: Object.assign(
      (...[name, id, options]: Parameters<Store["findById"]>) =>
        options?.filter === undefined
          ? Effect.suspend(() => Effect.fromResult(withId(name, id)))
          : withNow((now) => Effect.fromResult(withId(name, id, options.filter, now))),
      { atOnce: (name: string, id: unknown) => Result.getOrUndefined(withId(name, id)) }
    ),
    find: Object.assign(
      (...[name, options]: Parameters<Store["find"]>) =>
        options.limit === 0
          ? Effect.succeed([])
          : readAll(store, "find", options.timeLimit, (now) => findRetained(context, name, options, now), options.take),
      {
        atOnce: (...[name, options, now]: Parameters<NonNullable<Store["find"]["atOnce"]>>) =>
          options.limit === 0
            ? []
            : readAtOnce(store, "find", () => findRetained(context, name, options, now), options.take)
      }
    ),
    findAndCount: Object.assign(
      (...[name, options]: Parameters<Store["findAndCount"]>) => findAndCount(context, name, options),
      { atOnce: findAndCountAtOnce(context) }
    ),
    stream: (name, { snapshot = false, ...options }) =>
      readStream(
        store,
        "stream",
        options.timeLimit,
        (scope) =>
          snapshot
            ? inState(
              openState,
              scope,
              (state) => (now) => Result.map(findPlain(state, name, options, now), whileKept(state))
            )
            : Effect.succeed((now) => findPlain(context, name, options, now))
      ),
    count: (name, filter, options) => count(context, name, filter, options),
    estimatedCount: (name) =>
      Effect.map(collect(store, "estimatedCount", () => Result.succeed(countMatches(context, name, matchAll))), sumOf),
    distinct: (name, path, filter, options) =>
      readAll(store, "distinct", options?.timeLimit, (now) => distinct(context, name, path, filter, now, options)),
    aggregate: (name, pipeline, options) =>
      readStream(store, "aggregate", options?.timeLimit, (scope) =>
        Effect.withFiber((fiber) => {
          const random = fiber.getRef(Random.Random)
          return inState(openState, scope, (state) => (now) =>
            aggregate(state, name, pipeline, now, () =>
              random.nextDoubleUnsafe(), options))
        }))
  }
}

/** A state of the store that an aggregation or a stream reads. Must be closed. */
export interface ReadState extends TableReads {
  /** Whether the store no longer has the state, and shows the last commit in its place. */
  readonly isExpired: () => boolean
  readonly close: () => void
}

// internal

interface TableReads {
  readonly store: ReadTables
  readonly catalog: ReadCatalog
}

/** The store itself. Each step of a read may see another commit. */
interface StoreContext extends TableReads {
  readonly store: KeyValue
  readonly catalog: Catalog
}

/** Makes a read of a state that is closed with the scope. */
const inState = <A>(openState: () => ReadState, scope: Scope.Scope, use: (state: ReadState) => A): Effect.Effect<A> =>
  Effect.suspend(() => {
    let state: ReadState | undefined
    return Effect.map(
      Scope.addFinalizer(scope, Effect.sync(() => state?.close())),
      () => use(state = openState())
    )
  })

/** Fails instead of going on with another state. */
const whileKept = ({ isExpired }: ReadState) => (source: BatchIterator): BatchIterator => () =>
  isExpired() ? Result.fail(conflict("its state of the documents is no longer kept")) : source()

interface FindTools {
  /** Receives the number of all matches if a sort reads all of them, or an index says it. */
  readonly onMatches?: (matches: number) => void
  /** The memory that all stages of a pipeline share. */
  readonly memory?: Memory
}

const documentById = (
  { catalog, store }: TableReads,
  name: string,
  id: unknown,
  filter: object | undefined,
  now: number
): Result.Result<Document | undefined, Problem> => {
  const value = typeof id === "string" ? Result.succeed(id.toWellFormed()) : normaliseOperand(id)
  // Whether the filter is valid does not depend on what is stored.
  const test = filter === undefined ? undefined : testOf(catalog, name, filter, now)
  if (test !== undefined && Result.isFailure(test)) return Result.fail(test.failure)
  if (Result.isFailure(value)) return Result.fail(queryProblem(value.failure))
  const collection = catalog.get(name)
  const document = collection && documentWithId(store, collection, value.success)
  if (!document) return Result.succeed(undefined)
  const shown = hasWrapped(collection) ? plainStored(document) : document
  return test === undefined
    ? Result.succeed(shown)
    : Result.map(catchRejection(() => test.success(document)), (isMatch) => isMatch ? shown : undefined)
}

const findDocuments = (
  context: TableReads,
  name: string,
  options: FindOptions,
  now: number,
  tools?: FindTools
): Result.Result<BatchIterator, Problem> =>
  Result.flatMap(
    parseCollation(options.collation),
    (collator) => Result.map(parseFind(context, name, options, { now, collator }, tools), (open) => open())
  )

/** Parses a find. The result starts the read. */
const parseFind = (
  { catalog, store }: TableReads,
  name: string,
  options: FindOptions,
  values: ExpressionContext,
  { memory, onMatches }: FindTools = {}
): Result.Result<() => BatchIterator, Problem> =>
  catchRejection(() => {
    const { limit, projection, skip = 0, sort } = options
    if (!isCount(skip) || !isCount(limit ?? 0)) return reject("skip and limit must be whole numbers from 0")
    // As in MongoDB, neither counts nor pipelines search by distance.
    const canBeNear = onMatches === undefined && memory === undefined
    const filter = orReject(parseFilterOf(catalog, name, options.filter ?? {}, values, canBeNear))
    const { search } = filter
    const directions = sort === undefined ? [] : orReject(parseSort(sort, values.collator, search !== undefined))
    const project = projection && orReject(
      search === undefined
        ? parseProjection(projection, values, filter)
        : parseScoredProjection(projection, values, search)
    )
    const wanted = limit === undefined ? Infinity : skip + limit
    return () => {
      const matching = findSource(store, catalog, name, filter, directions, wanted, onMatches, memory, skip)
      const found = slice(matching, 0, limit)
      const documents = mapChunks(found, (items) => items.map(({ document }) => document))
      return project === undefined ? documents : mapEach(documents, project)
    }
  })

/** {@link findDocuments} with plain numbers, for the caller. */
const findPlain: typeof findDocuments = (context, name, options, now, tools) =>
  Result.map(
    findDocuments(context, name, options, now, tools),
    options.projection === undefined ? storedPlainly(context, name) : plainly
  )

/** {@link findPlain} for a result in memory, in which computed documents count towards the memory limit. */
const findRetained: typeof findDocuments = (context, name, options, now, tools) =>
  Result.map(
    findPlain(context, name, options, now, tools),
    (source) => computes(options.projection) ? retaining(makeMemory(), source) : source
  )

/** Converts the numbers in the results of a read to plain ones. */
const plainly = <A>(source: BatchIterator<A>): BatchIterator<A> => mapChunks(source, plainValue)

/** {@link plainly} for stored documents of a collection. Skips the conversion if none of its identifiers needs one. */
const storedPlainly = ({ catalog }: TableReads, name: string) => (source: BatchIterator): BatchIterator =>
  mapChunks(source, (documents) => hasWrapped(catalog.get(name)) ? plainStoredList(documents) : documents)

const hasWrapped = (collection: Collection | undefined): boolean => collection?.identifiers.traits.wrapped === true

/** The find of a {@link findAndCount}, and the number of its matches, if it has met all of them. */
const countingFind = (context: StoreContext, name: string, options: FindOptions) => {
  let counted: number | undefined
  // A sort reads all matches and thereby counts them; an index in memory knows their number.
  const onMatches = (matches: number) => {
    counted = (counted ?? 0) + matches
  }
  return {
    open: (now: number) => findRetained(context, name, options, now, { onMatches }),
    counted: () => counted
  }
}

const findAndCount = (
  context: StoreContext,
  ...[name, options]: Parameters<EmbeddedReads["findAndCount"]>
): ReturnType<EmbeddedReads["findAndCount"]> =>
  Effect.suspend(() => {
    const { collation, filter = {}, limit, take, timeLimit } = options
    const { counted, open } = countingFind(context, name, options)
    const found = limit === 0 ? Effect.succeed([]) : readAll(context.store, "findAndCount", timeLimit, open, take)
    return Effect.flatMap(found, (documents) => {
      const total = counted()
      return total === undefined
        ? Effect.map(count(context, name, filter, { timeLimit, collation }), (total) => ({ documents, total }))
        : Effect.succeed({ documents, total })
    })
  })

/** {@link findAndCount} by two reads that each take no longer than a step. */
const findAndCountAtOnce = (
  context: StoreContext
): NonNullable<EmbeddedReads["findAndCount"]["atOnce"]> =>
(name, options, now) => {
  const { counted, open } = countingFind(context, name, options)
  const documents = options.limit === 0 ? [] : readAtOnce(context.store, "findAndCount", () => open(now), options.take)
  if (documents === undefined) return undefined
  const known = counted()
  const total = known === undefined
    ? readAtOnce(context.store, "count", () => openCount(context, name, options.filter ?? {}, now, options))
    : [known]
  return total && { documents, total: sumOf(total) }
}

const count = (
  context: StoreContext,
  ...[name, filter, options]: Parameters<EmbeddedReads["count"]>
): Effect.Effect<number, ReadError> =>
  Effect.map(
    readAll(context.store, "count", options?.timeLimit, (now) => openCount(context, name, filter, now, options)),
    sumOf
  )

const openCount = (
  context: StoreContext,
  name: string,
  filter: unknown,
  now: number,
  options: CollationOptions | undefined
): Result.Result<BatchIterator<number>, Problem> =>
  Result.map(
    filterOf(context, name, filter, now, options, false),
    (parsed) => countMatches(context, name, parsed)
  )

const filterOf = (
  { catalog }: TableReads,
  name: string,
  filter: unknown,
  now: number,
  options: CollationOptions | undefined,
  canBeNear = true
): Result.Result<Filter, Problem> =>
  Result.flatMap(
    parseCollation(options?.collation),
    (collator) => parseFilterOf(catalog, name, filter, { now, collator }, canBeNear)
  )

const countMatches = ({ catalog, store }: StoreContext, name: string, filter: Filter): BatchIterator<number> =>
  countSource(store, catalog, name, filter)

const distinct = (
  context: TableReads,
  name: string,
  path: string,
  filter: unknown,
  now: number,
  options: CollationOptions | undefined
): Result.Result<BatchIterator<unknown>, Problem> =>
  path === "" || path.startsWith("$")
    ? Result.fail(queryProblem(`"${path}" is no path`))
    : Result.map(
      filterOf(context, name, filter, now, options),
      (parsed) => plainly(distinctValues(documentsOf(context, name, parsed), segmentsOf(path), parsed.collator))
    )

const aggregate = (
  context: TableReads,
  name: string,
  pipeline: ReadonlyArray<Document>,
  now: number,
  random: () => number,
  given: CollationOptions | undefined
): Result.Result<BatchIterator, Problem> => {
  const parsed = catchRejection(() => {
    const collator = orReject(parseCollation(given?.collation))
    const stages = Arr.ensure(Result.getOrElse(normalise({ pipeline }, true), reject)["pipeline"])
    const memory = makeMemory()
    const find = (name: string, options: FindOptions, values: ExpressionContext) =>
      parseFind(context, name, options, values, { memory })
    const near = leadingGeoNear(stages)
    const { options, rest } = near === undefined ? splitLeadingFind(stages) : { options: {}, rest: stages.slice(1) }
    const transform = orReject(parsePipeline(rest, { now, collator, random, memory, find }))
    const open = near === undefined ? orReject(find(name, options, { now, collator })) : geoNear(near, {
      collection: context.catalog.get(name),
      memory,
      parseFilter: (filter) => parseFilterOf(context.catalog, name, filter, { now, collator }, false),
      read: (filter) => findSource(context.store, context.catalog, name, { ...filter, near: undefined })
    })
    const asPlain = near === undefined && rest.every(isSelecting) ? storedPlainly(context, name) : plainly
    return () => asPlain(transform(open()))
  })
  return Result.map(parsed, (open) => open())
}

/** Whether a stage passes documents on unchanged. */
const isSelecting = (stage: unknown): boolean =>
  isDocument(stage) && Object.keys(stage).every((name) => selectingStages.has(name))

const selectingStages = new Set(["$match", "$sort", "$limit", "$skip", "$sample"])

const documentsOf = ({ catalog, store }: TableReads, name: string, filter: Filter): BatchIterator =>
  mapChunks(findSource(store, catalog, name, filter), (found) => found.map(({ document }) => document))

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0

const sumOf = (counts: ReadonlyArray<number>): number => counts.reduce((sum, count) => sum + count, 0)
