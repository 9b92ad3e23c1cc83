/** How long a fiber holds up the others. */
import { Effect, Fiber } from "effect"

/**
 * How long something keeps the thread at work, altogether and at the longest before others may run, in milliseconds. It
 * is the time of the thread and not that of the clock: what other processes take is nobody's fault here.
 */
export const turnsOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly whole: number; readonly longest: number }, E, R> =>
  Effect.gen(function*() {
    let longest = 0
    const start = threadTime()
    let before = start
    const others = yield* Effect.forkChild(Effect.forever(Effect.andThen(
      Effect.sleep("1 millis"),
      Effect.sync(() => {
        const now = threadTime()
        longest = Math.max(longest, now - before)
        before = now
      })
    )))
    yield* effect
    yield* Fiber.interrupt(others)
    const end = threadTime()
    return { whole: end - start, longest: Math.max(longest, end - before) }
  })

/** Milliseconds that this thread has been at work. */
export const threadTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}
