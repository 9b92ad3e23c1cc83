/**
 * Bearer tokens: JSON web tokens (RFC 7519), signed and verified with RS256, ES256 or EdDSA.
 *
 * **Details**
 *
 * A token counts if an issuer that the program trusts has signed it for this application, with the algorithm of its key, and
 * it has `iss`, `aud`, `sub` and `exp`. Clocks may differ by 30 seconds. Keys that a token's header brings or names by
 * address (`jwk`, `jku`, `x5u`, `x5c`) are ignored.
 *
 * Verified tokens are cached by their hash, until they expire and for five minutes at most.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Scope from "effect/Scope"
import { Application } from "../internal/application.ts"
import { DeclarationError } from "../internal/declarationError.ts"
import { nodeFiles } from "../internal/nodeFiles.ts"
import type { CurrentUser } from "./CurrentUser.ts"
import { type Issuer, local, type OpenIssuer } from "./jwt/issuers.ts"
import type { Keys } from "./Keys.ts"
import { layer as layerKeys } from "./Keys.ts"
import { type CredentialsInvalid, type IssuerUnavailable, KeysInvalid } from "./SecurityError.ts"

export { discovered, type Issuer, type IssuerOptions, jwks, local } from "./jwt/issuers.ts"

/**
 * Options of {@link make} and {@link layerWith}. The application alone, {@link local}, is trusted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The application's id: `aud` of all tokens, and `iss` of those that it signs. Defaults to the id of the engine. */
  readonly application?: string | undefined
  /** The lifetime of tokens that the application signs, a finite time above zero. Defaults to 15 minutes. */
  readonly expiresIn?: Duration.Input | undefined
  /** The number of verified tokens that are cached. Defaults to 10,000. */
  readonly cacheSize?: number | undefined
  /** The length up to which tokens are read, in characters. Defaults to 8,192. */
  readonly maxTokenSize?: number | undefined
}

/**
 * Options of {@link make} and {@link layerWith} for an application that says whom it trusts.
 *
 * @category models
 * @since 0.1.0
 */
export interface TrustOptions<out Issuers extends ReadonlyArray<Issuer<unknown>>> extends Options {
  /** The issuers whose tokens count, each with an `iss` of its own. */
  readonly issuers: Issuers
}

/**
 * What a token says.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenContent {
  /** `sub`: the user's id, which is not empty. */
  readonly subject: string
  /** `roles`. Defaults to none. */
  readonly roles?: ReadonlyArray<string> | undefined
  /**
   * Further claims, JSON values. They can't replace `sub`, `roles`, `iss`, `aud`, `iat` and `exp`. `sid` and `account_roles` are
   * those of sign-ins: a token with a `sid` counts as long as the sign-in of that name, and one with the name of none is refused.
   */
  readonly claims?: Schema.JsonObject | undefined
  /** The lifetime, a finite time above zero. Defaults to the one of {@link Options}. */
  readonly expiresIn?: Duration.Input | undefined
}

/**
 * Signs and verifies tokens.
 *
 * @category services
 * @since 0.1.0
 */
export class Jwt extends Context.Service<Jwt, {
  /** The application's id: `iss` of the tokens that it signs. */
  readonly application: string
  /**
   * A new token of this application, valid from now. Fails with `KeysInvalid` if the application has no private key or
   * {@link local} is not among the issuers. Dies if the subject is empty, the lifetime is not a finite time above zero, or
   * the claims are no JSON values.
   */
  readonly sign: (content: TokenContent) => Effect.Effect<Redacted.Redacted<string>, KeysInvalid>
  /**
   * Whether a subject is one that users of another issuer have: `<issuer>|<sub>`. No other credentials prove it: not those of an
   * account that has such an id.
   */
  readonly isForeign: (subject: string) => boolean
  /**
   * The user that a token proves. Fails with `CredentialsInvalid` if it proves nobody, and with `IssuerUnavailable` if the
   * keys of its issuer can't be fetched.
   */
  readonly verify: (
    token: Redacted.Redacted<string>
  ) => Effect.Effect<CurrentUser["Service"], CredentialsInvalid | IssuerUnavailable>
}>()("appkernel/Security/Jwt") {}

/**
 * Opens the issuers. Keys of others are fetched when a token first needs them. Dies if two issuers have one `iss`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  (options: OwnOptions): Effect.Effect<Jwt["Service"], never, Keys | Scope.Scope>
  <const Issuers extends ReadonlyArray<Issuer<unknown>>>(
    options: TrustOptions<Issuers>
  ): Effect.Effect<Jwt["Service"], never, Services<Issuers> | Scope.Scope>
} = (options: OwnOptions | TrustOptions<ReadonlyArray<Issuer<unknown>>>) => makeOf(options)

/**
 * {@link make} as a layer.
 *
 * **Example** (A token of one's own)
 *
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import { Jwt, Keys } from "appkernel"
 * import { Effect, FileSystem, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const jwt = yield* Jwt.Jwt
 *   const token = yield* jwt.sign({ subject: "U1", roles: ["buyer"] })
 *   const { roles, subject } = yield* jwt.verify(token)
 *   return [subject, ...roles, String(token)]
 * })
 *
 * const keys = Layer.unwrap(Effect.gen(function*() {
 *   const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
 *   return Keys.layerWith({ cfgDir: folder, dataDir: folder, development: true, algorithm: "EdDSA" })
 * })).pipe(Layer.provide(NodeServices.layer))
 *
 * const layer = Jwt.layerWith({ application: "shop" }).pipe(Layer.provide(keys))
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["U1", "buyer", "<redacted:token>"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith: {
  (options: OwnOptions): Layer.Layer<Jwt, never, Keys>
  <const Issuers extends ReadonlyArray<Issuer<unknown>>>(
    options: TrustOptions<Issuers>
  ): Layer.Layer<Jwt, never, Services<Issuers>>
} = (options: OwnOptions | TrustOptions<ReadonlyArray<Issuer<unknown>>>) => Layer.effect(Jwt, makeOf(options))

/**
 * The tokens of the engine's application, with the keys that `Keys` finds by the configuration. Other services verify them
 * by the keys at `/.well-known/jwks.json`, which the engine serves.
 *
 * **Gotchas**
 *
 * `engine.launch` and `engine.test` say which application it is: in other programs the layer dies. Use {@link layerWith}
 * there.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Jwt | Keys, KeysInvalid | Config.ConfigError> = Layer.suspend(() =>
  Layer.provideMerge(Layer.effect(Jwt, makeOf({})), layerKeys).pipe(Layer.provide(nodeFiles))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Options without issuers. */
interface OwnOptions extends Options {
  readonly issuers?: undefined
}

/** What the issuers of a list need. */
type Services<Issuers extends ReadonlyArray<Issuer<unknown>>> = Issuers[number] extends infer One
  ? One extends Issuer<infer R> ? R : never
  : never

const makeOf = Effect.fn("Jwt.make")(
  function*(options: OwnOptions | TrustOptions<ReadonlyArray<Issuer<unknown>>>) {
    const { makeVerifier, signed } = yield* Effect.promise(() => import("./jwt/verifier.ts"))
    const { expiresIn = "15 minutes" } = options
    const application = options.application ?? (yield* Application)?.id ?? (yield* mistake(noApplication))
    const defaultLifetime = yield* secondsOf(expiresIn)
    const issuers = options.issuers ?? [local]
    yield* requireOwnNames(issuers.map((one) => one.issuer ?? application))
    const opened = yield* Effect.forEach(issuers, (one) =>
      // What the issuers need is in the overloads of `make` and `layerWith`.
      // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off anyUnknownInErrorContext:off
      Effect.map(one.open as Effect.Effect<OpenIssuer, never, Scope.Scope>, (open) => ({
        ...open,
        issuer: one.issuer ?? application,
        audience: one.audience ?? [application],
        roles: one.roles,
        prefix: one.subjects === "ours" ? "" : `${one.issuer ?? application}|`
      })))
    const verify = makeVerifier({
      issuers: opened,
      cacheSize: options.cacheSize ?? 10_000,
      maxTokenSize: options.maxTokenSize ?? 8_192
    })
    const keys = opened.find((one) => one.keys !== undefined)?.keys
    return Jwt.of({
      application,
      isForeign: (subject) => isForeign(opened, subject),
      verify,
      sign: Effect.fn("Jwt.sign")(function*(content) {
        if (keys?.privateKey === undefined) {
          return yield* new KeysInvalid({ problem: "there is no private key to sign with" })
        }
        if (content.subject === "") return yield* mistake("the subject of a token must not be empty")
        if (content.claims !== undefined && !isJson(content.claims)) {
          return yield* mistake("the claims of a token must be JSON values")
        }
        const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        const lifetime = content.expiresIn === undefined ? defaultLifetime : yield* secondsOf(content.expiresIn)
        return yield* signed({ id: keys.id, algorithm: keys.algorithm, key: Redacted.value(keys.privateKey) }, {
          ...content.claims,
          iss: application,
          aud: application,
          sub: content.subject,
          roles: content.roles ?? [],
          iat: issuedAt,
          exp: issuedAt + lifetime
        })
      })
    })
  }
)

/** Whether a subject names a user of an issuer whose subjects are not ours. */
const isForeign = (issuers: ReadonlyArray<{ readonly prefix: string }>, subject: string): boolean =>
  issuers.some(({ prefix }) => prefix !== "" && subject.startsWith(prefix))

const noApplication =
  "which application is it? Start the service by engine.launch or engine.test, or use Jwt.layerWith({ application })"

const isJson = SchemaParser.is(Schema.JsonObject)

const mistake = (problem: string) => Effect.die(new DeclarationError(`Jwt: ${problem}`))

/** A lifetime in whole seconds. */
const secondsOf = (lifetime: Duration.Input): Effect.Effect<number> => {
  const seconds = Math.ceil(Duration.toSeconds(Duration.fromInputUnsafe(lifetime)))
  return Number.isFinite(seconds) && seconds > 0
    ? Effect.succeed(seconds)
    : mistake("expiresIn must be a finite time above zero")
}

const requireOwnNames = (names: ReadonlyArray<string>): Effect.Effect<void> => {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  return twice === undefined
    ? Effect.void
    : mistake(`two issuers are named ${twice}. Declare it once; audience may be a list`)
}
