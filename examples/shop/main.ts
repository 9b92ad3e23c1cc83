import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Repository } from "appkernel"
import { Layer } from "effect"
import { engine, translations } from "./engine.ts"
import { Payment } from "./models/Payment.ts"
import { seed } from "./seed.ts"
import { store } from "./store.ts"
import { welcome } from "./welcome.ts"

welcome.pipe(
  Layer.provide(engine.layer),
  Layer.provide([seed, translations, Repository.layer(Payment)]),
  Layer.provide([store, NodeServices.layer]),
  engine.launch,
  NodeRuntime.runMain
)
