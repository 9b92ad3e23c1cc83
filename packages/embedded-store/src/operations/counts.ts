/**
 * Counts documents. Two kinds of numbers are counted once and then maintained: the total, and the number of documents in
 * which a field is null or missing. Models with soft deletion need the latter for every page.
 */
import { type BatchIterator, ended, type Filter, fromArray, mapChunks } from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Catalog } from "../catalog/catalog.ts"
import type { Counting, CountStep } from "../catalog/documentCounter.ts"
import { costOfBytes, maxCost } from "../planner/candidates.ts"
import { everything, type KeyValue } from "../storage/orderedStore.ts"
import { countEntriesOf, findSource } from "./matchingDocuments.ts"

/** Partial counts that add up: of a maintained count, else of an index that covers the filter, else of documents. */
export const countSource = (
  store: KeyValue,
  catalog: Catalog,
  name: string,
  filter: Filter
): BatchIterator<number> => {
  const collection = catalog.get(name)
  if (collection === undefined) return () => ended
  const findMatches = () => findSource(store, catalog, name, filter)
  const field = filter.missingField
  if (!filter.isEmpty && field === undefined) {
    return countEntriesOf(store, catalog, collection, filter) ?? lengthsOf(findMatches())
  }
  const documents = store.documents(collection.number)
  const counting = field === undefined ? countingAll(documents) : countingMatches(documents, filter)
  const counter = catalog.counterOf(collection, field === undefined ? "" : `.${field}`, counting)
  let rest: BatchIterator<number> | undefined
  return () => {
    if (rest !== undefined) return rest()
    const value = counter?.value
    if (value !== undefined) rest = fromArray([value])
    else if (counter?.isBegun === true) {
      counter.advance()
      return nothingCounted
    } else rest = field === undefined ? each(counting.step) : lengthsOf(findMatches())
    return rest()
  }
}

// internal

const nothingCounted: Result.Result<ReadonlyArray<number>> = Result.succeed([])

const lengthsOf = (source: BatchIterator<unknown>): BatchIterator<number> =>
  mapChunks(source, (found) => [found.length])

const each = (step: CountStep): BatchIterator<number> => {
  let next: string | undefined = everything.start
  return () => {
    if (next === undefined) return ended
    let count = 0
    next = step(next, (_, isMatch) => {
      count += Number(isMatch)
    })
    return Result.succeed([count])
  }
}

type Documents = ReturnType<KeyValue["documents"]>

const keysPerStep = 4096

const countingAll = (documents: Documents): Counting => ({
  matches: () => true,
  step: (from, visit) => {
    let seen = 0
    let last: string | undefined
    documents.scanKeys({ ...everything, start: from }, (recordId) => {
      visit(recordId, true)
      last = recordId
      seen += 1
      return seen < keysPerStep
    })
    return seen < keysPerStep ? undefined : `${last}\0`
  }
})

const countingMatches = (documents: Documents, { matches }: Filter): Counting => ({
  matches,
  step: (from, visit) => {
    let left = maxCost
    let last: string | undefined
    documents.scan({ ...everything, start: from }, (recordId, document, bytes) => {
      visit(recordId, matches(document))
      last = recordId
      left -= costOfBytes(bytes)
      return left > 0
    })
    return left > 0 ? undefined : `${last}\0`
  }
})
