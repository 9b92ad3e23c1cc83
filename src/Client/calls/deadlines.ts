/**
 * The deadlines of many calls, watched by one timer that is set for the earliest of them. To move a deadline is a write to
 * a field: calls have several, one after the other, and nearly all of them end before any of them.
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

export interface Expiring {
  /** The time at which it expires, in milliseconds of the monotonic clock. `Infinity` if it does not. */
  expiresAt: number
  /** Runs once, when the time has come. */
  readonly expire: () => void
}

export interface Deadlines {
  /** Makes it expire in `millis`, in the place of its earlier deadline. */
  readonly set: (self: Expiring, millis: number) => void
  /** Makes it not expire. */
  readonly clear: (self: Expiring) => void
}

export const makeDeadlines: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function*() {
  const context = yield* Effect.context()
  const clock = Context.get(context, Clock.Clock)
  const fork = Effect.runForkWith(context)
  const watched = new Set<Expiring>()
  let sleeper: Fiber.Fiber<void> | undefined
  let wakesAt = Infinity

  const sleepUntil = (time: number): void => {
    sleeper?.interruptUnsafe()
    wakesAt = time
    sleeper = fork(Effect.andThen(Effect.sleep(Math.max(0, time - now())), Effect.sync(wake)))
  }
  const wake = () => {
    sleeper = undefined
    wakesAt = Infinity
    const time = now()
    let next = Infinity
    for (const one of watched) {
      if (one.expiresAt <= time) {
        watched.delete(one)
        one.expire()
      } else if (one.expiresAt < next) next = one.expiresAt
    }
    if (next < wakesAt) sleepUntil(next)
  }
  const now = () => monotonicMillis(clock)

  yield* Effect.addFinalizer(() => Effect.sync(() => sleeper?.interruptUnsafe()))
  return {
    set: (self, millis) => {
      self.expiresAt = now() + millis
      if (self.expiresAt === Infinity) watched.delete(self)
      else {
        watched.add(self)
        if (self.expiresAt < wakesAt) sleepUntil(self.expiresAt)
      }
    },
    clear: (self) => {
      self.expiresAt = Infinity
      watched.delete(self)
    }
  }
})
