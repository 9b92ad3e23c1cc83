/**
 * Documents on their way, in small steps: between two of them others may run.
 */
import * as Result from "effect/Result"
import { compareKeys, type Direction, type KeyValues, sortKeyOf } from "../../bson/path.ts"
import type { Document } from "../../DocumentStore.ts"
import { isStepDone, spend } from "../limits/costBudget.ts"
import { type Problem, rejected } from "../limits/queryProblem.ts"
import { type Memory, memoryOf } from "../limits/sizeLimits.ts"

/**
 * Takes one step, of a millisecond or so: gives the documents it came to, perhaps none, or `undefined` at the end.
 *
 * @internal
 */
export type Source<A = Document> = () => Result.Result<ReadonlyArray<A> | undefined, Problem>

const step = <A>(items: ReadonlyArray<A>): Result.Result<ReadonlyArray<A> | undefined, Problem> => Result.succeed(items)

const nothingYet: Result.Result<ReadonlyArray<never> | undefined, Problem> = Result.succeed([])

/** @internal */
export const ended: Result.Result<undefined, Problem> = Result.succeed(undefined)

// Few enough documents for one step, many enough to make the steps cheap.
const chunkSize = 128

/** @internal */
export const fromArray = <A>(items: ReadonlyArray<A>): Source<A> => {
  let at = 0
  return () => {
    if (at >= items.length) return ended
    at += chunkSize
    return step(items.slice(at - chunkSize, at))
  }
}

/** @internal */
export const mapChunks = <A, B>(
  source: Source<A>,
  f: (items: ReadonlyArray<A>) => Result.Result<ReadonlyArray<B>, Problem>
): Source<B> =>
() =>
  Result.flatMap(
    source(),
    (items): Result.Result<ReadonlyArray<B> | undefined, Problem> =>
      items === undefined ? ended : items.length === 0 ? nothingYet : f(items)
  )

/**
 * Goes through the items of a source: no more of them at a time than there is work in one step. What it gives says
 * whether there may be more.
 */
const visiting = <A>(
  source: Source<A>,
  visit: (item: A) => Problem | undefined
): () => Result.Result<boolean, Problem> => {
  let waiting: ReadonlyArray<A> = []
  let at = 0
  return () => {
    if (at === waiting.length) {
      const items = source()
      if (Result.isFailure(items)) return Result.fail(items.failure)
      if (items.success === undefined) return isAtEnd
      waiting = items.success
      at = 0
      // What it took to get there was enough.
      if (isStepDone()) return isOnTheWay
    }
    for (const item of at === 0 ? waiting : waiting.slice(at)) {
      at += 1
      const problem = visit(item)
      if (problem !== undefined) return Result.fail(problem)
      if (isStepDone()) break
    }
    if (at === waiting.length) {
      waiting = []
      at = 0
    }
    return isOnTheWay
  }
}

const isAtEnd: Result.Result<boolean, Problem> = Result.succeed(false)
const isOnTheWay: Result.Result<boolean, Problem> = Result.succeed(true)

/**
 * What a function makes of each item, which may be nothing. It may take long for one item, but not for many in one step.
 *
 * @internal
 */
export const mapEach = <A, B>(source: Source<A>, f: (item: A) => Result.Result<B | undefined, Problem>): Source<B> => {
  let made: Array<B> = []
  const visit = visiting(source, (item) => {
    const result = f(item)
    if (Result.isFailure(result)) return result.failure
    if (result.success !== undefined) made.push(result.success)
    return undefined
  })
  return () =>
    Result.map(visit(), (isOn) => {
      const some = made
      made = []
      return isOn ? some : undefined
    })
}

/**
 * Several items for one, of which each is made when its turn comes.
 *
 * @internal
 */
export interface Several<A> {
  readonly length: number
  readonly at: (index: number) => A
}

/** @internal */
export const several = <A>(items: ReadonlyArray<A>): Several<A> => ({
  length: items.length,
  // There is one at each of these places.
  at: (index) => items[index] as A
})

/**
 * What becomes of each item, one after the other; there may be so many that they never all exist at one time.
 *
 * @internal
 */
export const expanded = <A, B>(source: Source<A>, expand: (item: A) => Several<B>): Source<B> => {
  let waiting: Array<Several<B>> = []
  let at = 0
  return () => {
    if (waiting.length === 0) {
      const items = source()
      if (Result.isFailure(items)) return Result.fail(items.failure)
      if (items.success === undefined) return ended
      waiting = items.success.map(expand).toReversed()
      if (isStepDone()) return nothingYet
    }
    const made: Array<B> = []
    for (let next = waiting.at(-1); next !== undefined && made.length < chunkSize; next = waiting.at(-1)) {
      while (at < next.length && made.length < chunkSize && !(made.length > 0 && isStepDone())) made.push(next.at(at++))
      if (at < next.length) break
      waiting.pop()
      at = 0
    }
    return step(made)
  }
}

/** @internal */
export const slice = <A>(source: Source<A>, skip: number, limit: number | undefined): Source<A> => {
  if (skip === 0 && limit === undefined) return source
  let left = skip
  let wanted = limit ?? Infinity
  return () => {
    if (wanted <= 0) return ended
    return Result.map(source(), (items) => {
      if (items === undefined) return undefined
      const taken = items.slice(left, left + wanted)
      left = Math.max(0, left - items.length)
      wanted -= taken.length
      return taken
    })
  }
}

/**
 * One source after the other.
 *
 * @internal
 */
export const concat = <A>(first: Source<A>, second: Source<A>): Source<A> => {
  let source = first
  return () =>
    Result.flatMap(source(), (items) => {
      if (items !== undefined || source === second) return Result.succeed(items)
      source = second
      return nothingYet
    })
}

/**
 * Takes in a whole source, then goes on as another one.
 *
 * @internal
 */
export const after = <A, B>(
  source: Source<A>,
  take: (item: A) => Problem | undefined,
  next: () => Source<B>
): Source<B> => {
  let following: Source<B> | undefined
  const visit = visiting(source, take)
  return () => {
    if (following !== undefined) return following()
    return Result.map(visit(), (isOn) => {
      if (!isOn) following = next()
      return []
    })
  }
}

/**
 * Items that take memory, which they give back on their way.
 *
 * @internal
 */
export const released = <A>(
  items: ReadonlyArray<A>,
  memory: Memory,
  sizeOf: (item: A) => number = memoryOf
): Source<A> => {
  const left = items.toReversed()
  return () => {
    if (left.length === 0) return ended
    const some = left.splice(-chunkSize).toReversed()
    for (const item of some) memory.release(sizeOf(item))
    return step(some)
  }
}

/**
 * A source whose items all stay in memory.
 *
 * @internal
 */
export const within = <A>(memory: Memory, source: Source<A>): Source<A> =>
  mapEach(source, (item) => {
    const problem = memory.hold(memoryOf(item))
    return problem === undefined ? Result.succeed(item) : Result.fail(problem)
  })

/** @internal */
export const collected = <A, B>(
  source: Source<A>,
  memory: Memory,
  next: (items: ReadonlyArray<A>) => Source<B>
): Source<B> => {
  let all: Array<A> = []
  return after(source, (item) => {
    all.push(item)
    return memory.hold(memoryOf(item))
  }, () => {
    const items = all
    all = []
    return next(items)
  })
}

interface Sortable<A> {
  readonly key: KeyValues
  readonly item: A
  /** How much longer than usual it takes to compare. */
  readonly weight: number
}

// As many as are sorted, or merged, in one step.
const runLength = 1024

// The best of more than these would take too long to tell in one step.
const maxBest = 8 * runLength

/**
 * A source in order; items that are equal stay in the order they came in. Only the first `wanted` need be right: when
 * they are few, the others are not kept. Those that are take memory until they go on.
 *
 * @internal
 */
export const sorted = <A>(
  source: Source<A>,
  documentOf: (item: A) => Document,
  directions: ReadonlyArray<Direction>,
  wanted: number,
  memory: Memory,
  sizeOf = (item: A) => memoryOf(documentOf(item))
): Source<A> => {
  const limit = wanted <= maxBest ? wanted : undefined
  const order: Order<A> = (a, b) => compareKeys(a.key, b.key, directions)
  let runs: Array<ReadonlyArray<Sortable<A>>> = []
  let run: Array<Sortable<A>> = []
  let runWeight = 0
  let runBytes = 0
  const endRun = () => {
    run.sort(order)
    spend(run.length * compareCost + runWeight)
    const previous = limit === undefined ? undefined : runs.pop()
    if (previous === undefined) runs.push(limit === undefined ? run : cut(run))
    else runs.push(cut(merged(previous, run, order).finish()))
    run = []
    runWeight = 0
    runBytes = 0
  }
  const cut = (all: ReadonlyArray<Sortable<A>>) => {
    for (const { item } of all.slice(limit)) memory.release(sizeOf(item))
    return all.slice(0, limit)
  }
  const length = Math.max(runLength, limit ?? 0)
  return after(source, (item) => {
    const key = sortKeyOf(documentOf(item), directions)
    if (Result.isFailure(key)) return rejected(key.failure)
    const weight = weightOf(key.success)
    run.push({ key: key.success, item, weight })
    runWeight += weight
    const bytes = sizeOf(item)
    runBytes += bytes
    const problem = memory.hold(bytes)
    if (run.length >= length || runWeight >= maxRunWeight || runBytes >= maxRunBytes) endRun()
    return problem
  }, () => {
    endRun()
    const all = runs
    runs = []
    return mergedRuns(all, order, memory, sizeOf)
  })
}

// What a run costs, in units of work.
const compareCost = 50

// Of large items, those that are not wanted are let go early.
const maxRunBytes = 16 * 1024 * 1024

// Items that take long to compare are sorted fewer at a time.
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

// Merges two runs after the other until there is one.
const mergedRuns = <A>(
  runs: ReadonlyArray<ReadonlyArray<Sortable<A>>>,
  order: Order<A>,
  memory: Memory,
  sizeOf: (item: A) => number
): Source<A> => {
  let merge: Merge<A> | undefined
  let waiting = runs
  let done: ReadonlyArray<ReadonlyArray<Sortable<A>>> = []
  let output: Source<A> | undefined
  return () => {
    if (output !== undefined) return output()
    if (merge !== undefined) {
      if (!merge.step()) return nothingYet
      done = [...done, merge.items]
      merge = undefined
    }
    const [first, second, ...rest] = waiting
    if (first !== undefined && second !== undefined) {
      merge = merged(first, second, order)
      waiting = rest
    } else if (done.length === 0) {
      output = released((first ?? []).map(({ item }) => item), memory, sizeOf)
      waiting = []
    } else {
      waiting = first === undefined ? done : [...done, first]
      done = []
    }
    return nothingYet
  }
}

interface Merge<A> {
  readonly items: ReadonlyArray<Sortable<A>>
  /** Whether it is done. */
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
      // Together they are as long at it as they were before.
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
