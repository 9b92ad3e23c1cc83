/**
 * What becomes of the records that a process has, and how it keeps them: it stores the proof of each, moves on its lock, and stores the
 * end. A record without a proof is one of a store that this process alone has: its job begins at once, and the proof is stored beside it,
 * or never, if the job has ended before that.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { DocumentStore, Update } from "../../Repository/DocumentStore.ts"
import { type Claim, forget, localQueue, makeReady, wakeUnsafe } from "./localQueue.ts"
import { queuedJobs, thisProcess } from "./records.ts"

/** Stores what becomes of records. */
export interface Outcomes {
  /** Keeps the lock of a record until its end is stored, also while the process stops. */
  readonly hold: (claim: Claim) => void
  /** Stores that an attempt begins, beside it. */
  readonly begin: (claim: Claim) => Effect.Effect<void>
  /**
   * Ends an attempt. One that succeeds is stored as done beside other work. One that fails, or whose job can't be decoded, is made again,
   * or is a dead letter if it was the last one. One that is interrupted is given back.
   */
  readonly end: (
    claim: Claim,
    exit: Exit.Exit<unknown, unknown>,
    attempts: Pick<Parameters<PersistedQueue.PersistedQueueStore["Service"]["take"]>[0], "maxAttempts" | "retryDelay">
  ) => Effect.Effect<void>
  /** Makes a dead letter of a record; without `isAttempt`, its last attempt was none. */
  readonly bury: (claim: Claim, cause: Cause.Cause<unknown>, isAttempt?: boolean) => Effect.Effect<void>
  /** Gives records back, for whom it was no attempt. */
  readonly giveBack: (claims: ReadonlyArray<Claim>) => Effect.Effect<void>
}

/** The outcomes of a service, which stores what is left when the scope closes. `isClosed` says whether it closes. */
export const makeOutcomes = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  lockTime: number,
  isClosed: () => boolean
): Effect.fn.Return<Outcomes, never, Scope.Scope> {
  const token = randomUUID()

  /** Changes records, except for those that somebody else has taken. */
  const updated = (claims: Iterable<Claim>, change: Update, now: number) =>
    Effect.forEach(
      Map.groupBy(claims, ({ token }) => token),
      ([token, all]) => {
        const _id = { $in: all.map(({ _id }) => _id) }
        return rejectDuplicateKey(
          "jobs",
          token === undefined
            ? store.updateMany(queuedJobs, { _id, state: "waiting" }, {
              ...change,
              $inc: { attempts: 1 },
              $min: { taken: dateOf(now) }
            })
            : store.updateMany(queuedJobs, { _id, token }, change)
        )
      },
      { concurrency: "unbounded", discard: true }
    )

  const held = new Set<Claim>()
  const isHolding = Latch.makeUnsafe(false)
  const hold = (claim: Claim) => {
    held.add(claim)
    localQueue(store, claim.queue).known.set(claim._id, claim)
    isHolding.openUnsafe()
  }

  /** Stores what has become of records. */
  const settle = (claims: ReadonlyArray<Claim>, change: (now: number) => Update, isDue = false) => {
    let isStored = false
    return Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => updated(claims.filter(({ isLost }) => !isLost), change(now), now)
    ).pipe(
      Effect.retry({
        schedule: Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: lockTime })),
        while: () => !isClosed()
      }),
      Effect.andThen(Effect.sync(() => {
        isStored = true
      })),
      // The job is done once more.
      Effect.catchCause((cause) => Effect.logWarning("Can't store the end of a job", cause)),
      Effect.ensuring(Effect.sync(() => {
        for (const claim of claims) {
          const local = localQueue(store, claim.queue)
          held.delete(claim)
          unstored.delete(claim)
          forget(local, claim)
          local.settled.openUnsafe()
          if (isDue || !isStored || claim.isLost) wakeUnsafe(local)
        }
      }))
    )
  }

  const settleOne = (claim: Claim, change: (now: number) => Update, isDue: boolean) =>
    Effect.suspend(() => {
      claim.ending = "otherwise"
      return Effect.andThen(written(claim), settle([claim], change, isDue))
    })

  const storeDone = (claims: ReadonlyArray<Claim>) =>
    settle(claims, (now) => ({ $set: { state: "done", ended: dateOf(now) }, $unset: { ...unlocked, due: "" } }))

  /** Those whose begin could not be stored. */
  const unstored = new Set<Claim>()

  /** Stores that attempts have begun, of those that go on without a proof when it is called: one round after the other. */
  const storeBegun = (claims: ReadonlyArray<Claim>): Effect.Effect<void> => {
    const begun = claims.filter((claim) =>
      claim.ending === undefined && claim.writing === undefined && !hasToken(claim) && !claim.isLost
    )
    if (begun.length === 0) return Effect.void
    const writing = Latch.makeUnsafe(false)
    for (const claim of begun) claim.writing = writing
    return Effect.flatMap(
      Clock.currentTimeMillis,
      (now) =>
        updated(begun, { $set: { state: "running", token, process: thisProcess, due: dateOf(now + lockTime) } }, now)
    ).pipe(
      Effect.andThen(Effect.sync(() => {
        for (const claim of begun) claim.token = token
      })),
      // It is stored later, or with the end.
      Effect.catchCause((cause) => {
        for (const claim of begun) unstored.add(claim)
        return Effect.logWarning("Can't store the begin of a job", cause)
      }),
      Effect.ensuring(Effect.sync(() => {
        for (const claim of begun) claim.writing = undefined
        writing.openUnsafe()
      })),
      Effect.uninterruptible
    )
  }

  // Work that is done makes room for other work at once, so its end is stored beside that, with all that has changed meanwhile.
  const changed = yield* Queue.bounded<Claim>(maxUnstored)

  // It keeps the locks of all, and begins before whoever takes, so that it ends after them.
  yield* isHolding.await.pipe(
    Effect.andThen(Effect.sleep(lockTime / 3)),
    Effect.andThen(Clock.currentTimeMillis),
    Effect.flatMap((now) => updated([...held].filter(hasToken), { $set: { due: dateOf(now + lockTime) } }, now)),
    Effect.catchCause((cause) => Effect.logWarning("Can't keep the locks of jobs", cause)),
    Effect.andThen(Effect.suspend(() => {
      const again = [...unstored]
      unstored.clear()
      return Queue.offerAll(changed, again)
    })),
    Effect.andThen(Effect.sync(() => {
      if (held.size === 0) isHolding.closeUnsafe()
    })),
    Effect.forever,
    Effect.forkScoped
  )

  const storeAll = (changed: ReadonlyArray<Claim>) =>
    Effect.suspend(() => {
      const claims = [...new Set(changed)]
      const ended = claims.filter(({ ending }) => ending === "done")
      return Effect.all([storeBegun(claims), ended.length === 0 ? Effect.void : storeDone(ended)], {
        concurrency: "unbounded",
        discard: true
      })
    })
  // Whoever waits for room has it then.
  const storeRest: Effect.Effect<void> = Effect.flatMap(
    Queue.clear(changed),
    (claims) => claims.length === 0 ? Effect.void : Effect.andThen(storeAll(claims), storeRest)
  )
  yield* Effect.addFinalizer(() => storeRest)
  yield* Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(Queue.takeAll(changed)), storeAll)).pipe(
    Effect.forever,
    Effect.forkScoped
  )

  const done = (claim: Claim) =>
    Effect.suspend(() => {
      claim.ending = "done"
      return isClosed() ? Effect.andThen(written(claim), storeDone([claim])) : Queue.offer(changed, claim)
    })

  const retry = (claim: Claim, delay: Duration.Duration, cause: Cause.Cause<unknown>) =>
    settleOne(claim, (now) => ({
      $set: { state: "waiting", due: dateOf(now + Duration.toMillis(delay)), failure: failureOf(cause) },
      $unset: unlocked
    }), true)

  const bury: Outcomes["bury"] = (claim, cause, isAttempt = true) =>
    settleOne(claim, (now) => ({
      $set: { state: "dead", ended: dateOf(now), failure: failureOf(cause) },
      $unset: { ...unlocked, due: "" },
      ...!isAttempt && { $inc: { attempts: -1 } }
    }), false)

  const giveBack: Outcomes["giveBack"] = (claims) =>
    // Of those that need no write, the first one comes first again.
    Effect.forEach(claims.toReversed(), (claim) =>
      Effect.suspend(() => {
        claim.ending = "otherwise"
        return written(claim)
      }).pipe(Effect.andThen(Effect.suspend(() => {
        if (hasToken(claim) || claim.isLost) {
          return settle(
            [claim],
            () => givenBack(claim.due),
            true
          )
        }
        held.delete(claim)
        unstored.delete(claim)
        makeReady(localQueue(store, claim.queue), { ...claim, attempts: claim.attempts - 1 }, true)
        return Effect.void
      }))), { concurrency: 16, discard: true })

  return {
    hold,
    begin: (claim) => {
      hold(claim)
      return hasToken(claim) ? Effect.void : Queue.offer(changed, claim)
    },
    bury,
    giveBack,
    end: (claim, exit, { maxAttempts, retryDelay }) => {
      if (Exit.isSuccess(exit)) return done(claim)
      const undecodable = deadLetterIn(exit.cause)
      const cause = undecodable ?? exit.cause
      if (Cause.hasInterruptsOnly(cause)) return giveBack([claim])
      // Another release of the service may decode it, which runs beside this one or replaces it.
      const next = claim.attempts >= maxAttempts
        ? bury(claim, cause)
        : Effect.flatMap(retryDelay(claim.attempts), (delay) => retry(claim, delay, cause))
      if (undecodable === undefined) return next
      const attributes = { queue: claim.queue, id: claim.key }
      return Effect.andThen(
        Effect.annotateLogs(Effect.logWarning("A job can't be decoded", undecodable), attributes),
        next
      )
    }
  }
})

// internal

const hasToken = ({ token }: Claim): boolean => token !== undefined

/** Waits until the proof of a record is stored, if that has begun. */
const written = ({ writing }: Claim): Effect.Effect<void> => writing?.await ?? Effect.void

const unlocked = { token: "", process: "" }

/** The change of a record that is given back, for which it was no attempt. */
export const givenBack = (due: Date): Update => ({
  $set: { state: "waiting", due },
  $inc: { attempts: -1 },
  $unset: unlocked
})

const failureOf = (cause: Cause.Cause<unknown>): string => Cause.pretty(cause).slice(0, maxFailure)

const maxFailure = 4_000

/** How many changes are not stored yet, before further ones wait for that. */
const maxUnstored = 256

/** Why the factory can't decode an element: a signal that it sends by the cause. */
const deadLetterIn = (cause: Cause.Cause<unknown>): Cause.Cause<unknown> | undefined => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason) && isDeadLetter(reason.error)) return reason.error.cause
  }
  return undefined
}

const isDeadLetter = (error: unknown): error is { readonly cause: Cause.Cause<unknown> } =>
  Predicate.isTagged(error, "~effect/persistence/PersistedQueue/DeadLetter")
