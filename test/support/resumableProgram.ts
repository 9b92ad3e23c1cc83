/** A service that takes resumable uploads into an embedded store (`FOLDER`), until it is killed. */
import { Effect, Layer } from "effect"
import { EmbeddedStore } from "../../src/index.ts"
import { films } from "./resumableModel.ts"

const { FOLDER: path = "" } = process.env

await Effect.runPromise(
  Layer.launch(
    films.layer.pipe(
      Layer.provide(EmbeddedStore.layerWith({ path })),
      Layer.tap(() => Effect.sync(() => process.stdout.write("it listens.\n")))
    )
  )
)
