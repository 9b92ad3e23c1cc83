/**
 * Effect's queue on our stores: its `PersistedQueueStore`, one for all of them. An offer is one write of the fiber that makes it, so
 * it is part of that fiber's transaction. A claim moves a record's `due` to the end of a lock, which is moved on while the work
 * lasts; whoever comes after the end takes the record, and what the earlier one says of it then has no effect.
 *
 * In a store that one process alone has, nobody else takes a record. So the job begins without a claim, unless the process may have been
 * killed by it already: then its attempt must count before it begins again.
 */
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
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { Document, DocumentStore } from "../../Repository/DocumentStore.ts"
import { afterCommit } from "../../Repository/internal.ts"
import type { ReadError, StoreError } from "../../Repository/RepositoryError.ts"
import {
  type Claim,
  handOver,
  type LocalQueue,
  localQueue,
  makeReady,
  maxReady,
  mayBegin,
  moveBack,
  readWith,
  takeReady,
  type Takers,
  wake,
  wakeUnsafe
} from "./localQueue.ts"
import { givenBack, makeOutcomes } from "./outcomes.ts"
import {
  decodeRecord,
  earlierIndexes,
  jobIdOf,
  type JobRecord,
  pending,
  queuedJobs,
  recordIndexes,
  thisProcess
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

/** In milliseconds. */
const longestSleep = 60_000

/** Adds a record to a queue. It needs nothing that runs, so that whoever has the store can offer. */
export const offerRecord = (
  store: Store,
  { delay, element, id, isCustomId, name }: Parameters<Port["offer"]>[0]
): Effect.Effect<void, StoreError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const due = now + (delay === undefined ? 0 : Duration.toMillis(delay))
    const record: JobRecord = {
      _id: jobIdOf(name, id),
      queue: name,
      key: id,
      element: JSON.stringify(element),
      attempts: 0,
      due: dateOf(due)
    }
    const stored = { ...record, state: "waiting", created: dateOf(now) }
    const { _id, ...fields } = stored
    // A second offer of a key is no failure, with which a transaction would end.
    const written = isCustomId
      ? store.updateOne(queuedJobs, { _id }, { $setOnInsert: fields }, { upsert: true }).pipe(
        Effect.map(({ upsertedId }) => upsertedId !== undefined),
        Effect.catchTag("DuplicateKey", () => Effect.succeed(false))
      )
      : Effect.as(store.insertOne(queuedJobs, stored), true)
    const give = due <= now && isAlone(store) ? handOver(store, localQueue(store, name), now) : undefined
    return Effect.asVoid(Effect.onExit(written, (exit) =>
      Exit.isSuccess(exit) && !exit.value
        ? Effect.void
        : afterCommit(give === undefined || Exit.isFailure(exit) ? wake(store, name) : give(record))))
  })

/** The queues of a store for those who take from them, until the scope closes. */
export const makeQueueStore = Effect.fnUntraced(function*(
  store: Store,
  { lock = "30 seconds", poll = "1 second" }: QueueOptions = {}
): Effect.fn.Return<Port, StoreError, Scope.Scope> {
  yield* store.createIndexes(queuedJobs, recordIndexes)
  yield* store.dropIndexes(queuedJobs, earlierIndexes)
  const lockTime = Duration.toMillis(lock)
  let isClosed = false
  const outcomes = yield* makeOutcomes(store, lockTime, () => isClosed)

  /** The claim of a record that is stored as this process's, or of one that needs no claim. One that can't be done is a dead letter. */
  const claimed = (document: Document, maxAttempts: number, token?: string) => {
    const record = decodeRecord(document)
    if (Result.isFailure(record)) {
      // Whatever it is, it is only written.
      const { _id, queue } = document
      const unknown = { _id: _id as string, queue: String(queue), key: "", element: "", attempts: 1, due: dateOf(0) }
      // Nobody can do it, and the others of the write are no worse for it.
      return Effect.as(outcomes.bury(claimOf(unknown, token), Cause.fail("It is no record of a job")), undefined)
    }
    const claim = claimOf(record.success, token)
    return claim.attempts > maxAttempts
      ? Effect.as(outcomes.bury(claim, Cause.fail("The process ended during the last attempt"), false), undefined)
      : Effect.sync(() => {
        outcomes.hold(claim)
        return claim
      })
  }

  /** Claims those of the records that nobody was faster with. */
  const claim = Effect.fnUntraced(function*(
    own: Taking,
    found: ReadonlyArray<Document>,
    now: number
  ): Effect.fn.Return<ReadonlyArray<Claim>, StoreError> {
    const token = randomUUID()
    // Their times, since what is given back keeps its own.
    const dues = new Map(found.map(({ _id, due }) => [_id, due]))
    const _id = { $in: [...dues.keys()] }
    const taken = yield* store.updateMany(
      queuedJobs,
      { _id, queue: own.local.name, due: { $lte: dateOf(now) }, ...pending },
      {
        $set: { state: "running", token, process: thisProcess, due: dateOf(now + lockTime) },
        $inc: { attempts: 1 },
        $min: { taken: dateOf(now) }
      }
    ).pipe(
      Effect.andThen(store.find(queuedJobs, { filter: { _id, token } })),
      // What this process does not know to have taken is no attempt.
      Effect.onError(() =>
        store.updateMany(queuedJobs, { _id, token }, givenBack(dateOf(now))).pipe(
          Effect.retry({ times: 3, schedule: Schedule.exponential("100 millis") }),
          Effect.ignore
        )
      )
    )
    const claims = yield* Effect.forEach(
      taken.toSorted((one, other) => _id.$in.indexOf(one["_id"]) - _id.$in.indexOf(other["_id"])),
      (document) => claimed({ ...document, due: dues.get(document["_id"]) }, own.maxAttempts, token)
    )
    return claims.filter(Predicate.isNotUndefined)
  })

  /** Gives up to so many as wait what is due. Of several processes that find the same ones, one gets each. */
  const claimWithOthers = Effect.fnUntraced(function*(own: Taking): Effect.fn.Return<boolean, StoreError> {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const found = yield* store.find(queuedJobs, {
        filter: dueOf(own.local, now),
        sort: { due: 1 },
        limit: missing(own),
        projection: { due: 1 }
      })
      if (found.length === 0) return false
      const claims = yield* claim(own, found, now)
      Queue.offerAllUnsafe(own.given, claims.map(Exit.succeed))
      // If others were faster with all of these, there may be more.
      if (claims.length > 0) return true
    }
  })

  /** Gives what is due to those who wait, and has some ready for those who come next. */
  const claimAlone = Effect.fnUntraced(function*(own: Taking): Effect.fn.Return<boolean, StoreError> {
    const { local } = own
    const now = yield* Clock.currentTimeMillis
    const { since = now, wakes } = local
    // An earlier process may have been killed by it, also one whose clock was ahead; the last attempt may not be made twice, and a lock
    // that has ended is another one's.
    const mustClaim = ({ attempts, created, state }: Document) =>
      state !== "waiting" || typeof attempts === "number" && !mayBegin({ attempts }, own) ||
      !(created instanceof Date) || created.getTime() < since || created.getTime() > now
    const limit = missing(own) + (local.isStrict ? 0 : maxReady) + local.known.size
    local.looks++
    const find = store.find(queuedJobs, { filter: dueOf(local, now), sort: { due: 1 }, limit })
    const { chosen, isAll, isFound } = yield* readWith(local, find, (found, ended) => {
      const unknown = found.filter(({ _id }) => !local.known.has(_id) && !ended.has(_id))
      // None is claimed but for somebody who waits, and none passes over another one.
      const room = missing(own)
      const end = unknown.findIndex((document, i) => i >= (mustClaim(document) ? room : room + maxReady))
      const chosen = end < 0 ? unknown : unknown.slice(0, end)
      for (const { _id } of chosen) local.known.set(_id, undefined)
      return { chosen, isAll: end < 0 && found.length < limit, isFound: unknown.length > 0 }
    })
    local.looks++
    const strict = chosen.filter(mustClaim)
    local.isStrict = strict.length > 0
    const taken = strict.length === 0 ? [] : yield* claim(own, strict, now).pipe(
      Effect.onError(() =>
        Effect.sync(() => {
          for (const { _id } of chosen) local.known.delete(_id)
          wakeUnsafe(local)
        })
      )
    )
    // From now on, new ones come directly, behind these.
    const hasAll = isAll && wakes === local.wakes
    local.isBehind = !hasAll
    if (hasAll) local.seenAll = now
    const claims = new Map<unknown, Claim>(taken.map((claim) => [claim._id, claim]))
    const broken: Array<Document> = []
    for (const document of chosen) {
      const claim = claims.get(document["_id"])
      if (claim !== undefined) Queue.offerUnsafe(own.given, Exit.succeed(claim))
      else if (mustClaim(document)) local.known.delete(document["_id"])
      else {
        const record = decodeRecord(document)
        if (Result.isSuccess(record)) makeReady(local, record.success)
        else broken.push(document)
      }
    }
    yield* Effect.forEach(broken, (document) => claimed(document, own.maxAttempts), { discard: true })
    return isFound
  })

  /** Gives back what an earlier process had taken of a store that only one process has. */
  const recover = (local: LocalQueue) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      store.updateMany(
        queuedJobs,
        { queue: local.name, due: { $gt: dateOf(now) }, state: "running", process: { $ne: thisProcess } },
        { $set: { state: "waiting", due: dateOf(now) }, $unset: { token: "", process: "" } }
      ).pipe(Effect.andThen(Effect.sync(() => {
        local.since = now
      }))))

  /** Waits after nothing was found, until the next record is due or others may have offered one. */
  const pause = Effect.fnUntraced(function*({ name, seenAll }: LocalQueue): Effect.fn.Return<void, ReadError> {
    if (!isAlone(store)) return yield* Effect.sleep(poll)
    // One may have become due since it was looked for.
    const [next] = yield* store.find(queuedJobs, {
      filter: { queue: name, due: { $gt: dateOf(seenAll) }, ...pending },
      sort: { due: 1 },
      limit: 1
    })
    if (next === undefined) return yield* Effect.never
    // A timer goes on as it was when the clock is put forward, or the machine has slept.
    for (;;) {
      const left = Number(next["due"]) - (yield* Clock.currentTimeMillis)
      if (left <= 0) return
      yield* Effect.sleep(Math.min(left, longestSleep))
    }
  })

  const runClaims = Effect.runForkWith(yield* Effect.context())
  const takings = new Map<string, Taking>()
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Effect.forEach(takings.values(), (own) => {
      const { local } = own
      local.takers.splice(local.takers.indexOf(own), 1)
      return (own.claiming === undefined ? Effect.void : Fiber.interrupt(own.claiming)).pipe(
        Effect.andThen(keepGiven(own, 0)),
        Effect.andThen(Queue.shutdown(own.given))
      )
    }, { concurrency: "unbounded", discard: true })
  })

  /** Gives back what was given to those who wait no longer: all but so many of the first. */
  const keepGiven = ({ given }: Taking, count: number) =>
    Effect.suspend(() =>
      Queue.sizeUnsafe(given) <= count ? Effect.void : Effect.flatMap(Queue.clear(given), (results) => {
        Queue.offerAllUnsafe(given, results.slice(0, count))
        return outcomes.giveBack(results.slice(count).flatMap((exit) => Exit.isSuccess(exit) ? [exit.value] : []))
      })
    )

  /** Claims once for all who wait for a record of a queue. */
  const claimMore = (own: Taking) => {
    const { local } = own
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* restore(own.wanted.await)
        own.wanted.closeUnsafe()
        if (local.takers.length > 1 && local.takers.at(-1) === own) yield* Effect.yieldNow
        if (missing(own) === 0) return
        moveBack(local, own)
        if (isAlone(store) && local.since === undefined) yield* recover(local)
        local.wake.closeUnsafe()
        const { wakes } = local
        const isGiven = isAlone(store) ? local.isBehind && (yield* claimAlone(own)) : yield* claimWithOthers(own)
        // What was claimed for those who have gone is for others.
        if (isGiven) yield* keepGiven(own, own.waiting)
        else if (local.wakes === wakes) {
          yield* restore(Effect.raceFirst(local.wake.await, pause(local)))
          local.isBehind = true
        }
        own.wanted.openUnsafe()
      }).pipe(
        Effect.catchCause((cause) =>
          isClosed ? Effect.failCause(cause) : Effect.sync(() => {
            Queue.offerAllUnsafe(own.given, Arr.makeBy(missing(own), () => Exit.failCause(cause)))
          })
        )
      )
    )
  }

  const takingOf = (name: string, maxAttempts: number): Effect.Effect<Taking> => {
    const known = takings.get(name)
    return known === undefined
      ? Effect.map(
        Queue.unbounded<Exit.Exit<Claim, StoreError>>(),
        (given) => takings.get(name) ?? makeTaking(name, maxAttempts, given)
      )
      : Effect.succeed(known)
  }

  const makeTaking = (name: string, maxAttempts: number, given: Taking["given"]): Taking => {
    const local = localQueue(store, name)
    const own: Taking = {
      local,
      maxAttempts,
      given,
      wanted: Latch.makeUnsafe(false),
      claiming: undefined,
      waiting: 0,
      isWaiting: () => missing(own) > 0,
      give: (record) => Queue.offerUnsafe(given, Exit.succeed(begun(record)))
    }
    takings.set(name, own)
    local.takers.push(own)
    // It ends after those who take, who may be added to the scope at any time.
    own.claiming = runClaims(Effect.forever(claimMore(own)))
    return own
  }

  const next = (own: Taking, restore: Restore): Effect.Effect<Claim, StoreError> =>
    Effect.suspend(() => {
      const record = takeReady(own.local, own)
      if (record !== undefined) return Effect.succeed(begun(record))
      own.waiting++
      if (missing(own) > 0) own.wanted.openUnsafe()
      return restore(Queue.take(own.given)).pipe(
        Effect.onExit((exit) => {
          own.waiting--
          // Whoever no longer waits leaves nothing: others have it at once, and it was no attempt.
          return Exit.isSuccess(exit) ? Effect.void : Effect.suspend(() => keepGiven(own, own.waiting))
        }),
        Effect.flatten
      )
    })

  const take: Port["take"] = ({ maxAttempts, name, retryDelay }) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => isClosed ? Effect.interrupt : takingOf(name, maxAttempts)).pipe(
        Effect.flatMap((own) => next(own, restore)),
        failing("Can't take a job"),
        Effect.tap(outcomes.begin),
        Effect.flatMap((claim) => {
          const element = Result.try(() => JSON.parse(claim.element) as unknown)
          // A text that is no JSON never becomes any.
          if (Result.isFailure(element)) {
            return Effect.andThen(
              outcomes.bury(claim, Cause.die(element.failure)),
              take({ maxAttempts, name, retryDelay })
            )
          }
          // It ends after what is added after it: the lock is kept until the end is stored, also while the process stops.
          return Effect.as(
            Effect.addFinalizer((exit) => outcomes.end(claim, exit, { maxAttempts, retryDelay })),
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

/** Those of a service who take from one queue. */
interface Taking extends Takers {
  readonly local: LocalQueue
  /** What those who wait are given, or why nothing can be. */
  readonly given: Queue.Queue<Exit.Exit<Claim, StoreError>>
  /** Opened when more is to be claimed. */
  readonly wanted: Latch.Latch
  claiming: Fiber.Fiber<unknown, unknown> | undefined
  waiting: number
}

const claimOf = ({ _id, attempts, due, element, key, queue }: JobRecord, token?: string): Claim => ({
  _id,
  queue,
  key,
  element,
  attempts,
  due,
  token,
  writing: undefined,
  ending: undefined,
  isLost: false
})

/** The claim of a record that waits, for its next attempt. */
const begun = (record: JobRecord): Claim => claimOf({ ...record, attempts: record.attempts + 1 })

/** How many wait for whom there is nothing. */
const missing = ({ given, waiting }: Taking): number => Math.max(0, waiting - Queue.sizeUnsafe(given))

/** Only the embedded store is serializable, and one process alone has it: nobody else offers or takes. */
const isAlone = ({ isolation }: Store): boolean => isolation === "serializable"

const dueOf = ({ name }: LocalQueue, now: number) => ({ queue: name, due: { $lte: dateOf(now) }, ...pending })

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const failing = (message: string) =>
  Effect.mapError((cause: StoreError) => new PersistedQueue.PersistedQueueError({ message, cause }))
