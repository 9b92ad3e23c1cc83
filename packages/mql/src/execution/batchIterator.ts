/**
 * Pull-based iterators of batches, the operators of a query: each step does a bounded amount of work, and other fibers
 * run between two steps. An iterator is used once.
 */
import { isStepDone, spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { catchRejection, type Problem } from "../limits/queryProblem.ts"
import { type Memory, memoryOf } from "../limits/sizeLimits.ts"

/** Takes a step of about a millisecond. Returns the next documents, perhaps none, or `undefined` at the end. */
export type BatchIterator<A = Document> = () => Result.Result<ReadonlyArray<A> | undefined, Problem>

const step = <A>(items: ReadonlyArray<A>): Result.Result<ReadonlyArray<A> | undefined, Problem> => Result.succeed(items)

/** A step that has produced nothing, but is not the end. */
export const emptyStep: Result.Result<ReadonlyArray<never> | undefined, Problem> = Result.succeed([])

export const ended: Result.Result<undefined, Problem> = Result.succeed(undefined)

// The size of a batch: small enough for one step, large enough to make the overhead of a step negligible.
const chunkSize = 128

export const fromArray = <A>(items: ReadonlyArray<A>): BatchIterator<A> => {
  let at = 0
  return () => {
    if (at >= items.length) return ended
    at += chunkSize
    return step(items.slice(at - chunkSize, at))
  }
}

export const mapChunks = <A, B>(
  source: BatchIterator<A>,
  f: (items: ReadonlyArray<A>) => ReadonlyArray<B>
): BatchIterator<B> =>
() => Result.map(source(), (items) => items === undefined ? undefined : items.length === 0 ? [] : f(items))

/** Visits a source's items within the budget of a step; returns whether there may be more. `visit` may throw. */
const visiting = <A>(
  source: BatchIterator<A>,
  visit: (item: A) => void
): () => Result.Result<boolean, Problem> => {
  let waiting: ReadonlyArray<A> = []
  let at = 0
  const visitSome = () => {
    for (const item of at === 0 ? waiting : waiting.slice(at)) {
      at += 1
      visit(item)
      if (isStepDone()) break
    }
  }
  return () => {
    if (at === waiting.length) {
      const items = source()
      if (Result.isFailure(items)) return Result.fail(items.failure)
      if (items.success === undefined) return atEnd
      waiting = items.success
      at = 0
      // Reading the batch may have used up the budget.
      if (isStepDone()) return mayHaveMore
    }
    // What the source throws is no rejection, but a failure of the store.
    const visited = catchRejection(visitSome)
    if (Result.isFailure(visited)) return Result.fail(visited.failure)
    if (at === waiting.length) {
      waiting = []
      at = 0
    }
    return mayHaveMore
  }
}

const atEnd: Result.Result<boolean, Problem> = Result.succeed(false)
const mayHaveMore: Result.Result<boolean, Problem> = Result.succeed(true)

/**
 * Maps each item by a function that may throw; `undefined` drops it. The budget is checked after each item, so a costly
 * function still makes short steps.
 */
export const mapEach = <A, B>(source: BatchIterator<A>, f: (item: A) => B | undefined): BatchIterator<B> => {
  let made: Array<B> = []
  const visit = visiting(source, (item) => {
    const result = f(item)
    if (result !== undefined) made.push(result)
  })
  return () =>
    Result.map(visit(), (mayContinue) => {
      const batch = made
      made = []
      return mayContinue ? batch : undefined
    })
}

/**
 * Opens a source for each item, reads it to its end, and makes one item of all that it gave. `weigh` checks what a source
 * gives. One source is open at a time. The functions may throw.
 */
export const gatherEach = <A, B, C>(
  source: BatchIterator<A>,
  open: (item: A) => BatchIterator<B>,
  make: (item: A, all: ReadonlyArray<B>) => C,
  weigh: () => (item: B) => void
): BatchIterator<C> => {
  let waiting: ReadonlyArray<A> = []
  let at = 0
  let current: Gathering<A, B> | undefined
  const advance = (item: A): Gathering<A, B> => ({ item, source: open(item), all: [], weigh: weigh() })
  return () => {
    const made: Array<C> = []
    do {
      spend(pullCost)
      if (current === undefined) {
        if (at === waiting.length) {
          if (made.length > 0) break
          const items = source()
          if (Result.isFailure(items)) return Result.fail(items.failure)
          if (items.success === undefined) return ended
          waiting = items.success
          at = 0
          if (waiting.length === 0) break
        }
        // The index is in range.
        const opened = catchRejection(() => advance(waiting[at++] as A))
        if (Result.isFailure(opened)) return Result.fail(opened.failure)
        current = opened.success
      }
      const { all, item, source: own, weigh } = current
      const some = own()
      if (Result.isFailure(some)) return Result.fail(some.failure)
      if (some.success === undefined) {
        current = undefined
        const result = catchRejection(() => make(item, all))
        if (Result.isFailure(result)) return Result.fail(result.failure)
        made.push(result.success)
      } else {
        const items = some.success
        const weighed = catchRejection(() => {
          for (const one of items) {
            weigh(one)
            all.push(one)
          }
        })
        if (Result.isFailure(weighed)) return Result.fail(weighed.failure)
      }
    } while (made.length < chunkSize && !isStepDone())
    return step(made)
  }
}

interface Gathering<A, B> {
  readonly item: A
  readonly source: BatchIterator<B>
  readonly all: Array<B>
  readonly weigh: (item: B) => void
}

const pullCost = 50

/** A sequence whose items are computed when they are asked for. */
export interface LazySequence<A> {
  readonly length: number
  readonly at: (index: number) => A
}

export const sequenceOf = <A>(items: ReadonlyArray<A>): LazySequence<A> => ({
  length: items.length,
  // The index is always in range.
  at: (index) => items[index] as A
})

/** Maps each item to a sequence and concatenates the sequences. A sequence is never in memory as a whole. */
export const flatMapEach = <A, B>(source: BatchIterator<A>, expand: (item: A) => LazySequence<B>): BatchIterator<B> => {
  let waiting: Array<LazySequence<B>> = []
  let at = 0
  return () => {
    if (waiting.length === 0) {
      const items = source()
      if (Result.isFailure(items)) return Result.fail(items.failure)
      if (items.success === undefined) return ended
      waiting = items.success.map(expand).toReversed()
      if (isStepDone()) return emptyStep
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

/** Skips documents, then takes at most `limit`; `undefined` takes all. */
export const slice = <A>(source: BatchIterator<A>, skip: number, limit: number | undefined): BatchIterator<A> => {
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

/** The items of one source, then those of another. */
export const concat = <A>(first: BatchIterator<A>, second: BatchIterator<A>): BatchIterator<A> => {
  let source = first
  return () =>
    Result.flatMap(source(), (items) => {
      if (items !== undefined || source === second) return Result.succeed(items)
      source = second
      return emptyStep
    })
}

/** A source that is opened when it is read first. */
export const lazily = <A>(open: () => BatchIterator<A>): BatchIterator<A> => {
  let source: BatchIterator<A> | undefined
  return () => {
    source ??= open()
    return source()
  }
}

/** Consumes a source to its end, then continues as another one. `take` may throw. */
export const consumeThen = <A, B>(
  source: BatchIterator<A>,
  take: (item: A) => void,
  next: () => BatchIterator<B>
): BatchIterator<B> => {
  let following: BatchIterator<B> | undefined
  const visit = visiting(source, take)
  return () => {
    if (following !== undefined) return following()
    return Result.map(visit(), (mayContinue) => {
      if (!mayContinue) following = next()
      return []
    })
  }
}

/** Items that hold memory; their bytes are released when they are returned. */
export const releasing = <A>(
  items: ReadonlyArray<A>,
  memory: Memory,
  sizeOf: (item: A) => number = memoryOf
): BatchIterator<A> => {
  const left = items.toReversed()
  return () => {
    if (left.length === 0) return ended
    const some = left.splice(-chunkSize).toReversed()
    for (const item of some) memory.release(sizeOf(item))
    return step(some)
  }
}

/** Reserves the memory of all items: the caller keeps them. */
export const retaining = <A>(memory: Memory, source: BatchIterator<A>): BatchIterator<A> =>
  mapEach(source, (item) => {
    memory.hold(memoryOf(item))
    return item
  })

/** Collects all items in memory, then continues as the source that `next` makes of them. */
export const collectThen = <A, B>(
  source: BatchIterator<A>,
  memory: Memory,
  next: (items: ReadonlyArray<A>) => BatchIterator<B>
): BatchIterator<B> => {
  let all: Array<A> = []
  return consumeThen(source, (item) => {
    all.push(item)
    memory.hold(memoryOf(item))
  }, () => {
    const items = all
    all = []
    return next(items)
  })
}
