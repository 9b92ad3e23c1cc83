/**
 * The time by which work has to be done, such as the answer to a request. Calls to other services end by it.
 *
 * **Details**
 *
 * A handler has a deadline if `server.response_timeout` is configured, and `within` sets one for any effect. An earlier
 * deadline takes precedence. At the deadline a call of `HttpClientFactory` fails with the reason `Timeout`, which counts as a
 * failure for the circuit breaker if the service had a second for its answer. After it nothing is sent. Between tries the client does not wait beyond it.
 *
 * **Gotchas**
 *
 * The effect itself is not interrupted at its deadline. `Effect.timeout` does that.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import { millisLeft, withEarlierDeadline } from "../internal/deadline.ts"

/**
 * Runs an effect whose calls to other services end within a time, or by the current deadline if that is earlier.
 *
 * **Example**
 *
 * ```ts
 * import { Deadline } from "appkernel"
 * import { Duration, Effect, Option } from "effect"
 *
 * const left = Effect.map(Deadline.remaining, Option.map((time) => Duration.toSeconds(time) <= 2))
 *
 * await Effect.runPromise(left) // => Option.none()
 * await Effect.runPromise(left.pipe(Deadline.within("2 seconds"), Deadline.within("1 minute"))) // => Option.some(true)
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const within: {
  (time: Duration.Input): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(effect: Effect.Effect<A, E, R>, time: Duration.Input): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(effect: Effect.Effect<A, E, R>, time: Duration.Input): Effect.Effect<A, E, R> =>
    withEarlierDeadline(effect, Duration.toMillis(Duration.fromInputUnsafe(time)))
)

/**
 * The time until the current deadline, zero after it, or none without one.
 *
 * @category accessors
 * @since 0.1.0
 */
export const remaining: Effect.Effect<Option.Option<Duration.Duration>> = Effect.map(
  millisLeft,
  (left) => left === undefined ? Option.none() : Option.some(Duration.millis(left))
)
