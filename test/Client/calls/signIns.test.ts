/** Where the requests of a sign-in go: passwords and refresh tokens stay at the origin that they are for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Credentials, HttpClientFactory, KernelClient, KernelEngine, Service } from "../../../src/index.ts"
import { nobody, upstream } from "../support/upstream.ts"

const things = KernelEngine.make("things").register(
  Service.make("Things").operation("tell", { success: Schema.Unknown }, () => Effect.void)
)

const issued = { access_token: "t", token_type: "bearer", expires_in: 900, refresh_token: "r" }

const account = { username: "shop", password: Redacted.make("secret") }

/** Grants: a password, and a refresh token. */
const grants = {
  password: () => Credentials.tokens({ path: "/token", account }),
  refresh: () => Credentials.tokens({ path: "/token", refreshToken: Redacted.make("secret") })
}

/** The ways to call a service with credentials. */
const ways: {
  readonly [way: string]: (
    url: string,
    credentials: Credentials.Credentials
  ) => Effect.Effect<unknown, unknown, HttpClientFactory.HttpClientFactory | HttpClient.HttpClient>
} = {
  proxy: (url, credentials) =>
    Effect.flatMap(HttpClientFactory.get(url), (proxy) => proxy.wrap("x").get({ credentials })),
  typed: (url, credentials) =>
    Effect.flatMap(HttpClientFactory.typed(things, url, { credentials }), (client) => client.things.tell()),
  fetch: (url, credentials) =>
    Effect.flatMap(KernelClient.make(things, { baseUrl: url, credentials }), (client) => client.things.tell())
}

describe("A sign-in", () => {
  it.live("follows no redirect to another origin", () =>
    Effect.gen(function*() {
      const elsewhere = yield* upstream(() => issued)
      for (const status of [301, 302, 303, 307, 308]) {
        for (const [way, call] of Object.entries(ways)) {
          for (const [grant, credentials] of Object.entries(grants)) {
            const { url } = yield* upstream((request, response) =>
              request.url === "/token"
                ? void response.writeHead(status, { location: `${elsewhere.url}/token` }).end()
                : { result: 1 }
            )
            yield* Effect.flip(call(url, credentials()))
            assert.deepStrictEqual(elsewhere.requests, [], `${status} ${way} ${grant}`)
          }
        }
      }
    }).pipe(Effect.provide([HttpClientFactory.layer, FetchHttpClient.layer])))

  it.live("of a proxy follows one within the origin, and says of another what the service answered", () =>
    Effect.gen(function*() {
      let location = "/tokens"
      const { requests, url } = yield* upstream((request, response) => {
        if (request.url === "/token") return void response.writeHead(307, { location }).end()
        return request.url === "/tokens" ? issued : {}
      })
      const proxy = yield* HttpClientFactory.get(url)
      assert.deepStrictEqual(yield* proxy.wrap("x").get({ credentials: grants.password() }), [200, {}])
      assert.deepStrictEqual(requests.map(({ url }) => url), ["/token", "/tokens", "/x"])
      location = yield* nobody
      const failure = yield* Effect.flip(proxy.wrap("x").get({ credentials: grants.password() }))
      assert.deepInclude({ ...failure }, { reason: { _tag: "InvalidAnswer" }, statusCode: 500 })
      assert.include(failure.message, "status 307")
    }).pipe(Effect.provide(HttpClientFactory.layer)))
})
