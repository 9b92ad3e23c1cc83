/** Node's file system and paths as a layer, loaded when the layer is built: many programs need neither. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Node's files are loaded by programs that use them, and by no others. */
export const nodeFiles = Layer.unwrap(Effect.gen(function*() {
  const { layer: files } = yield* Effect.promise(() => import("@effect/platform-node/NodeFileSystem"))
  const { layer: paths } = yield* Effect.promise(() => import("@effect/platform-node/NodePath"))
  return Layer.merge(files, paths)
}))
