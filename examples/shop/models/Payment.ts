import { Model, Validator } from "appkernel"
import { Schema } from "effect"
import { Order } from "./Order.ts"

export const PaymentId = Schema.String.pipe(Schema.brand("PaymentId"))

const Method = Schema.Literals(["card", "invoice"]).annotate({ identifier: "PaymentMethod" })

/** What a customer sends to pay an order. */
export class Payment extends Model.Class<Payment>()("Payment", {
  order: Order.wire.fields.id,
  amount: Schema.Finite.pipe(Validator.min(0), Validator.max(1_000_000)),
  method: Method.pipe(Model.withDefault(() => "card" as const))
}) {}

/** What the customer gets for it. */
export class Receipt extends Model.Class<Receipt>()("Receipt", {
  payment: PaymentId,
  order: Order.wire.fields.id,
  amount: Schema.Finite,
  paid: Model.DateTime
}) {}
