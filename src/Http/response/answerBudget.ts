/**
 * Limits the bytes of large responses that the process holds at once.
 *
 * A large response reserves its maximum size in order of arrival. Once it is written, the reservation shrinks to the
 * actual size, and then with each chunk that the client takes. It ends with the request.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { ServiceUnavailable } from "../HttpError.ts"

/** @internal */
export interface Reservation {
  /** Sets the number of reserved bytes. It does not wait, so the number may only shrink. */
  readonly resize: (bytes: number) => void
}

/** @internal */
export interface AnswerBudget {
  /**
   * Waits until this many bytes are free; without other reservations any number is. Fails with `ServiceUnavailable`
   * after a timeout. The reservation ends with the scope of the request.
   */
  readonly reserve: (bytes: number) => Effect.Effect<Reservation, ServiceUnavailable>
}

/** @internal */
export const makeAnswerBudget = (capacity: number, patience: Duration.Duration): AnswerBudget => {
  const waiting = new Set<Place>()
  let held = 0

  const grant = (): void => {
    for (const next of waiting) {
      if (held > 0 && held + next.bytes > capacity) return
      waiting.delete(next)
      held += next.bytes
      next.isGranted = true
      next.wake()
    }
  }

  const free = (bytes: number): void => {
    held -= bytes
    grant()
  }

  const giveBack = (place: Place): void => {
    if (place.isGranted) free(place.bytes)
    else if (waiting.delete(place)) grant()
  }

  /** A queue entry, which may be granted immediately. */
  const enter = (bytes: number): Place => {
    const place: Place = { bytes, isGranted: false, wake: () => {} }
    waiting.add(place)
    grant()
    return place
  }

  const turnOf = (place: Place): Effect.Effect<void> =>
    Effect.callback((resume) => {
      place.wake = () => resume(Effect.void)
      if (place.isGranted) place.wake()
    })

  const reserve = (bytes: number, request: Scope.Scope): Effect.Effect<Reservation, ServiceUnavailable> =>
    Effect.uninterruptibleMask((restore) => {
      const place = enter(bytes)
      return restore(Effect.timeoutOption(turnOf(place), patience)).pipe(
        Effect.onInterrupt(() => Effect.sync(() => giveBack(place))),
        Effect.flatMap(() => {
          // The reservation may be granted at the moment of the timeout.
          if (!place.isGranted) {
            giveBack(place)
            return Effect.fail(new ServiceUnavailable({ message: tooMany }))
          }
          const reservation = reservationOf(bytes, free)
          return Effect.as(
            Scope.addFinalizer(request, Effect.sync(() => reservation.resize(0))),
            reservation
          )
        })
      )
    })

  return {
    reserve: (bytes) => Effect.withFiber((fiber) => reserve(bytes, Context.getUnsafe(fiber.context, Scope.Scope)))
  }
}

// internal

interface Place {
  readonly bytes: number
  isGranted: boolean
  wake: () => void
}

const tooMany = "Too many large answers are under way, try again later"

const reservationOf = (bytes: number, free: (bytes: number) => void): Reservation => {
  let held = bytes
  return {
    resize: (bytes) => {
      const less = held - bytes
      held = bytes
      free(less)
    }
  }
}
