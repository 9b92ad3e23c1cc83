// Takes payments for other services: `npm run payments`, then the shop with its address, SHOP_PAYMENTS_URL=http://127.0.0.1:5001 npm start
// PAYMENTS_PORT and PAYMENTS_PATH configure where it listens on this machine, and the folder of its documents.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import {
  EmbeddedStore,
  Generator,
  Index,
  KernelEngine,
  KernelServer,
  Model,
  Repository,
  RepositoryError,
  Service,
  ServiceError,
  Validator
} from "appkernel"
import { Config, Effect, Layer, Option, Schema } from "effect"

export class Payment extends Model.Class<Payment>()("Payment", {
  id: Model.id({ prefix: "Y" }),
  order: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  amount: Schema.Finite.pipe(Validator.min(0), Validator.max(1_000_000)),
  method: Schema.Literals(["card", "invoice"]).annotate({ identifier: "PaymentMethod" }),
  paid: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}

class OtherAmount extends ServiceError<OtherAmount>()("OtherAmount", {
  status: 409,
  message: "The order has been paid with another amount"
}) {}

/** An order is charged once: who asks again, since an answer was lost or two asked at once, gets the same payment. */
const charge = Effect.fn("charge")(function*(payment: Payment) {
  const payments = yield* Repository.for(Payment)
  return yield* Effect.catchTag(
    payments.insert(payment),
    "DuplicateKey",
    () =>
      Effect.flatMap(
        payments.findOne(($) => $.order.equals(payment.order)),
        (known) =>
          Option.isSome(known) && known.value.amount === payment.amount
            ? Effect.succeed(known.value)
            : Effect.fail(new OtherAmount())
      )
  )
})

const ofOrder = Effect.fn("ofOrder")(function*(order: string) {
  const payments = yield* Repository.for(Payment)
  const payment = yield* payments.findOne(($) => $.order.equals(order))
  return Option.isSome(payment)
    ? payment.value
    : yield* new RepositoryError.DocumentNotFound({ model: "Payment", id: order })
})

const Payments = Service.make("PaymentService")
  .operation("charge", {
    path: "./",
    payload: Payment,
    success: Payment,
    error: OtherAmount,
    summary: "Take the payment of an order, once"
  }, ({ payload }) => charge(payload))
  .operation(
    "get",
    { path: "./{id}", success: Payment },
    ({ params: { id } }) => Effect.flatMap(Repository.for(Payment), (payments) => payments.findById(id))
  )
  .operation("ofOrder", {
    path: "./of/{order}",
    params: { order: Schema.String },
    success: Payment,
    summary: "The payment of an order"
  }, ({ params: { order } }) => ofOrder(order))

export const engine = KernelEngine.make("payments").register(Payments)

/** The service on a server, with its documents in a store. */
export const served = Layer.provide(engine.layerServe, Repository.layer(Payment))

const standalone = Layer.unwrap(Effect.gen(function*() {
  const { path, port } = yield* Config.nested(
    Config.all({
      port: Config.Port("port").pipe(Config.withDefault(5001)),
      path: Config.String("path").pipe(Config.withDefault("./data/payments"))
    }),
    "payments"
  )
  const announce = Effect.logInfo(`Listening on http://127.0.0.1:${port}`)
  return Layer.effectDiscard(KernelServer.whenListening(announce)).pipe(
    Layer.provide(served),
    Layer.provide(KernelServer.layerWith({ address: "127.0.0.1", port })),
    Layer.provide(EmbeddedStore.layerWith({ path }))
  )
}))

if (import.meta.main) standalone.pipe(engine.launch, NodeRuntime.runMain)
