/**
 * The service with access control, as a user of the framework would write it.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, Index, Jwt, KernelEngine, KernelServer, Model, Repository, Resource, Role } from "appkernel"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { application, ownedSeeds } from "../../owned.ts"
import { fields, partsOf } from "../model.ts"

class Product extends Model.Class<Product>()("Product", {
  ...fields,
  owner: Schema.String.pipe(Model.indexed(Index.plain)),
  cost: Schema.Finite
}) {}

const Products = Resource.make(Product)
  .grant(Role("buyer"), { rows: (me) => ($) => $.owner.equals(me.subject), hide: ["cost"] })
  .require(Role("admin"))

const engine = KernelEngine.make(application).register(Products, { urlBase: "/api/v1" }).enableSecurity()

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const products = yield* Repository.for(Product)
  const instances = yield* Effect.forEach(ownedSeeds, (product) => Model.finalise(Product, partsOf(product)))
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
  Layer.provide([EmbeddedStore.layerMemory, Jwt.layer, server]),
  engine.launch,
  NodeRuntime.runMain
)
