/**
 * Limits the bytes of large responses that the process holds at once.
 *
 * Large responses reserve their maximum size in the order of arrival. The reservation of a complete response shrinks to
 * its actual size, and then with each chunk that the client receives. It ends with the request.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { errorOf, type ServiceUnavailable } from "../HttpError.ts"

export interface Reservation {
  /** Lowers the number of reserved bytes. */
  readonly resize: (bytes: number) => void
}

export interface ResponseBudget {
  /**
   * Waits until this many bytes are free. Without other reservations, any number is granted. Fails with
   * `ServiceUnavailable` after a timeout. The reservation ends with the scope of the request.
   */
  readonly reserve: (bytes: number) => Effect.Effect<Reservation, ServiceUnavailable>
  /** Reserves without waiting; `undefined` if this many bytes are not free, or others wait. */
  readonly reserveNow: (bytes: number) => Effect.Effect<Reservation | undefined>
}

export const makeResponseBudget = (capacity: number, timeout: Duration.Duration): ResponseBudget => {
  const queue = makeQueue(capacity)

  const reserve = (bytes: number, request: Scope.Scope): Effect.Effect<Reservation, ServiceUnavailable> =>
    Effect.uninterruptibleMask((restore) => {
      const entry = queue.enqueue(bytes)
      return restore(Effect.timeoutOption(granted(entry), timeout)).pipe(
        Effect.onInterrupt(() => Effect.sync(() => queue.release(entry))),
        Effect.flatMap(() => {
          // The entry may have been granted at the moment of the timeout.
          if (!entry.isGranted) {
            queue.release(entry)
            return Effect.fail(errorOf("ServiceUnavailable", "errors.ResponsesTooLarge"))
          }
          return reserved(bytes, request)
        })
      )
    })

  const reserveNow = (bytes: number, request: Scope.Scope): Effect.Effect<Reservation | undefined> =>
    Effect.uninterruptible(Effect.suspend(() => {
      const entry = queue.enqueue(bytes)
      if (entry.isGranted) return reserved(bytes, request)
      queue.release(entry)
      return Effect.undefined
    }))

  /** The reservation of granted bytes, which ends with the request. */
  const reserved = (bytes: number, request: Scope.Scope): Effect.Effect<Reservation> => {
    const reservation = reservationOf(bytes, queue.free)
    return Effect.as(Scope.addFinalizer(request, Effect.sync(() => reservation.resize(0))), reservation)
  }

  return {
    reserve: (bytes) => Effect.withFiber((fiber) => reserve(bytes, Context.getUnsafe(fiber.context, Scope.Scope))),
    reserveNow: (bytes) => Effect.withFiber((fiber) => reserveNow(bytes, Context.getUnsafe(fiber.context, Scope.Scope)))
  }
}

// internal

interface QueueEntry {
  readonly bytes: number
  isGranted: boolean
  wake: () => void
}

interface Queue {
  /** Adds an entry, which may be granted immediately. */
  readonly enqueue: (bytes: number) => QueueEntry
  /** Removes an entry, or frees its bytes if it was granted. */
  readonly release: (entry: QueueEntry) => void
  readonly free: (bytes: number) => void
}

const makeQueue = (capacity: number): Queue => {
  const queue = new Set<QueueEntry>()
  let used = 0
  const grant = (): void => {
    for (const next of queue) {
      if (used > 0 && used + next.bytes > capacity) return
      queue.delete(next)
      used += next.bytes
      next.isGranted = true
      next.wake()
    }
  }
  const free = (bytes: number): void => {
    used -= bytes
    grant()
  }
  return {
    free,
    enqueue: (bytes) => {
      const entry: QueueEntry = { bytes, isGranted: false, wake: () => {} }
      queue.add(entry)
      grant()
      return entry
    },
    release: (entry) => {
      if (entry.isGranted) free(entry.bytes)
      else if (queue.delete(entry)) grant()
    }
  }
}

const granted = (entry: QueueEntry): Effect.Effect<void> =>
  Effect.callback((resume) => {
    entry.wake = () => resume(Effect.void)
    if (entry.isGranted) entry.wake()
  })

const reservationOf = (bytes: number, free: (bytes: number) => void): Reservation => {
  let used = bytes
  return {
    resize: (bytes) => {
      const less = used - bytes
      used = bytes
      free(less)
    }
  }
}
