/**
 * The service as a user of the framework would write it, on the memory store.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, KernelEngine, KernelServer, Model, Repository } from "appkernel"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { seeds } from "../data.ts"
import { fields, partsOf } from "./model.ts"

class Product extends Model.Class<Product>()("Product", fields) {}

const engine = KernelEngine.make("bench").register(Product, { methods: ["GET", "POST"], urlBase: "/api/v1" })

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const products = yield* Repository.for(Product)
  const instances = yield* Effect.forEach(seeds, (product) => Model.finalise(Product, partsOf(product)))
  yield* products.bulkInsert(instances)
})).pipe(Layer.provide(Repository.layer(Product)))

const ready = Layer.effectDiscard(KernelServer.whenListening(Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  yield* Console.log(`listening ${"port" in address ? address.port : ""}`)
})))

const server = KernelServer.layerWith({ address: "127.0.0.1", port: Number(process.argv[2]) })

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide(seed),
  Layer.provide([EmbeddedStore.layerMemory, server]),
  engine.launch,
  NodeRuntime.runMain
)
