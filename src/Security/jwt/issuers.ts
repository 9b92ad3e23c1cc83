/**
 * The issuers whose tokens count: this application, and others by their keys. `Jwt` exports them.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import { Keys } from "../Keys.ts"
import type * as fetchKeys from "./fetchKeys.ts"
import { refreshedKeys } from "./keyRefresh.ts"
import { findIn, type FindKey } from "./verificationKey.ts"

/**
 * An issuer whose tokens count: {@link local}, {@link jwks} or {@link discovered}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Issuer<out R> {
  /** The `iss` of its tokens; the application's id if `undefined`. */
  readonly issuer: string | undefined
  /** The `aud` that its tokens must have, one of these; the application's id if `undefined`. */
  readonly audience: ReadonlyArray<string> | undefined
  /** The path of the roles in the claims; its tokens give no roles if `undefined`. */
  readonly roles: ReadonlyArray<string> | undefined
  /** Whose ids the `sub` of its tokens are: see {@link IssuerOptions}. */
  readonly subjects: "ours" | "theirs"
  /** @internal */
  readonly open: Effect.Effect<OpenIssuer, never, R | Scope.Scope>
}

/** The keys of an issuer. @internal */
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
  /** The `aud` that its tokens must have, or a list that must have one of theirs. Defaults to the application's id. */
  readonly audience?: string | ReadonlyArray<string> | undefined
  /**
   * The path of the roles in the claims, for example `["realm_access", "roles"]`. The claim is a list of texts, or one text
   * with spaces between them; a token without it has no roles. Without this option, the issuer's tokens give no roles.
   */
  readonly roles?: ReadonlyArray<string> | undefined
  /**
   * Whose ids the `sub` of its tokens are. With `"theirs"`, the user's subject is `<issuer>|<sub>`, so that nobody whom the
   * issuer calls `U1` is the user `U1` of the application or of another issuer. With `"ours"`, the subject is the `sub`, and a
   * token stands for the user with this id. Defaults to `"theirs"`.
   */
  readonly subjects?: "ours" | "theirs" | undefined
  /** The age at which keys are fetched again. Defaults to 10 minutes. */
  readonly maxAge?: Duration.Input | undefined
  /** The least time between two fetches, whatever keys tokens name. Defaults to 30 seconds. */
  readonly minInterval?: Duration.Input | undefined
  /** The time after `maxAge` for which keys count until the issuer has answered. Defaults to one hour. */
  readonly staleFor?: Duration.Input | undefined
}

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
  subjects: "ours",
  open: Effect.gen(function*() {
    const keys = yield* Keys
    const find: FindKey = (id, algorithm) =>
      Effect.sync(() => {
        const own = { algorithm: keys.algorithm, id: keys.id, key: keys.publicKey }
        return findIn([own, ...keys.earlier ?? []], id, algorithm)
      })
    return { find, keys }
  })
}

/**
 * An issuer whose keys are at an address, as a JSON web key set (RFC 7517). Redirects are not followed.
 *
 * **Gotchas**
 *
 * The subject of its tokens is `<issuer>|<sub>`, unless its option `subjects` says that its subjects are your users' ids. Its
 * `roles` count only where {@link IssuerOptions} says where they are.
 *
 * If `issuer` is an https address, so must `url` be, except on this machine (`localhost`, `127.0.0.1`, `[::1]`): building
 * the layer dies otherwise.
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
  remote(
    options,
    (client, { fetchKeys, requireSecure }) =>
      Effect.as(requireSecure(options.issuer, options.url), fetchKeys(client, options.issuer, options.url))
  )

/**
 * An issuer with a discovery document (OpenID Connect Discovery 1.0) at `<issuer>/.well-known/openid-configuration`, which
 * says where its keys are. Redirects are not followed.
 *
 * **Gotchas**
 *
 * The subject of its tokens is `<issuer>|<sub>`, unless its option `subjects` says that its subjects are your users' ids. Its
 * `roles` count only where {@link IssuerOptions} says where they are.
 *
 * @category constructors
 * @since 0.1.0
 */
export const discovered = (options: IssuerOptions): Issuer<HttpClient.HttpClient> =>
  remote(options, (client, { discoverKeys }) => Effect.succeed(discoverKeys(client, options.issuer)))

// jose is loaded by programs that use it, and by no others.
const fetching = Effect.promise(() => import("./fetchKeys.ts"))

const remote = (
  options: IssuerOptions,
  fetchWith: (
    client: HttpClient.HttpClient,
    module: typeof fetchKeys
  ) => Effect.Effect<ReturnType<typeof fetchKeys.fetchKeys>>
): Issuer<HttpClient.HttpClient> => ({
  issuer: options.issuer,
  audience: typeof options.audience === "string" ? [options.audience] : options.audience,
  roles: options.roles,
  subjects: options.subjects ?? "theirs",
  open: Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const find = yield* refreshedKeys({
      issuer: options.issuer,
      fetch: yield* fetchWith(client, yield* fetching),
      maxAge: Duration.fromInputUnsafe(options.maxAge ?? "10 minutes"),
      minInterval: Duration.fromInputUnsafe(options.minInterval ?? "30 seconds"),
      staleFor: Duration.fromInputUnsafe(options.staleFor ?? "1 hour")
    })
    return { find }
  })
})
