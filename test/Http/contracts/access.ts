import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  Anonymous,
  CurrentSubject,
  CurrentUser,
  Denied,
  KernelEngine,
  Model,
  Permission,
  Repository,
  Resource,
  Role,
  Service
} from "../../../src/index.ts"
import type { FreshStore } from "../../support/mongo.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String,
  ...Model.audited
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String,
  text: Schema.String,
  ...Model.versioned
}) {}

class Payment extends Model.Class<Payment>()("Payment", { id: Model.id(), order: Schema.String }) {}

/** A model that nobody has registered. */
class Entry extends Model.Class<Entry>()("Entry", { id: Model.id(), text: Schema.String }) {}

const Users = Resource.make(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action(
    "rename",
    { payload: { name: Schema.String }, success: Schema.String, require: CurrentSubject },
    (user) =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const { subject } = yield* CurrentUser
        return `${subject} ${user.id} of ${yield* users.count()}`
      })
  )
  .require(Anonymous, "POST")
  .require([CurrentSubject, Role("admin")], ["GET", "PUT", "PATCH", "DELETE"])

const Orders = Resource.make(Order, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action(
    "approve",
    { method: "POST", success: Schema.String, require: Role("clerk") },
    (order) =>
      Effect.gen(function*() {
        const orders = yield* Repository.for(Order)
        yield* orders.updateOne(($) => $.id.equals(order.id), ($) => [$.text.set("approved")])
        return order.text
      })
  )
  .grant(Role("buyer"), { rows: (me) => ($) => $.customer.equals(me.subject) })
  .grant(Role("support"), { methods: ["GET"] })
  .grant(Role("clerk"), { methods: ["GET"], rows: () => ($) => $.text.equals("open") })

const Counts = Service.make("CountService")
  .operation(
    "orders",
    { success: Schema.Int, require: Anonymous },
    () => Effect.flatMap(Repository.for(Order), (orders) => orders.count())
  )
  .operation(
    "entries",
    { success: Schema.Int, require: Permission.Authenticated },
    () => Effect.flatMap(Repository.for(Entry), (entries) => entries.count())
  )
  .operation(
    "all",
    { success: Schema.Int, require: Role("clerk") },
    () => Effect.flatMap(Repository.unrestricted(Order), (orders) => orders.count())
  )
  .operation("nobody", { success: Schema.Int, require: Denied }, () => Effect.succeed(1))
  .operation("undeclared", { success: Schema.Int }, () => Effect.succeed(1))

const engine = KernelEngine.make("shop")
  .register(Users)
  .register(Orders)
  .register(Resource.make(Payment, { methods: ["GET"] }))
  .register(Counts)
  .enableSecurity({ roles: { admin: ["support"], chief: ["admin"] } })

const setUp = Effect.fnUntraced(function*(store: FreshStore) {
  return yield* engine.test({ store: Layer.fresh(Layer.provideMerge(Repository.layer(Entry), store)) })
})

export const accessContract = (name: string, store: FreshStore) =>
  describe(`Access / ${name}`, () => {
    it.effect("is for those whom the rules admit", () =>
      Effect.gen(function*() {
        const { anonymous, as } = yield* setUp(store)
        const { result: id } = yield* anonymous.users.create({ payload: { name: "Jane" } })
        const jane = yield* as({ subject: id })
        assert.strictEqual((yield* jane.users.get({ params: { id } })).name, "Jane")
      }))
  })
