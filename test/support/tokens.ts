/** Keys, tokens made by `jose` alone, and an issuer on a real socket. */
import { NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as jose from "jose"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { Jwt, Keys } from "../../src/index.ts"
import { freshFolder } from "./folders.ts"

/** The keys of an application, a pair of its own each time it is built. */
export const freshKeys = (algorithm: Keys.Algorithm) =>
  freshFolder(({ path }) => Keys.layerWith({ cfgDir: path, dataDir: path, algorithm, development: true })).pipe(
    Layer.provide(NodeServices.layer)
  )

/** The application `shop` with a pair of its own. */
export const shop = (algorithm: Keys.Algorithm, options?: Partial<Jwt.Options>) =>
  Layer.provideMerge(Jwt.layerWith({ ...options, application: "shop", issuers: [Jwt.local] }), freshKeys(algorithm))

/** What makes tokens. */
export interface Signer {
  readonly alg: string
  readonly kid: string
  readonly privateKey: jose.CryptoKey
  readonly jwk: jose.JWK
}

export const signerOf = (alg: string): Effect.Effect<Signer> =>
  Effect.promise(async () => {
    const { privateKey, publicKey } = await jose.generateKeyPair(alg)
    const jwk = await jose.exportJWK(publicKey)
    const kid = await jose.calculateJwkThumbprint(jwk)
    return { alg, kid, privateKey, jwk: { ...jwk, kid } }
  })

/** A token of any header and claims. */
export const mint = (
  { alg, kid, privateKey }: Signer,
  claims: object,
  header?: { readonly [name: string]: unknown }
): Effect.Effect<string> =>
  Effect.promise(() =>
    new jose.CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({ alg, kid, ...header })
      .sign(privateKey)
  )

export const verify = Effect.fnUntraced(function*(token: string) {
  const jwt = yield* Jwt.Jwt
  return yield* jwt.verify(Redacted.make(token))
})

/** A server of documents, by their paths, that counts requests and can be told to wait or to fail. */
export const issuerServer = Effect.acquireRelease(
  Effect.promise(() =>
    new Promise<IssuerServer>((resolve) => {
      const state: IssuerServer = {
        baseUrl: "",
        documents: new Map(),
        requests: [],
        gate: Promise.resolve(),
        close: () => {}
      }
      const server = http.createServer((request, response) => {
        state.requests.push(request.url ?? "")
        const answer = async () => {
          await state.gate
          const document = state.documents.get(request.url ?? "")
          response.writeHead(document === undefined ? 503 : 200, { "content-type": "application/json" })
          response.end(typeof document === "string" ? document : JSON.stringify(document))
        }
        void answer()
      })
      server.listen(0, "127.0.0.1", () => {
        // A server on a port has an address.
        state.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        state.close = () => {
          server.closeAllConnections()
          server.close()
        }
        resolve(state)
      })
    })
  ),
  (server) => Effect.sync(() => server.close())
)

export interface IssuerServer {
  baseUrl: string
  readonly documents: Map<string, unknown>
  readonly requests: Array<string>
  gate: Promise<void>
  close: () => void
}

/** The application `shop`, which trusts other issuers only. */
export const trusting = <const Issuers extends ReadonlyArray<Jwt.Issuer<FetchClient>>>(
  issuers: Issuers,
  options?: Partial<Jwt.Options>
) =>
  Effect.map(
    Layer.build(Layer.provide(Jwt.layerWith({ ...options, application: "shop", issuers }), FetchHttpClient.layer)),
    (context) => Context.get(context, Jwt.Jwt)
  )

type FetchClient = Layer.Success<typeof FetchHttpClient.layer>
