/**
 * Which sign-ins have not ended, as this process knows it: answers of the store are kept for a while.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { BoundedCache } from "../../internal/boundedCache.ts"

interface Answer {
  /** When the question was asked, in milliseconds since 1970. */
  readonly at: number
  /** How often users had been signed out when the question was asked. */
  readonly after: number
  readonly isLive: boolean
}

/** @internal */
export class Liveness {
  readonly #known = new BoundedCache<Answer>(10_000)
  /** By users: the number of sign-outs with theirs. Older answers don't count. */
  readonly #signedOut = new BoundedCache<number>(10_000)
  #signOuts = 0

  /** Whether the sign-in of a user lives. An answer counts for `delay` milliseconds from when the question was asked. */
  check<E, R>(
    signIn: { readonly id: string; readonly subject: string },
    delay: number,
    ask: Effect.Effect<boolean, E, R>
  ): Effect.Effect<boolean, E, R> {
    return Clock.clockWith((clock) => {
      const at = clock.currentTimeMillisUnsafe()
      const known = this.#known.get(signIn.id)
      if (known !== undefined && at - known.at < delay && known.after >= (this.#signedOut.get(signIn.subject) ?? 0)) {
        return Effect.succeed(known.isLive)
      }
      const after = this.#signOuts
      return Effect.map(ask, (isLive) => {
        const latest = this.#known.get(signIn.id)
        // It ended in this process since the question was asked.
        if (latest !== known && latest?.isLive === false) return false
        this.#known.set(signIn.id, { at, after, isLive })
        return isLive
      })
    })
  }

  /** Remembers that a sign-in has ended. */
  end(id: string): Effect.Effect<void> {
    return Effect.map(
      Clock.currentTimeMillis,
      (at) => this.#known.set(id, { at, after: this.#signOuts, isLive: false })
    )
  }

  /** Remembers that all sign-ins of a user have ended. */
  endAll(subject: string): Effect.Effect<void> {
    return Effect.sync(() => this.#signedOut.set(subject, ++this.#signOuts))
  }
}
