/** When the keys of another issuer are fetched, and fetched again. */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { IssuerUnavailable } from "../SecurityError.ts"
import { findIn, type FindKey, type VerificationKey } from "./verificationKey.ts"

/**
 * The keys of another issuer, which change while the program runs.
 *
 * Keys are fetched when they are first needed, when they are older than `maxAge`, and when a token names an unknown key,
 * but never within `minInterval` of the last attempt, whatever tokens come. Callers at the same time share one fetch, which
 * goes on if they are interrupted. Until the issuer answers, keys count for another `staleFor`: who needs one of them does
 * not wait, so that an issuer that does not answer stops nobody whose key is known.
 */
export const refreshedKeys = Effect.fnUntraced(function*(options: {
  readonly issuer: string
  readonly fetch: Effect.Effect<ReadonlyArray<VerificationKey>, IssuerUnavailable>
  readonly maxAge: Duration.Duration
  readonly minInterval: Duration.Duration
  readonly staleFor: Duration.Duration
}) {
  const scope = yield* Scope.Scope
  const maxAge = Duration.toMillis(options.maxAge)
  const minInterval = Duration.toMillis(options.minInterval)
  const staleFor = Duration.toMillis(options.staleFor)
  let keys: ReadonlyArray<VerificationKey> = []
  let fetchedAt = -Infinity
  let triedAt = -Infinity
  let failure: IssuerUnavailable | undefined
  let running: Deferred.Deferred<void> | undefined

  const fetchOnce = Effect.matchEffect(options.fetch, {
    onFailure: (error) => {
      failure = error
      return Effect.logWarning(error.message)
    },
    onSuccess: (fetched) =>
      Effect.map(Clock.Clock, (clock) => {
        keys = fetched
        fetchedAt = monotonicMillis(clock)
        failure = undefined
      })
  })

  /** The end of the running fetch, or of one that it starts; an end in the past if it is too early. */
  const refresh = (now: number) =>
    Effect.suspend(() => {
      if (running !== undefined) return Effect.succeed(Deferred.await(running))
      if (now - triedAt < minInterval) return Effect.succeed(Effect.void)
      triedAt = now
      const done = Deferred.makeUnsafe<void>()
      running = done
      // Until the fetch succeeds, however it ends.
      failure = new IssuerUnavailable({ issuer: options.issuer, detail: "they were not fetched" })
      return Effect.map(Effect.forkIn(Effect.interruptible(fetchOnce), scope), (fiber) => {
        fiber.addObserver((exit) => {
          running = undefined
          Deferred.doneUnsafe(done, exit)
        })
        return Deferred.await(done)
      })
    }).pipe(Effect.uninterruptible)

  const find: FindKey = Effect.fnUntraced(function*(id, algorithm) {
    const now = monotonicMillis(yield* Clock.Clock)
    const known = findIn(keys, id, algorithm)
    const age = now - fetchedAt
    if (known !== undefined && age < maxAge) return known
    const refreshed = yield* refresh(now)
    if (known !== undefined && age < maxAge + staleFor) return known
    yield* refreshed
    if (now - fetchedAt >= maxAge + staleFor) keys = []
    const found = findIn(keys, id, algorithm)
    return found === undefined && failure !== undefined ? yield* failure : found
  })
  return find
})
