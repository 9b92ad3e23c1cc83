/**
 * The service as in `ours.ts`, on the server of MONGO_URL.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { MongoStore } from "appkernel"
import * as Layer from "effect/Layer"
import { ready, server } from "./listening.ts"
import { engine, seed } from "./ourProducts.ts"

const store = MongoStore.layerWith({
  host: process.env["MONGO_URL"] ?? "",
  db: `bench-${process.pid}`
})

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide(seed),
  Layer.provide([store, server]),
  engine.launch,
  NodeRuntime.runMain
)
