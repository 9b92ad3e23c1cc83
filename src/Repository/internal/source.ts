/**
 * Documents on their way, in small steps: between two of them others may run.
 */
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import { compareKeys, type Direction, type KeyValues, sortKeyOf } from "./documentPath.ts"
import { type Problem, rejected } from "./problem.ts"

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

/** @internal */
export const mapEach = <A, B>(source: Source<A>, f: (item: A) => Result.Result<B, Problem>): Source<B> =>
  mapChunks(source, (items) => Result.all(items.map(f)))

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
  take: (items: ReadonlyArray<A>) => Problem | undefined,
  next: () => Source<B>
): Source<B> => {
  let following: Source<B> | undefined
  return () => {
    if (following !== undefined) return following()
    return Result.flatMap(source(), (items): Result.Result<ReadonlyArray<B> | undefined, Problem> => {
      if (items === undefined) {
        following = next()
        return nothingYet
      }
      const problem = take(items)
      return problem === undefined ? nothingYet : Result.fail(problem)
    })
  }
}

/** @internal */
export const collected = <A, B>(source: Source<A>, next: (items: ReadonlyArray<A>) => Source<B>): Source<B> => {
  const all: Array<A> = []
  return after(source, (items) => {
    for (const item of items) all.push(item)
    return undefined
  }, () => next(all))
}

interface Sortable<A> {
  readonly key: KeyValues
  readonly item: A
}

// As many as are sorted, or merged, in one step.
const runLength = 1024

// The best of more than these would take too long to tell in one step.
const maxBest = 8 * runLength

/**
 * A source in order; items that are equal stay in the order they came in. Only the first `wanted` need be right: when
 * they are few, the others are not kept.
 *
 * @internal
 */
export const sorted = <A>(
  source: Source<A>,
  documentOf: (item: A) => Document,
  directions: ReadonlyArray<Direction>,
  wanted: number
): Source<A> => {
  const limit = wanted <= maxBest ? wanted : undefined
  const order: Order<A> = (a, b) => compareKeys(a.key, b.key, directions)
  const runs: Array<ReadonlyArray<Sortable<A>>> = []
  let run: Array<Sortable<A>> = []
  const endRun = () => {
    run.sort(order)
    const previous = limit === undefined ? undefined : runs.pop()
    runs.push(previous === undefined ? run.slice(0, limit) : merged(previous, run, order).finish().slice(0, limit))
    run = []
  }
  const length = Math.max(runLength, limit ?? 0)
  return after(source, (items) => {
    for (const item of items) {
      const key = sortKeyOf(documentOf(item), directions)
      if (Result.isFailure(key)) return rejected(key.failure)
      run.push({ key: key.success, item })
      if (run.length >= length) endRun()
    }
    return undefined
  }, () => {
    endRun()
    return mergedRuns(runs, order)
  })
}

type Order<A> = (a: Sortable<A>, b: Sortable<A>) => number

// Merges two runs after the other until there is one.
const mergedRuns = <A>(runs: ReadonlyArray<ReadonlyArray<Sortable<A>>>, order: Order<A>): Source<A> => {
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
    } else if (done.length === 0) output = fromArray((first ?? []).map(({ item }) => item))
    else {
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
