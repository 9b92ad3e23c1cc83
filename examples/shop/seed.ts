import { Model, Repository } from "appkernel"
import { Effect, Layer, Schema } from "effect"
import data from "./data.json" with { type: "json" }
import { Order } from "./models/Order.ts"
import { Product } from "./models/Product.ts"
import { User } from "./models/User.ts"

const decode = <A, I, RD, RE>(schema: Schema.Codec<A, I, RD, RE>) =>
  Schema.decodeUnknownEffect(Schema.toCodecJson(Schema.Array(schema)))

/** Fills a model's collection where it is empty; the result is the number of documents. */
const fill = Effect.fn("fill")(function*<M extends Model.Any, E, R>(
  model: M,
  decoded: Effect.Effect<ReadonlyArray<M["create"]["Type"]>, E, R>
) {
  const repository = yield* Repository.for(model)
  if ((yield* repository.count()) > 0) return 0
  const instances = yield* Effect.forEach(yield* decoded, (input) => Model.finalise(model, input), { concurrency: 4 })
  return yield* repository.bulkInsert(instances)
})

const fillAll = Effect.gen(function*() {
  const products = yield* fill(Product, decode(Product.create)(data.products))
  const users = yield* fill(User, decode(User.create)(data.users))
  const orders = yield* fill(Order, decode(Order.create)(data.orders))
  const all = users + products + orders
  if (all > 0) yield* Effect.logInfo(`Filled the empty store with ${all} documents`)
})

/** Fills an empty store from the data file, which has the hashes of passwords: to make sixty takes many seconds. */
export const seed = Layer.effectDiscard(fillAll).pipe(
  Layer.provide([Repository.layer(User), Repository.layer(Product), Repository.layer(Order)])
)
