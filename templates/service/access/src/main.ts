import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Jwt } from "appkernel"
import { Layer } from "effect"
import { engine } from "./engine.ts"
import { store } from "./store.ts"
import { accounts } from "./Users.ts"

engine.layer.pipe(
  Layer.provide([Jwt.layer, accounts]),
  Layer.provide(store),
  engine.launch,
  NodeRuntime.runMain
)
