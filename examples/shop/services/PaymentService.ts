import { Anonymous, Authenticated, Repository, RepositoryError, Service, ServiceError, UpstreamError } from "appkernel"
import { Effect, Schema } from "effect"
import { Payment as Paid } from "../../payments.ts"
import { Order } from "../models/Order.ts"
import { Payment, PaymentId, Receipt } from "../models/Payment.ts"
import { PaymentProvider } from "../payments.ts"

export class NotPayable extends ServiceError<NotPayable>()("NotPayable", {
  status: 409,
  message: "The order can't be paid any more"
}) {}

export class WrongAmount extends ServiceError<WrongAmount>()("WrongAmount", {
  status: 422,
  message: "The amount is not that of the order",
  fields: { due: Schema.Finite }
}) {}

/** The provider knows no orders and no customers. */
const receiptOf = ({ amount, id, order, paid }: Paid) =>
  new Receipt({ payment: PaymentId.make(id), order: Order.wire.fields.id.make(order), amount, paid })

const totalOf = ({ lines }: Order) =>
  Math.round(lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0) * 100) / 100

/** A payment that the provider has, or `unknown`. */
const find = Effect.fnUntraced(function*<E>(path: string, unknown: E) {
  const { payments } = yield* PaymentProvider
  const [, payment] = yield* payments.get({ pathExtension: path, as: Paid }).pipe(
    Effect.catchIf(
      (error) => error._tag === "RequestHandlingException" && error.statusCode === 404,
      () => Effect.fail(unknown)
    )
  )
  return payment
})

/**
 * The order is `paying` before the provider is asked, and stays so if that fails: it may have taken the money although its
 * answer was lost. The provider charges an order once, so whoever asks again, or at the same time, gets the same receipt.
 * The orders are those that the caller may see.
 */
const pay = Effect.fn("pay")(function*({ amount, method, order: id }: Payment) {
  const orders = yield* Repository.for(Order)
  const { payments } = yield* PaymentProvider
  const due = totalOf(yield* orders.findById(id))
  if (amount !== due) return yield* new WrongAmount({ due })
  yield* orders.updateOne(($) => $.id.equals(id).and($.state.equals("placed")), ($) => [$.state.set("paying")])
  const { state } = yield* orders.findById(id)
  if (state === "paid") return receiptOf(yield* find(`of/${encodeURIComponent(id)}`, new NotPayable()))
  if (state !== "paying") return yield* new NotPayable()
  const [, payment] = yield* payments.post({ payload: { order: id, amount, method }, as: Paid })
  yield* orders.updateOne(($) => $.id.equals(id).and($.state.equals("paying")), ($) => [$.state.set("paid")])
  return receiptOf(payment)
})

/** To those who may not see the order of a payment, there is no payment either. */
const receipt = Effect.fn("receipt")(function*(id: typeof PaymentId.Type) {
  const orders = yield* Repository.for(Order)
  const unknown = new RepositoryError.DocumentNotFound({ model: "Payment", id })
  const payment = yield* find(encodeURIComponent(id), unknown)
  const isVisible = yield* orders.exists(($) => $.id.equals(Order.wire.fields.id.make(payment.order)))
  return isVisible ? receiptOf(payment) : yield* unknown
})

export const Payments = Service.make("PaymentService")
  .operation("pay", {
    method: "POST",
    path: "./pay",
    payload: Payment,
    success: Receipt,
    error: [NotPayable, WrongAmount, UpstreamError.of(409, 500, 503)],
    summary: "Pay an order",
    require: Authenticated
  }, ({ payload }) => pay(payload))
  .operation("status", {
    path: "./{payment_id}",
    params: { payment_id: PaymentId },
    success: Receipt,
    error: UpstreamError.of(500, 503),
    summary: "The receipt of a payment",
    require: Authenticated
  }, ({ params: { payment_id } }) => receipt(payment_id))
  .operation("methods", {
    path: "./methods",
    success: Schema.Array(Schema.String),
    summary: "The ways to pay",
    description: "The schema of a payment has them as well.",
    deprecated: true,
    require: Anonymous
  }, () => Effect.succeed(["card", "invoice"]))
