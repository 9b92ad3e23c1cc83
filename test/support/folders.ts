/** Temporary folders, removed after the test. */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"

/** A new folder, removed with all that is in it when the scope closes. */
export const freshDirectory = Effect.provide(
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped({ prefix: "appkernel-" })),
  NodeServices.layer
)

/** A layer on a folder of its own, a new one each time it is built. */
export const freshFolder = <A, E, R>(layerWith: (options: { readonly path: string }) => Layer.Layer<A, E, R>) =>
  Layer.unwrap(Effect.map(freshDirectory, (path) => layerWith({ path })))
