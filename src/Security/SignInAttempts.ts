/**
 * Slows failed attempts to sign in.
 *
 * **Details**
 *
 * Failed attempts are counted for each pair of an account and an address, and for each address. So guesses from one address
 * don't lock an account for its owner at another one, and an address that tries many accounts is limited as a whole. The
 * addresses of an IPv6 /64 count as one. Attempts that succeed are not counted.
 *
 * All spellings of a login with which `Accounts` finds one account count as one, whatever the converter of the field is:
 * `Accounts.fromModel` says how a login is stored.
 *
 * `Accounts.Passwords` checks every password this way, with the `SignInAttempts` that its layer gets, otherwise with the
 * default options. Counts are in the `RateLimiter` of `effect/persistence`, if the layer gets one, for example over Redis; otherwise each
 * process counts, with bounded memory. Keys are hashes, so that no login name is stored. If the store fails, the process
 * counts by itself.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import { countedAddressOf, currentClientAddress } from "../internal/clientAddress.ts"
import { makeQuotas, type Rate } from "../internal/rateLimiter.ts"
import { Accounts } from "./accounts/port.ts"
import { hashOf } from "./keys/hash.ts"
import { CredentialsInvalid, TooManyAttempts } from "./SecurityError.ts"

/**
 * Options of {@link make} and {@link layerWith}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The failed attempts for one account from one address. Defaults to 5 in 5 minutes. */
  readonly perAccount?: Rate | undefined
  /** The failed attempts for all accounts from one address. Defaults to 100 in 10 minutes. */
  readonly perAddress?: Rate | undefined
}

/**
 * Who tries to sign in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attempt {
  /**
   * The name of the account, as somebody has written it. Names count as one if `loginOf` of `Accounts` has the same for both,
   * and if they differ only in case, in white space at their ends, or in characters that look alike (NFKC).
   */
  readonly login: string
  /**
   * The address of the client. Defaults to that of the client whose request is handled. Outside of requests there is none, and
   * nothing is limited.
   */
  readonly address?: string | undefined
}

/**
 * Slows failed attempts to sign in.
 *
 * @category services
 * @since 0.1.0
 */
export class SignInAttempts extends Context.Service<SignInAttempts, {
  /**
   * Runs a check of credentials. It counts as failed if it fails with `CredentialsInvalid` or is interrupted. After too many
   * of those, the check does not run, and the effect fails with `TooManyAttempts`. In a process, the attempts for one account
   * from one address run one after another.
   */
  readonly attempt: <A, E, R>(
    attempt: Attempt,
    check: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | TooManyAttempts, R>
}>()("appkernel/Security/SignInAttempts") {}

/**
 * Slows failed attempts to sign in.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options?: Options
) => Effect.Effect<SignInAttempts["Service"]> = Effect.fnUntraced(function*(
  { perAccount = { limit: 5, window: "5 minutes" }, perAddress = { limit: 100, window: "10 minutes" } }: Options = {}
) {
  const { giveBack, take } = yield* makeQuotas
  // Several requests of one caller at once must not be refused before the first of them is checked.
  const turns = new Map<string, Turn>()
  const inTurn = <A, E, R>(key: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const turn = turns.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), waiting: 0 }
        turn.waiting++
        turns.set(key, turn)
        return turn
      }),
      ({ semaphore }) => semaphore.withPermits(1)(effect),
      (turn) => Effect.sync(() => --turn.waiting === 0 && turns.delete(key))
    )
  return SignInAttempts.of({
    attempt: Effect.fnUntraced(function*({ address, login }, check) {
      const client = address ?? (yield* currentClientAddress)
      if (client === undefined) return yield* check
      const from = countedAddressOf(client)
      const name = nameOf(yield* storedLogin(login))
      const byAddress = { key: `sign-in:${hashOf(from)}`, rate: perAddress }
      const byAccount = { key: `sign-in:${hashOf(`${name}\n${from}`)}`, rate: perAccount }
      // The address first: one that is refused leaves no key of an account.
      const limits = [byAddress, byAccount]
      const refund = Effect.forEach(limits, ({ key, rate }) => giveBack(key, rate), { discard: true })
      // Counted before the check, so that many at once are no more than the limit.
      const checked = Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          for (const [i, { key, rate }] of limits.entries()) {
            const { isExceeded, retryAfter } = yield* take(key, rate)
            if (!isExceeded) continue
            for (const taken of limits.slice(0, i)) yield* giveBack(taken.key, taken.rate)
            return yield* new TooManyAttempts({ retryAfter: Duration.millis(retryAfter) })
          }
          const exit = yield* Effect.exit(restore(check))
          if (!isFailed(exit)) yield* refund
          return yield* exit
        })
      )
      return yield* inTurn(byAccount.key, checked)
    })
  })
})

/**
 * {@link make} as a layer.
 *
 * **Example** (Guessing a password)
 *
 * ```ts
 * import { SecurityError, SignInAttempts } from "appkernel"
 * import { Effect, Layer } from "effect"
 * import { RateLimiter } from "effect/persistence"
 *
 * const program = Effect.gen(function*() {
 *   const attempts = yield* SignInAttempts.SignInAttempts
 *   const guess = Effect.fail(new SecurityError.CredentialsInvalid({ reason: "secret" }))
 *   const attacker = { login: "jane", address: "203.0.113.9" }
 *   yield* Effect.ignore(attempts.attempt(attacker, guess))
 *   const error = yield* Effect.flip(attempts.attempt(attacker, guess))
 *   const owner = yield* attempts.attempt({ login: "jane", address: "198.51.100.7" }, Effect.succeed("Jane"))
 *   return [error._tag, owner]
 * })
 *
 * const layer = SignInAttempts.layerWith({ perAccount: { limit: 1, window: "1 minute" } })
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["TooManyAttempts", "Jane"]
 *
 * // All processes count together with `RateLimiter.layerStoreRedis()` in the place of the store in memory.
 * const shared = RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))
 * await Effect.runPromise(Effect.provide(program, Layer.provide(layer, shared))) // => ["TooManyAttempts", "Jane"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<SignInAttempts> => Layer.effect(SignInAttempts, make(options))

/**
 * {@link make} as a layer, with the default options.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<SignInAttempts> = layerWith({})

export {
  /**
   * So many at once; after that one more each time that its part of the window has passed.
   *
   * @category models
   * @since 0.1.0
   */
  type Rate
} from "../internal/rateLimiter.ts"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Turn {
  readonly semaphore: Semaphore.Semaphore
  /** The number of attempts that run or wait. */
  waiting: number
}

const storedLogin = (login: string) =>
  Effect.flatMap(
    Effect.serviceOption(Accounts),
    (accounts) => Option.getOrUndefined(accounts)?.loginOf?.(login) ?? Effect.succeed(login)
  )

const nameOf = (login: string): string => login.normalize("NFKC").trim().toLowerCase()

/** A defect, or a failure of the store of accounts, tells the caller nothing of the password. */
const isFailed = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some((reason) =>
    reason._tag === "Interrupt" || reason._tag === "Fail" && reason.error instanceof CredentialsInvalid
  )
