/**
 * Reads the documents of a plan, in steps. Between two steps nothing is held open: the next one goes on behind the key
 * where the last one stopped.
 */
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import type { Collection, Index } from "./catalog.ts"
import { attempt, problemOfThrown } from "./expression.ts"
import type { Filter } from "./filter.ts"
import { entriesOf } from "./indexEntries.ts"
import { everything, type KeyValue, type Range } from "./keyValue.ts"
import { documentKey } from "./orderedKey.ts"
import type { Plan } from "./plan.ts"
import type { Problem } from "./problem.ts"
import { mapEach, type Source } from "./source.ts"

/** @internal */
export interface Found {
  readonly recordId: string
  readonly document: Document
}

// What one step may cost, where a document costs one, or as much as it has of so many bytes.
const maxCost = 128
const minCost = 16
const bytesPerCost = 2048

const costOf = (bytes: number): number => bytes > bytesPerCost ? bytes / bytesPerCost : 1

/**
 * The matching documents of a plan; of a plan for all of them, those with record identifiers before `end`. No more are
 * looked at in one step than `wanted` says are needed altogether.
 *
 * @internal
 */
export const scan = (
  store: KeyValue,
  collection: Collection,
  plan: Plan,
  filter: Filter,
  { end, wanted }: { readonly end: () => string; readonly wanted: number }
): Source<Found> => {
  const candidates = candidatesOf(store, collection, plan, end)
  if (filter.isComputed) return computed(candidates, filter)
  let missing = wanted
  let problem: Problem | undefined
  const test = (document: Document): boolean => {
    // What the store throws is not the filter's.
    try {
      return filter.matches(document)
    } catch (thrown) {
      problem ??= problemOfThrown(thrown)
      return false
    }
  }
  return () => {
    const found = candidates(Math.ceil(Math.max(minCost, Math.min(maxCost, missing)) / filter.effort), test)
    if (problem !== undefined) return Result.fail(problem)
    missing -= found?.length ?? 0
    return Result.succeed(found)
  }
}

// It may take long for each of them: as many are tested in one step as there is time for.
const computed = (candidates: Candidates, filter: Filter): Source<Found> =>
  mapEach(
    () => Result.succeed(candidates(minCost, () => true)),
    (found) => Result.map(attempt(() => filter.matches(found.document)), (isMatch) => isMatch ? found : undefined)
  )

// No literals: of those, V8 likes to believe that they live long because one was seen to, and then keeps all of them, and
// the documents that they point to, until the next big collection.
const nothing: ReadonlyArray<Found> = []
const noKeys: ReadonlyArray<string> = []

class Match implements Found {
  readonly recordId: string
  readonly document: Document
  constructor(recordId: string, document: Document) {
    this.recordId = recordId
    this.document = document
  }
}

/** Those of the next documents that pass the test; `undefined` at the end. */
type Candidates = (cost: number, test: (document: Document) => boolean) => ReadonlyArray<Found> | undefined

const candidatesOf = (store: KeyValue, collection: Collection, plan: Plan, end: () => string): Candidates => {
  const documents = store.documents(collection.number)
  switch (plan.kind) {
    case "all":
      return inOrder(documents, end())
    case "entries":
      return byEntries(documents, store.entries(plan.index.number), plan.keys)
    case "scan":
      return byRanges(documents, store.entries(plan.index.number), plan)
  }
}

type Documents = ReturnType<KeyValue["documents"]>
type Entries = ReturnType<KeyValue["entries"]>

// What is inserted meanwhile comes behind the end: whoever inserts because of what it reads would never be done.
const inOrder = (documents: Documents, end: string): Candidates => {
  let range: Range | undefined = { ...everything, end }
  return (cost, test) => {
    if (range === undefined) return undefined
    const found = nothing.slice()
    let left = cost
    let last: string | undefined
    documents.scan(range, (recordId, document, bytes) => {
      if (test(document)) found.push(new Match(recordId, document))
      last = recordId
      left -= costOf(bytes)
      return left > 0
    })
    range = last === undefined || left > 0 ? undefined : behind(range, last)
    return found
  }
}

const behind = (range: Range, last: string): Range =>
  range.reverse ? { ...range, end: last } : { ...range, start: `${last}\0` }

const byEntries = (documents: Documents, entries: Entries, keys: ReadonlyArray<string>): Candidates => {
  let at = 0
  return (cost, test) => {
    if (at >= keys.length) return undefined
    const found = nothing.slice()
    for (const entry of keys.slice(at, at + cost)) {
      const recordId = entries.get(entry)
      const document = recordId === undefined ? undefined : documents.get(recordId)
      if (recordId !== undefined && document !== undefined && test(document)) found.push(new Match(recordId, document))
    }
    at += cost
    return found
  }
}

const byRanges = (
  documents: Documents,
  entries: Entries,
  { index, ranges }: Extract<Plan, { readonly kind: "scan" }>
): Candidates => {
  const waiting = [...ranges]
  return (cost, test) => {
    const [range] = waiting
    if (range === undefined) return undefined
    const met = noKeys.slice()
    const recordIds = noKeys.slice()
    entries.scan(range, (entry, recordId) => {
      met.push(entry)
      return recordIds.push(recordId) < cost
    })
    const found = nothing.slice()
    let left = cost
    let last = met.length - 1
    documents.visit(recordIds, (place, document, bytes) => {
      if (isFirst(index, ranges, met[place]!, document) && test(document)) {
        found.push(new Match(recordIds[place]!, document))
      }
      left -= costOf(bytes)
      if (left <= 0) last = place
      return left > 0
    })
    if (met.length < cost && last === met.length - 1) waiting.shift()
    else waiting[0] = behind(range, met[last]!)
    return found
  }
}

// Of the entries of one document that a scan meets, the first stands for it.
const isFirst = (
  index: Index,
  ranges: ReadonlyArray<Range>,
  entry: string,
  document: Document
): boolean => {
  if (!index.traits.multikey) return true
  const entries = Result.map(entriesOf(index, document, documentKey(document["_id"])), ({ keys }) => Array.from(keys))
  const met = Result.getOrElse(entries, () => [entry])
    .filter((other) => ranges.some(({ end, start }) => other >= start && other < end))
  const isReverse = ranges[0]?.reverse === true
  return met.every((other) => isReverse ? other <= entry : other >= entry)
}
