/**
 * Runs reads in steps. Between two turns, other fibers run and a read can be interrupted. So a read of the last commit is no
 * snapshot: later steps may see later commits.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import { makeStopwatch, type Stopwatch } from "@appkernel/document-store/shared"
import { QueryTimeout, type ReadError } from "@appkernel/document-store/StoreError"
import { type BatchIterator, type Problem, toError } from "@appkernel/mql/internal"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { KeyValue } from "../storage/orderedStore.ts"

/** Passes the current time, in milliseconds, to an effect. */
export const withNow = <A, E>(use: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => use(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()))

/** Takes a step of a read; fails with a rejected query or a failure of the disk. */
export const runStep = <A>(
  store: KeyValue,
  operation: string,
  step: () => Result.Result<A, Problem>
): Result.Result<A, ReadError> => {
  beginStep()
  const read = store.read(operation, step)
  return Result.isFailure(read)
    ? Result.fail(read.failure)
    : Result.isFailure(read.success)
    ? Result.fail(toError(read.success.failure, operation))
    : Result.succeed(read.success.success)
}

/** Reads an iterator to its end, interruptibly. A `taker` gets the items, and may end the read. */
export const collect = <A>(
  store: KeyValue,
  operation: string,
  open: () => Result.Result<BatchIterator<A>, Problem>,
  stopwatch?: Stopwatch,
  taker?: (items: ReadonlyArray<A>) => boolean
): Effect.Effect<ReadonlyArray<A>, ReadError> => {
  const next = turnsOf(store, operation, open, taker, stepsPerTurn)
  const go = (): Effect.Effect<ReadonlyArray<A>, ReadError> => {
    if (stopwatch?.isOver() === true) return Effect.fail(new QueryTimeout({ operation }))
    const all = next()
    if (Result.isFailure(all)) return Effect.fail(all.failure)
    return all.success === undefined ? Effect.flatMap(Effect.yieldNow, go) : Effect.succeed(all.success)
  }
  return Effect.suspend(go)
}

/** Reads an iterator to its end, unless that takes longer than a step, or fails. */
export const readAtOnce = <A>(
  store: KeyValue,
  operation: string,
  open: () => Result.Result<BatchIterator<A>, Problem>,
  taker?: (items: ReadonlyArray<A>) => boolean
): ReadonlyArray<A> | undefined => Result.getOrUndefined(turnsOf(store, operation, open, taker, stepsAtOnce)())

/** Takes the turns of a read, of so many steps, one with each call. The last one returns all items, those before `undefined`. */
const turnsOf = <A>(
  store: KeyValue,
  operation: string,
  open: () => Result.Result<BatchIterator<A>, Problem>,
  taker: ((items: ReadonlyArray<A>) => boolean) | undefined,
  steps: number
): () => Result.Result<ReadonlyArray<A> | undefined, ReadError> => {
  let all: Array<A> = []
  let source: BatchIterator<A> | undefined
  const turn = (): Result.Result<boolean, Problem> => {
    if (source === undefined) {
      const opened = open()
      if (Result.isFailure(opened)) return Result.fail(opened.failure)
      source = opened.success
    }
    // What is costly to test takes the time of several steps.
    for (let i = 0; i < steps && (i === 0 || !isStepDone()); i++) {
      const items = source()
      if (Result.isFailure(items)) return Result.fail(items.failure)
      if (items.success === undefined) return atEnd
      if (all.length === 0) all = items.success.slice()
      else for (const item of items.success) all.push(item)
    }
    return notAtEnd
  }
  return () => {
    const isEnded = runStep(store, operation, turn)
    if (Result.isFailure(isEnded)) return Result.fail(isEnded.failure)
    const isEnough = taker !== undefined && all.length > 0 && !taker(all)
    if (taker !== undefined) all = []
    return Result.succeed(isEnded.success || isEnough ? all : undefined)
  }
}

/** {@link collect} with a time limit. `open` gets the current time in milliseconds. */
export const readAll = <A>(
  store: KeyValue,
  operation: string,
  timeLimit: Duration.Input | undefined,
  open: (now: number) => Result.Result<BatchIterator<A>, Problem>,
  taker?: (items: ReadonlyArray<A>) => boolean
): Effect.Effect<ReadonlyArray<A>, ReadError> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const stopwatch = makeStopwatch(clock, timeLimit)
    stopwatch.start()
    return collect(store, operation, () => open(clock.currentTimeMillisUnsafe()), stopwatch, taker)
  })

/** Streams an iterator, a step for each pull. The consumer's time does not count towards the limit. */
export const readStream = (
  store: KeyValue,
  operation: string,
  timeLimit: Duration.Input | undefined,
  make: (scope: Scope.Scope) => Effect.Effect<(now: number) => Result.Result<BatchIterator, Problem>>
): Stream.Stream<Document, ReadError> =>
  Stream.fromChannel(
    Channel.fromTransform((_, scope) =>
      Effect.flatMap(make(scope), (make) =>
        Effect.withFiber((fiber) => {
          const clock = fiber.getRef(Clock.Clock)
          const stopwatch = makeStopwatch(clock, timeLimit)
          const source = runStep(store, operation, () => make(clock.currentTimeMillisUnsafe()))
          return Result.isSuccess(source)
            ? Effect.succeed(pullFrom(store, operation, source.success, stopwatch))
            : Effect.fail(source.failure)
        }))
    )
  )

// internal

// A read of this many steps gives other fibers no turn.
const stepsPerTurn = 2

// A small sort takes several steps, which do little.
const stepsAtOnce = 6

const atEnd: Result.Result<boolean> = Result.succeed(true)
const notAtEnd: Result.Result<boolean> = Result.succeed(false)

const pullFrom = (
  store: KeyValue,
  operation: string,
  source: BatchIterator,
  stopwatch: Stopwatch
): Effect.Effect<Arr.NonEmptyReadonlyArray<Document>, ReadError | Cause.Done> => {
  let steps = 0
  const go: Effect.Effect<Arr.NonEmptyReadonlyArray<Document>, ReadError | Cause.Done> = Effect.suspend(() => {
    if (stopwatch.isOver()) return Effect.fail(new QueryTimeout({ operation }))
    const documents = runStep(store, operation, source)
    if (Result.isFailure(documents)) return Effect.fail(documents.failure)
    if (documents.success === undefined) return Cause.done()
    if (!Arr.isReadonlyArrayNonEmpty(documents.success)) return Effect.andThen(Effect.yieldNow, go)
    stopwatch.stop()
    steps += 1
    return steps % stepsPerTurn === 0
      ? Effect.as(Effect.yieldNow, documents.success)
      : Effect.succeed(documents.success)
  })
  return Effect.suspend(() => {
    stopwatch.start()
    return go
  })
}
