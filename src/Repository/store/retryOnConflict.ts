/**
 * Repeats writes that have lost to others.
 *
 * A write that loses joins the line of those of its key that have lost before, and is tried again when its turn comes: of
 * a line, one at a time competes with new writes. In its turn it waits between tries, each time longer. A turn is passed
 * on after a second, and 30 seconds after it has lost first, a write fails with what it has lost by. Lines are of
 * one process; writers of other processes are met by the delays alone.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/**
 * Tries a write again as long as it fails with an error that says that it has lost. A write within one that has its turn
 * waits for no turn, so that it can't wait for itself.
 *
 * @internal
 */
export type Retry = <A, E, R>(
  key: unknown,
  hasLost: (error: E) => boolean,
  write: Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>

/** @internal */
export const makeRetry = (): Retry => {
  const lines = new Map<unknown, Line>()

  const join = (key: unknown): Effect.Effect<Line> =>
    Effect.sync(() => {
      const line = lines.get(key) ?? { turn: Semaphore.makeUnsafe(1), length: 0 }
      lines.set(key, line)
      line.length += 1
      return line
    })

  const leave = (key: unknown, line: Line): Effect.Effect<void> =>
    Effect.sync(() => {
      line.length -= 1
      if (line.length === 0) lines.delete(key)
    })

  const inLine = <A, E, R>(key: unknown, use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      join(key),
      ({ turn }) => inTurn(turn, maxTurn, use),
      (line) => leave(key, line)
    )

  return (key, hasLost, write) =>
    Effect.catchIf(
      write,
      hasLost,
      (failure) =>
        Effect.flatMap(Effect.all([HasTurn, Clock.Clock, RetryClock]), ([hasTurn, clock, retryClock]) => {
          const lostAt = retryClock.currentTimeMillisUnsafe()
          const isInTime = () => retryClock.currentTimeMillisUnsafe() - lostAt < Duration.toMillis(retryTime)
          const own = Effect.provideService(write, Clock.Clock, clock)
          const tries = Effect.retry(Effect.provideService(own, HasTurn, true), {
            schedule: retryDelays,
            while: (error) => hasLost(error) && isInTime()
          })
          const inTime = Effect.suspend(() => isInTime() ? tries : Effect.fail(failure))
          return Effect.provideService(hasTurn ? inTime : inLine(key, inTime), Clock.Clock, retryClock)
        })
    )
}

/**
 * Does something when it is its turn, with what it needs meanwhile. After so long the turn is passed on, and what it
 * needed is released, even where it goes on.
 *
 * @internal
 */
export const inTurn = <A, E, R>(
  turn: Semaphore.Semaphore,
  maxTurn: Duration.Duration,
  use: Effect.Effect<A, E, R>,
  acquire: Effect.Effect<void, never, Scope.Scope> = Effect.void
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) => {
      const release = Effect.andThen(Effect.delay(Scope.close(scope, Exit.void), maxTurn), Effect.never)
      const passOn = Effect.flatMap(RetryClock, (clock) => Effect.provideService(release, Clock.Clock, clock))
      return Effect.andThen(
        Scope.provide(Effect.andThen(turn.takeScoped(1), acquire), scope),
        Effect.raceFirst(use, passOn)
      )
    },
    Scope.close
  )

/**
 * The clock of what loses to others. It is the live one whatever clock a test has, since what others do takes its time.
 *
 * @internal
 */
export const RetryClock = Context.Reference<Clock.Clock>("appkernel/Repository/retryClock", {
  defaultValue: () => Clock.Clock.defaultValue()
})

// internal

// How long what loses to others is tried again.
const retryTime = Duration.seconds(30)

const maxDelay = Duration.millis(500)

// Jittered, and growing.
const retryDelays: Schedule.Schedule<Duration.Duration> = Schedule.exponential("2 millis", 1.5).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, maxDelay))),
  Schedule.jittered
)

// Whatever the write does in its turn: others of the line go on.
const maxTurn = Duration.seconds(1)

interface Line {
  readonly turn: Semaphore.Semaphore
  /** How many are in it, with the one whose turn it is. */
  length: number
}

const HasTurn = Context.Reference<boolean>("appkernel/Repository/hasTurn", { defaultValue: () => false })
