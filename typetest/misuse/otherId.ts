/** The cause is `UserId`: an order is looked up by the identifier of a user. */
import { Model, Repository } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", { id: Model.id({ brand: "UserId" }), name: Schema.String }) {}

class Order extends Model.Class<Order>()("Order", { id: Model.id({ brand: "OrderId" }), total: Schema.Int }) {}

export const totalOf = (user: User) =>
  Effect.gen(function*() {
    const orders = yield* Repository.for(Order)
    const { total } = yield* orders.findById(user.id)
    return total
  })
