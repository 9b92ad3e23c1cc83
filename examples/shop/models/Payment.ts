import { Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"
import { Order } from "./Order.ts"

const Method = Schema.Literals(["card", "invoice"]).annotate({ identifier: "PaymentMethod" })

/** What a customer sends to pay an order. */
export class Payment extends Model.Class<Payment>()("Payment", {
  id: Model.id({ prefix: "Y", brand: "PaymentId" }),
  order: Order.wire.fields.id.pipe(Model.indexed(Index.unique)),
  amount: Schema.Finite.pipe(Validator.min(0), Validator.max(1_000_000)),
  method: Method.pipe(Model.withDefault(() => "card" as const)),
  paid: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}

/** What the customer gets for it. */
export class Receipt extends Model.Class<Receipt>()("Receipt", {
  payment: Payment.wire.fields.id,
  order: Order.wire.fields.id,
  amount: Schema.Finite,
  paid: Model.DateTime
}) {}
