/**
 * Reads the documents of a plan, in steps. Between two steps nothing is held open: the next one goes on behind the key
 * where the last one stopped. Each document is given at most once, even if others move it in an index meanwhile. One that
 * matches from the first step to the last is given, unless it is moved from before that key to behind it, against the
 * order of the scan.
 */
import * as Result from "effect/Result"
import { isStepDone } from "../../../internal/steps.ts"
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
export interface Found {
  readonly recordId: string
  readonly document: Document
  /** How many bytes were read for it: none, where it was in memory. */
  readonly bytes?: number
}

/**
 * What one step may cost, where a document costs one, or as much as it has of so many bytes.
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
  /** Ends the scan of all documents: those with this record identifier, or a later one, are left out. */
  readonly end: () => string
  /** How many matches are needed altogether: no more documents are looked at in one step. */
  readonly wanted: number
  /** Whether the order of an index's entries matters. */
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
): BatchIterator<Found> => {
  const source = sourceOf(store, collection, plan, filter, options)
  const prepare = plan.kind === "all" ? undefined : plan.prepare
  if (prepare === undefined) return source
  let isPrepared = false
  return () => {
    isPrepared ||= prepare()
    return isPrepared ? source() : nothingYet
  }
}

const nothingYet: Result.Result<ReadonlyArray<Found>> = Result.succeed([])

const sourceOf = (
  store: KeyValue,
  collection: Collection,
  plan: Plan,
  filter: Filter,
  options: ScanOptions
): BatchIterator<Found> => {
  const candidates = candidatesOf(store, collection, plan, options)
  if (filter.isComputed) return computed(candidates, filter)
  let missing = options.wanted
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
const computed = (candidates: Candidates, filter: Filter): BatchIterator<Found> =>
  mapEach(
    () => Result.succeed(candidates(minCost, () => true)),
    (found) => Result.map(tryMingo(() => filter.matches(found.document)), (isMatch) => isMatch ? found : undefined)
  )

// No literals: of those, V8 likes to believe that they live long because one was seen to, and then keeps all of them, and
// the documents that they point to, until the next big collection.
const nothing: ReadonlyArray<Found> = []
const noKeys: ReadonlyArray<string> = []

class Match implements Found {
  readonly recordId: string
  readonly document: Document
  readonly bytes: number
  constructor(recordId: string, document: Document, bytes: number) {
    this.recordId = recordId
    this.document = document
    this.bytes = bytes
  }
}

/** Those of the next documents that pass the test; `undefined` at the end. */
type Candidates = (cost: number, test: (document: Document) => boolean) => ReadonlyArray<Found> | undefined

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

// What is inserted meanwhile comes behind the end: whoever inserts because of what it reads would never be done.
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
  const met = new RecordSet()
  let at = 0
  return (cost, test) => {
    if (at >= keys.length) return undefined
    const recordIds = noKeys.slice()
    const next: Array<number> = []
    for (const end = Math.min(keys.length, at + cost); at < end; at++) {
      const recordId = entries.get(keys.at(at))
      if (recordId === undefined || met.has(recordId)) continue
      recordIds.push(recordId)
      next.push(at + 1)
    }
    const found = nothing.slice()
    let left = cost
    documents.visit(recordIds, (place, document, bytes) => {
      const recordId = recordIds[place]!
      if (keys.length > 1) met.add(recordId)
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
 * Documents whose entries are in ranges. Writers that move documents ahead faster than the scan follows would keep it
 * going for ever: when it meets little but what it has met before, it goes on in the `otherwise` of record identifiers,
 * which don't change.
 */
const byRanges = (
  documents: Documents,
  entries: Entries,
  { index, ranges }: Extract<Plan, { readonly kind: "scan" }>,
  otherwise: (() => Candidates) | undefined
): Candidates => {
  const { traits: { multikey } } = index
  const met = new RecordSet()
  const maxAgain = multikey ? manyEntries : 1
  let again = 0
  let rest: Candidates | undefined
  let at = 0
  let position: Position | undefined
  return (cost, test) => {
    if (rest === undefined && otherwise !== undefined && again > maxAgain * (met.size + fewRecords)) rest = otherwise()
    if (rest !== undefined) return rest(cost, test)?.filter(({ recordId }) => met.add(recordId))
    if (at >= ranges.length) return undefined
    const places: Array<Position> = []
    const recordIds = noKeys.slice()
    const batch = new Set<string>()
    let looked = 0
    while (at < ranges.length && looked < cost) {
      const range = ranges.at(at)
      const wanted = cost - looked
      let seen = 0
      let last: string | undefined
      let beyond: string | undefined
      entries.scan(fromHere(range, position?.key, at < ranges.length - 1), (key, recordId) => {
        seen += 1
        if (range.reverse ? key < range.start : key >= range.end) {
          beyond = key
          return false
        }
        last = key
        if (met.has(recordId)) again += 1
        else if (!multikey || !batch.has(recordId)) {
          if (multikey) batch.add(recordId)
          places.push({ at, key })
          recordIds.push(recordId)
        }
        return seen < wanted
      })
      looked += seen
      if (beyond !== undefined) {
        at = firstReaching(ranges, at + 1, beyond)
        position = undefined
      } else if (last !== undefined && looked >= cost) position = { at, key: last }
      else at = ranges.length
    }
    const found = nothing.slice()
    // Nobody is met again when one range was looked at in one step.
    const isRemembered = multikey || ranges.length > 1 || at < ranges.length
    let left = cost
    documents.visit(recordIds, (place, document, bytes) => {
      const recordId = recordIds[place]!
      if (isRemembered && !met.add(recordId)) return true
      if (test(document)) found.push(new Match(recordId, document, bytes))
      left -= costOf(bytes)
      if (left > 0 && !isStepDone()) return true
      position = places[place]!
      at = position.at
      if (!isRemembered) { for (const recordId of recordIds.slice(0, place + 1)) met.add(recordId) }
      return false
    })
    return found
  }
}

/** An entry in the range at this place. */
interface Position {
  readonly at: number
  readonly key: string
}

/** What is left of the range behind a key; with `isOpen`, as far as there are entries, to see where the next one is. */
const fromHere = (range: Range, key: string | undefined, isOpen: boolean): Range => {
  const left = key === undefined ? range : behind(range, key)
  if (!isOpen) return left
  return range.reverse ? { ...left, start: everything.start } : { ...left, end: everything.end }
}

/** The first of the ranges from a place on that the scan has not passed when it is at this key. */
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

// So many are met again without a doubt.
const fewRecords = 1024

/** Records, by their numbers: a bit for each, so that there can be many. */
class RecordSet {
  readonly #bits = new Map<number, number>()
  size = 0

  has(recordId: string): boolean {
    const number = numberOfRecord(recordId)
    return ((this.#bits.get(Math.floor(number / 32)) ?? 0) & (1 << (number % 32))) !== 0
  }

  /** Whether it was not there yet. */
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
