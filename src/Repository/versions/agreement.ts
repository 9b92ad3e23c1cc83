/**
 * What is said of the versions of a store's collections, in a small collection of the store: since when no process needs an
 * earlier version, and since when none is stored.
 *
 * A process reads it before its first operation and again after {@link refreshAfter}, so after that time every process stores
 * what was said.
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import { outsideTransaction, rejectDuplicateKey, RetryClock, snapshotOf } from "@appkernel/document-store/shared"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { DocumentStore } from "../DocumentStore.ts"
import type { ReadError, StoreError } from "../RepositoryError.ts"
import type { ModelVersions } from "./modelVersions.ts"

/** The agreement of a collection. */
export interface Agreement {
  /** Every process understands this version. Version 1 is what a collection begins with. */
  readonly understood: number
  /** No document is stored in an earlier version, and none will be. */
  readonly complete: number
}

export const agreementsCollection = "appkernel.forms"

/** The time after which every process knows what was said. */
export const refreshAfter = Duration.seconds(2)

export const readAgreement = (
  store: DocumentStore["Service"],
  collection: string
): Effect.Effect<Agreement, ReadError> =>
  Effect.map(store.findById(agreementsCollection, collection), (stored) => ({
    understood: Number(stored?.["understood"] ?? 1),
    complete: Number(stored?.["complete"] ?? 1)
  }))

/** Says more of a collection; what was said before stays true. */
export const raiseAgreement = (
  store: DocumentStore["Service"],
  collection: string,
  agreement: Partial<Agreement>
): Effect.Effect<void, StoreError> =>
  Effect.asVoid(store.updateOne(agreementsCollection, { _id: collection }, { $max: agreement }, { upsert: true }))

/** Reads the agreement of a collection, from which follows the version in which this process stores documents. */
export interface AgreementReader {
  readonly current: Effect.Effect<State, ReadError>
  /** A document of this version was seen: it is stored by a process that knows more. */
  readonly saw: (version: number) => void
  /** Goes before a write in this version, which a transaction can't commit once more is said. */
  readonly storing: (version: number) => Effect.Effect<unknown, ReadError>
}

export interface State {
  /** The version in which documents are stored. */
  readonly written: number
  /** The earliest version that may be stored. */
  readonly earliest: number
}

/** The version in which documents are stored while every process understands this one. */
export const writtenVersion = (
  { lowest, newest }: Pick<ModelVersions, "lowest" | "newest">,
  understood: number
): number => Math.max(lowest, Math.min(understood, newest))

export const agreementReader = (
  store: DocumentStore["Service"],
  collection: string,
  versions: ModelVersions
): AgreementReader => {
  const read = Effect.map(readAgreement(store, collection), ({ complete, understood }): State => ({
    written: writtenVersion(versions, understood),
    earliest: Math.min(complete, versions.newest)
  }))
  let known: State | undefined
  let readAt = -Infinity
  let first: number | undefined
  const statesIn = new WeakMap<object, State>()

  const latest = (now: number): Effect.Effect<State, ReadError> =>
    known !== undefined && (known.earliest === versions.newest || now - readAt < Duration.toMillis(refreshAfter))
      ? Effect.succeed(known)
      // The snapshot of a long transaction has what was said before it began, which the others must not take for the latest.
      : Effect.map(outsideTransaction(read), (state) => {
        readAt = now
        known = state
        return state
      })

  /**
   * A snapshot from before the end of an upgrade has documents of earlier versions. A serializable transaction that has read what
   * is said, and writes an earlier version, can't commit once more is said.
   */
  const within = (state: State, snapshot: object | undefined): Effect.Effect<State, ReadError> => {
    if (snapshot === undefined || state.earliest === first && state.written === versions.newest) {
      first ??= state.earliest
      return Effect.succeed(state)
    }
    const found = statesIn.get(snapshot)
    if (found !== undefined && found.written >= state.written) return Effect.succeed(found)
    return Effect.map(found === undefined ? read : Effect.succeed(found), ({ earliest, written }) => {
      first ??= earliest
      const own = { earliest, written: Math.max(written, state.written) }
      statesIn.set(snapshot, own)
      return own
    })
  }
  const locked = new WeakSet<object>()

  return {
    current: Effect.withFiber((fiber) => {
      const snapshot = snapshotOf(fiber)
      return Effect.flatMap(
        latest(monotonicMillis(fiber.getRef(RetryClock))),
        (state) => within(state, snapshot)
      )
    }),
    saw: (version) => {
      if (known !== undefined && version > known.written) readAt = -Infinity
    },
    storing: (version) =>
      version >= versions.newest || store.isolation === "serializable" ? Effect.void : Effect.withFiber((fiber) => {
        const snapshot = snapshotOf(fiber)
        if (snapshot === undefined || locked.has(snapshot)) return Effect.void
        const place = Random.nextIntBetween(0, lockCount, { halfOpen: true })
        const taken = Effect.flatMap(place, (place) => takeLock(store, lockId(collection, place)))
        return Effect.map(taken, () => locked.add(snapshot))
      })
  }
}

/**
 * Waits for the transactions that have stored an earlier version. Of those that had begun before, none can commit another one.
 * In a store whose transactions do not see each other's reads, each of them writes to one of the locks.
 */
export const excludeTransactions = (
  store: DocumentStore["Service"],
  collection: string
): Effect.Effect<void, ReadError> =>
  store.isolation === "serializable" ? Effect.void : Effect.forEach(
    writerLocks(collection),
    (lock) => takeLock(store, lock),
    { discard: true, concurrency: 8 }
  )

export const writerLocks = (collection: string): ReadonlyArray<string> =>
  Array.from({ length: lockCount }, (_, place) => lockId(collection, place))

/** Of two transactions that take a lock at once, one can't commit. */
export const takeLock = (store: DocumentStore["Service"], lock: string): Effect.Effect<unknown, ReadError> =>
  rejectDuplicateKey(
    "update",
    store.updateOne(agreementsCollection, { _id: lock }, { $inc: { writes: 1 } }, { upsert: true })
  )

// internal

const lockCount = 64

const lockId = (collection: string, place: number): string => `${collection}: ${place}`
