/** A service of orders and of an account on an embedded store (`FOLDER`), whose writes may be sent again by their keys. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { EmbeddedStore, KernelEngine, Model, Repository, Resource } from "../../src/index.ts"

class Order extends Model.Class<Order>()("Order", { id: Model.id({ prefix: "O" }), item: Schema.String }) {}

class Account extends Model.Class<Account>()("Account", { id: Schema.String, balance: Schema.Int }) {}

const Accounts = Resource.make(Account, { methods: ["GET", "POST"] })
  .action(
    "pay",
    { payload: Schema.Struct({ amount: Schema.Int }), success: Schema.Int },
    (account, { payload }) =>
      Effect.gen(function*() {
        const accounts = yield* Repository.for(Account)
        const balance = account.balance + payload.amount
        yield* accounts.save(new Account({ ...account, balance }))
        return balance
      })
  )

const engine = KernelEngine.make("repeated")
  .register(Order, { methods: ["GET", "POST"], idempotencyKeys: "accepted" })
  .register(Accounts, { idempotencyKeys: "accepted" })

if (import.meta.main) {
  engine.layer.pipe(
    Layer.provide(EmbeddedStore.layerWith({ path: process.env["FOLDER"] ?? "" })),
    engine.launch,
    NodeRuntime.runMain
  )
}
