import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { DocumentStore } from "../../src/Repository/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import { freshDirectory } from "../support/folders.ts"

describe("EmbeddedStore", () => {
  it.effect("reads its folder from the environment, by default ./data", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshDirectory, "new", "folder")
      const env = { APPKERNEL_EMBEDDED_PATH: folder }
      const { description } = yield* DocumentStore.pipe(
        Effect.provide(Layer.provide(EmbeddedStore.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
      )
      assert.strictEqual(description, `the embedded store in folder ${folder}`)
      assert.isTrue(fs.existsSync(folder))
      const defaults = yield* EmbeddedStore.config.parse(ConfigProvider.fromEnv({ env: {} }))
      assert.deepStrictEqual(defaults, { path: "./data", cacheBytes: undefined })
    }))
})
