/** Counts requests against rates: in this process, in the primary process of workers, or by Effect's `RateLimiter`. */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { BoundedCache } from "./boundedCache.ts"
import { CurrentWorker, type Worker } from "./worker.ts"

/** So many requests at once; after that one more each time that its part of the window has passed. */
export interface Rate {
  /** The number of requests in a window. */
  readonly limit: number
  /** The time in which so many become available again. */
  readonly window: Duration.Input
}

/** The rest of a rate. `retryAfter` is zero if the request was within the rate. @internal */
export interface Quota {
  readonly isExceeded: boolean
  readonly remaining: number
  /** The milliseconds until one more is available, if the rate is exceeded. */
  readonly retryAfter: number
  /** The milliseconds until everything is available again. */
  readonly resetAfter: number
}

/**
 * Takes one request of a rate for a key, or gives it back. Token buckets of Effect's `RateLimiter`, if there is one, otherwise
 * in this process, with bounded memory.
 *
 * @internal
 */
export interface Quotas {
  readonly take: (key: string, rate: Rate) => Effect.Effect<Quota>
  readonly giveBack: (key: string, rate: Rate) => Effect.Effect<void>
}

/**
 * While the `RateLimiter` of the context can't be reached, this process counts by itself: limits stay, and nobody is locked
 * out. It is waited for once in five seconds, for a second at most, so that requests do not wait for what is gone.
 *
 * @internal
 */
export const makeQuotas: Effect.Effect<Quotas> = Effect.map(
  Effect.all([Effect.serviceOption(RateLimiter.RateLimiter), CurrentWorker]),
  ([shared, worker]) => {
    const own = inMemory()
    if (Option.isNone(shared)) return worker === undefined ? own : byPrimary(worker, own)
    let alone = -Infinity
    const consume = (key: string, { limit, window }: Rate, tokens: number) =>
      shared.value.consume({ algorithm: "token-bucket", key, limit, window, tokens })
    const unlessGone = <A>(ask: Effect.Effect<A, RateLimiter.RateLimiterError>, instead: Effect.Effect<A>) =>
      Clock.clockWith((clock) => {
        if (monotonicMillis(clock) < alone) return instead
        return ask.pipe(
          Effect.timeout(maxWait),
          Effect.catch((error) => {
            alone = monotonicMillis(clock) + pause
            return Effect.andThen(
              Effect.logWarning("The store of rate limits failed; this process counts by itself", error),
              instead
            )
          })
        )
      })
    return {
      take: (key, rate) => {
        const taken = consume(key, rate, 1).pipe(
          Effect.map(({ remaining, resetAfter }): Quota => ({
            isExceeded: false,
            remaining: Math.floor(remaining),
            retryAfter: 0,
            resetAfter: Duration.toMillis(resetAfter)
          })),
          Effect.catch((error) => {
            const { reason } = error
            if (reason._tag !== "RateLimitExceeded") return Effect.fail(error)
            const retryAfter = Duration.toMillis(reason.retryAfter)
            const window = Duration.toMillis(Duration.fromInputUnsafe(rate.window))
            return Effect.succeed({ isExceeded: true, remaining: 0, retryAfter, resetAfter: window })
          })
        )
        return unlessGone(taken, own.take(key, rate))
      },
      giveBack: (key, rate) => unlessGone(Effect.asVoid(consume(key, rate, -1)), own.giveBack(key, rate))
    }
  }
)

// internal

/**
 * The quotas of all workers together, which the primary process counts. While it does not answer, a worker counts by
 * itself.
 */
const byPrimary = (worker: Worker, own: Quotas): Quotas => {
  const ask = <A>(kind: "take" | "giveBack", key: string, rate: Rate, instead: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.catch(
      Effect.map(
        worker.ask({
          kind,
          key,
          limit: rate.limit,
          millis: Duration.toMillis(Duration.fromInputUnsafe(rate.window))
        }),
        // The primary process answers with what its own quotas give.
        (answer) => answer as A
      ),
      () => instead
    )
  return {
    take: (key, rate) => ask("take", key, rate, own.take(key, rate)),
    giveBack: (key, rate) => ask("giveBack", key, rate, own.giveBack(key, rate))
  }
}

/** The time that a store of limits has to answer, in milliseconds. */
const maxWait = 1_000

/** The time after a failure in which the store of limits is not asked, in milliseconds. */
const pause = 5_000

/** A full cache forgets the key that was used longest ago. */
const maxKeys = 50_000

/** The time until everything of a key is available again, at a moment, in milliseconds. */
interface Backlog {
  readonly at: number
  readonly wait: number
}

/** Effect's store in memory keeps every key forever. The wait is apart, as a sum would lose fractions. */
const inMemory = (): Quotas => {
  const backlogs = new BoundedCache<Backlog>(maxKeys)
  const consume = (key: string, rate: Rate, count: number): Effect.Effect<Quota> =>
    Effect.clockWith((clock) =>
      Effect.sync(() => {
        const now = monotonicMillis(clock)
        const window = Duration.toMillis(Duration.fromInputUnsafe(rate.window))
        const each = window / rate.limit
        const last = backlogs.get(key)
        const wait = last === undefined ? 0 : Math.max(last.wait - (now - last.at), 0)
        const next = Math.max(0, wait + count * each)
        const excess = next - window
        const isExceeded = excess > rounding
        const stored = isExceeded ? wait : next
        // A key with nothing to wait for is as good as none, and takes no place of another one.
        if (stored <= rounding) backlogs.delete(key)
        else backlogs.set(key, { at: now, wait: stored })
        return {
          isExceeded,
          remaining: Math.floor((window - stored + rounding) / each),
          retryAfter: isExceeded ? Math.ceil(excess - rounding) : 0,
          resetAfter: Math.ceil(stored - rounding)
        }
      })
    )
  return {
    take: (key, rate) => consume(key, rate, 1),
    giveBack: (key, rate) => Effect.asVoid(consume(key, rate, -1))
  }
}

/** In milliseconds, since a window is not always a multiple of its limit. */
const rounding = 0.001
