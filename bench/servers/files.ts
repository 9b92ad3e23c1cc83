/**
 * A service whose documents have files, which are in a folder (`BENCH_FOLDER`).
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, KernelEngine, Model } from "appkernel"
import * as Layer from "effect/Layer"
import { ready, server } from "./listening.ts"

class Film extends Model.Class<Film>()("Film", {
  id: Model.id(),
  film: Model.file({ maxSize: "4 GB" }).pipe(Model.optional)
}) {}

const engine = KernelEngine.make("films").register(Film, { methods: ["GET", "POST", "PATCH"] })

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide([EmbeddedStore.layerWith({ path: process.env["BENCH_FOLDER"] ?? "" }), server]),
  engine.launch,
  NodeRuntime.runMain
)
