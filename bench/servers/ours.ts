/**
 * The service as a user of the framework would write it, on the memory store.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, KernelEngine, Model, Repository } from "appkernel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { seeds } from "../data.ts"
import { ready, server } from "./listening.ts"
import { fields, partsOf } from "./model.ts"

class Product extends Model.Class<Product>()("Product", fields) {}

const engine = KernelEngine.make("bench").register(Product, { methods: ["GET", "POST"], urlBase: "/api/v1" })

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const products = yield* Repository.for(Product)
  const instances = yield* Effect.forEach(seeds, (product) => Model.finalise(Product, partsOf(product)))
  yield* products.bulkInsert(instances)
})).pipe(Layer.provide(Repository.layer(Product)))

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide(seed),
  Layer.provide([EmbeddedStore.layerMemory, server]),
  engine.launch,
  NodeRuntime.runMain
)
