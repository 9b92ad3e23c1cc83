/**
 * A lock in a store that one process holds while it lives. The holder moves a beat in the lock's document; who sees the beat
 * stand still for as long as the lease, by its own clock, takes the lock. So the clocks of the machines may differ.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import * as process from "node:process"
import type { Document, DocumentStore } from "../DocumentStore.ts"
import { monotonicMillis } from "../internal/monotonicMillis.ts"
import { type StoreError, StoreUnavailable } from "../StoreError.ts"

/** The place of a lock, and how long it is held without a sign of life. */
interface Lease {
  readonly store: DocumentStore["Service"]
  readonly collection: string
  readonly id: string
  readonly duration: Duration.Duration
  /** Runs once if another one has the lock, with who that is. */
  readonly onWait: (holder: string) => Effect.Effect<void>
}

/**
 * Waits for the lock and runs an effect with it. The effect is interrupted when the lock may be lost, and then fails with
 * `StoreUnavailable`. It is given the name of this holding.
 */
export const withLease = <A, E, R>(
  lease: Lease,
  use: (holder: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | StoreError, R> =>
  Effect.acquireUseRelease(
    acquire(lease),
    (holder) => Effect.raceFirst(use(holder), keep(lease, holder)),
    // Another process takes it later if this fails.
    (holder) => Effect.ignore(lease.store.deleteOne(lease.collection, { _id: lease.id, holder }))
  )

// internal

const acquire = Effect.fnUntraced(function*(
  { collection, duration, id, onWait, store }: Lease
): Effect.fn.Return<string, StoreError> {
  const holder = randomUUID()
  const own = { holder, beat: 0, process: `process ${process.pid} on ${hostname()}` }
  const span = Duration.toMillis(duration)
  let seen: Document | undefined
  let since = 0
  for (;;) {
    const found = yield* store.findById(collection, id)
    const now = yield* monotonic
    if (found === undefined) {
      const isTaken = yield* store.insertOne(collection, { _id: id, ...own }).pipe(
        Effect.as(true),
        Effect.catchTag("DuplicateKey", () => Effect.succeed(false))
      )
      if (isTaken) return holder
      continue
    }
    const { beat, holder: other } = found
    if (seen === undefined) yield* onWait(String(found["process"]))
    if (seen?.["holder"] !== other || seen?.["beat"] !== beat) since = now
    seen = found
    if (now - since >= span) {
      const taken = yield* store.updateOne(collection, { _id: id, holder: other, beat }, { $set: own })
      if (taken.matchedCount === 1) return holder
    }
    // Interruptible, since the acquisition of a resource is not.
    yield* Effect.interruptible(Effect.sleep(span / 10))
  }
})

/** Moves the beat, and fails before another process may take the lock. */
const keep = Effect.fnUntraced(function*(
  { collection, duration, id, store }: Lease,
  holder: string
): Effect.fn.Return<never, StoreError> {
  const span = Duration.toMillis(duration)
  let last = yield* monotonic
  for (;;) {
    yield* Effect.sleep(span / 6)
    const beat = Effect.map(
      store.updateOne(collection, { _id: id, holder }, { $inc: { beat: 1 } }),
      ({ matchedCount }) => matchedCount === 1
    )
    const begun = yield* monotonic
    const isKept = yield* beat.pipe(
      Effect.timeoutOrElse({ duration: Math.max(0, last + span * 3 / 4 - begun), orElse: () => Effect.fail(lost) }),
      Effect.catchIf((error) => error !== lost && begun - last < span / 2, () => Effect.succeed(undefined))
    )
    if (isKept === false) return yield* lost
    if (isKept === true) last = begun
  }
})

const lost = new StoreUnavailable({
  operation: "lock",
  detail: "the lock was lost, because the store or this process did not answer in time",
  retryable: true
})

const monotonic = Effect.map(Clock.Clock, monotonicMillis)
