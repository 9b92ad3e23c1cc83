/** Starts the service of `VERSION` with a store of MongoDB. */
import { NodeRuntime } from "@effect/platform-node"
import { Layer } from "effect"
import process from "node:process"
import { MongoStore } from "../../src/index.ts"
import { engines } from "./fiveForms.ts"

const { engine } = engines[Number(process.env["VERSION"]) - 1]!

engine.layer.pipe(Layer.provide(MongoStore.layer), engine.launch, NodeRuntime.runMain)
