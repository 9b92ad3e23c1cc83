/**
 * Executes a plan in steps. Nothing is held open between two steps: the next one continues after the last key.
 *
 * Guarantees: each document is returned at most once, even if it moves within an index during the scan. A document that
 * matches during the whole scan is returned, unless it moves backwards, from a key ahead of the scan to one behind it.
 */
import * as Result from "effect/Result"
import { isStepDone } from "../../../internal/stepBudget.ts"
import { numberOfRecord } from "../../bson/keyEncoding.ts"
import type { Document } from "../../DocumentStore.ts"
import { type BatchIterator, type LazySequence, mapEach } from "../../mql/execution/batchIterator.ts"
import { problemOfThrown, tryMingo } from "../../mql/expression/operators.ts"
import type { Filter } from "../../mql/filter/parseFilter.ts"
import type { Problem } from "../../mql/limits/queryProblem.ts"
import { everything, type KeyValue, type Range } from "../../storage/orderedStore.ts"
import type { Collection } from "../catalog/catalog.ts"
import type { Plan } from "./queryPlan.ts"

/** @internal */
export interface StoredDocument {
  readonly recordId: string
  readonly document: Document
  /** The bytes that were read for it; 0 if it was cached. */
  readonly bytes?: number
}

/**
 * The cost of one step at most; a document costs 1, or more if it is large.
 *
 * @internal
 */
export const maxCost = 128

const minCost = 16
const bytesPerCost = 2048

/** @internal */
export const costOf = (bytes: number): number => bytes > bytesPerCost ? bytes / bytesPerCost : 1

/** @internal */
export interface ScanOptions {
  /** The end of a scan of all documents, exclusive: a record id. */
  readonly end: () => string
  /** The number of matches that are needed, which limits the documents read in one step. */
  readonly wanted: number
  /** Whether the documents must come in the order of the index. */
  readonly isInOrder: boolean
}

/**
 * The matching documents of a plan.
 *
 * @internal
 */
export const scan = (
  store: KeyValue,
  collection: Collection,
  plan: Plan,
  filter: Filter,
  options: ScanOptions
): BatchIterator<StoredDocument> => {
  const source = sourceOf(store, collection, plan, filter, options)
  const prepare = plan.kind === "all" ? undefined : plan.prepare
  if (prepare === undefined) return source
  let isPrepared = false
  return () => {
    isPrepared ||= prepare()
    return isPrepared ? source() : nothingYet
  }
}

const nothingYet: Result.Result<ReadonlyArray<StoredDocument>> = Result.succeed([])

const sourceOf = (
  store: KeyValue,
  collection: Collection,
  plan: Plan,
  filter: Filter,
  options: ScanOptions
): BatchIterator<StoredDocument> => {
  const candidates = candidatesOf(store, collection, plan, options)
  if (filter.isComputed) return computed(candidates, filter)
  let missing = options.wanted
  let problem: Problem | undefined
  const test = (document: Document): boolean => {
    // Only errors of the filter are caught here, not those of the store.
    try {
      return filter.matches(document)
    } catch (thrown) {
      problem ??= problemOfThrown(thrown)
      return false
    }
  }
  return () => {
    const found = candidates(Math.ceil(Math.max(minCost, Math.min(maxCost, missing)) / filter.relativeCost), test)
    if (problem !== undefined) return Result.fail(problem)
    missing -= found?.length ?? 0
    return Result.succeed(found)
  }
}

// A computed filter may take long for one document, so the budget is checked after each.
const computed = (candidates: Candidates, filter: Filter): BatchIterator<StoredDocument> =>
  mapEach(
    () => Result.succeed(candidates(minCost, () => true)),
    (found) => Result.map(tryMingo(() => filter.matches(found.document)), (isMatch) => isMatch ? found : undefined)
  )

// Array literals get pretenured by V8 and are then only freed, with the documents that they refer to, by a major GC. So
// these are copied with `slice`, and a match is made by a constructor.
const nothing: ReadonlyArray<StoredDocument> = []
const noKeys: ReadonlyArray<string> = []

class Match implements StoredDocument {
  readonly recordId: string
  readonly document: Document
  readonly bytes: number
  constructor(recordId: string, document: Document, bytes: number) {
    this.recordId = recordId
    this.document = document
    this.bytes = bytes
  }
}

/** Reads the next documents and returns those that pass the test; `undefined` at the end. */
type Candidates = (cost: number, test: (document: Document) => boolean) => ReadonlyArray<StoredDocument> | undefined

const candidatesOf = (
  store: KeyValue,
  collection: Collection,
  plan: Plan,
  { end, isInOrder }: ScanOptions
): Candidates => {
  const documents = store.documents(collection.number)
  switch (plan.kind) {
    case "all":
      return inOrder(documents, end())
    case "entries":
      return byEntries(documents, store.entries(plan.index.number), plan.keys)
    case "scan":
      return byRanges(
        documents,
        store.entries(plan.index.number),
        plan,
        isInOrder ? undefined : () => inOrder(documents, end())
      )
  }
}

type Documents = ReturnType<KeyValue["documents"]>
type Entries = ReturnType<KeyValue["entries"]>

// Documents inserted during the scan are beyond its end: a consumer that inserts for each document still terminates.
const inOrder = (documents: Documents, end: string): Candidates => {
  let range: Range | undefined = { ...everything, end }
  return (cost, test) => {
    if (range === undefined) return undefined
    const found = nothing.slice()
    let left = cost
    let last: string | undefined
    let isCut = false
    documents.scan(range, (recordId, document, bytes) => {
      if (test(document)) found.push(new Match(recordId, document, bytes))
      last = recordId
      left -= costOf(bytes)
      isCut = left <= 0 || isStepDone()
      return !isCut
    })
    range = last === undefined || !isCut ? undefined : behind(range, last)
    return found
  }
}

const behind = (range: Range, last: string): Range =>
  range.reverse ? { ...range, end: last } : { ...range, start: `${last}\0` }

const byEntries = (documents: Documents, entries: Entries, keys: LazySequence<string>): Candidates => {
  const visited = new RecordSet()
  let at = 0
  return (cost, test) => {
    if (at >= keys.length) return undefined
    const recordIds = noKeys.slice()
    const next: Array<number> = []
    for (const end = Math.min(keys.length, at + cost); at < end; at++) {
      const recordId = entries.get(keys.at(at))
      if (recordId === undefined || visited.has(recordId)) continue
      recordIds.push(recordId)
      next.push(at + 1)
    }
    const found = nothing.slice()
    let left = cost
    documents.visit(recordIds, (place, document, bytes) => {
      const recordId = recordIds[place]!
      if (keys.length > 1) visited.add(recordId)
      if (test(document)) found.push(new Match(recordId, document, bytes))
      left -= costOf(bytes)
      if (left > 0 && !isStepDone()) return true
      at = next[place]!
      return false
    })
    return found
  }
}

/**
 * Reads documents by ranges of index entries. Writers that keep moving documents ahead of the scan could keep it running
 * forever, so when it mostly meets known documents, it falls back to a scan by record ids, which don't change.
 */
const byRanges = (
  documents: Documents,
  entries: Entries,
  { index, ranges }: Extract<Plan, { readonly kind: "scan" }>,
  otherwise: (() => Candidates) | undefined
): Candidates => {
  const { traits: { multikey } } = index
  const visited = new RecordSet()
  const state: RangeScan = { documents, entries, ranges, multikey, visited, repeated: 0, at: 0, position: undefined }
  const maxRepeated = multikey ? manyEntries : 1
  let rest: Candidates | undefined
  return (cost, test) => {
    if (rest === undefined && otherwise !== undefined && state.repeated > maxRepeated * (visited.size + fewRecords)) {
      rest = otherwise()
    }
    if (rest !== undefined) return rest(cost, test)?.filter(({ recordId }) => visited.add(recordId))
    if (state.at >= ranges.length) return undefined
    const places: Array<Position> = []
    const recordIds = noKeys.slice()
    readEntries(state, cost, recordIds, places)
    return readDocuments(state, cost, test, recordIds, places)
  }
}

/** A scan of ranges between two steps. */
interface RangeScan {
  readonly documents: Documents
  readonly entries: Entries
  readonly ranges: LazySequence<Range>
  readonly multikey: boolean
  readonly visited: RecordSet
  /** How often the scan reached a visited document. */
  repeated: number
  /** The index of the current range. */
  at: number
  /** The last entry that was read in the current range. */
  position: Position | undefined
}

/** Reads the next entries: the record ids of documents that are not known, and the position of each. */
const readEntries = (state: RangeScan, cost: number, recordIds: Array<string>, places: Array<Position>): void => {
  const { entries, visited, multikey, ranges } = state
  const batch = new Set<string>()
  let looked = 0
  while (state.at < ranges.length && looked < cost) {
    const { at } = state
    const range = ranges.at(at)
    const wanted = cost - looked
    let seen = 0
    let last: string | undefined
    let beyond: string | undefined
    entries.scan(fromHere(range, state.position?.key, at < ranges.length - 1), (key, recordId) => {
      seen += 1
      if (range.reverse ? key < range.start : key >= range.end) {
        beyond = key
        return false
      }
      last = key
      if (visited.has(recordId)) state.repeated += 1
      else if (!multikey || !batch.has(recordId)) {
        if (multikey) batch.add(recordId)
        places.push({ at, key })
        recordIds.push(recordId)
      }
      return seen < wanted
    })
    looked += seen
    if (beyond !== undefined) {
      state.at = firstReaching(ranges, at + 1, beyond)
      state.position = undefined
    } else if (last !== undefined && looked >= cost) state.position = { at, key: last }
    else state.at = ranges.length
  }
}

/** Reads the documents of entries. If it stops early, the scan continues after the entry of the last one. */
const readDocuments = (
  state: RangeScan,
  cost: number,
  test: (document: Document) => boolean,
  recordIds: ReadonlyArray<string>,
  places: ReadonlyArray<Position>
): ReadonlyArray<StoredDocument> => {
  const { documents, visited, multikey, ranges } = state
  const found = nothing.slice()
  // A single range that is read in one step can't contain a document twice.
  const isRemembered = multikey || ranges.length > 1 || state.at < ranges.length
  let left = cost
  documents.visit(recordIds, (place, document, bytes) => {
    const recordId = recordIds[place]!
    if (isRemembered && !visited.add(recordId)) return true
    if (test(document)) found.push(new Match(recordId, document, bytes))
    left -= costOf(bytes)
    if (left > 0 && !isStepDone()) return true
    const position = places[place]!
    state.position = position
    state.at = position.at
    if (!isRemembered) { for (const recordId of recordIds.slice(0, place + 1)) visited.add(recordId) }
    return false
  })
  return found
}

/** An index entry in the range with this index. */
interface Position {
  readonly at: number
  readonly key: string
}

/** The rest of a range after a key. With `isOpen` it has no end, so that the scan finds the next entry beyond it. */
const fromHere = (range: Range, key: string | undefined, isOpen: boolean): Range => {
  const left = key === undefined ? range : behind(range, key)
  if (!isOpen) return left
  return range.reverse ? { ...left, start: everything.start } : { ...left, end: everything.end }
}

/** The index of the first range, from `from` on, that does not end before this key. */
const firstReaching = (ranges: LazySequence<Range>, from: number, key: string): number => {
  let [low, high] = [from, ranges.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { end, reverse, start } = ranges.at(middle)
    if (reverse ? key < start : key >= end) low = middle + 1
    else high = middle
  }
  return low
}

// A document may have several entries of an index for arrays or words.
const manyEntries = 100

// A scan may meet this many known documents before it falls back.
const fewRecords = 1024

/** A set of record ids, with one bit for each, so that it may be large. */
class RecordSet {
  readonly #bits = new Map<number, number>()
  size = 0

  has(recordId: string): boolean {
    const number = numberOfRecord(recordId)
    return ((this.#bits.get(Math.floor(number / 32)) ?? 0) & (1 << (number % 32))) !== 0
  }

  /** Adds a record id; returns whether it is new. */
  add(recordId: string): boolean {
    const number = numberOfRecord(recordId)
    const key = Math.floor(number / 32)
    const bit = 1 << (number % 32)
    const bits = this.#bits.get(key) ?? 0
    if ((bits & bit) !== 0) return false
    this.#bits.set(key, bits | bit)
    this.size += 1
    return true
  }
}
