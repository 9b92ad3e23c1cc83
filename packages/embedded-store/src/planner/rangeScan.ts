/** Reads and counts documents by ranges of index entries. */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { isStepDone } from "@appkernel/document-store/internal"
import { type BatchIterator, type Filter, type LazySequence, partition } from "@appkernel/mql/internal"
import { constTrue } from "effect/Function"
import * as Result from "effect/Result"
import type { Collection } from "../catalog/collection.ts"
import { everything, type Range, type ReadTables } from "../storage/orderedStore.ts"
import {
  behind,
  type Candidates,
  costOfBytes,
  type Documents,
  inOrder,
  Match,
  maxCost,
  noDocuments,
  noKeys,
  type ReadEntries,
  RecordSet,
  type StoredDocument
} from "./candidates.ts"
import type { Plan } from "./queryPlan.ts"

/**
 * Reads documents by ranges of index entries. Writers that move documents ahead of the scan could keep it running forever. So
 * when it mostly meets known documents, it continues as a scan by record ids, which don't change.
 */
export const byRanges = (
  documents: Documents,
  entries: ReadEntries,
  plan: ScanPlan,
  otherwise: (() => Candidates) | undefined,
  /** Whether all documents of the ranges match, which the others have to be tested for. */
  isSaid: boolean,
  passed: number
): Candidates => {
  const state = rangeScanOf(documents, entries, plan)
  const { ranges, visited } = state
  let left = passed
  let learned: Learned = "more"
  let rest: Candidates | undefined
  return (cost, test) => {
    remember(state)
    if (rest === undefined && otherwise !== undefined && isStuck(state)) rest = otherwise()
    if (rest !== undefined) return rest(cost, test)?.filter(({ recordId }) => visited.add(recordId))
    if (left > 0 && state.at < ranges.length) {
      if (learned === "more" && left > keysBeforeLearning) {
        learned = entries.learn?.(ranges.at(state.at), false, left)
        if (learned === "more") return []
      }
      // A table that knows places passes over any number at once.
      const some = learned === "known" ? left : Math.min(left, passedPerStep)
      left -= some
      passOver(state, some)
      if (left > 0) return []
    }
    if (state.at >= ranges.length) return undefined
    const places: Array<Position> = []
    const recordIds = noKeys.slice()
    readEntries(state, cost, recordIds, places)
    return readDocuments(state, cost, isSaid ? constTrue : test, recordIds, places)
  }
}

/** Counts the documents of a plan with one range by their entries. Each document has one entry in it. */
export const countEntries = (
  store: ReadTables,
  collection: Collection,
  plan: ScanPlan,
  filter: Filter,
  end: () => string
): BatchIterator<number> => {
  const documents = store.documents(collection.number)
  const entries = store.entries(plan.index.number)
  const state = rangeScanOf(documents, entries, plan)
  const range = plan.ranges.at(0)
  const all = (count: number) => {
    state.at = 1
    return Result.succeed([count])
  }
  let isBegun = false
  let rest: Candidates | undefined
  return () => {
    if (!isBegun) {
      isBegun = true
      const known = countKnown(entries, range)
      if (known !== undefined) return all(known)
      let count = 0
      const most = entries.learn === undefined ? keysPerStep : keysBeforeLearning
      entries.scanKeys(range, () => ++count <= most)
      if (count <= most) return all(count)
    }
    if (state.at === 0 && state.position === undefined) {
      const learned = entries.learn?.(range, true, Infinity)
      if (learned === "more") return nothingYet
      const known = learned === "known" ? countKnown(entries, range) : undefined
      if (known !== undefined) return all(known)
    }
    remember(state)
    if (isStuck(state)) rest ??= inOrder(documents, end())
    if (rest !== undefined) {
      const found = rest(maxCost, filter.matches)?.filter(({ recordId }) => state.visited.add(recordId))
      return Result.succeed(found === undefined ? undefined : [found.length])
    }
    if (state.at >= plan.ranges.length) return Result.succeed(undefined)
    const recordIds = noKeys.slice()
    readEntries(state, keysPerStep, recordIds)
    state.latest = recordIds
    return Result.succeed([recordIds.length])
  }
}

/** The number of keys in a range, if the table knows it. */
export const countKnown = (entries: ReadEntries, range: Range): number | undefined =>
  entries.countIn?.(range) ?? entries.countLearned?.(range)

// Entries are read faster than documents.
const keysPerStep = 4096

// Fewer keys are passed in the time in which the ends of a known range are.
const keysBeforeLearning = 256

// internal

/** What a table has said of its places. */
type Learned = ReturnType<NonNullable<ReadEntries["learn"]>> | undefined

const nothingYet: Result.Result<ReadonlyArray<number>> = Result.succeed([])

// This takes about a millisecond.
const passedPerStep = 16_384

/** Skips the next entries of the current range. */
const passOver = (state: RangeScan, count: number): void => {
  const { at, entries, position, ranges } = state
  const key = entries.keyAt(fromHere(ranges.at(at), position?.key, false), count - 1)
  if (key === undefined) state.at = ranges.length
  else state.position = { at, key }
}

type ScanPlan = Extract<Plan, { readonly kind: "scan" }>

const rangeScanOf = (documents: Documents, entries: ReadEntries, { index, ranges }: ScanPlan): RangeScan => ({
  documents,
  entries,
  ranges,
  multikey: index.traits.multikey,
  visited: new RecordSet(),
  latest: noKeys,
  repeated: 0,
  at: 0,
  position: undefined
})

/** Whether the scan mostly meets known documents. */
const isStuck = ({ multikey, repeated, visited }: RangeScan): boolean =>
  repeated > (multikey ? manyEntries : 1) * (visited.size + fewRecords)

const remember = (state: RangeScan): void => {
  for (const recordId of state.latest) state.visited.add(recordId)
  state.latest = noKeys
}

/** A scan of ranges between two steps. */
interface RangeScan {
  readonly documents: Documents
  readonly entries: ReadEntries
  readonly ranges: LazySequence<Range>
  readonly multikey: boolean
  readonly visited: RecordSet
  /** The documents of the last step. The next step adds them to the visited ones; most scans have no next step. */
  latest: ReadonlyArray<string>
  /** How often the scan reached a visited document. */
  repeated: number
  /** The index of the current range. */
  at: number
  /** The last entry that was read in the current range. */
  position: Position | undefined
}

/** Reads the next entries: the record ids of documents that were not visited, and the position of each. */
const readEntries = (state: RangeScan, cost: number, recordIds: Array<string>, places?: Array<Position>): void => {
  const { entries, visited, multikey, ranges } = state
  const batch = new Set<string>()
  let looked = 0
  while (state.at < ranges.length && looked < cost) {
    const { at } = state
    const range = ranges.at(at)
    const isOpen = at < ranges.length - 1
    const wanted = cost - looked
    let seen = 0
    let last: string | undefined
    let beyond: string | undefined
    entries.scan(fromHere(range, state.position?.key, isOpen), (key, recordId) => {
      seen += 1
      if (isOpen && (range.reverse ? key < range.start : key >= range.end)) {
        beyond = key
        return false
      }
      last = key
      if (visited.has(recordId)) state.repeated += 1
      else if (!multikey || !batch.has(recordId)) {
        if (multikey) batch.add(recordId)
        places?.push({ at, key })
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
  const { documents, multikey, ranges, visited } = state
  const found = noDocuments.slice()
  // A single range can't contain a document twice in one step.
  const isRemembered = multikey || ranges.length > 1
  let left = cost
  let count = 0
  documents.visit(recordIds, (place, document, bytes) => {
    const recordId = recordIds[place]!
    if (isRemembered && !visited.add(recordId)) return true
    if (test(document)) found.push(new Match(recordId, document, bytes))
    count = place + 1
    left -= costOfBytes(bytes)
    if (left > 0 && !isStepDone()) return true
    const position = places[place]!
    state.position = position
    state.at = position.at
    return false
  })
  if (!isRemembered) state.latest = count === recordIds.length ? recordIds : recordIds.slice(0, count)
  return found
}

/** An index entry in the range with this index. */
interface Position {
  readonly at: number
  readonly key: string
}

/** The rest of a range after a key. With `isOpen`, it has no end, so that the scan finds the next entry beyond the range. */
const fromHere = (range: Range, key: string | undefined, isOpen: boolean): Range => {
  const left = key === undefined ? range : behind(range, key)
  if (!isOpen) return left
  return range.reverse ? { ...left, start: everything.start } : { ...left, end: everything.end }
}

/** The index of the first range, from `from` on, that does not end before this key. */
const firstReaching = (ranges: LazySequence<Range>, from: number, key: string): number =>
  partition(from, ranges.length, (at) => {
    const { end, reverse, start } = ranges.at(at)
    return reverse ? key < start : key >= end
  })

// A document may have several entries of an index for arrays or words.
const manyEntries = 100

// A scan may meet this many known documents before it falls back.
const fewRecords = 1024
