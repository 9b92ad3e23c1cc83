import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { HttpClientResponse } from "effect/http"
import { Anonymous, CurrentSubject, KernelEngine, Model, Resource, Role } from "../../src/index.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String,
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"]))
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String,
  text: Schema.String
}) {}

const methods = ["GET", "POST", "PUT"] as const

const Users = Resource.make(User, { methods })
  .grant(Anonymous, { methods: "POST", readOnly: ["roles"] })
  .grant(CurrentSubject, { methods: ["GET", "PUT"], readOnly: ["roles"] })
  .require(Role("admin"))

const Orders = Resource.make(Order, { methods })
  .grant(Role("buyer"), { rows: (me) => ($) => $.customer.equals(me.subject) })
  .require(Role("admin"))

const engine = KernelEngine.make("shop").register(Users).register(Orders).enableSecurity()

/** The status, and the message of an error. */
const outcome = Effect.fnUntraced(function*<E>(call: Effect.Effect<HttpClientResponse.HttpClientResponse, E>) {
  const response = yield* call
  if (response.status < 400) return response.status
  return `${response.status}: ${Reflect.get(Object(yield* response.json), "message")}`
})

describe("a POST with an identifier", () => {
  it.effect("replaces a document only for callers who may replace it", () =>
    Effect.gen(function*() {
      const { anonymous, as, repositories } = yield* engine.test()
      yield* repositories.users.insert(new User({ id: "U1", name: "Ann" }))
      const [one, other, admin] = [
        yield* as({ subject: "U1" }),
        yield* as({ subject: "U2" }),
        yield* as({ subject: "A", roles: ["admin"] })
      ]
      const taken = "403: You are not allowed to write id"
      const payload = { id: "U1", name: "Eve" }
      for (const client of [anonymous, other]) {
        assert.strictEqual(yield* outcome(client.users.create({ payload, responseMode: "response-only" })), taken)
      }
      assert.deepStrictEqual(yield* repositories.users.findById("U1"), new User({ id: "U1", name: "Ann" }))
      assert.strictEqual(yield* outcome(admin.users.create({ payload, responseMode: "response-only" })), 200)
      assert.strictEqual(
        yield* outcome(anonymous.users.create({ payload: { id: "U3", name: "Eve" }, responseMode: "response-only" })),
        taken
      )
      // Both rules leave the same field out, and they are two rules: a PUT is the way.
      assert.strictEqual(yield* outcome(one.users.create({ payload, responseMode: "response-only" })), taken)
      const params = { id: "U1" }
      assert.strictEqual(
        yield* outcome(one.users.replace({ params, payload: { name: "Ann" }, responseMode: "response-only" })),
        200
      )
    }))

  it.effect("under a rule for rows, tells the same of free identifiers and of others' documents", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* engine.test()
      const order = (id: string, customer: string) => new Order({ id, customer, text: "a" })
      yield* repositories.orders.bulkInsert([order("O1", "U1"), order("O2", "U2")])
      const client = yield* as({ subject: "U1", roles: ["buyer"] })
      const create = (id: string, customer = "U1") =>
        outcome(client.orders.create({ payload: { id, customer, text: "b" }, responseMode: "response-only" }))
      const forbidden = "403: You are not allowed to write id"
      assert.strictEqual(yield* create("O1"), 200)
      assert.strictEqual(yield* create("O2"), forbidden)
      assert.strictEqual(yield* create("O3"), forbidden)
      assert.strictEqual(
        yield* outcome(client.orders.create({
          payload: [{ customer: "U1", text: "c" }, { id: "O2", customer: "U1", text: "c" }],
          responseMode: "response-only"
        })),
        forbidden
      )
      // What it would leave behind is not the caller's.
      assert.match(String(yield* create("O1", "U2")), /^403/u)
      assert.deepStrictEqual(
        (yield* repositories.orders.find(undefined, { sort: "id" })).map((
          { customer, id, text }
        ) => [id, customer, text]),
        [["O1", "U1", "b"], ["O2", "U2", "a"]]
      )
      const admin = yield* as({ subject: "A", roles: ["admin"] })
      assert.strictEqual(
        yield* outcome(
          admin.orders.create({ payload: { id: "O3", customer: "U1", text: "d" }, responseMode: "response-only" })
        ),
        201
      )
    }))
})
