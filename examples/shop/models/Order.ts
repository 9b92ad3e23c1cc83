import { Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class OrderLine extends Model.Class<OrderLine>()("OrderLine", {
  product: Schema.String.pipe(Validator.notEmpty),
  quantity: Schema.Int.pipe(Validator.min(1)),
  price: Schema.Finite.pipe(Validator.min(0))
}) {}

export class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.plain)),
  lines: Schema.Array(OrderLine).pipe(Validator.notEmpty),
  state: Schema.Literals(["placed", "paid", "shipped", "delivered", "cancelled"]).pipe(
    Model.withDefault(() => "placed" as const)
  ),
  placed: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}
