/**
 * What the fibers of a process that use one queue of a store have in common. In a store that one process alone has, these are also the
 * records that are ready: they come here from those who offer them, and from the store where more are due than fit.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Latch from "effect/Latch"
import type { Document, DocumentStore } from "../../Repository/DocumentStore.ts"
import { type JobRecord, queuedJobs } from "./records.ts"

type Store = DocumentStore["Service"]

/** A record that this process has, for one attempt. */
export interface Claim extends JobRecord {
  /** The proof of it in the store. There is none as long as the store has the record as one that waits. */
  token: string | undefined
  /** Opened when the token is stored. */
  writing: Latch.Latch | undefined
  /** What has become of the attempt, as soon as that is to be stored. */
  ending: "done" | "otherwise" | undefined
  /** Whether the record was put off: what is said of the attempt has no effect. */
  isLost: boolean
}

/** Those of a service who take from a queue. */
export interface Takers {
  readonly maxAttempts: number
  /** Whether somebody waits for whom there is nothing. */
  readonly isWaiting: () => boolean
  /** Gives a record to one of them. */
  readonly give: (record: JobRecord) => void
}

export interface LocalQueue {
  readonly name: string
  /** Opened when there may be something to take in the store, and closed by each who looks. */
  readonly wake: Latch.Latch
  /** How often it was opened: another one may have closed it meanwhile. */
  wakes: number
  /** Opened when something that was taken has come to an end. */
  readonly settled: Latch.Latch
  /** Those who were given something last are at the end: others may be able to do what they have put off. */
  readonly takers: Array<Takers>
  /** Since when this process takes; what others have left over is released then. */
  since: number | undefined
  /** The records that are ready or taken, by their identifiers: the store has most of them as ones that wait. */
  readonly known: Map<unknown, Claim | undefined>
  /** Those that are ready, the oldest first, while nobody waits. */
  readonly ready: Array<JobRecord>
  /** Whether the store may have others that are due. */
  isBehind: boolean
  /** Whether the last look has found records that must be claimed before they begin, of which none is kept ready. */
  isStrict: boolean
  /** How often the store was asked for what is due, and when for the last time with an answer that had all. */
  looks: number
  seenAll: number
  /** Of each read that goes on, the records that have come to an end meanwhile: it may have read them before that. */
  readonly reading: Set<Set<unknown>>
}

/** The queue of a store in this process. */
export const localQueue = (store: Store, name: string): LocalQueue =>
  getOrMake(queuesOf(store), name, () => ({
    name,
    wake: Latch.makeUnsafe(false),
    wakes: 0,
    settled: Latch.makeUnsafe(false),
    takers: [],
    since: undefined,
    known: new Map(),
    ready: [],
    isBehind: true,
    isStrict: false,
    looks: 0,
    seenAll: 0,
    reading: new Set()
  }))

/** Tells the fibers of this process that there may be something to take in the store. */
export const wake = (store: Store, queue: string): Effect.Effect<void> =>
  Effect.sync(() => wakeUnsafe(localQueue(store, queue)))

export const wakeUnsafe = (local: LocalQueue): void => {
  local.isBehind = true
  local.wakes++
  local.wake.openUnsafe()
}

/** Reads from the store, and uses what is found at once, with the records that have come to an end meanwhile. */
export const readWith = <A, E, B>(
  local: LocalQueue,
  read: Effect.Effect<A, E>,
  use: (found: A, ended: ReadonlySet<unknown>) => B
): Effect.Effect<B, E> =>
  Effect.suspend(() => {
    const ended = new Set<unknown>()
    local.reading.add(ended)
    return Effect.ensuring(
      Effect.map(read, (found) => use(found, ended)),
      Effect.sync(() => local.reading.delete(ended))
    )
  })

/** The end of a claim is stored. */
export const forget = (local: LocalQueue, claim: Claim): void => {
  // On a store that others use as well, this process may have taken it again.
  if ((local.known.get(claim._id) ?? claim) === claim) local.known.delete(claim._id)
  for (const ended of local.reading) ended.add(claim._id)
}

/**
 * How a new record, once it is stored, comes to those who take: directly, if no other one is due that is not known here. To be called
 * before it is stored.
 */
export const handOver = (store: Store, local: LocalQueue, now: number) => {
  const { looks } = local
  return (record: JobRecord): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (local.isBehind || local.ready.length >= maxReady || now - local.seenAll > maxUnseen) {
        return Effect.sync(() => wakeUnsafe(local))
      }
      if (local.looks === looks) return Effect.sync(() => makeReady(local, record))
      // It may have been found, done or put off before this.
      const isWaiting = (found: Document | undefined) =>
        found?.["state"] === "waiting" && found["attempts"] === 0 && Number(found["due"]) === record.due.getTime()
      return readWith(local, store.findById(queuedJobs, record._id), (found, ended) => {
        if (isWaiting(found) && !ended.has(record._id) && !local.known.has(record._id)) makeReady(local, record)
      }).pipe(Effect.catchCause(() => wake(store, local.name)))
    })
}

/** Gives a record to who waits, or keeps it for who comes next: behind those that are due before it, or before all others. */
export const makeReady = (local: LocalQueue, record: JobRecord, isFirst = false): void => {
  const takers = local.takers.find((takers) => takers.isWaiting() && mayBegin(record, takers))
  local.known.set(record._id, undefined)
  if (takers !== undefined) {
    moveBack(local, takers)
    takers.give(record)
  } else if (local.takers.some(({ isWaiting }) => isWaiting())) {
    // They have it from the store, which has its attempt first.
    local.known.delete(record._id)
    wakeUnsafe(local)
  } else if (isFirst) local.ready.unshift(record)
  else {
    // Most are due later than all others.
    const before = local.ready.findLastIndex(({ due }) => due <= record.due)
    local.ready.splice(before + 1, 0, record)
  }
}

/** The first record that is ready for one of those who take. If there is none, the store may have one. */
export const takeReady = (local: LocalQueue, takers: Takers): JobRecord | undefined => {
  const [first] = local.ready
  if (first === undefined || mayBegin(first, takers)) return local.ready.shift()
  for (const { _id } of local.ready.splice(0)) local.known.delete(_id)
  wakeUnsafe(local)
  return undefined
}

/** The others go before those who were given something. */
export const moveBack = ({ takers: all }: LocalQueue, takers: Takers): void => {
  all.push(...all.splice(all.indexOf(takers), 1))
}

/** Whether an attempt may begin before it is stored: the last one may not. */
export const mayBegin = ({ attempts }: Pick<JobRecord, "attempts">, { maxAttempts }: Takers): boolean =>
  attempts + 1 < maxAttempts

/** How many records are kept ready. */
export const maxReady = 128

// internal

/** How long new records come before those whose time has come meanwhile, in milliseconds. */
const maxUnseen = 1_000

/** By the store, as long as it lives: offers and takes of it meet here. So a process has one object for a store. */
const queuesOf = Function.memoize((_store: Store) => new Map<string, LocalQueue>())
