/** A program that runs excessive operations one by one, and prints their outcomes. */
import { Effect, Stream } from "effect"
import { DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import { attacks, fill } from "./hostilePipelines.ts"

await Effect.runPromise(Effect.provide(
  Effect.gen(function*() {
    const store = yield* DocumentStore
    yield* fill(store)
    for (const { collection, name, pipeline, timeLimit } of attacks) {
      const asked = Stream.runDrain(store.aggregate(collection, pipeline, { timeLimit }))
      const end = yield* Effect.match(asked, { onFailure: ({ _tag }) => _tag, onSuccess: () => "done" })
      process.stdout.write(`${end}: ${name}\n`)
    }
  }),
  EmbeddedStore.layerMemory
))
