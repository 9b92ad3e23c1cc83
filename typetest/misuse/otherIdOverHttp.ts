/** The cause is `UserId`: a client asks for an order by the identifier of a user. */
import { KernelClient, KernelEngine, Model } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id({ brand: "UserId" }), name: Schema.String }) {}

class Order extends Model.Class<Order>()("Order", { id: Model.id({ brand: "OrderId" }), total: Schema.Int }) {}

const engine = KernelEngine.make("shop").register(User).register(Order)

export const totalOf = (id: User["id"]) =>
  Effect.gen(function*() {
    const client = yield* KernelClient.make(engine, { baseUrl: "http://localhost:5000" })
    return yield* client.orders.get({ params: { id } })
  })
