/**
 * The service as a user of the framework would write it, on the memory store.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, Generator, KernelEngine, KernelServer, Model, Repository, Validator } from "appkernel"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { seeds } from "../data.ts"

class Dimensions extends Model.Class<Dimensions>()("Dimensions", {
  width: Schema.Finite.pipe(Validator.min(0)),
  height: Schema.Finite.pipe(Validator.min(0)),
  depth: Schema.Finite.pipe(Validator.min(0))
}) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  code: Schema.String.pipe(Validator.notEmpty),
  name: Schema.String.pipe(Validator.notEmpty),
  description: Schema.String.pipe(Model.optional),
  price: Schema.Finite.pipe(Validator.min(0)),
  currency: Schema.Literals(["EUR", "CHF", "USD"]),
  stock: Schema.Int.pipe(Validator.min(0)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  dimensions: Dimensions.pipe(Model.optional),
  added: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}

const engine = KernelEngine.make("bench").register(Product, { methods: ["GET", "POST"], urlBase: "/api/v1" })

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const products = yield* Repository.for(Product)
  const instances = yield* Effect.forEach(
    seeds,
    ({ added, description, dimensions, ...product }) =>
      Model.finalise(Product, {
        ...product,
        added: DateTime.fromDateUnsafe(added),
        ...(description === undefined ? {} : { description }),
        ...(dimensions === undefined ? {} : { dimensions })
      })
  )
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
