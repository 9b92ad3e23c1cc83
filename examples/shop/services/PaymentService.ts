import { Anonymous, Authenticated, Repository, RepositoryError, Service, ServiceError } from "appkernel"
import { Effect, Schema } from "effect"
import { Order } from "../models/Order.ts"
import { Payment, Receipt } from "../models/Payment.ts"

export class NotPayable extends ServiceError<NotPayable>()("NotPayable", {
  status: 409,
  message: "The order can't be paid any more"
}) {}

export class WrongAmount extends ServiceError<WrongAmount>()("WrongAmount", {
  status: 422,
  message: "The amount is not that of the order",
  fields: { due: Schema.Finite }
}) {}

const receiptOf = ({ amount, id, order, paid }: Payment) => new Receipt({ payment: id, order, amount, paid })

const totalOf = ({ lines }: Order) =>
  Math.round(lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0) * 100) / 100

/** The payment is kept and the order is paid, or neither. The orders are those that the caller may see. */
const pay = Effect.fn("pay")(function*(payment: Payment) {
  const orders = yield* Repository.for(Order)
  const payments = yield* Repository.for(Payment)
  const order = yield* orders.findById(payment.order)
  const due = totalOf(order)
  if (payment.amount !== due) return yield* new WrongAmount({ due })
  const { matchedCount } = yield* orders.updateOne(
    ($) => $.id.equals(order.id).and($.state.equals("placed")),
    ($) => [$.state.set("paid")]
  )
  if (matchedCount === 0) return yield* new NotPayable()
  return receiptOf(yield* payments.insert(payment))
}, Repository.transaction)

export const Payments = Service.make("PaymentService")
  .operation("pay", {
    method: "POST",
    path: "./pay",
    payload: Payment,
    success: Receipt,
    error: [NotPayable, WrongAmount],
    summary: "Pay an order",
    require: Authenticated
  }, ({ payload }) => pay(payload))
  .operation("status", {
    path: "./{payment_id}",
    params: { payment_id: Payment.wire.fields.id },
    success: Receipt,
    summary: "The receipt of a payment",
    require: Authenticated
  }, ({ params: { payment_id } }) =>
    Effect.gen(function*() {
      const payments = yield* Repository.for(Payment)
      const orders = yield* Repository.for(Order)
      const payment = yield* payments.findById(payment_id)
      // Of an order that the caller may not see, there is no payment either.
      const isVisible = yield* orders.exists(($) => $.id.equals(payment.order))
      return isVisible
        ? receiptOf(payment)
        : yield* new RepositoryError.DocumentNotFound({ model: Payment.modelName, id: payment_id })
    }))
  .operation("methods", {
    path: "./methods",
    success: Schema.Array(Schema.String),
    summary: "The ways to pay",
    description: "The schema of a payment has them as well.",
    deprecated: true,
    require: Anonymous
  }, () => Effect.succeed(["card", "invoice"]))
