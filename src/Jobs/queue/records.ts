/** The records of jobs in the store of documents: their collection, its indexes, and how fibers of this process learn of a new one. */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Latch from "effect/Latch"
import { randomUUID } from "node:crypto"
import type { Document, DocumentStore, IndexDescription } from "../../Repository/DocumentStore.ts"

/** The name of the collection. */
export const queuedJobs = "QueuedJob"

/**
 * The records that wait or run, since these two states come after `dead` and `done`. Each has the time `due` from which on it can be taken:
 * that of the next attempt, or, while somebody works on it, the end of the lock. A search with this filter uses the partial index of them.
 */
export const pending = { state: { $gte: "running" } } as const

/** A record is in as few indexes as possible, since each of them is written with it. */
export const recordIndexes: ReadonlyArray<IndexDescription> = [
  { name: "pending_1", key: { queue: 1, due: 1 }, partialFilterExpression: pending },
  { name: "ended_1", key: { state: 1, ended: 1 }, partialFilterExpression: { state: { $lte: "done" } } },
  { name: "dead_1", key: { queue: 1 }, partialFilterExpression: { state: "dead" } }
]

/** The indexes of an earlier release, which had every record. */
export const earlierIndexes: ReadonlyArray<string> = ["queue_1_due_1", "queue_1_state_1", "state_1_ended_1"]

/** Of a record in a queue with this key. A colon in the name of a queue would make two of them one. */
export const jobIdOf = (queue: string, key: string): string =>
  `${queue.replaceAll("%", "%25").replaceAll(":", "%3A")}:${key}`

/** This process. Records that another one has taken of a store which only one process has are left over. */
export const thisProcess: string = randomUUID()

/** What the fibers of a process that take from one queue have in common. */
export interface LocalQueue {
  /** Opened when there may be something to take, and closed by each who looks. */
  readonly wake: Latch.Latch
  /** How often it was opened: another one may have closed it meanwhile. */
  wakes: number
  /** Opened when something that was taken has come to an end. */
  readonly settled: Latch.Latch
  /** Those who claim, the last one at the end: others go before, since they may be able to do what that one has put off. */
  readonly claimers: Array<unknown>
  /** Whether what another process has left over is released. */
  isRecovered: boolean
  /** What stores a new record as taken, if somebody here can have it as soon as it is stored. */
  handOver: ((now: number) => HandOver | undefined) | undefined
}

/** A new record that is stored as taken. */
export interface HandOver {
  /** What its taker writes into it. */
  readonly fields: Document
  /** Gives it to the taker, once it is stored. */
  readonly give: (record: NewRecord) => Effect.Effect<void>
}

/** What a taker has to know of a record. */
interface NewRecord {
  readonly _id: string
  readonly queue: string
  readonly key: string
  readonly element: string
}

/** The queue of a store in this process. */
export const localQueue = (store: DocumentStore["Service"], queue: string): LocalQueue =>
  getOrMake(queuesOf(store), queue, () => ({
    wake: Latch.makeUnsafe(false),
    wakes: 0,
    claimers: [],
    settled: Latch.makeUnsafe(false),
    isRecovered: false,
    handOver: undefined
  }))

/** Tells the fibers of this process that there may be something to take. */
export const wake = (store: DocumentStore["Service"], queue: string): Effect.Effect<void> =>
  Effect.sync(() => {
    const local = localQueue(store, queue)
    local.wakes++
    local.wake.openUnsafe()
  })

// internal

/** By the store, as long as it lives: offers and takes of it meet here. */
const queuesOf = Function.memoize((_store: DocumentStore["Service"]) => new Map<string, LocalQueue>())
