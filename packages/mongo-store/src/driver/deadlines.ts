/**
 * Deadlines of calls to a server.
 *
 * One fiber wakes up every 50 milliseconds while calls are under way and ends those whose deadline has passed, at most
 * 100 milliseconds late. A timer for each call would cost several times as much as the rest of what Effect does for it.
 * Time in which the event loop is held does not count: an answer may have arrived meanwhile.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

interface Deadline {
  readonly tick: number
  readonly expire: () => void
}

export interface Deadlines {
  /** Calls `expire` after this time, unless the deadline is removed before. */
  readonly add: (milliseconds: number, expire: () => void) => Deadline
  readonly remove: (deadline: Deadline) => void
}

/** Starts the fiber that watches the deadlines, until the scope closes. */
export const makeDriverDeadlines: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function*() {
  const pending = new Set<Deadline>()
  const isPending = Latch.makeUnsafe()
  let now = 0
  const tick = Effect.sync(() => {
    now += 1
    for (const deadline of pending) {
      if (deadline.tick > now) continue
      pending.delete(deadline)
      deadline.expire()
    }
    if (pending.size === 0) isPending.closeUnsafe()
  })
  yield* Effect.andThen(isPending.await, Effect.andThen(Effect.sleep(interval), tick)).pipe(
    Effect.forever,
    // The deadlines concern a real server, so they use the real clock even under a test clock.
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
    Effect.forkScoped
  )
  return {
    add: (milliseconds, expire) => {
      // One more tick, since the next one may come at once.
      const deadline = { tick: now + 1 + Math.ceil(milliseconds / Duration.toMillis(interval)), expire }
      pending.add(deadline)
      if (pending.size === 1) isPending.openUnsafe()
      return deadline
    },
    remove: (deadline) => {
      pending.delete(deadline)
    }
  }
})

// internal

const interval = Duration.millis(50)
