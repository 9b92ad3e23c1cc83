/**
 * Retries writes that conflict with other writers (optimistic concurrency control).
 *
 * A write that conflicts joins the queue of its key and is retried when its turn comes, so one write of a queue at a time
 * competes with new writes. During its turn it is retried with growing delays. A turn ends after one second.
 *
 * Limits: 30 seconds after its first conflict, a write fails with its last conflict. Queues belong to one process. Conflicts
 * with other processes are reduced by the delays only.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { getOrMake } from "../internal/getOrMake.ts"
import { monotonicMillis } from "../internal/monotonicMillis.ts"

/** Retries a write on a conflict. A write within another's turn does not wait for one. */
export type Retry = <A, E, R>(
  key: unknown,
  isConflict: (error: E) => boolean,
  write: Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>

export const makeRetry = (): Retry => {
  const queues = new Map<unknown, Queue>()

  const enqueue = (key: unknown): Effect.Effect<Queue> =>
    Effect.sync(() => {
      const queue = getOrMake(queues, key, () => ({ turn: Semaphore.makeUnsafe(1), length: 0 }))
      queue.length += 1
      return queue
    })

  const dequeue = (key: unknown, queue: Queue): Effect.Effect<void> =>
    Effect.sync(() => {
      queue.length -= 1
      if (queue.length === 0) queues.delete(key)
    })

  const inQueue = <A, E, R>(key: unknown, use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      enqueue(key),
      ({ turn }) => withTurn(turn, maxTurn, use),
      (queue) => dequeue(key, queue)
    )

  return (key, isConflict, write) =>
    Effect.catchIf(
      write,
      isConflict,
      (failure) =>
        Effect.flatMap(Effect.all([HasTurn, Clock.Clock, RetryClock]), ([hasTurn, clock, retryClock]) => {
          const firstConflict = monotonicMillis(retryClock)
          const isInTime = () => monotonicMillis(retryClock) - firstConflict < Duration.toMillis(retryTime)
          // The delays use the retry clock. The write itself runs with the clock of its caller.
          const attempt = Effect.provideService(write, Clock.Clock, clock)
          const retries = Effect.retry(Effect.provideService(attempt, HasTurn, true), {
            schedule: retryDelays,
            while: (error) => isConflict(error) && isInTime()
          })
          const limitedRetries = Effect.suspend(() => isInTime() ? retries : Effect.fail(failure))
          return Effect.provideService(hasTurn ? limitedRetries : inQueue(key, limitedRetries), Clock.Clock, retryClock)
        })
    )
}

/** Waits for the turn, then runs `use` with a resource, which is released after `maxTurn` even if it still runs. */
export const withTurn = <A, E, R>(
  turn: Semaphore.Semaphore,
  maxTurn: Duration.Duration,
  use: Effect.Effect<A, E, R>,
  acquire: Effect.Effect<void, never, Scope.Scope> = Effect.void
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) => {
      const release = Effect.andThen(Effect.delay(Scope.close(scope, Exit.void), maxTurn), Effect.never)
      const endTurn = Effect.flatMap(RetryClock, (clock) => Effect.provideService(release, Clock.Clock, clock))
      return Effect.andThen(
        Scope.provide(Effect.andThen(turn.takeScoped(1), acquire), scope),
        Effect.raceFirst(use, endTurn)
      )
    },
    Scope.close
  )

/** The clock of retries, live even under a test clock: conflicts with other writers take real time. */
export const RetryClock = Context.Reference<Clock.Clock>("appkernel/Repository/retryClock", {
  defaultValue: () => Clock.Clock.defaultValue()
})

// internal

const retryTime = Duration.seconds(30)

const maxDelay = Duration.millis(500)

const retryDelays: Schedule.Schedule<Duration.Duration> = Schedule.exponential("2 millis", 1.5).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, maxDelay))),
  Schedule.jittered
)

// A slow write must not block the queue.
const maxTurn = Duration.seconds(1)

interface Queue {
  readonly turn: Semaphore.Semaphore
  /** The number of writes in the queue, including the one whose turn it is. */
  length: number
}

const HasTurn = Context.Reference<boolean>("appkernel/Repository/hasTurn", { defaultValue: () => false })
