/** A shop of which each order is followed by a receipt, on the embedded store in a folder (`FOLDER`) or on MongoDB. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { EmbeddedStore, Index, Job, KernelEngine, Model, MongoStore, Repository, Resource } from "../../src/index.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  code: Schema.String.pipe(Model.indexed(Index.unique))
}) {}

class Receipt extends Model.Class<Receipt>()("Receipt", { id: Model.id(), code: Schema.String }) {}

const SendReceipt = Job.make("send-receipt", { payload: { code: Schema.String }, concurrency: 4 })

const sending = SendReceipt.implement(({ code }) =>
  Effect.gen(function*() {
    const receipts = yield* Repository.for(Receipt)
    yield* receipts.insert(new Receipt({ code })).pipe(Effect.orDie)
  })
)

const Orders = Resource.make(Order, { methods: ["GET", "POST"], transactional: true })
  .beforePost(({ code }) => SendReceipt.enqueue({ code }))

const folder = process.env["FOLDER"]

const engine = KernelEngine.make("shop", { development: false }).register(Orders).register(Receipt).register(
  Job.Queued,
  {
    segment: "jobs"
  }
)
  .register(sending)

engine.layer.pipe(
  Layer.provide(folder === undefined ? MongoStore.layer : EmbeddedStore.layerWith({ path: folder })),
  engine.launch,
  NodeRuntime.runMain
)
