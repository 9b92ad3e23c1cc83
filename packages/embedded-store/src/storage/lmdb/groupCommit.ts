/**
 * Group commit: the waiting jobs are run in one transaction and committed together, with one flush to the disk. A writer that
 * has been alone for some jobs waits for a fast disk in this thread, which takes less time than another thread.
 *
 * A job succeeds when its transaction is on the disk. When a transaction fails, its jobs are retried one by one, so that a
 * job fails only by its own fault. A long job is the last of its batch, and continues in the following turns of the event
 * loop, in the same transaction.
 */
import { rethrow, workDone } from "@appkernel/document-store/internal"
import { DataDamaged, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { constants } from "node:os"
import { setImmediate } from "node:timers/promises"
import { type Listener, type SteppedKeyValue, type Steps, type StoreFailure, takeSteps } from "../orderedStore.ts"
import { DamagedValue } from "./checksum.ts"
import { codeOf } from "./preflight.ts"

const { EDQUOT, EFBIG, EIO, ENOSPC } = constants.errno

interface Job {
  /** Whether the job has one step only. */
  readonly isShort: boolean
  /** Runs the job for one step. Returns a function that runs the next step and tells whether there is more, if any. */
  readonly run: () => (() => boolean) | undefined
  readonly succeed: () => void
  readonly fail: (cause: unknown) => void
  /** Ends the job without running it. */
  readonly reject: (detail: string) => void
}

export interface Writer {
  readonly write: SteppedKeyValue["write"]
  readonly writeInSteps: SteppedKeyValue["writeInSteps"]
  readonly listen: SteppedKeyValue["listen"]
  readonly describe: Listener["describe"]
  /** Rejects further writes, and succeeds when the previous ones are done. */
  readonly finish: Effect.Effect<void>
}

// Limits of one transaction, so that others don't wait long: the number of jobs, and the units of their work.
const maxBatch = 256
const maxWork = 2_000_000

// The number of jobs after which their writer is alone, and the milliseconds that others may wait for one of its commits.
const alone = 8
const maxSyncMillis = 2
// The number of jobs for which a disk that takes longer is not waited for in this thread.
const slowDisk = 256

/** The state of a transaction after a turn. */
export type TurnResult = "done" | "failed" | "more"

/** How jobs get a transaction. Both ways abort it after `"failed"`, and are through when it is on the disk. */
export interface Transactors {
  /** Runs its argument, again in the following turns of the event loop while it returns `"more"`. */
  readonly transact: (run: () => TurnResult) => Promise<unknown>
  /** Runs its argument, which never returns `"more"`, and waits for the disk in this thread. Returns the milliseconds of it. */
  readonly transactSync: (run: () => TurnResult) => number
}

/**
 * Makes a writer.
 *
 * - `onTransactionEnd` is called after each transaction, committed or aborted, before its jobs succeed or fail.
 * - `obstacle` returns why nothing can be written now, if so.
 */
export const makeWriter = (
  { transact, transactSync }: Transactors,
  onTransactionEnd: () => void,
  obstacle: () => string | undefined
): Writer => {
  const waiting: Array<Job> = []
  const idle: Array<() => void> = []
  let listener: Listener | undefined
  let isBusy = false
  let isClosed = false
  // The number of waiting jobs that have failed in one transaction and are retried one by one.
  let retriedSingly = 0
  // How many of the last jobs had nobody beside them; negative after a slow commit.
  let inRow = 0

  const describe: Listener["describe"] = (damage) =>
    listener?.describe(damage) ?? new DataDamaged({ collection: "an unknown collection" })

  const next = (): void => {
    const detail = obstacle()
    if (detail !== undefined) {
      retriedSingly = 0
      for (const job of waiting.splice(0)) job.reject(detail)
    }
    isBusy = waiting.length > 0
    if (!isBusy) {
      for (const resume of idle.splice(0)) resume()
      return
    }
    let batch: Array<Job> = []
    let ran: Result.Result<void, unknown> = Result.succeed(undefined)
    let rest: (() => boolean) | undefined
    const runSome = () => {
      if (rest !== undefined) {
        if (!rest()) rest = undefined
        return
      }
      // Collected when the transaction begins, so that later jobs join the batch.
      batch = []
      const end = workDone() + maxWork
      do {
        const job = waiting.shift()
        if (job === undefined) break
        batch.push(job)
        rest = job.run()
        // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- a job changes it
      } while (rest === undefined && retriedSingly === 0 && batch.length < maxBatch && workDone() < end)
    }
    const run = (): TurnResult => {
      ran = Result.try({ try: runSome, catch: (cause) => cause })
      return Result.isFailure(ran) ? "failed" : rest === undefined ? "done" : "more"
    }
    const settle = (failure: unknown): void => {
      const cause = Result.isFailure(ran) ? ran.failure : failure
      onTransactionEnd()
      inRow = batch.length === 1 && waiting.length === 0 ? inRow + 1 : Math.min(inRow, 0)
      if (cause === undefined) committed(batch)
      else failed(batch, cause)
      next()
    }
    // Those who write in the same turn of the event loop end a row.
    const isAlone = inRow >= alone
    const begun = isAlone ? setImmediate() : Promise.resolve()
    // lmdb may also throw synchronously.
    void begun.then(() => {
      if (!isAlone || waiting.length > 1 || waiting[0]?.isShort !== true) return transact(run)
      if (transactSync(run) > maxSyncMillis) inRow = -slowDisk
      return undefined
    }).then(
      () => settle(undefined),
      (cause: unknown) => reasonOf(cause, settle)
    )
  }

  const committed = (batch: ReadonlyArray<Job>): void => {
    retriedSingly = Math.max(0, retriedSingly - batch.length)
    listener?.committed()
    for (const job of batch) job.succeed()
  }

  const failed = (batch: ReadonlyArray<Job>, cause: unknown): void => {
    listener?.aborted()
    if (batch.length > 1) {
      // Perhaps only one of them can't be written.
      retriedSingly = batch.length
      waiting.unshift(...batch)
      return
    }
    retriedSingly = Math.max(0, retriedSingly - 1)
    // Without a batch, the transaction could not begin, and all waiting jobs fail.
    for (const job of batch.length === 0 ? waiting.splice(0) : batch) job.fail(cause)
  }

  const enqueue = <A>(
    operation: string,
    isShort: boolean,
    run: (end: (result: A) => void) => ReturnType<Job["run"]>
  ): Effect.Effect<A, StoreFailure> =>
    Effect.uninterruptible(Effect.callback<A, StoreFailure>((resume) => {
      if (isClosed) {
        resume(closed(operation))
        return
      }
      let result: Effect.Effect<A> = Effect.die("a write was not run")
      const end = (given: A) => {
        result = Effect.succeed(given)
      }
      waiting.push({
        isShort,
        run: () => run(end),
        succeed: () => resume(result),
        fail: (cause) =>
          resume(Effect.suspend((): Effect.Effect<never, StoreFailure> =>
            failureOf(operation, cause, describe) ?? Effect.die(cause)
          )),
        reject: (detail) =>
          resume(new StoreUnavailable({ operation, detail, retryable: false }))
      })
      if (!isBusy) next()
    }))

  return {
    write: <A>(operation: string, job: () => A) =>
      enqueue<A>(operation, true, (end) => {
        end(job())
        return undefined
      }),
    writeInSteps: <A>(operation: string, job: () => Steps<A>) =>
      enqueue<A>(operation, false, (end) => {
        const steps = job()
        const isMore = () => {
          const result = takeSteps(steps)
          if (result.done === true) end(result.value)
          return result.done !== true
        }
        return isMore() ? isMore : undefined
      }),
    listen: (given) => {
      listener = given
    },
    describe,
    finish: Effect.callback((resume) => {
      isClosed = true
      if (isBusy) idle.push(() => resume(Effect.void))
      else resume(Effect.void)
    })
  }
}

// The reason of a failed commit is in a promise of its own, which must be handled, too.
const reasonOf = (cause: unknown, settle: (reason: unknown) => void): void => {
  const reason = typeof cause === "object" && cause !== null && "commitError" in cause ? cause.commitError : undefined
  void Promise.resolve(reason).then(() => settle(cause ?? "unknown"), (reason: unknown) => settle(reason ?? cause))
}

export const closed = (operation: string): StoreUnavailable =>
  new StoreUnavailable({ operation, detail: "the store is closed", retryable: false })

/** Takes a step of a read, which fails by a damaged value or an error of lmdb. */
export const attempted = <A>(
  operation: string,
  step: () => A,
  describe: Listener["describe"]
): Result.Result<A, StoreFailure> =>
  Result.try({ try: step, catch: (cause) => failureOf(operation, cause, describe) ?? rethrow(cause) })

/** The failure for a damaged value or an error of lmdb; `undefined` for any other error. */
const failureOf = (
  operation: string,
  cause: unknown,
  describe: Listener["describe"]
): StoreFailure | undefined => {
  if (cause instanceof DamagedValue) return describe(cause)
  const code = codeOf(cause)
  return cause instanceof Error && typeof code === "number"
    // Not retryable: room on the disk must be made first.
    ? new StoreUnavailable({
      operation,
      detail: `the disk did not take it or give it: ${cause.message}${roomHint(code)}`,
      retryable: false
    })
    : undefined
}

// lmdb reports an input/output error when the disk has written only a part of a page.
const roomHint = (code: number): string =>
  [ENOSPC, EDQUOT, EFBIG].includes(code)
    ? " (there is no room left)"
    : code === EIO
    ? " (perhaps there is no room left)"
    : ""
