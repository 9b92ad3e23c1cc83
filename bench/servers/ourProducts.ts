/**
 * The service of `ours.ts` and `oursMongo.ts`, without its store.
 */
import { Index, KernelEngine, Model, Repository } from "appkernel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { seeds } from "../data.ts"
import { fields, partsOf } from "./model.ts"

class Product extends Model.Class<Product>()("Product", fields, {
  indexes: [Index.compound({ currency: 1, price: 1 })]
}) {}

export const engine = KernelEngine.make("bench").register(Product, {
  methods: ["GET", "POST", "PATCH"],
  urlBase: "/api/v1"
})

export const seed = Layer.effectDiscard(Effect.gen(function*() {
  const products = yield* Repository.for(Product)
  const instances = yield* Effect.forEach(seeds, (product) => Model.finalise(Product, partsOf(product)))
  yield* products.bulkInsert(instances)
})).pipe(Layer.provide(Repository.layer(Product)))
