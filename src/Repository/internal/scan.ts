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
import type { KeyValue, Range } from "./keyValue.ts"
import type { Plan } from "./plan.ts"
import type { Problem } from "./problem.ts"
import { mapEach, type Source } from "./source.ts"

/** @internal */
export interface Found {
  readonly key: string
  readonly document: Document
}

// What one step may cost, where a document costs one and one more for each of so many bytes.
const maxCost = 128
const minCost = 16
const bytesPerCost = 2048

/**
 * The matching documents of a plan. No more are looked at in one step than `wanted` says are needed altogether.
 *
 * @internal
 */
export const scan = (
  store: KeyValue,
  collection: Collection,
  plan: Plan,
  filter: Filter,
  wanted = Infinity
): Source<Found> => {
  const candidates = candidatesOf(store, collection, plan)
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

class Match implements Found {
  readonly key: string
  readonly document: Document
  constructor(key: string, document: Document) {
    this.key = key
    this.document = document
  }
}

/** Those of the next documents that pass the test; `undefined` at the end. */
type Candidates = (cost: number, test: (document: Document) => boolean) => ReadonlyArray<Found> | undefined

const candidatesOf = (store: KeyValue, collection: Collection, plan: Plan): Candidates => {
  switch (plan.kind) {
    case "documents":
      return byKeys(store, collection, plan.keys)
    case "entries":
      return byEntries(store, collection, plan)
    case "scan":
      return byRanges(store, collection, plan)
  }
}

const byKeys = (store: KeyValue, { number }: Collection, keys: ReadonlyArray<string>): Candidates => {
  const documents = store.documents(number)
  let at = 0
  return (cost, test) => {
    if (at >= keys.length) return undefined
    const found = nothing.slice()
    for (const key of keys.slice(at, at + cost)) {
      const document = documents.get(key)
      if (document !== undefined && test(document)) found.push(new Match(key, document))
    }
    at += cost
    return found
  }
}

const byEntries = (
  store: KeyValue,
  collection: Collection,
  { index, keys }: Extract<Plan, { readonly kind: "entries" }>
): Candidates => {
  const documents = store.documents(collection.number)
  const entries = store.entries(index.number)
  let at = 0
  return (cost, test) => {
    if (at >= keys.length) return undefined
    const found = nothing.slice()
    for (const entry of keys.slice(at, at + cost)) {
      const key = entries.get(entry)
      const document = key === undefined ? undefined : documents.get(key)
      if (key !== undefined && document !== undefined && test(document)) found.push(new Match(key, document))
    }
    at += cost
    return found
  }
}

const byRanges = (
  store: KeyValue,
  collection: Collection,
  { index, ranges }: Extract<Plan, { readonly kind: "scan" }>
): Candidates => {
  const documents = store.documents(collection.number)
  const waiting = [...ranges]
  return (cost, test) => {
    const [range] = waiting
    if (range === undefined) return undefined
    const found = nothing.slice()
    let left = cost
    let last: string | undefined
    if (index === undefined) {
      documents.scan(range, (key, document, bytes) => {
        if (test(document)) found.push(new Match(key, document))
        last = key
        left -= 1 + bytes / bytesPerCost
        return left > 0
      })
    } else {
      store.entries(index.number).scan(range, (entry, key) => {
        const document = documents.get(key)
        if (document !== undefined && isFirst(index, ranges, entry, key, document) && test(document)) {
          found.push(new Match(key, document))
        }
        last = entry
        left -= 1
        return left > 0
      })
    }
    if (last === undefined || left > 0) waiting.shift()
    else waiting[0] = range.reverse ? { ...range, end: last } : { ...range, start: `${last}\0` }
    return found
  }
}

// Of the entries of one document that a scan meets, the first stands for it.
const isFirst = (
  index: Index,
  ranges: ReadonlyArray<Range>,
  entry: string,
  key: string,
  document: Document
): boolean => {
  if (!index.traits.multikey) return true
  const entries = Result.map(entriesOf(index, document, key), ({ keys }) => Array.from(keys))
  const met = Result.getOrElse(entries, () => [entry])
    .filter((other) => ranges.some(({ end, start }) => other >= start && other < end))
  const isReverse = ranges[0]?.reverse === true
  return met.every((other) => isReverse ? other <= entry : other >= entry)
}
