/**
 * Downloads the public keys of other issuers, from a key set or by OpenID Connect discovery, and imports them. `issuers.ts`
 * loads it by need, since it brings `jose`, and `keyRefresh.ts` says when they are fetched.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import type * as jose from "jose"
import { DeclarationError } from "../../internal/declarationError.ts"
import { type Algorithm, importPublic } from "../keys/keyPair.ts"
import { IssuerUnavailable } from "../SecurityError.ts"
import type { VerificationKey } from "./verificationKey.ts"

/** Fetches the JSON web key set of an issuer (RFC 7517). */
export const fetchKeys = (
  client: HttpClient.HttpClient,
  issuer: string,
  url: string
): Effect.Effect<ReadonlyArray<VerificationKey>, IssuerUnavailable> =>
  Effect.flatMap(getJson(client, issuer, url, KeySet), (set) => keysOf(set))

/**
 * Fetches the key set that an issuer's discovery document names (OpenID Connect Discovery 1.0, section 4). The document must
 * be the issuer's own, and may not lead from https to http.
 */
export const discoverKeys = Effect.fnUntraced(function*(client: HttpClient.HttpClient, issuer: string) {
  const address = `${issuer.replace(/\/$/u, "")}/.well-known/openid-configuration`
  const document = yield* getJson(client, issuer, address, Discovery)
  if (document.issuer !== issuer) return yield* unavailable(issuer, `${address} is the document of another issuer`)
  if (protocolOf(issuer) === "https:" && protocolOf(document.jwks_uri) !== "https:") {
    return yield* unavailable(issuer, `jwks_uri of ${address} is not https`)
  }
  return yield* fetchKeys(client, issuer, document.jwks_uri)
})

/** Dies if the issuer has an https address, and its keys are at one without https on another machine. */
export const requireSecure = (issuer: string, url: string): Effect.Effect<void> =>
  protocolOf(issuer) !== "https:" || protocolOf(url) === "https:" || isOnThisMachine(url)
    ? Effect.void
    : Effect.die(new DeclarationError(`Jwt.jwks: ${url} is not https, but the issuer ${issuer} is`))

/** The protocol of an address, in lower case; `undefined` if it is none. */
const protocolOf = (address: string) => URL.canParse(address) ? new URL(address).protocol : undefined

const isOnThisMachine = (address: string) =>
  URL.canParse(address) && ["localhost", "127.0.0.1", "[::1]"].includes(new URL(address).hostname)

const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })
const Discovery = Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String })

/** Key sets have some kilobytes. */
const maxBytes = 262_144

const unavailable = (issuer: string, detail: string) => new IssuerUnavailable({ issuer, detail })

/** A redirect is an answer without keys: `fetch` would follow it, to http as well. */
const withoutRedirects = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Effect.serviceOption(FetchHttpClient.RequestInit),
    (init) =>
      Effect.provideService(effect, FetchHttpClient.RequestInit, {
        ...Option.getOrUndefined(init),
        redirect: "manual"
      })
  )

const getJson = <A>(
  client: HttpClient.HttpClient,
  issuer: string,
  url: string,
  schema: Schema.Decoder<A>
): Effect.Effect<A, IssuerUnavailable> => {
  const decode = SchemaParser.decodeUnknownEffect(Schema.fromJsonString(schema))
  return client.get(url, { acceptJson: true }).pipe(
    withoutRedirects,
    Effect.flatMap((response) => HttpClientResponse.filterStatusOk(response)),
    Effect.mapError(({ reason }) => unavailable(issuer, `${url} gives no answer (${reason._tag})`)),
    Effect.flatMap(({ stream }) =>
      // A chunk may end within a character.
      Stream.runFoldEffect(stream, () => ({ decoder: new TextDecoder(), size: 0, text: "" }), (read, chunk) => {
        const size = read.size + chunk.length
        return size > maxBytes
          ? Effect.fail("too much")
          : Effect.succeed({ ...read, size, text: read.text + read.decoder.decode(chunk, { stream: true }) })
      })
    ),
    Effect.flatMap(({ text }) => decode(text)),
    Effect.catch((error) =>
      Effect.fail(
        error instanceof IssuerUnavailable ? error : unavailable(issuer, `${url} does not answer with what is expected`)
      )
    ),
    Effect.timeoutOrElse({
      duration: "5 seconds",
      orElse: () => Effect.fail(unavailable(issuer, `${url} does not answer within 5 seconds`))
    })
  )
}

/** The first hundred keys of a set that verify signatures of a supported algorithm. */
const keysOf = (set: { readonly keys: ReadonlyArray<unknown> }): Effect.Effect<ReadonlyArray<VerificationKey>> =>
  Effect.map(
    Effect.forEach(set.keys.slice(0, 100), keyOf),
    (keys) => keys.filter((key) => key !== undefined)
  )

const keyOf = (candidate: unknown): Effect.Effect<VerificationKey | undefined> => {
  if (typeof candidate !== "object" || candidate === null) return Effect.undefined
  const jwk: jose.JWK = candidate
  const algorithm = algorithmOf(jwk)
  const verifies = (jwk.use === undefined || jwk.use === "sig")
    && (!Array.isArray(jwk.key_ops) || jwk.key_ops.includes("verify"))
  if (algorithm === undefined || !verifies) return Effect.undefined
  const id = typeof jwk.kid === "string" ? jwk.kid : undefined
  return Effect.match(importPublic(jwk, algorithm), {
    onFailure: () => undefined,
    onSuccess: (key) => ({ algorithm, id, key })
  })
}

const algorithmOf = ({ alg, crv, kty }: jose.JWK): Algorithm | undefined => {
  if (kty === "RSA") return alg === undefined || alg === "RS256" ? "RS256" : undefined
  if (kty === "EC" && crv === "P-256") return alg === undefined || alg === "ES256" ? "ES256" : undefined
  if (kty === "OKP" && crv === "Ed25519") {
    return alg === undefined || alg === "EdDSA" || alg === "Ed25519" ? "EdDSA" : undefined
  }
  return undefined
}
