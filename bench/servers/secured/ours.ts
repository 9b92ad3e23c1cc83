/**
 * The service with access control, as a user of the framework would write it.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, Index, Jwt, KernelEngine, Model, Repository, Resource, Role } from "appkernel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { application, ownedSeeds } from "../../owned.ts"
import { ready, server } from "../listening.ts"
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

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide(seed),
  Layer.provide([EmbeddedStore.layerMemory, Jwt.layer, server]),
  engine.launch,
  NodeRuntime.runMain
)
