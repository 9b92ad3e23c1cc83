import { Job, Repository, Resource, Role } from "appkernel"
import { DateTime, Effect, Schema } from "effect"
import { Order } from "./models/Order.ts"

/** The receipt of an order, which is stored with the order, and sent afterwards. */
export const SendReceipt = Job.make("send-receipt", {
  payload: { order: Order.wire.fields.id },
  timeout: "30 seconds",
  concurrency: 4
})

/** The shop has no server of mails: the log has the receipts. */
export const sending = SendReceipt.implement(({ order }, { id }) =>
  Effect.gen(function*() {
    const orders = yield* Repository.for(Order)
    const { customer, lines } = yield* orders.findById(order)
    yield* Effect.logInfo("A receipt is sent", { id, order, customer, lines: lines.length })
  })
)

/** What was ordered on the day that has ended. */
export const closeDay = Effect.fnUntraced(function*(end: DateTime.Utc) {
  const orders = yield* Repository.for(Order)
  const begin = DateTime.subtract(end, { days: 1 })
  const count = yield* orders.count(($) => $.placed.greaterThanOrEqualTo(begin).and($.placed.before(end)))
  yield* Effect.logInfo("The day is closed", { orders: count })
})

const admin = Role("admin")

/** The jobs for administrators, who try dead letters again or discard them. */
export const Jobs = Resource.make(Job.Queued, { methods: ["GET"] })
  .grant(admin, { methods: ["GET"], hide: ["element"] })
  .action("retry", { method: "POST", success: Schema.Boolean, require: admin }, ({ id }) => Job.retry(id))
  .action("discard", { method: "POST", success: Schema.Boolean, require: admin }, ({ id }) => Job.discard(id))
