/**
 * Effect's queue on our stores: its `PersistedQueueStore`, one for all of them. An offer is one write of the fiber that makes it, so
 * it is part of that fiber's transaction. A claim moves a record's `due` to the end of a lock, which is moved on while the work
 * lasts; whoever comes after the end takes the record, and what the earlier one says of it then has no effect.
 *
 * In a store that one process alone has, a new record that somebody here waits for is stored as claimed, so that it waits for the disk
 * once.
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
  type LocalQueue,
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

  let isClosed = false

  /** Tells who waits that there may be something to take. */
  const wakeOf = (claims: ReadonlyArray<Taken>) =>
    Effect.forEach(new Set(claims.map(({ queue }) => queue)), (queue) => wake(store, queue), { discard: true })

  /** Stores what has become of records. */
  const settle = (claims: ReadonlyArray<Taken>, change: (now: number) => Update) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => updated(claims, withoutLock(change(now)))).pipe(
      Effect.retry({
        schedule: Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: lockTime })),
        while: () => !isClosed
      }),
      // The lock ends, and the job is done once more.
      Effect.catchCause((cause) =>
        Effect.andThen(Effect.logWarning("Can't store the end of a job", cause), wakeOf(claims))
      ),
      Effect.ensuring(Effect.sync(() => {
        for (const claim of claims) {
          held.delete(claim)
          localQueue(store, claim.queue).settled.openUnsafe()
        }
      }))
    )

  // Work that is done makes room for other work at once, so its end is stored beside that, of all which have ended meanwhile.
  const done = yield* Queue.bounded<Taken>(maxUnstored)
  const storeDone = (claims: ReadonlyArray<Taken>) =>
    settle(claims, (now) => ({ $set: { state: "done", ended: dateOf(now) }, $unset: { due: "" } }))
  // Whoever waits for room has it then.
  const storeRest: Effect.Effect<void> = Effect.flatMap(
    Queue.clear(done),
    (claims) => claims.length === 0 ? Effect.void : Effect.andThen(storeDone(claims), storeRest)
  )
  yield* Effect.addFinalizer(() => storeRest)
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
    Effect.ensuring(
      settle(claims, (now) => ({ $set: { state: "waiting", due: dateOf(now) }, $inc: { attempts: -1 } })),
      wakeOf(claims)
    )

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
      // If others were faster with all of these, there may be more.
      if (claims.length > 0) {
        isHolding.openUnsafe()
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

  const runClaims = Effect.runForkWith(yield* Effect.context())
  const takings = new Map<string, Taking>()
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.forEach(takings, ([name, own]) => {
      const local = localQueue(store, name)
      if (local.handOver === own.handOver) local.handOver = undefined
      local.claimers.splice(local.claimers.indexOf(own), 1)
      return (own.claiming === undefined ? Effect.void : Fiber.interrupt(own.claiming)).pipe(
        Effect.andThen(keepReady(own, 0)),
        Effect.andThen(Queue.shutdown(own.ready))
      )
    }, { concurrency: "unbounded", discard: true })
  })

  /** Gives back what is ready, but for so many of the first. */
  const keepReady = ({ ready }: Taking, count: number) =>
    Effect.suspend(() =>
      Queue.sizeUnsafe(ready) <= count ? Effect.void : Effect.flatMap(Queue.clear(ready), (results) => {
        Queue.offerAllUnsafe(ready, results.slice(0, count))
        return giveBack(results.slice(count).flatMap((exit) => Exit.isSuccess(exit) ? [exit.value] : []))
      })
    )

  /** Claims once for all who wait for a record of a queue. */
  const claimMore = (name: string, own: Taking) => {
    const local = localQueue(store, name)
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* restore(own.wanted.await)
        own.wanted.closeUnsafe()
        if (local.claimers.length > 1 && local.claimers.at(-1) === own) yield* Effect.yieldNow
        const limit = missing(own)
        if (limit === 0) return
        local.claimers.push(...local.claimers.splice(local.claimers.indexOf(own), 1))
        if (isAlone && !local.isRecovered) {
          yield* recover(name)
          local.isRecovered = true
        }
        local.wake.closeUnsafe()
        const { wakes } = local
        own.coming = 0
        own.given = 0
        const claims = yield* claim(name, own.maxAttempts, limit)
        own.isBehind = claims.length === limit
        Queue.offerAllUnsafe(own.ready, claims.map(Exit.succeed))
        // What was claimed for those who have gone, and not for those who were given another one, is for others.
        if (claims.length > 0) yield* keepReady(own, own.waiting + own.given)
        else if (local.wakes === wakes) yield* restore(Effect.raceFirst(local.wake.await, pause(name)))
        own.wanted.openUnsafe()
      }).pipe(
        Effect.catchCause((cause) =>
          isClosed ? Effect.failCause(cause) : Effect.sync(() => {
            Queue.offerAllUnsafe(own.ready, Arr.makeBy(missing(own), () => Exit.failCause(cause)))
          })
        )
      )
    )
  }

  /** Has a new record stored as claimed, if no other is known to be due and somebody waits for one. */
  const handOver = (own: Taking, now: number): HandOver | undefined => {
    if (own.isBehind || Queue.sizeUnsafe(own.ready) + own.coming >= own.waiting) return undefined
    own.coming++
    const taken = { token: thisStore, attempts: 1, due: soon(now) }
    return {
      fields: { ...taken, state: "running", process: thisProcess, taken: dateOf(now) },
      give: (record) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const claim = { ...record, ...taken }
          held.add(claim)
          own.coming = Math.max(0, own.coming - 1)
          // A transaction may have lasted until somebody else may take it.
          if (isClosed || claim.due.getTime() - now < lockTime / 2) return giveBack([claim])
          own.given++
          isHolding.openUnsafe()
          Queue.offerUnsafe(own.ready, Exit.succeed(claim))
          return Effect.void
        })
    }
  }

  const takingOf = (name: string, maxAttempts: number): Effect.Effect<Taking> => {
    const known = takings.get(name)
    return known === undefined
      ? Effect.map(
        Queue.unbounded<Exit.Exit<Claim, StoreError>>(),
        (ready) => takings.get(name) ?? makeTaking(name, maxAttempts, ready)
      )
      : Effect.succeed(known)
  }

  const makeTaking = (name: string, maxAttempts: number, ready: Taking["ready"]): Taking => {
    const own: Taking = {
      maxAttempts,
      ready,
      wanted: Latch.makeUnsafe(false),
      // A record that was not begun when its process was killed must not have used its only attempt.
      handOver: isAlone && maxAttempts > 1 ? (now) => handOver(own, now) : undefined,
      claiming: undefined,
      waiting: 0,
      coming: 0,
      given: 0,
      isBehind: true
    }
    takings.set(name, own)
    localQueue(store, name).claimers.push(own)
    // It ends after those who take, who may be added to the scope at any time.
    own.claiming = runClaims(Effect.forever(claimMore(name, own)))
    if (own.handOver !== undefined) localQueue(store, name).handOver = own.handOver
    return own
  }

  const next = (own: Taking, restore: Restore): Effect.Effect<Claim, StoreError> =>
    Effect.suspend(() => {
      own.waiting++
      if (missing(own) > 0) own.wanted.openUnsafe()
      return restore(Queue.take(own.ready))
    }).pipe(
      Effect.onExit((exit) => {
        own.waiting--
        // Whoever no longer waits leaves nothing: others have it at once, and it was no attempt.
        return Exit.isSuccess(exit) ? Effect.void : Effect.suspend(() => keepReady(own, own.waiting))
      }),
      Effect.flatten
    )

  const take: Port["take"] = ({ maxAttempts, name, retryDelay }) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => isClosed ? Effect.interrupt : takingOf(name, maxAttempts)).pipe(
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
              Effect.ensuring(
                settle([claim], (now) => ({
                  $set: {
                    state: "waiting",
                    due: dateOf(now + Duration.toMillis(delay)),
                    failure: failureOf(exit.cause)
                  }
                })),
                wakeOf([claim])
              ))
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
  readonly ready: Queue.Queue<Exit.Exit<Claim, StoreError>>
  /** Opened when more is to be claimed. */
  readonly wanted: Latch.Latch
  claiming: Fiber.Fiber<unknown, unknown> | undefined
  readonly handOver: LocalQueue["handOver"]
  waiting: number
  /** Of new records that are stored as claimed, about how many are not ready yet: some are rolled back. */
  coming: number
  /** How many of them have become ready since the last claim began. */
  given: number
  /** Whether more may be due than was claimed at the last time. */
  isBehind: boolean
}

/** How many records are to be claimed. */
const missing = ({ ready, waiting }: Taking): number => Math.max(0, waiting - Queue.sizeUnsafe(ready))

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
