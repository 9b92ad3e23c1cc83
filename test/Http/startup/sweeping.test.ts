import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { sweeping } from "../../../src/Http/startup/sweeping.ts"
import { EmbeddedStore, FileStore } from "../../../src/index.ts"

describe("A service with files", () => {
  it.effect("removes bytes that no document has referred to, once they are as old as the configuration says", () =>
    Effect.gen(function*() {
      const files = yield* FileStore.FileStore
      yield* sweeping
      yield* files.put(Stream.make(new Uint8Array(3)))
      const count = Stream.runCount(files.entries)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* count, 1)
      // The sweep after the grace.
      yield* TestClock.adjust("30 minutes")
      assert.strictEqual(yield* count, 0)
    }).pipe(Effect.provide(Layer.mergeAll(EmbeddedStore.layerMemory, FileStore.layerMemory, configuration))))
})

const configuration = ConfigProvider.layer(ConfigProvider.fromUnknown({
  appkernel: { files: { sweep_interval: "10 minutes", sweep_grace: "15 minutes" } }
}))
