/** How long a fiber holds up the others. */
import { Effect, Fiber } from "effect"

/**
 * How long something keeps the thread at work, altogether and at the longest before others may run, in milliseconds. It
 * is the time of the thread and not that of the clock: what other processes take is nobody's fault here. On a machine that
 * is slow at the time, the longest is what it would be on one that is not, as {@link slowness} says.
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
    return { whole: end - start, longest: Math.max(longest, end - before) / slowness() }
  })

/** How many times as long as on the machine that the limits are meant for the thread takes for a piece of work; at least 1. */
export const slowness = (): number => {
  const times = Array.from({ length: 3 }, () => {
    const before = threadTime()
    JSON.parse(JSON.stringify(work))
    return threadTime() - before
  })
  return Math.max(1, Math.min(...times) / workTime)
}

const work = Array.from(
  { length: 20_000 },
  (_, i) => ({ _id: i, name: `name ${i}`, tags: ["a", "b"], at: { x: i, y: "z" } })
)

/** How long it takes there. */
const workTime = 10

/** Milliseconds that this thread has been at work. */
export const threadTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}
