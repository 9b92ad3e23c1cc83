/**
 * Effect's queue on our stores: its `PersistedQueueStore`, one for all of them. An offer is one write of the fiber that makes it, so
 * it is part of that fiber's transaction. A claim moves a record's `due` to the end of a lock, which is moved on while the work
 * lasts; whoever comes after the end takes the record, and what the earlier one says of it then has no effect.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { randomUUID } from "node:crypto"
import type { Document, DocumentStore, Update } from "../../Repository/DocumentStore.ts"
import { afterCommit } from "../../Repository/internal.ts"
import type { ReadError, StoreError } from "../../Repository/RepositoryError.ts"
import {
  earlierIndexes,
  jobIdOf,
  localQueue,
  pending,
  queuedJobs,
  recordIndexes,
  thisProcess,
  wake
} from "./records.ts"

type Store = DocumentStore["Service"]

type Port = PersistedQueue.PersistedQueueStore["Service"]

/** How a process takes records. */
export interface QueueOptions {
  /** How long a process has a record without a sign of life. Defaults to 30 seconds. */
  readonly lock?: Duration.Input | undefined
  /** How often others are asked for, in a store that several processes use. Defaults to a second. */
  readonly poll?: Duration.Input | undefined
}

/** Adds a record to a queue. It needs nothing that runs, so that whoever has the store can offer. */
export const offerRecord = (
  store: Store,
  { delay, element, id, isCustomId, name }: Parameters<Port["offer"]>[0]
): Effect.Effect<void, StoreError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const _id = jobIdOf(name, id)
    const record = {
      queue: name,
      key: id,
      element: JSON.stringify(element),
      state: "waiting",
      attempts: 0,
      created: dateOf(now),
      due: dateOf(now + (delay === undefined ? 0 : Duration.toMillis(delay)))
    }
    // A second offer of a key is no failure, with which a transaction would end.
    const written = isCustomId
      ? store.updateOne(queuedJobs, { _id }, { $setOnInsert: record }, { upsert: true }).pipe(
        Effect.catchTag("DuplicateKey", () => Effect.void)
      )
      : store.insertOne(queuedJobs, { _id, ...record })
    return Effect.andThen(written, afterCommit(wake(store, name)))
  })

/** The queues of a store for those who take from them, until the scope closes. */
export const makeQueueStore = Effect.fnUntraced(function*(
  store: Store,
  { lock = "30 seconds", poll = "1 second" }: QueueOptions = {}
): Effect.fn.Return<Port, StoreError, Scope.Scope> {
  yield* store.createIndexes(queuedJobs, recordIndexes)
  yield* store.dropIndexes(queuedJobs, earlierIndexes)
  const lockTime = Duration.toMillis(lock)
  // Only the embedded store is serializable, and one process alone has it: nobody else offers, and all that is due is known.
  const isAlone = store.isolation === "serializable"
  const soon = (now: number) => dateOf(now + lockTime)

  /** Changes records, except for those whose lock has ended and that somebody else has taken. */
  const updated = (claims: Iterable<Taken>, update: Update) =>
    Effect.forEach(
      Map.groupBy(claims, ({ token }) => token),
      ([token, all]) =>
        rejectDuplicateKey(
          "jobs",
          store.updateMany(queuedJobs, { _id: { $in: all.map(({ _id }) => _id) }, token }, update)
        ),
      { concurrency: "unbounded", discard: true }
    )

  /** What this process works on. */
  const held = new Set<Taken>()
  const isHolding = Latch.makeUnsafe(false)

  // It keeps the locks of all, and begins before whoever takes, so that it ends after them.
  yield* isHolding.await.pipe(
    Effect.andThen(Effect.sleep(lockTime / 3)),
    Effect.andThen(Clock.currentTimeMillis),
    Effect.flatMap((now) => updated(held, { $set: { due: soon(now) } })),
    Effect.catchCause((cause) => Effect.logWarning("Can't keep the locks of jobs", cause)),
    Effect.andThen(Effect.sync(() => {
      if (held.size === 0) isHolding.closeUnsafe()
    })),
    Effect.forever,
    Effect.forkScoped
  )

  /** Says what has become of records. */
  const settle = (claims: ReadonlyArray<Taken>, change: (now: number) => Update) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => updated(claims, withoutLock(change(now)))).pipe(
      Effect.retry(Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: lockTime }))),
      // The lock ends, and the job is done once more.
      Effect.catch((error) => Effect.logWarning("Can't store the end of a job", error)),
      Effect.ensuring(Effect.sync(() => {
        for (const claim of claims) {
          held.delete(claim)
          const { settled, wake } = localQueue(store, claim.queue)
          wake.openUnsafe()
          settled.openUnsafe()
        }
      }))
    )

  const storing = Semaphore.makeUnsafe(1)
  let batch: { readonly claims: Array<Taken>; readonly stored: Deferred.Deferred<void> } | undefined

  /** Stores the end of work. Of those who have done theirs meanwhile, the first does so for all. */
  const finish = (claim: Taken) =>
    Effect.suspend(() => {
      if (batch !== undefined) {
        batch.claims.push(claim)
        return Deferred.await(batch.stored)
      }
      const { claims, stored } = batch = { claims: [claim], stored: Deferred.makeUnsafe<void>() }
      return storing.withPermit(Effect.suspend(() => {
        batch = undefined
        return settle(claims, (now) => ({ $set: { state: "done", ended: dateOf(now) }, $unset: { due: "" } }))
      })).pipe(Effect.onExit((exit) => Deferred.done(stored, exit)))
    })

  const bury = (claim: Taken, cause: Cause.Cause<unknown>, attempts = claim.attempts) =>
    settle([claim], (now) => ({
      $set: { state: "dead", attempts, ended: dateOf(now), failure: failureOf(cause) },
      $unset: { due: "" }
    }))

  const giveBack = (claim: Claim) =>
    settle([claim], (now) => ({ $set: { state: "waiting", due: dateOf(now) }, $inc: { attempts: -1 } }))

  /** Takes up to so many records that are due. Of several processes that find the same ones, one gets each. */
  const claim = Effect.fnUntraced(function*(
    name: string,
    maxAttempts: number,
    limit: number
  ): Effect.fn.Return<Array<Claim>, StoreError> {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const due = { queue: name, due: { $lte: dateOf(now) }, ...pending }
      const read = isAlone ? {} : { projection: { _id: 1 } }
      const found = yield* store.find(queuedJobs, { filter: due, sort: { due: 1 }, limit, ...read })
      if (found.length === 0) return []
      const token = randomUUID()
      const ids = { _id: { $in: found.map(({ _id }) => _id) } }
      const { matchedCount } = yield* store.updateMany(queuedJobs, { ...ids, ...due }, {
        $set: { state: "running", token, process: thisProcess, due: soon(now) },
        $inc: { attempts: 1 },
        $min: { taken: dateOf(now) }
      })
      // Nobody else takes them from this process, so that they are as they were found.
      const taken: ReadonlyArray<Document> = isAlone && matchedCount === found.length
        ? found.map((document) => ({ ...document, attempts: Number(document["attempts"]) + 1, due: soon(now) }))
        : yield* store.find(queuedJobs, { filter: { ...ids, token } })
      const claims: Array<Claim> = []
      for (const document of taken) {
        const record = decodeRecord(document)
        if (Result.isFailure(record)) {
          // Nobody can do it, and the others of the write are no worse for it.
          yield* bury({ _id: document["_id"], token, queue: name, attempts: 1 }, Cause.fail("It is no record of a job"))
        } else if (record.success.attempts > maxAttempts) {
          const claim = { ...record.success, token }
          yield* bury(claim, Cause.fail("The process ended during the last attempt"), maxAttempts)
        } else {
          claims.push({ ...record.success, token })
        }
      }
      // If others were faster with all of these, there may be more.
      if (claims.length > 0) {
        return claims.toSorted((one, other) => ids._id.$in.indexOf(one._id) - ids._id.$in.indexOf(other._id))
      }
    }
  })

  /** Gives back what an earlier process had taken of a store that only one process has. */
  const recover = (name: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      store.updateMany(
        queuedJobs,
        { queue: name, due: { $gt: dateOf(now) }, state: "running", process: { $ne: thisProcess } },
        withoutLock({ $set: { state: "waiting", due: dateOf(now) } })
      ))

  /** Waits after nothing was found, until the next record is due or others may have offered one. */
  const pause = Effect.fnUntraced(function*(name: string): Effect.fn.Return<void, ReadError> {
    if (!isAlone) return yield* Effect.sleep(poll)
    // One may have become due since it was looked for.
    const [next] = yield* store.find(queuedJobs, {
      filter: { queue: name, due: { $gt: dateOf(0) }, ...pending },
      sort: { due: 1 },
      limit: 1
    })
    const now = yield* Clock.currentTimeMillis
    return yield* next === undefined ? Effect.never : Effect.sleep(Math.max(0, Number(next["due"]) - now))
  })

  const takers = new Map<string, Takers>()

  /** Of those who take from a queue, one looks for all who wait. */
  const next = (name: string, maxAttempts: number, restore: Restore): Effect.Effect<Claim, StoreError> => {
    const own = getOrMake(takers, name, () => ({ turn: Semaphore.makeUnsafe(1), ready: [], waiting: 0 }))
    const local = localQueue(store, name)
    const look = Effect.gen(function*() {
      for (;;) {
        const claimed = own.ready.shift()
        // One that nobody came for in time may be somebody else's soon.
        if (claimed !== undefined) {
          if (claimed.due.getTime() - (yield* Clock.currentTimeMillis) > lockTime / 2) return claimed
          yield* giveBack(claimed)
          continue
        }
        if (isAlone && !local.isRecovered) {
          yield* recover(name)
          local.isRecovered = true
        }
        local.wake.closeUnsafe()
        const [first, ...others] = yield* claim(name, maxAttempts, own.waiting)
        own.ready = others
        if (first !== undefined) return first
        yield* restore(Effect.raceFirst(local.wake.await, pause(name)))
      }
    })
    // Whoever no longer waits leaves nothing that was claimed for him: others have it at once, and it was no attempt.
    const leave = Effect.suspend(() => {
      own.waiting--
      return Effect.forEach(own.ready.splice(own.waiting), (claim) => giveBack(claim), { discard: true })
    })
    return Effect.suspend(() => {
      own.waiting++
      return restore(own.turn.take(1))
    }).pipe(
      Effect.andThen(Effect.ensuring(look, own.turn.release(1))),
      Effect.ensuring(leave)
    )
  }

  const take: Port["take"] = ({ maxAttempts, name, retryDelay }) =>
    Effect.uninterruptibleMask((restore) =>
      next(name, maxAttempts, restore).pipe(
        failing("Can't take a job"),
        Effect.flatMap((claim) => {
          const element = Result.try(() => JSON.parse(claim.element) as unknown)
          // A text that is no JSON never becomes any.
          if (Result.isFailure(element)) {
            return Effect.andThen(bury(claim, Cause.die(element.failure)), take({ maxAttempts, name, retryDelay }))
          }
          const ended = (exit: Exit.Exit<unknown, unknown>) => {
            if (Exit.isSuccess(exit)) return finish(claim)
            const undecodable = deadLetterIn(exit.cause)
            if (undecodable !== undefined) {
              const attributes = { queue: claim.queue, id: claim.key }
              return Effect.andThen(
                Effect.annotateLogs(Effect.logWarning("A job can't be decoded", undecodable), attributes),
                bury(claim, undecodable)
              )
            }
            if (Cause.hasInterruptsOnly(exit.cause)) return giveBack(claim)
            if (claim.attempts >= maxAttempts) return bury(claim, exit.cause)
            return Effect.flatMap(retryDelay(claim.attempts), (delay) =>
              settle([claim], (now) => ({
                $set: {
                  state: "waiting",
                  due: dateOf(now + Duration.toMillis(delay)),
                  failure: failureOf(exit.cause)
                }
              })))
          }
          // It ends after what is added after it: the lock is kept until the end is stored, also while the process stops.
          held.add(claim)
          isHolding.openUnsafe()
          const released = Effect.sync(() => held.delete(claim))
          return Effect.as(
            Effect.addFinalizer((exit) => Effect.ensuring(ended(exit), released)),
            { id: claim.key, attempts: claim.attempts, element: element.success }
          )
        })
      )
    )

  return {
    offer: (offered) => failing("Can't store the job")(offerRecord(store, offered)),
    take,
    cleanup: ({ failedTimeToLive, timeToLive }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const ended = (state: string, time: Duration.Duration) =>
          store.deleteMany(queuedJobs, { state, ended: { $lte: dateOf(now - Duration.toMillis(time)) } })
        return Effect.andThen(
          ended("done", timeToLive),
          failedTimeToLive === undefined ? Effect.void : ended("dead", failedTimeToLive)
        )
      }).pipe(failing("Can't remove the jobs that have ended"), Effect.asVoid)
  }
})

// internal

/** Those of a process who take from one queue. */
interface Takers {
  readonly turn: Semaphore.Semaphore
  /** What is claimed for those who wait. */
  ready: Array<Claim>
  waiting: number
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A record that this process has. */
interface Taken extends Pick<typeof StoredRecord.Type, "queue" | "attempts"> {
  readonly _id: unknown
  /** The proof of it. */
  readonly token: string
}

interface Claim extends Schema.Schema.Type<typeof StoredRecord> {
  readonly token: string
}

// The element is a JSON text, so that it comes back as it was.
const StoredRecord = Schema.Struct({
  _id: Schema.String,
  queue: Schema.String,
  key: Schema.String,
  element: Schema.String,
  attempts: Schema.Int,
  due: Schema.Date
})

const decodeRecord = SchemaParser.decodeUnknownResult(StoredRecord)

const withoutLock = (update: Update): Update => ({
  ...update,
  $unset: { ...update["$unset"] as object, token: "", process: "" }
})

const failing = (message: string) =>
  Effect.mapError((cause: StoreError) => new PersistedQueue.PersistedQueueError({ message, cause }))

const failureOf = (cause: Cause.Cause<unknown>): string => Cause.pretty(cause).slice(0, maxFailure)

const maxFailure = 4_000

/** Why the factory can't decode an element: a signal that it sends by the cause. */
const deadLetterIn = (cause: Cause.Cause<unknown>): Cause.Cause<unknown> | undefined => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason) && isDeadLetter(reason.error)) return reason.error.cause
  }
  return undefined
}

const isDeadLetter = (error: unknown): error is { readonly cause: Cause.Cause<unknown> } =>
  Predicate.isTagged(error, "~effect/persistence/PersistedQueue/DeadLetter")
