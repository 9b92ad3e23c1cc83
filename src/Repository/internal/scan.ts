/**
 * Reads the documents of a plan, in steps. Between two steps nothing is held open: the next one goes on behind the key
 * where the last one stopped.
 */
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import type { Collection, Index } from "./catalog.ts"
import { attempt } from "./expression.ts"
import type { Filter } from "./filter.ts"
import { entriesOf } from "./indexEntries.ts"
import type { KeyValue, Range } from "./keyValue.ts"
import type { Plan } from "./plan.ts"
import type { Problem } from "./problem.ts"
import { ended, type Source } from "./source.ts"

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
  const candidates = plan.kind === "documents"
    ? byKeys(store, collection, plan.keys)
    : byRanges(store, collection, plan)
  let missing = wanted
  return () => {
    const found = candidates(Math.max(minCost, Math.min(maxCost, missing)))
    if (found === undefined) return ended
    const matching: Result.Result<ReadonlyArray<Found>, Problem> = filter.isEmpty
      ? Result.succeed(found)
      : attempt(() => found.filter(({ document }) => filter.matches(document)))
    if (Result.isSuccess(matching)) missing -= matching.success.length
    return matching
  }
}

type Candidates = (cost: number) => ReadonlyArray<Found> | undefined

const byKeys = (store: KeyValue, { number }: Collection, keys: ReadonlyArray<string>): Candidates => {
  const documents = store.documents(number)
  let at = 0
  return (cost) => {
    if (at >= keys.length) return undefined
    const found: Array<Found> = []
    for (const key of keys.slice(at, at + cost)) {
      const document = documents.get(key)
      if (document !== undefined) found.push({ key, document })
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
  return (cost) => {
    const [range] = waiting
    if (range === undefined) return undefined
    const found: Array<Found> = []
    let left = cost
    let last: string | undefined
    if (index === undefined) {
      documents.scan(range, (key, document, bytes) => {
        found.push({ key, document })
        last = key
        left -= 1 + bytes / bytesPerCost
        return left > 0
      })
    } else {
      store.entries(index.number).scan(range, (entry, key) => {
        const document = documents.get(key)
        if (document !== undefined && isFirst(index, ranges, entry, key, document)) found.push({ key, document })
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
