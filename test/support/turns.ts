/** Measures how long a fiber blocks the others. */
import { Effect, Fiber } from "effect"

/**
 * The CPU time that an effect takes of this thread in milliseconds: its total, and its longest turn before other fibers
 * run. It is not wall-clock time, since other processes share the machine. The longest turn is divided by the
 * {@link slowness} before or after it, whichever is greater.
 */
export const turnsOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly whole: number; readonly longest: number }, E, R> =>
  Effect.gen(function*() {
    const slowBefore = recentSlowness()
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
    longest = Math.max(longest, end - before) / slowBefore
    // What is short by the first measure needs no second one.
    const slower = longest < short ? 1 : Math.max(1, slowness() / slowBefore)
    return { whole: end - start, longest: longest / slower }
  })

/**
 * Runs what sends, waits and times out in steps of so many milliseconds; again in longer steps where it fails, since
 * another process may have had the processor for a step. What fails for another reason does so in any steps.
 */
export const inSteps = <A, E, R>(run: (step: number) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  [30, 150, 750].map(run).reduce((first, next) => Effect.catchCause(first, () => next))

/** The slowness of the last second. It takes as long to measure as most of what is measured here. */
const recentSlowness = (): number => performance.now() - measuredAt < 1000 ? measured : slowness()

let [measured, measuredAt] = [1, -Infinity]

/** The time for a fixed piece of work, relative to the machine that the limits are set for; at least 1. */
export const slowness = (): number => {
  const times = Array.from({ length: 3 }, () => {
    const before = threadTime()
    JSON.parse(JSON.stringify(work))
    return threadTime() - before
  })
  measured = Math.max(1, Math.min(...times) / workTime)
  measuredAt = performance.now()
  return measured
}

const work = Array.from(
  { length: 20_000 },
  (_, i) => ({ _id: i, name: `name ${i}`, tags: ["a", "b"], at: { x: i, y: "z" } })
)

/** The time on that machine. */
const workTime = 10

/** Less than any limit of a turn, in milliseconds. */
const short = 50

/** The CPU time of this thread, in milliseconds. */
export const threadTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}
