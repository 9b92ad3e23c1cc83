import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"

/**
 * How long a read has been at it, as far as anybody wants to know.
 *
 * @internal
 */
export interface Stopwatch {
  readonly start: () => void
  readonly stop: () => void
  /** Milliseconds that are left. */
  readonly left: () => number
  readonly isOver: () => boolean
}

/**
 * A stopwatch that does not run yet.
 *
 * @internal
 */
export const makeStopwatch = (clock: Clock.Clock, timeLimit: Duration.Input | undefined): Stopwatch => {
  if (timeLimit === undefined) return unlimited
  const limit = Duration.toMillis(Duration.fromInputUnsafe(timeLimit))
  let spent = 0
  let since: number | undefined
  const running = () => since === undefined ? 0 : clock.currentTimeMillisUnsafe() - since
  const left = () => limit - spent - running()
  return {
    start: () => {
      since = clock.currentTimeMillisUnsafe()
    },
    stop: () => {
      spent += running()
      since = undefined
    },
    left,
    isOver: () => left() <= 0
  }
}

// internal

const unlimited: Stopwatch = { start: () => {}, stop: () => {}, left: () => Infinity, isOver: () => false }
