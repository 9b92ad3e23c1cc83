/**
 * The service of `ours.ts` with what a program turns on for operation, by `BENCH_OPERATED`: `log` is the log of requests, `caching` the
 * headers for caches, `audited` the dates of documents and `Last-Modified`, `secured` access control.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Authenticated, EmbeddedStore, Index, Jwt, KernelEngine, Model, Repository, Resource } from "appkernel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { seeds } from "../data.ts"
import { ready, server } from "./listening.ts"
import { fields, partsOf } from "./model.ts"

const kind = process.env["BENCH_OPERATED"]

class Product extends Model.Class<Product>()(
  "Product",
  { ...fields, ...(kind === "audited" ? Model.audited : {}) },
  { indexes: [Index.compound({ currency: 1, price: 1 })] }
) {}

const Products = Resource.make(Product, { methods: ["GET", "POST", "PATCH"] })
const urlBase = "/api/v1"

const open = KernelEngine.make("bench")
  .register(Products, kind === "caching" ? { urlBase, cacheControl: "max-age=60", pageTags: true } : { urlBase })

const service = kind === "secured"
  ? KernelEngine.make("bench").register(Products.require(Authenticated), { urlBase }).enableSecurity().layerServe.pipe(
    Layer.provide(Jwt.layer),
    Layer.provideMerge(server)
  )
  : kind === "log"
  ? open.layer
  : Layer.provideMerge(open.layerServe, server)

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const products = yield* Repository.for(Product)
  const instances = yield* Effect.forEach(seeds, (product) => Model.finalise(Product, partsOf(product)))
  yield* products.bulkInsert(instances)
})).pipe(Layer.provide(Repository.layer(Product)))

ready.pipe(
  Layer.provide(service),
  Layer.provide(seed),
  Layer.provide(EmbeddedStore.layerMemory),
  open.launch,
  NodeRuntime.runMain
)
