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
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { CurrentUser } from "./CurrentUser.ts"
import type * as fetchKeys from "./jwt/fetchKeys.ts"
import type { FindKey } from "./jwt/verificationKey.ts"
import { Keys } from "./Keys.ts"
import { type CredentialsInvalid, type IssuerUnavailable, KeysInvalid } from "./SecurityError.ts"

/**
 * An issuer whose tokens count: {@link local}, {@link jwks} or {@link discovered}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Issuer<out R> {
  /** The `iss` of its tokens; the application's id if `undefined`. */
  readonly issuer: string | undefined
  /** The `aud` that its tokens must have; the application's id if `undefined`. */
  readonly audience: string | undefined
  /** The path of the roles in the claims. */
  readonly roles: ReadonlyArray<string>
  /** @internal */
  readonly open: Effect.Effect<OpenIssuer, never, R | Scope.Scope>
}

/**
 * The keys of an issuer.
 *
 * @internal
 */
export interface OpenIssuer {
  readonly find: FindKey
  readonly keys?: Keys["Service"]
}

/**
 * Options of an issuer other than this application.
 *
 * @category models
 * @since 0.1.0
 */
export interface IssuerOptions {
  /** The `iss` of its tokens, compared literally. */
  readonly issuer: string
  /** The `aud` that its tokens must have. Defaults to the application's id. */
  readonly audience?: string | undefined
  /**
   * The path of the roles in the claims, for example `["realm_access", "roles"]`. The claim is a list of texts, or one text
   * with spaces between them; a token without it has no roles. Defaults to `["roles"]`.
   */
  readonly roles?: ReadonlyArray<string> | undefined
  /** The age at which keys are fetched again. Defaults to 10 minutes. */
  readonly maxAge?: Duration.Input | undefined
  /** The least time between two fetches, whatever keys tokens name. Defaults to 30 seconds. */
  readonly minInterval?: Duration.Input | undefined
  /** The time after `maxAge` for which keys count while the issuer does not answer. Defaults to one hour. */
  readonly staleFor?: Duration.Input | undefined
}

/**
 * Options of {@link make} and {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Issuers extends ReadonlyArray<Issuer<unknown>>> {
  /** The application's id: `aud` of all tokens, and `iss` of those that it signs. */
  readonly application: string
  /** The issuers whose tokens count. Defaults to the application alone, {@link local}. */
  readonly issuers?: Issuers | undefined
  /** The lifetime of tokens that the application signs. Defaults to 15 minutes. */
  readonly expiresIn?: Duration.Input | undefined
  /** The number of verified tokens that are cached. Defaults to 10,000. */
  readonly cacheSize?: number | undefined
  /** The length up to which tokens are read, in characters. Defaults to 8,192. */
  readonly maxTokenSize?: number | undefined
}

/**
 * What a token says.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenContent {
  /** `sub`: the user's id. */
  readonly subject: string
  /** `roles`. Defaults to none. */
  readonly roles?: ReadonlyArray<string> | undefined
  /** Further claims. They can't replace `sub`, `roles`, `iss`, `aud`, `iat` and `exp`. */
  readonly claims?: { readonly [name: string]: unknown } | undefined
  /** The lifetime. Defaults to the one of {@link Options}. */
  readonly expiresIn?: Duration.Input | undefined
}

/**
 * Signs and verifies tokens.
 *
 * @category services
 * @since 0.1.0
 */
export class Jwt extends Context.Service<Jwt, {
  /**
   * A new token of this application, valid from now. Fails with `KeysInvalid` if the application has no private key or
   * {@link local} is not among the issuers.
   */
  readonly sign: (content: TokenContent) => Effect.Effect<Redacted.Redacted<string>, KeysInvalid>
  /**
   * The user that a token proves. Fails with `CredentialsInvalid` if it proves nobody, and with `IssuerUnavailable` if the
   * keys of its issuer can't be fetched.
   */
  readonly verify: (
    token: Redacted.Redacted<string>
  ) => Effect.Effect<CurrentUser["Service"], CredentialsInvalid | IssuerUnavailable>
}>()("appkernel/Security/Jwt") {}

/**
 * This application, with the keys of `Keys`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const local: Issuer<Keys> = {
  issuer: undefined,
  audience: undefined,
  roles: ["roles"],
  open: Effect.gen(function*() {
    const keys = yield* Keys
    const { findIn } = yield* verificationKeys
    const own = [{ algorithm: keys.algorithm, id: keys.id, key: keys.publicKey }]
    return { find: (id, algorithm) => Effect.sync(() => findIn(own, id, algorithm)), keys }
  })
}

/**
 * An issuer whose keys are at an address, as a JSON web key set (RFC 7517).
 *
 * @category constructors
 * @since 0.1.0
 */
export const jwks = (
  options: IssuerOptions & {
    /** The address of the key set. */
    readonly url: string
  }
): Issuer<HttpClient.HttpClient> =>
  remote(options, (client, { fetchKeys }) => fetchKeys(client, options.issuer, options.url))

/**
 * An issuer with a discovery document (OpenID Connect Discovery 1.0) at `<issuer>/.well-known/openid-configuration`, which
 * says where its keys are.
 *
 * @category constructors
 * @since 0.1.0
 */
export const discovered = (options: IssuerOptions): Issuer<HttpClient.HttpClient> =>
  remote(options, (client, { discoverKeys }) => discoverKeys(client, options.issuer))

/**
 * Opens the issuers. Keys of others are fetched when a token first needs them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: <const Issuers extends ReadonlyArray<Issuer<unknown>> = readonly [Issuer<Keys>]>(
  options: Options<Issuers>
) => Effect.Effect<Jwt["Service"], never, Services<Issuers> | Scope.Scope> = Effect.fn("Jwt.make")(
  function*<Issuers extends ReadonlyArray<Issuer<unknown>>>(options: Options<Issuers>) {
    const { makeVerifier } = yield* Effect.promise(() => import("./jwt/verifier.ts"))
    const { signed } = yield* Effect.promise(() => import("./jwt/signed.ts"))
    const { application, expiresIn = "15 minutes" } = options
    const opened = yield* Effect.forEach(options.issuers ?? [local], (one) =>
      // What the issuers need is in the type of the result.
      // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
      Effect.map(one.open as Effect.Effect<OpenIssuer, never, Services<Issuers> | Scope.Scope>, (open) => ({
        ...open,
        issuer: one.issuer ?? application,
        audience: one.audience ?? application,
        roles: one.roles
      })))
    const verify = makeVerifier({
      issuers: opened,
      cacheSize: options.cacheSize ?? 10_000,
      maxTokenSize: options.maxTokenSize ?? 8_192
    })
    const keys = opened.find((one) => one.keys !== undefined)?.keys
    return Jwt.of({
      verify: (token) => verify(Redacted.value(token)),
      sign: Effect.fn("Jwt.sign")(function*(content) {
        if (keys?.privateKey === undefined) {
          return yield* new KeysInvalid({ problem: "there is no private key to sign with" })
        }
        const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        const lifetime = Duration.toSeconds(Duration.fromInputUnsafe(content.expiresIn ?? expiresIn))
        return yield* signed({ id: keys.id, algorithm: keys.algorithm, key: Redacted.value(keys.privateKey) }, {
          ...content.claims,
          iss: application,
          aud: application,
          sub: content.subject,
          roles: content.roles ?? [],
          iat: issuedAt,
          exp: issuedAt + Math.ceil(lifetime)
        })
      })
    })
  }
)

/**
 * {@link make} as a layer.
 *
 * **Example** (A token of one's own)
 *
 * ```ts
 * import { NodeServices } from "@effect/platform-node"
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
 *   return Keys.layerWith({ cfgDir: folder, dataDir: folder, algorithm: "EdDSA" })
 * })).pipe(Layer.provide(NodeServices.layer))
 *
 * const layer = Jwt.layer({ application: "shop" }).pipe(Layer.provide(keys))
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["U1", "buyer", "<redacted:token>"]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <const Issuers extends ReadonlyArray<Issuer<unknown>> = readonly [Issuer<Keys>]>(
  options: Options<Issuers>
): Layer.Layer<Jwt, never, Services<Issuers>> => Layer.effect(Jwt, make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What the issuers of a list need. */
type Services<Issuers extends ReadonlyArray<Issuer<unknown>>> = Issuers[number] extends infer One
  ? One extends Issuer<infer R> ? R : never
  : never

// jose is loaded by programs that use it, and by no others.
const verificationKeys = Effect.promise(() => import("./jwt/verificationKey.ts"))
const fetching = Effect.promise(() => import("./jwt/fetchKeys.ts"))

const remote = (
  options: IssuerOptions,
  fetchWith: (
    client: HttpClient.HttpClient,
    module: typeof fetchKeys
  ) => ReturnType<typeof fetchKeys.fetchKeys>
): Issuer<HttpClient.HttpClient> => ({
  issuer: options.issuer,
  audience: options.audience,
  roles: options.roles ?? ["roles"],
  open: Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const { rotating } = yield* Effect.promise(() => import("./jwt/rotatingKeys.ts"))
    const find = yield* rotating({
      issuer: options.issuer,
      fetch: fetchWith(client, yield* fetching),
      maxAge: Duration.fromInputUnsafe(options.maxAge ?? "10 minutes"),
      minInterval: Duration.fromInputUnsafe(options.minInterval ?? "30 seconds"),
      staleFor: Duration.fromInputUnsafe(options.staleFor ?? "1 hour")
    })
    return { find }
  })
})
