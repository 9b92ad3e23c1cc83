/**
 * A service with tokens. `CFG_DIR` in the environment is the folder of its configuration, and `DEVELOPMENT` its option
 * `development`.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { EmbeddedStore, Jwt, KernelEngine, Service } from "../../src/index.ts"

const { CFG_DIR, DEVELOPMENT } = process.env

const engine = KernelEngine.make("shop", {
  cfgDir: CFG_DIR,
  development: DEVELOPMENT === undefined ? undefined : DEVELOPMENT === "true"
}).register(
  Service.make("Clock").operation("zone", {}, () => Effect.asVoid(Jwt.Jwt)),
  { urlBase: "/api/v1" }
)

engine.layer.pipe(
  Layer.provide([EmbeddedStore.layer, Jwt.layer]),
  engine.launch,
  NodeRuntime.runMain
)
