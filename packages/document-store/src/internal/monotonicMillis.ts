/** The time that durations are measured by. */
import type * as Clock from "effect/Clock"

/** The time of the monotonic clock in milliseconds, which nobody sets. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
