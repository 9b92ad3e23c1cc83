import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Layer } from "effect"
import { credentials } from "./credentials.ts"
import { engine } from "./engine.ts"
import { store } from "./store.ts"

engine.layer.pipe(
  Layer.provide(credentials),
  Layer.provide(store),
  engine.launch,
  NodeRuntime.runMain
)
