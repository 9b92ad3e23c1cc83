import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { inspect } from "node:util"
import { DocumentStore, MongoStore } from "../../src/index.ts"
import { onMongo } from "../support/mongo.ts"

const configOf = (env: { readonly [name: string]: string }) => MongoStore.config.parse(ConfigProvider.fromEnv({ env }))

onMongo("MongoStore / mongodb", (_layer, server) => {
  it.effect("is configured by APPKERNEL_MONGO_HOST and APPKERNEL_MONGO_DB", () =>
    Effect.gen(function*() {
      const env = { APPKERNEL_MONGO_HOST: server.url, APPKERNEL_MONGO_DB: "configured" }
      const store = yield* DocumentStore.DocumentStore.pipe(
        Effect.provide(Layer.provide(MongoStore.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
      )
      assert.isTrue(store.description.endsWith("/configured"))
    }))
})

describe("MongoStore.config", () => {
  it.effect("defaults to the database app on this machine", () =>
    Effect.gen(function*() {
      const { db, host } = yield* configOf({})
      assert.strictEqual(Redacted.isRedacted(host) ? Redacted.value(host) : host, "localhost")
      assert.isUndefined(db)
    }))

  it.effect("does not show credentials", () =>
    Effect.gen(function*() {
      const config = yield* configOf({ APPKERNEL_MONGO_HOST: "mongodb://app:canary-password@127.0.0.1:1/shop" })
      assert.notInclude(inspect(config, { depth: null }), "canary")
      assert.notInclude(JSON.stringify(config), "canary")
    }))
})
