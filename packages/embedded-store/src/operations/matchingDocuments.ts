/**
 * Finds the documents of a collection that match a filter.
 */
import {
  type BatchIterator,
  conflict,
  type Direction,
  ended,
  equalityFilter,
  type ExpressionContext,
  type Filter,
  isByScore,
  makeMemory,
  mapChunks,
  type Memory,
  parseFilter,
  type Problem,
  slice,
  sorted,
  sortTooLarge,
  withScore
} from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { ReadCatalog } from "../catalog/catalog.ts"
import { type Collection, textIndexOf } from "../catalog/collection.ts"
import type { StoredDocument } from "../planner/candidates.ts"
import { byChoice, type OpenPlan } from "../planner/planChoice.ts"
import { scan } from "../planner/planExecutor.ts"
import { type Plan, plansOf } from "../planner/queryPlan.ts"
import { countEntries, countKnown } from "../planner/rangeScan.ts"
import type { ReadTables } from "../storage/orderedStore.ts"
import { nearbyDocuments, nearProblem } from "./nearDocuments.ts"

/** Parses a filter for a collection. `$text` and `$near` need its indexes. */
export const parseFilterOf = (
  catalog: ReadCatalog,
  name: string,
  filter: unknown,
  context: ExpressionContext,
  canBeNear = true
): Result.Result<Filter, Problem> => {
  const equality = equalityFilter(filter, context.collator)
  if (equality !== undefined) return Result.succeed(equality)
  const collection = catalog.get(name)
  const parsed = parseFilter(filter, { ...context, texts: textIndexOf(collection)?.text, canBeNear })
  if (Result.isFailure(parsed) || parsed.success.near === undefined) return parsed
  const problem = nearProblem(collection, parsed.success.near)
  return problem === undefined ? parsed : Result.fail(problem)
}

/** The test of a filter for a single document, kept by the filter object unless the time or an index may change it. */
export const testOf = (
  catalog: ReadCatalog,
  name: string,
  filter: object,
  now: number
): Result.Result<Filter["matches"], Problem> => {
  const known = tests.get(filter)
  if (known !== undefined) return Result.succeed(known)
  return Result.map(parseFilterOf(catalog, name, filter, { now }, false), ({ isComputed, matches, search }) => {
    if (!isComputed && search === undefined) tests.set(filter, matches)
    return matches
  })
}

const tests = new WeakMap<object, Filter["matches"]>()

/** The matches, sorted if required, without the first `skip`, which an index that covers the filter need not read. */
export const findSource = (
  store: ReadTables,
  catalog: ReadCatalog,
  name: string,
  filter: Filter,
  sort: ReadonlyArray<Direction> = [],
  wanted = Infinity,
  /** Receives the number of all matches if a sort reads all of them, or an index says it. */
  onMatches?: (matches: number) => void,
  /** The memory budget of a pipeline; a single sort has a budget of its own. */
  memory?: Memory,
  skip = 0
): BatchIterator<StoredDocument> => {
  const collection = catalog.get(name)
  if (collection === undefined) return () => ended
  const { near } = filter
  if (near !== undefined && sort.length === 0) {
    const read = (ring: Filter) => findSource(store, catalog, name, { ...ring, near: undefined })
    return slice(nearbyDocuments(filter, near, read, wanted, memory ?? makeMemory(sortTooLarge)), skip, undefined)
  }
  const read = (plan: Plan, tested = filter): BatchIterator<StoredDocument> => {
    const isInOrder = plan.isOrdered && sort.length > 0
    const isSaid = isSaidBy(plan, filter)
    const passed = isInOrder && isSaid ? skip : 0
    const scanned = scan(store, collection, plan, tested, {
      end: () => catalog.endOfRecords(collection),
      wanted: plan.isOrdered ? wanted - passed : Infinity,
      isInOrder,
      isSaid,
      passed
    })
    const matching = whileIndexed(catalog, collection, plan, scanned)
    if (plan.isOrdered) {
      const matches = isSaid && onMatches !== undefined
        ? countKnown(store.entries(plan.index.number), plan.ranges.at(0))
        : undefined
      if (matches !== undefined) onMatches?.(matches)
      return slice(matching, skip - passed, undefined)
    }
    onMatches?.(0)
    const found = onMatches === undefined ? matching : mapChunks(matching, (items) => {
      onMatches(items.length)
      return items
    })
    const { search } = filter
    const documentOf = search === undefined || !sort.some(isByScore)
      ? ({ document }: StoredDocument) => document
      : ({ document }: StoredDocument) => withScore(document, search)
    const inOrder = memory === undefined
      ? sorted(found, documentOf, sort, wanted, makeMemory(sortTooLarge), sortedBytes)
      : sorted(found, documentOf, sort, wanted, memory)
    return slice(inOrder, skip, undefined)
  }
  const plans = plansOf(collection, filter.constraints, sort, filter.search?.words, filter.collator)
  const [first] = plans
  if (plans.length === 1) return read(first)
  const said = plans.find((plan) => isSaidBy(plan, filter))
  // It reads nothing but matches.
  if (said?.isOrdered === true) return read(said)
  const open: OpenPlan = (plan) => {
    let looked = 0
    const matches: Filter["matches"] = (document) => {
      looked += 1
      return filter.matches(document)
    }
    return { source: read(plan, { ...filter, matches }), looked: () => looked }
  }
  return byChoice(store, plans, open, {
    isSorted: sort.length > 0,
    // Without an index that counts the matches, all of them are read for it.
    wanted: onMatches !== undefined && said === undefined ? Infinity : wanted - skip
  })
}

/** Counts the matches by the entries of an index that covers the filter; `undefined` without one. */
export const countEntriesOf = (
  store: ReadTables,
  catalog: ReadCatalog,
  collection: Collection,
  filter: Filter
): BatchIterator<number> | undefined => {
  if (!filter.isExact || filter.isEmpty) return undefined
  // It has the fewest entries: those of the matches.
  const plan = plansOf(collection, filter.constraints, [], undefined, filter.collator)
    .find((plan) => isSaidBy(plan, filter))
  if (plan === undefined || !isSaidBy(plan, filter)) return undefined
  const end = () => catalog.endOfRecords(collection)
  return whileIndexed(catalog, collection, plan, countEntries(store, collection, plan, filter, end))
}

// internal

/** Whether exactly the matches have entries in the only range of the plan. */
const isSaidBy = (plan: Plan, filter: Filter): plan is Extract<Plan, { readonly kind: "scan" }> =>
  plan.kind === "scan" && filter.isExact && plan.met === filter.constraints.length

// A document takes more bytes in memory than on disk. A cached document only takes a slot in the list.
const sortedBytes = ({ bytes = 0 }: StoredDocument): number => 100 + 2 * bytes

// Fails when the index is dropped: it then loses entries between two steps, and the scan would miss documents.
const whileIndexed = <A>(
  catalog: ReadCatalog,
  collection: Collection,
  plan: Plan,
  source: BatchIterator<A>
): BatchIterator<A> => {
  if (plan.kind === "all" || plan.index === collection.identifiers) return source
  const { number } = plan.index
  return () =>
    catalog.get(collection.name)?.indexes.some((index) => index.number === number) === true
      ? source()
      : Result.fail(conflict("an index was dropped while it was read"))
}
