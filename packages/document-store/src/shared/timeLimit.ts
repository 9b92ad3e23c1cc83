/** The time limit of reads. Time in which the reader of a stream does something else does not count. */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import { monotonicMillis } from "../internal/monotonicMillis.ts"

/** Measures the time that a read has spent in the store, against its time limit. */
export interface Stopwatch {
  readonly start: () => void
  readonly stop: () => void
  /** The remaining milliseconds. */
  readonly left: () => number
  readonly isOver: () => boolean
}

/** Creates a stopped stopwatch. */
export const makeStopwatch = (clock: Clock.Clock, timeLimit: Duration.Input | undefined): Stopwatch => {
  if (timeLimit === undefined) return unlimited
  const limit = Duration.toMillis(Duration.fromInputUnsafe(timeLimit))
  let spent = 0
  let since: number | undefined
  const running = () => since === undefined ? 0 : monotonicMillis(clock) - since
  const left = () => limit - spent - running()
  return {
    start: () => {
      since = monotonicMillis(clock)
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
