/** Which sign-ins have not ended, as this process knows it: answers of the store are kept for a while. */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { BoundedCache } from "../../internal/boundedCache.ts"

interface Answer {
  /** When the question was asked, in monotonic milliseconds. */
  readonly at: number
  /** How often users had been signed out when the question was asked. */
  readonly after: number
  readonly live: Live | undefined
}

/** A sign-in that has not ended. */
export interface Live {
  /** The roles that its account has; `undefined` where that is not known. */
  readonly roles?: ReadonlyArray<string> | undefined
}

export interface Claimed {
  readonly id: string
  readonly subject: string
  /** The roles that the account had when the token was issued. */
  readonly roles?: ReadonlyArray<string> | undefined
}

export class Liveness {
  readonly #known = new BoundedCache<Answer>(10_000)
  /** By users: the number of sign-outs with theirs. Older answers don't count. */
  readonly #signedOut = new BoundedCache<number>(10_000)
  #signOuts = 0

  /**
   * Whether the sign-in of a user lives, and the account still has the roles. An answer counts for `delay` milliseconds from
   * when the question was asked. Roles that it lacks may be newer, so that the question is asked again.
   */
  check<E, R>(
    signIn: Claimed,
    delay: number,
    ask: Effect.Effect<Live | undefined, E, R>
  ): Effect.Effect<boolean, E, R> {
    return Clock.clockWith((clock) => {
      const at = monotonicMillis(clock)
      const known = this.#known.get(signIn.id)
      if (known !== undefined && at - known.at < delay && known.after >= (this.#signedOut.get(signIn.subject) ?? 0)) {
        if (known.live === undefined) return no
        if (hasRoles(known.live, signIn)) return yes
      }
      const after = this.#signOuts
      return Effect.map(ask, (live) => {
        const latest = this.#known.get(signIn.id)
        // It ended in this process since the question was asked.
        if (latest !== known && latest !== undefined && latest.live === undefined) return false
        this.#known.set(signIn.id, { at, after, live })
        return live !== undefined && hasRoles(live, signIn)
      })
    })
  }

  /** Remembers that a sign-in has ended. */
  end(id: string): Effect.Effect<void> {
    return Effect.map(
      Clock.Clock,
      (clock) => this.#known.set(id, { at: monotonicMillis(clock), after: this.#signOuts, live: undefined })
    )
  }

  /** Remembers that all sign-ins of a user have ended. */
  endAll(subject: string): Effect.Effect<void> {
    return Effect.sync(() => this.#signedOut.set(subject, ++this.#signOuts))
  }
}

// internal

const yes = Effect.succeed(true)
const no = Effect.succeed(false)

const hasRoles = ({ roles }: Live, claimed: Claimed): boolean =>
  roles === undefined || claimed.roles === undefined || claimed.roles.every((role) => roles.includes(role))
