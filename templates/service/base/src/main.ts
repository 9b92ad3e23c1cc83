import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Layer } from "effect"
import { engine } from "./engine.ts"
import { store } from "./store.ts"

engine.layer.pipe(
  Layer.provide(store),
  engine.launch,
  NodeRuntime.runMain
)
