/**
 * A shop of which each order is followed by a receipt, on the embedded store in a folder (`FOLDER`) or on MongoDB. With `WEBHOOKS`,
 * subscribers are told of orders. The order `deadly` is followed by a job that kills the process, and that notes each begin in `BEGINS`.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schedule, Schema } from "effect"
import { appendFileSync } from "node:fs"
import {
  EmbeddedStore,
  Index,
  Job,
  KernelEngine,
  Model,
  MongoStore,
  Repository,
  Resource,
  Webhooks
} from "../../src/index.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  code: Schema.String.pipe(Model.indexed(Index.unique))
}, { logged: process.env["WEBHOOKS"] !== undefined }) {}

class Receipt extends Model.Class<Receipt>()("Receipt", { id: Model.id(), code: Schema.String }) {}

const SendReceipt = Job.make("send-receipt", { payload: { code: Schema.String }, concurrency: 4 })

const sending = SendReceipt.implement(({ code }) =>
  Effect.gen(function*() {
    const receipts = yield* Repository.for(Receipt)
    yield* receipts.insert(new Receipt({ code })).pipe(Effect.orDie)
  })
)

const Kill = Job.make("kill", { payload: {}, retry: { times: 2, schedule: Schedule.spaced("1 milli") } })

const killing = Kill.implement(() =>
  Effect.sync(() => {
    appendFileSync(process.env["BEGINS"]!, "begun\n")
    process.kill(process.pid, "SIGKILL")
  })
)

const Orders = Resource.make(Order, { methods: ["GET", "POST"], transactional: true })
  .beforePost(({ code }) => code === "deadly" ? Kill.enqueue({}) : SendReceipt.enqueue({ code }))

const folder = process.env["FOLDER"]

const shop = KernelEngine.make("shop", { development: false })
  .register(Orders)
  .register(Receipt)
  .register(Job.Queued, { segment: "jobs" })
  .register(Webhooks.Subscription, { segment: "subscriptions", methods: ["GET", "POST"] })
  .register(sending)
  .register(killing)

const engine = process.env["WEBHOOKS"] === undefined
  ? shop
  : shop.enableWebhooks({ "order.created": Orders }, { insecure: true, networks: ["127.0.0.0/8"] })

engine.layer.pipe(
  Layer.provide(folder === undefined ? MongoStore.layer : EmbeddedStore.layerWith({ path: folder })),
  engine.launch,
  NodeRuntime.runMain
)
