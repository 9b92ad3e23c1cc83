/** The deadline of the current request, which the engine sets and which stores and calls to services respect. */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** When the current work has to be done, in monotonic milliseconds: set by the server, used by calls. */
const CurrentDeadline: Context.Reference<number | undefined> = Context.Reference<number | undefined>(
  "appkernel/internal/CurrentDeadline",
  { defaultValue: () => undefined }
)

export const deadlineOf = (fiber: Fiber.Fiber<unknown, unknown>): number | undefined => fiber.getRef(CurrentDeadline)

/** The milliseconds that are left until the current deadline, 0 after it; `undefined` without one. */
export const millisLeft: Effect.Effect<number | undefined> = Effect.withFiber((fiber) => {
  const deadline = deadlineOf(fiber)
  return Effect.succeed(
    deadline === undefined ? undefined : Math.max(0, deadline - monotonicMillis(fiber.getRef(Clock.Clock)))
  )
})

/** Runs an effect with a deadline in `millis`, whatever the current one is: for what goes on after the answer to a request. */
export const withNewDeadline = <A, E, R>(effect: Effect.Effect<A, E, R>, millis: number): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    Effect.provideService(effect, CurrentDeadline, monotonicMillis(fiber.getRef(Clock.Clock)) + millis)
  )

/** Runs an effect with a deadline in `millis`, unless the current one is earlier. */
export const withEarlierDeadline = <A, E, R>(effect: Effect.Effect<A, E, R>, millis: number): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const deadline = monotonicMillis(fiber.getRef(Clock.Clock)) + millis
    const current = fiber.getRef(CurrentDeadline)
    return current !== undefined && current <= deadline
      ? effect
      : Effect.provideService(effect, CurrentDeadline, deadline)
  })
