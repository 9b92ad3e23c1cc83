/**
 * Products of groups whose changes are streamed, on the memory store.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, KernelEngine, Model } from "appkernel"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ready, server } from "./listening.ts"

class Item extends Model.Class<Item>()("Item", {
  id: Model.id(),
  group: Schema.String,
  text: Schema.String
}, { logged: true }) {}

const engine = KernelEngine.make("bench").register(Item, { methods: ["GET", "POST"], urlBase: "/api/v1" })

const limits = { max_streams: 20_000, max_streams_per_caller: 20_000 }

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide([EmbeddedStore.layerMemory, server]),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ appkernel: { live: limits } }))),
  engine.launch,
  NodeRuntime.runMain
)
