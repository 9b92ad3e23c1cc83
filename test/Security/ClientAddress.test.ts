/** The address of the client, over a socket. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Schema } from "effect"
import * as KernelLogger from "../../src/Http/server/kernelLogger.ts"
import { ClientAddress, EmbeddedStore, KernelEngine, Service } from "../../src/index.ts"
import { send, serving } from "../support/rest.ts"

const Echo = Service.make("EchoService")
  .operation(
    "address",
    { success: Schema.String },
    () => Effect.map(ClientAddress.current, (address) => address ?? "none")
  )

const engine = KernelEngine.make("address").register(Echo)

const env = { APPKERNEL_SERVER_TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8" }

const entries: Array<KernelLogger.AccessEntry> = []

const layer = serving(engine, EmbeddedStore.layerMemory).pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
  Layer.provide(
    Layer.succeedContext(Context.make(KernelLogger.AccessLogger, { write: (entry) => void entries.push(entry) }))
  )
)

describe("ClientAddress", () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect("is found behind trusted proxies, in handlers and in the access log", () =>
      Effect.gen(function*() {
        const headers = { "x-forwarded-for": "203.0.113.66, 203.0.113.9, 10.0.0.7" }
        assert.strictEqual((yield* send("GET", "/echos/address", undefined, headers)).body.result, "203.0.113.9")
        assert.strictEqual((yield* send("GET", "/echos/address")).body.result, "127.0.0.1")
        assert.deepStrictEqual(entries.map(({ address }) => address), ["203.0.113.9", "127.0.0.1"])
      }))
  })

  it.effect("is none outside of requests", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* ClientAddress.current)
    }))
})
