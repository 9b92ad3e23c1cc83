/**
 * Executes a plan in steps. Nothing is held open between two steps: the next one continues after the last key.
 *
 * Guarantees: each document is returned at most once, even if it moves within an index during the scan. A document that
 * matches during the whole scan is returned, unless it moves backwards, from a key ahead of the scan to one behind it.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { type BatchIterator, type Filter, mapEach, type Problem, problemOfThrown } from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Collection } from "../catalog/collection.ts"
import type { ReadTables } from "../storage/orderedStore.ts"
import { byEntries, type Candidates, inOrder, maxCost, type StoredDocument } from "./candidates.ts"
import type { Plan } from "./queryPlan.ts"
import { byRanges } from "./rangeScan.ts"

export interface ScanOptions {
  /** The end of a scan of all documents, exclusive: a record id. */
  readonly end: () => string
  /** The number of matches that are needed, which limits the documents read in one step. */
  readonly wanted: number
  /** Whether the documents must come in the order of the index. */
  readonly isInOrder: boolean
  /** Whether all documents of the plan's ranges match. */
  readonly isSaid: boolean
  /** The number of entries to skip first, in the only range of a plan whose documents all match. */
  readonly passed: number
}

/** The matching documents of a plan. */
export const scan = (
  store: ReadTables,
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

// internal

const minCost = 16

const nothingYet: Result.Result<ReadonlyArray<StoredDocument>> = Result.succeed([])

const sourceOf = (
  store: ReadTables,
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
    // Catches only errors of the filter; those of the store are thrown outside.
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

// A computed filter may take long for one document, so each document checks the budget.
const computed = (candidates: Candidates, filter: Filter): BatchIterator<StoredDocument> =>
  mapEach(
    () => Result.succeed(candidates(minCost, () => true)),
    (found) => filter.matches(found.document) ? found : undefined
  )

const candidatesOf = (
  store: ReadTables,
  collection: Collection,
  plan: Plan,
  { end, isInOrder, isSaid, passed }: ScanOptions
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
        isInOrder ? undefined : () => inOrder(documents, end()),
        isSaid,
        passed
      )
  }
}
