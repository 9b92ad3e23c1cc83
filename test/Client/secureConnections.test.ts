import { assert, describe, it } from "@effect/vitest"
import { HttpClientFactory } from "appkernel"
import { Effect, Layer } from "effect"
import { certificate } from "./support/certificate.ts"
import { secureUpstream } from "./support/upstream.ts"

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
      assert.deepInclude({ ...untrusted }, { statusCode: 500, reason: "Tls", upstreamService: "things" })
      assert.strictEqual(service.requests.length, 2)
    }))
})
