/**
 * The service as a user of the framework would write it, on the memory store.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore } from "appkernel"
import * as Layer from "effect/Layer"
import { ready, server } from "./listening.ts"
import { engine, seed } from "./ourProducts.ts"

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide(seed),
  Layer.provide([EmbeddedStore.layerMemory, server]),
  engine.launch,
  NodeRuntime.runMain
)
