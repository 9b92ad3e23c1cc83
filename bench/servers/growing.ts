/**
 * A service of ours of any size: `BENCH_MODELS` models, the first of which has `BENCH_FIELDS` fields beside a text.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, KernelEngine, Model } from "appkernel"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ready, server } from "./listening.ts"

const numberOf = (name: string): number => Number(process.env[name] ?? 1)

const fields = Object.fromEntries(
  Array.from({ length: numberOf("BENCH_FIELDS") }, (_, i) => [`f${i}`, Schema.String.pipe(Model.optional)])
)

let engine = KernelEngine.make("bench")
for (let i = 0; i < numberOf("BENCH_MODELS"); i++) {
  const name = i === 0 ? "Thing" : `Thing${i}`
  const model = Model.Class<object>()(name, {
    id: Model.id({ prefix: "T" }),
    text: Schema.String.pipe(Model.optional),
    ...fields
  })
  // Each model adds a type to that of the engine, which no name here needs.
  engine = engine.register(model, { methods: ["GET", "POST"], urlBase: "/api/v1" }) as unknown as typeof engine
}

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide([EmbeddedStore.layerMemory, server]),
  engine.launch,
  NodeRuntime.runMain
)
