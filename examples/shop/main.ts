import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { KernelEngine } from "appkernel"
import { Layer } from "effect"
import { engine } from "./engine.ts"
import { seed } from "./seed.ts"
import { store } from "./store.ts"
import { welcome } from "./welcome.ts"

welcome.pipe(
  Layer.provide(engine.layer),
  Layer.provide(seed),
  Layer.provide([store, NodeServices.layer]),
  KernelEngine.launch,
  NodeRuntime.runMain
)
