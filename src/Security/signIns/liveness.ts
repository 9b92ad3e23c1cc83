/**
 * Which sign-ins have not ended, as this process knows it: answers of the store are kept for a while.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { BoundedCache } from "../../internal/boundedCache.ts"

/** @internal */
export class Liveness {
  readonly #known = new BoundedCache<{ readonly at: number; readonly isLive: boolean }>(10_000)
  #emptied = 0

  /** Whether the sign-in lives. An answer counts for `delay` milliseconds from when the question was asked. */
  check<E, R>(id: string, delay: number, ask: Effect.Effect<boolean, E, R>): Effect.Effect<boolean, E, R> {
    return Clock.clockWith((clock) => {
      const at = clock.currentTimeMillisUnsafe()
      const known = this.#known.get(id)
      if (known !== undefined && at - known.at < delay) return Effect.succeed(known.isLive)
      const emptied = this.#emptied
      return Effect.map(ask, (isLive) => {
        const latest = this.#known.get(id)
        // It ended in this process since the question was asked.
        if (latest !== known && latest?.isLive === false) return false
        if (emptied === this.#emptied) this.#known.set(id, { at, isLive })
        return isLive
      })
    })
  }

  /** Remembers that a sign-in has ended. */
  end(id: string): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (at) => this.#known.set(id, { at, isLive: false }))
  }

  /** Forgets all answers. */
  forget(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#emptied++
      this.#known.clear()
    })
  }
}
