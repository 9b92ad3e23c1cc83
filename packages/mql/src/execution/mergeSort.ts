/**
 * A merge sort in small steps: items are sorted in runs as they come, and the runs are merged pairwise.
 *
 * With a small limit it keeps only the first items (top-k). Memory is reserved for each retained item.
 */
import { spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { compareKeys, type Direction, type KeyValues, sortKeyOf } from "../bson/path.ts"
import { reject } from "../limits/queryProblem.ts"
import { type Memory, memoryOf } from "../limits/sizeLimits.ts"
import { type BatchIterator, consumeThen, emptyStep, releasing } from "./batchIterator.ts"

interface Sortable<A> {
  readonly key: KeyValues
  readonly item: A
  /** The cost of a comparison beyond that of a short key. */
  readonly weight: number
}

// The number of items that are sorted or merged in one step.
const runLength = 1024

// With a larger limit, cutting a run to the first items would take too long for one step.
const maxBest = 8 * runLength

/**
 * Sorts a source; the sort is stable. Only the first `wanted` items are guaranteed to be in the result: when they are few,
 * the others are dropped early. Retained items hold memory until they are returned.
 */
export const sorted = <A>(
  source: BatchIterator<A>,
  documentOf: (item: A) => Document,
  directions: ReadonlyArray<Direction>,
  wanted: number,
  memory: Memory,
  sizeOf = (item: A) => memoryOf(documentOf(item))
): BatchIterator<A> => {
  const limit = wanted <= maxBest ? wanted : undefined
  const order: Order<A> = (a, b) => compareKeys(a.key, b.key, directions)
  let runs: Array<ReadonlyArray<Sortable<A>>> = []
  let run: Array<Sortable<A>> = []
  let runWeight = 0
  let runBytes = 0
  // With a limit: the last of the first items so far, if they are as many as wanted.
  let last: Sortable<A> | undefined
  const endRun = () => {
    run.sort(order)
    spend(run.length * compareCost + runWeight)
    const previous = limit === undefined ? undefined : runs.pop()
    if (previous === undefined) runs.push(limit === undefined ? run : cut(run))
    else runs.push(cut(merged(previous, run, order).finish()))
    if (limit !== undefined) last = runs[0]?.[limit - 1]
    run = []
    runWeight = 0
    runBytes = 0
  }
  const cut = (all: ReadonlyArray<Sortable<A>>) => {
    for (const { item } of all.slice(limit)) memory.release(sizeOf(item))
    return all.slice(0, limit)
  }
  const length = Math.max(runLength, limit ?? 0)
  return consumeThen(source, (item) => {
    const key = Result.getOrElse(sortKeyOf(documentOf(item), directions), reject)
    const weight = weightOf(key)
    const sortable = { key, item, weight }
    if (last !== undefined) {
      spend(compareCost + weight)
      // The sort is stable: of equal ones, the first stays.
      if (order(sortable, last) >= 0) return
    }
    run.push(sortable)
    runWeight += weight
    const bytes = sizeOf(item)
    runBytes += bytes
    memory.hold(bytes)
    if (run.length >= length || runWeight >= maxRunWeight || runBytes >= maxRunBytes) endRun()
  }, () => {
    endRun()
    const all = runs
    runs = []
    return mergedRuns(all, order, memory, sizeOf)
  })
}

// The cost of a comparison, in units of work.
const compareCost = 50

// Ends a run of large items early, so that those beyond the limit are dropped early.
const maxRunBytes = 16 * 1024 * 1024

// Ends a run early whose keys are costly to compare.
const maxRunWeight = 200_000

const weightOf = (key: KeyValues): number => {
  let weight = 0
  for (const value of key) {
    if (typeof value === "string") weight += value.length >> 6
    else if (typeof value === "object" && value !== null) weight += memoryOf(value) >> 6
  }
  return weight
}

type Order<A> = (a: Sortable<A>, b: Sortable<A>) => number

// Merges the runs pairwise until one is left.
const mergedRuns = <A>(
  runs: ReadonlyArray<ReadonlyArray<Sortable<A>>>,
  order: Order<A>,
  memory: Memory,
  sizeOf: (item: A) => number
): BatchIterator<A> => {
  let merge: Merge<A> | undefined
  let waiting = runs
  let done: ReadonlyArray<ReadonlyArray<Sortable<A>>> = []
  let output: BatchIterator<A> | undefined
  return () => {
    if (output !== undefined) return output()
    if (merge !== undefined) {
      if (!merge.step()) return emptyStep
      done = [...done, merge.items]
      merge = undefined
    }
    const [first, second, ...rest] = waiting
    if (first !== undefined && second !== undefined) {
      merge = merged(first, second, order)
      waiting = rest
    } else if (done.length === 0) {
      output = releasing((first ?? []).map(({ item }) => item), memory, sizeOf)
      waiting = []
    } else {
      waiting = first === undefined ? done : [...done, first]
      done = []
    }
    return emptyStep
  }
}

interface Merge<A> {
  readonly items: ReadonlyArray<Sortable<A>>
  /** Merges some items; returns whether all are merged. */
  readonly step: () => boolean
  readonly finish: () => ReadonlyArray<Sortable<A>>
}

const merged = <A>(
  left: ReadonlyArray<Sortable<A>>,
  right: ReadonlyArray<Sortable<A>>,
  order: Order<A>
): Merge<A> => {
  const items: Array<Sortable<A>> = []
  let [i, j] = [0, 0]
  const step = () => {
    for (let n = 0; n < runLength; n++) {
      const [a, b] = [left[i], right[j]]
      // Costly comparisons count for several items.
      n += Math.min(a?.weight ?? 0, b?.weight ?? 0)
      if (a !== undefined && (b === undefined || order(a, b) <= 0)) {
        items.push(a)
        i += 1
      } else if (b !== undefined) {
        items.push(b)
        j += 1
      } else return true
    }
    return false
  }
  const finish = () => {
    while (!step());
    return items
  }
  return { items, step, finish }
}
