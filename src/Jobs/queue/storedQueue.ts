/**
 * Effect's queue on our stores: its `PersistedQueueStore`, one for all of them. An offer is one write of the fiber that makes it, so
 * it is part of that fiber's transaction. A claim moves a record's `due` to the end of a lock, which is moved on while the work
 * lasts; whoever comes after the end takes the record, and what the earlier one says of it then has no effect.
 *
 * In a store that one process alone has, two things save waits for the disk. Records that will be taken within some milliseconds are
 * claimed ahead, and a new record that somebody here can have at once is stored as claimed.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { Document, DocumentStore, Update } from "../../Repository/DocumentStore.ts"
import { afterCommit } from "../../Repository/internal.ts"
import type { ReadError, StoreError } from "../../Repository/RepositoryError.ts"
import {
  earlierIndexes,
  type HandOver,
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
    const due = now + (delay === undefined ? 0 : Duration.toMillis(delay))
    const base = { _id: jobIdOf(name, id), queue: name, key: id, element: JSON.stringify(element) }
    const isPlain = !isCustomId && due === now
    const handOver = isPlain ? localQueue(store, name).handOver?.(now) : undefined
    const { _id, ...record } = {
      ...base,
      state: "waiting",
      attempts: 0,
      created: dateOf(now),
      due: dateOf(due),
      ...handOver?.fields
    }
    // A second offer of a key is no failure, with which a transaction would end.
    const written = isCustomId
      ? store.updateOne(queuedJobs, { _id }, { $setOnInsert: record }, { upsert: true }).pipe(
        Effect.catchTag("DuplicateKey", () => Effect.void)
      )
      : store.insertOne(queuedJobs, { _id, ...record })
    return handOver === undefined
      ? Effect.andThen(written, afterCommit(wake(store, name)))
      // Nobody else would take what is stored as taken before the end of its lock.
      : Effect.uninterruptible(Effect.andThen(written, afterCommit(handOver.give(base))))
  })

/** The queues of a store for those who take from them, until the scope closes. */
export const makeQueueStore = Effect.fnUntraced(function*(
  store: Store,
  { lock = "30 seconds", poll = "1 second" }: QueueOptions = {}
): Effect.fn.Return<Port, StoreError, Scope.Scope> {
  yield* store.createIndexes(queuedJobs, recordIndexes)
  yield* store.dropIndexes(queuedJobs, earlierIndexes)
  const lockTime = Duration.toMillis(lock)
  const thisStore = randomUUID()
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
      Effect.catchCause((cause) => Effect.logWarning("Can't store the end of a job", cause)),
      Effect.ensuring(Effect.sync(() => {
        for (const claim of claims) {
          held.delete(claim)
          const { settled, wake } = localQueue(store, claim.queue)
          wake.openUnsafe()
          settled.openUnsafe()
        }
      }))
    )

  // Work that is done makes room for other work at once, so its end is stored beside that, of all which have ended meanwhile.
  const done = yield* Queue.bounded<Taken>(maxUnstored)
  const storeDone = (claims: ReadonlyArray<Taken>) =>
    settle(claims, (now) => ({ $set: { state: "done", ended: dateOf(now) }, $unset: { due: "" } }))
  yield* Effect.addFinalizer(() => Effect.flatMap(Queue.clear(done), storeDone))
  yield* Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(Queue.takeAll(done)), storeDone)).pipe(
    Effect.forever,
    Effect.forkScoped
  )

  const bury = (claim: Taken, cause: Cause.Cause<unknown>, attempts = claim.attempts) =>
    settle([claim], (now) => ({
      $set: { state: "dead", attempts, ended: dateOf(now), failure: failureOf(cause) },
      $unset: { due: "" }
    }))

  const giveBack = (claims: ReadonlyArray<Claim>) =>
    settle(claims, (now) => ({ $set: { state: "waiting", due: dateOf(now) }, $inc: { attempts: -1 } }))

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
          const claim = { ...record.success, token }
          // Its lock is kept until its end is stored, also while the process stops.
          held.add(claim)
          claims.push(claim)
        }
      }
      if (claims.length > 0) isHolding.openUnsafe()
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

  const takings = new Map<string, Taking>()
  let isClosed = false
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.forEach(takings, ([name, own]) => {
      localQueue(store, name).handOver = undefined
      const ended = own.claiming === undefined ? Effect.void : Fiber.interrupt(own.claiming)
      return Effect.andThen(ended, keepReady(own, 0))
    }, { discard: true })
  })

  /** Gives back what is ready, but for so many of the first. */
  const keepReady = ({ ready }: Taking, count: number) =>
    Effect.suspend(() =>
      Queue.sizeUnsafe(ready) <= count ? Effect.void : Effect.flatMap(Queue.clear(ready), (results) => {
        Queue.offerAllUnsafe(ready, results.slice(0, count))
        return giveBack(Arr.getSuccesses(results.slice(count)))
      })
    )

  /** Whoever no longer waits leaves nothing that was claimed for him: others have it at once, and it was no attempt. */
  const leaveNone = (own: Taking) => Effect.suspend(() => keepReady(own, own.waiting + own.ahead))

  /** Claims once for all who take from a queue, when there is less than they want. */
  const claimMore = (name: string, own: Taking) => {
    const local = localQueue(store, name)
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* restore(own.wanted.await)
        own.wanted.closeUnsafe()
        if (missing(own) === 0) return
        if (isAlone && !local.isRecovered) {
          yield* recover(name)
          local.isRecovered = true
        }
        if (isAlone) measure(own, yield* Clock.currentTimeMillis)
        local.wake.closeUnsafe()
        const limit = missing(own)
        own.coming = 0
        const claims = yield* claim(name, own.maxAttempts, limit)
        own.isBehind = claims.length === limit
        Queue.offerAllUnsafe(own.ready, claims.map(Result.succeed))
        yield* claims.length > 0 ? leaveNone(own) : restore(Effect.raceFirst(local.wake.await, pause(name)))
        own.wanted.openUnsafe()
      }).pipe(
        Effect.catch((error) =>
          Effect.sync(() => {
            Queue.offerAllUnsafe(own.ready, Arr.makeBy(own.waiting, () => Result.fail(error)))
          })
        )
      )
    )
  }

  /** Has a new record stored as claimed, if no other is due and somebody can have it at once. */
  const handOver = (own: Taking, now: number): HandOver | undefined => {
    measure(own, now)
    if (Queue.sizeUnsafe(own.ready) + own.coming >= own.waiting + own.ahead) return undefined
    own.coming++
    const taken = { token: thisStore, attempts: 1, due: soon(now) }
    return {
      fields: { ...taken, state: "running", process: thisProcess, taken: dateOf(now) },
      give: (record) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const claim = { ...record, ...taken }
          held.add(claim)
          // A transaction may have lasted until somebody else may take it.
          if (isClosed || claim.due.getTime() - now < lockTime / 2) return giveBack([claim])
          own.coming = Math.max(0, own.coming - 1)
          isHolding.openUnsafe()
          Queue.offerUnsafe(own.ready, Result.succeed(claim))
          return Effect.void
        })
    }
  }

  const takingOf = (name: string, maxAttempts: number) =>
    Effect.suspend(() => {
      const known = takings.get(name)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(makeTaking(maxAttempts), (own) => {
        takings.set(name, own)
        const local = localQueue(store, name)
        if (isAlone) local.handOver = (now) => !own.isBehind ? handOver(own, now) : undefined
        // It ends after those who take, which may be added to the scope at any time.
        return Effect.map(Effect.forkDetach(Effect.forever(claimMore(name, own))), (fiber) => {
          own.claiming = fiber
        })
      })
    })

  const next = (own: Taking, restore: Restore): Effect.Effect<Claim, StoreError> =>
    Effect.suspend(() => {
      own.waiting++
      if (missing(own) > 0) own.wanted.openUnsafe()
      return restore(Queue.take(own.ready))
    }).pipe(
      Effect.onExit((exit) => {
        own.waiting--
        own.taken++
        return Exit.isSuccess(exit) ? Effect.void : leaveNone(own)
      }),
      Effect.flatMap(Effect.fromResult)
    )

  const take: Port["take"] = ({ maxAttempts, name, retryDelay }) =>
    Effect.uninterruptibleMask((restore) =>
      takingOf(name, maxAttempts).pipe(
        Effect.flatMap((own) => next(own, restore)),
        failing("Can't take a job"),
        Effect.flatMap((claim) => {
          const element = Result.try(() => JSON.parse(claim.element) as unknown)
          // A text that is no JSON never becomes any.
          if (Result.isFailure(element)) {
            return Effect.andThen(bury(claim, Cause.die(element.failure)), take({ maxAttempts, name, retryDelay }))
          }
          const ended = (exit: Exit.Exit<unknown, unknown>) => {
            if (Exit.isSuccess(exit)) return isClosed ? storeDone([claim]) : Queue.offer(done, claim)
            const undecodable = deadLetterIn(exit.cause)
            if (undecodable !== undefined) {
              const attributes = { queue: claim.queue, id: claim.key }
              return Effect.andThen(
                Effect.annotateLogs(Effect.logWarning("A job can't be decoded", undecodable), attributes),
                bury(claim, undecodable)
              )
            }
            if (Cause.hasInterruptsOnly(exit.cause)) return giveBack([claim])
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
          return Effect.as(
            Effect.addFinalizer(ended),
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
interface Taking {
  readonly maxAttempts: number
  /** What is claimed, or why nothing can be. */
  readonly ready: Queue.Queue<Result.Result<Claim, StoreError>>
  /** Opened when more is to be claimed. */
  readonly wanted: Latch.Latch
  claiming: Fiber.Fiber<unknown> | undefined
  waiting: number
  /** How many are claimed before somebody waits for them. */
  ahead: number
  /** How many were taken since the last claim, and when that was. */
  taken: number
  claimed: number
  /** Of new records that are stored as taken, how many are not ready yet. */
  coming: number
  /** Whether more may be due than was claimed at the last time. */
  isBehind: boolean
}

const makeTaking = (maxAttempts: number): Effect.Effect<Taking> =>
  Effect.map(Queue.unbounded<Result.Result<Claim, StoreError>>(), (ready) => ({
    maxAttempts,
    ready,
    wanted: Latch.makeUnsafe(false),
    claiming: undefined,
    waiting: 0,
    ahead: 0,
    taken: 0,
    claimed: 0,
    coming: 0,
    isBehind: true
  }))

/** How many records are to be claimed. */
const missing = ({ ahead, ready, waiting }: Taking): number => {
  const size = Queue.sizeUnsafe(ready)
  return size < waiting || size < ahead / 2 ? waiting + ahead - size : 0
}

/** Sees how many are taken in a time that is too short to matter, so that those can be claimed ahead. */
const measure = (own: Taking, now: number): void => {
  const elapsed = now - own.claimed
  if (elapsed < aheadMillis) return
  own.ahead = Math.min(maxAhead, Math.floor(own.taken * aheadMillis / elapsed))
  own.taken = 0
  own.claimed = now
}

const aheadMillis = 20
const maxAhead = 256

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

/** How many ends of work are not stored yet, before further ones wait for that. */
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
