import { Generator, Index, Model, Validator } from "appkernel"
import { Effect, Schema } from "effect"
import { Product } from "./Product.ts"
import { User } from "./User.ts"

const currentUser = Effect.map(
  Generator.currentUserId,
  (subject) => subject === undefined ? undefined : User.wire.fields.id.make(subject)
)

export class OrderLine extends Model.Class<OrderLine>()("OrderLine", {
  product: Model.reference(() => Product),
  quantity: Schema.Int.pipe(Validator.min(1), Validator.max(1_000)),
  /** What the product costs when it is ordered, whatever the customer says. */
  price: Schema.Finite.pipe(Validator.min(0), Validator.max(100_000), Model.withDefault(() => 0))
}) {}

/** Who has begun to pay an order may have been charged: only one that is `placed` can be cancelled. */
const OrderState = Schema.Literals(["placed", "paying", "paid", "shipped", "delivered", "cancelled"]).annotate({
  identifier: "OrderState"
})

export class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O", brand: "OrderId" }),
  /** Whoever places it, if they don't say another customer. */
  customer: Model.reference(() => User).pipe(Model.generated(currentUser), Model.indexed(Index.plain)),
  lines: Schema.Array(OrderLine).pipe(Validator.notEmpty),
  state: OrderState.pipe(Model.withDefault(() => "placed" as const)),
  placed: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  ...Model.historied
}, {
  logged: true,
  validators: [
    Validator.related(
      "OneLinePerProduct",
      "lines",
      ({ lines }) => new Set(lines.map(({ product }) => product)).size === lines.length,
      { message: "must not have two lines for one product" }
    )
  ]
}) {}
