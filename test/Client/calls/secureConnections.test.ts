import { assert, describe, it } from "@effect/vitest"
import { HttpClientFactory } from "appkernel"
import { Effect, Layer } from "effect"
import { certificate } from "../support/certificate.ts"
import { secureUpstream, upstream } from "../support/upstream.ts"

describe("connect", () => {
  const calling = (url: string) => Effect.flatMap(HttpClientFactory.get(url), (proxy) => proxy.wrap("things").get())
  const { configureHttpClient, layer, layerWith } = HttpClientFactory

  it.live("ca: a certificate of one's own is trusted, and is not without", () =>
    Effect.gen(function*() {
      const service = yield* secureUpstream(() => ({ secure: true }))
      assert.deepStrictEqual(
        yield* calling(service.url).pipe(Effect.provide(layerWith({ connect: { ca: certificate } }))),
        [
          200,
          { secure: true }
        ]
      )
      assert.deepStrictEqual(
        yield* calling(service.url).pipe(
          Effect.provide(Layer.provide(layer, configureHttpClient({ connect: { ca: certificate } })))
        ),
        [200, { secure: true }]
      )
      const untrusted = yield* Effect.flip(calling(service.url).pipe(Effect.provide(layer)))
      assert.deepInclude({ ...untrusted }, { statusCode: 500, reason: { _tag: "Tls" }, upstreamService: "things" })
      assert.strictEqual(service.requests.length, 2)
    }))

  it.live("are not left by a redirect from https to http, unless the client asks for it", () =>
    Effect.gen(function*() {
      const plain = yield* upstream(() => ({ from: "plain" }))
      const secure = yield* secureUpstream(({ url }, response) =>
        url === "/fine" ? { from: "secure" } : void response.writeHead(302, {
          location: url === "/within" ? "/fine" : `${plain.url}/x`
        }).end()
      )
      const call = (path: string, insecureRedirects?: boolean) =>
        HttpClientFactory.get(secure.url).pipe(
          Effect.flatMap((proxy) => proxy.wrap(path).get()),
          Effect.provide(HttpClientFactory.layerWith({ connect: { ca: certificate }, insecureRedirects }))
        )
      assert.deepStrictEqual(yield* call("within"), [200, { from: "secure" }])
      const failure = yield* Effect.flip(call("out"))
      assert.deepInclude({ ...failure }, { reason: { _tag: "Status", statusCode: 302 } })
      assert.deepStrictEqual(plain.requests, [])
      assert.deepStrictEqual(yield* call("out", true), [200, { from: "plain" }])
    }))
})
