/**
 * Orders with references to customers and products, in the embedded store on disk, or in memory with `BENCH_STORE=memory`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, Index, KernelEngine, Model, Repository } from "appkernel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as data from "../expansionData.ts"
import { ready, server } from "./listening.ts"

class Customer extends Model.Class<Customer>()("Customer", {
  id: Model.id({ prefix: "C" }),
  name: Schema.String,
  city: Schema.String,
  phone: Schema.String
}) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String,
  price: Schema.Int,
  description: Schema.String
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  number: Schema.Int,
  state: Schema.Literals(data.states),
  customer: Model.reference(() => Customer),
  product: Model.reference(() => Product),
  quantity: Schema.Int
}, { indexes: [Index.compound({ number: 1 }), Index.compound({ state: 1, number: 1 })] }) {}

const engine = KernelEngine.make("bench")
  .register(Customer, { methods: ["GET"] })
  .register(Product, { methods: ["GET"] })
  .register(Order, { methods: ["GET"] })

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const customers = yield* Repository.for(Customer)
  const products = yield* Repository.for(Product)
  const orders = yield* Repository.for(Order)
  yield* customers.bulkInsert(data.customers.map((one, i) => Customer.make({ id: `C${i}`, ...one })))
  yield* products.bulkInsert(data.products.map((one, i) => Product.make({ id: `P${i}`, ...one })))
  yield* orders.bulkInsert(
    data.orders.map(({ customer, product, ...one }, i) =>
      Order.make({ id: `O${i}`, customer: `C${customer}`, product: `P${product}`, ...one })
    )
  )
})).pipe(Layer.provide([Repository.layer(Customer), Repository.layer(Product), Repository.layer(Order)]))

const folder = process.env["BENCH_STORE"] === "memory" ? undefined : fs.mkdtempSync(path.join(os.tmpdir(), "bench-"))
process.on("exit", () => folder !== undefined && fs.rmSync(folder, { recursive: true, force: true }))

ready.pipe(
  Layer.provide(engine.layerServe),
  Layer.provide(seed),
  Layer.provide([folder === undefined ? EmbeddedStore.layerMemory : EmbeddedStore.layerWith({ path: folder }), server]),
  engine.launch,
  NodeRuntime.runMain
)
