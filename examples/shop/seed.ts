import { Model, Repository } from "appkernel"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { Order } from "./models/Order.ts"
import { Product } from "./models/Product.ts"
import { User } from "./models/User.ts"

const Data = Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({
  users: Schema.Array(User.create),
  products: Schema.Array(Product.create),
  orders: Schema.Array(Order.create)
})))

const readData = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const text = yield* files.readFileString(fileURLToPath(new URL("./data.json", import.meta.url)))
  return yield* Schema.decodeUnknownEffect(Data)(text)
})

/** Fills a model's collection where it is empty; the result is the number of documents. */
const fill = Effect.fn("fill")(function*<M extends Model.Any>(model: M, inputs: ReadonlyArray<M["create"]["Type"]>) {
  const repository = yield* Repository.for(model)
  if ((yield* repository.count()) > 0) return 0
  const instances = yield* Effect.forEach(inputs, (input) => Model.finalise(model, input), { concurrency: 4 })
  return yield* repository.bulkInsert(instances)
})

const fillAll = Effect.gen(function*() {
  const data = yield* readData
  const products = yield* fill(Product, data.products)
  const users = yield* fill(User, data.users)
  const orders = yield* fill(Order, data.orders)
  const all = users + products + orders
  if (all > 0) yield* Effect.logInfo(`Filled the empty store with ${all} documents`)
})

/** Fills an empty store from the data file, which has the hashes of passwords: to make sixty takes many seconds. */
export const seed = Layer.effectDiscard(fillAll).pipe(
  Layer.provide([Repository.layer(User), Repository.layer(Product), Repository.layer(Order)])
)
