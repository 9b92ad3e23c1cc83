import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { endpointsOf } from "../../src/Http/description/standardEndpoints.ts"
import {
  Anonymous,
  ApiKeys,
  Authenticated,
  CurrentSubject,
  CurrentUser,
  Denied,
  EmbeddedStore,
  KernelEngine,
  Model,
  Permission,
  Repository,
  Resource,
  Role,
  Service
} from "../../src/index.ts"
import type { FreshStore } from "../support/mongo.ts"
import { atOnce, type Headers, send, sendTo, serving, signed, signedAs } from "../support/rest.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { shop } from "../support/tokens.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String,
  ...Model.audited
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String,
  state: Schema.String.pipe(Model.withDefault(() => "open")),
  ...Model.versioned
}) {}

/** A model whose registration has no rule. */
class Payment extends Model.Class<Payment>()("Payment", { id: Model.id(), order: Schema.String }) {}

/** A model that is not registered. */
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
    { method: "POST", success: Schema.Array(Schema.String), require: Role("clerk") },
    (order) =>
      Effect.gen(function*() {
        const orders = yield* Repository.for(Order)
        // The clerk may read open orders, and write none but the one that is approved.
        yield* orders.updateMany(($) => $.state.in(["open", "paid"]), ($) => [$.state.set("approved")])
        return [order.state, ...(yield* orders.find()).map(({ state }) => state)]
      })
  )
  .grant(Role("buyer"), { rows: (me) => ($) => $.customer.equals(me.subject) })
  .grant(Role("support"), { methods: ["GET"] })
  .grant(Role("clerk"), { methods: ["GET"], rows: () => ($) => $.state.equals("open") })

const Counts = Service.make("CountService")
  .operation(
    "orders",
    { success: Schema.Int, require: Anonymous },
    () => Effect.flatMap(Repository.for(Order), (orders) => orders.count())
  )
  .operation(
    "entries",
    { success: Schema.Int, require: Authenticated },
    () => Effect.flatMap(Repository.for(Entry), (entries) => entries.count())
  )
  .operation(
    "all",
    { success: Schema.Int, require: Role("clerk") },
    () => Effect.flatMap(Repository.unrestricted(Order), (orders) => orders.count())
  )
  .operation("denied", { success: Schema.Int, require: Denied }, () => Effect.succeed(1))
  .operation("unsaid", { success: Schema.Int }, () => Effect.succeed(1))

const engine = KernelEngine.make("shop")
  .register(Users)
  .register(Orders)
  .register(Resource.make(Payment, { methods: ["GET"] }))
  .register(Counts)
  .enableSecurity({ roles: { admin: ["support"], chief: ["admin"] } })

const entries = (store: FreshStore) => Layer.fresh(Layer.provideMerge(Repository.layer(Entry), store))

/**
 * The status of each route for nobody, the user U1, a buyer, a clerk, support and a chief. `:id` is a document that does not
 * exist, and bodies are missing: 400, 404 and 415 are the answers to those who may.
 */
const table: { readonly [route: string]: readonly [number, number, number, number, number, number] } = {
  "GET /users": [401, 200, 200, 200, 200, 200],
  "POST /users/query": [401, 415, 415, 415, 415, 415],
  "GET /users/:id": [401, 403, 403, 403, 403, 404],
  "POST /users": [415, 415, 415, 415, 415, 415],
  "PUT /users/:id": [401, 403, 403, 403, 403, 415],
  "PATCH /users/:id": [401, 403, 403, 403, 403, 415],
  "DELETE /users/:id": [401, 403, 403, 403, 403, 404],
  "GET /users/aggregate": [401, 400, 400, 400, 400, 400],
  "GET /users/schema": [401, 200, 200, 200, 200, 200],
  "GET /users/meta": [401, 200, 200, 200, 200, 200],
  "POST /users/:id/rename": [401, 403, 403, 403, 403, 403],
  "GET /orders": [401, 403, 200, 200, 200, 200],
  "POST /orders/query": [401, 403, 415, 415, 415, 415],
  "GET /orders/:id": [401, 403, 404, 404, 404, 404],
  "POST /orders": [401, 403, 415, 403, 403, 403],
  "PUT /orders/:id": [401, 403, 415, 403, 403, 403],
  "PATCH /orders/:id": [401, 403, 415, 403, 403, 403],
  "DELETE /orders/:id": [401, 403, 404, 403, 403, 403],
  "GET /orders/aggregate": [401, 403, 400, 400, 400, 400],
  "GET /orders/schema": [401, 403, 200, 200, 200, 200],
  "GET /orders/meta": [401, 403, 200, 200, 200, 200],
  "POST /orders/:id/approve": [401, 403, 403, 404, 403, 403],
  "GET /payments": [401, 403, 403, 403, 403, 403],
  "POST /payments/query": [401, 403, 403, 403, 403, 403],
  "GET /payments/:id": [401, 403, 403, 403, 403, 403],
  "GET /payments/aggregate": [401, 403, 403, 403, 403, 403],
  "GET /payments/schema": [401, 403, 403, 403, 403, 403],
  "GET /payments/meta": [401, 403, 403, 403, 403, 403],
  "GET /counts/orders": [200, 200, 200, 200, 200, 200],
  "GET /counts/entries": [401, 200, 200, 200, 200, 200],
  "GET /counts/all": [401, 403, 403, 200, 403, 403],
  "GET /counts/denied": [401, 403, 403, 403, 403, 403],
  "GET /counts/unsaid": [401, 403, 403, 403, 403, 403]
}

const routes = engine.registrations.flatMap((registration) => [
  ...registration._tag === "Service"
    ? []
    : endpointsOf(registration).map(({ method, path }) => `${method} ${registration.path}${path}`),
  ...registration.calls.map(({ method, path }) => `${method} ${path}`)
])

storeMatrix((name, store) =>
  describe(`Access / ${name}`, () => {
    it.effect("is for those whom the rules admit, on every route", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(Object.keys(table).toSorted(), routes.toSorted())
        const test = yield* engine.test({ store: entries(store) })
        const users = [
          { subject: "U1", roles: [] },
          ...["buyer", "clerk", "support", "chief"].map((role) => ({ subject: "U2", roles: [role] }))
        ]
        const tokens = yield* Effect.forEach(users, signed)
        for (const [route, expected] of Object.entries(table)) {
          const [method = "", path = ""] = route.split(" ")
          const statuses = yield* Effect.forEach([{}, ...tokens], (token) =>
            Effect.map(
              sendTo(test.baseUrl, method, path.replace(":id", "X1"), undefined, token),
              ({ status }) => status
            ))
          assert.deepStrictEqual(statuses, [...expected], route)
        }
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("reaches the documents of one's own, and knows nothing of others", () =>
      Effect.gen(function*() {
        const { anonymous, as, repositories: { orders } } = yield* engine.test({ store: entries(store) })
        const [own, other] = yield* Effect.forEach(["U1", "U2"], (customer) => orders.insert(new Order({ customer })))
        const [buyer, support] = [
          yield* as({ subject: "U1", roles: ["buyer"] }),
          yield* as({ subject: "U9", roles: ["admin"] })
        ]
        const id = { params: { id: own!.id } }
        const hidden = { params: { id: other!.id } }
        assert.deepStrictEqual((yield* buyer.orders.list())._items.map(({ id }) => id), [own!.id])
        assert.strictEqual((yield* support.orders.list())._items.length, 2)
        assert.strictEqual((yield* buyer.orders.get(id)).customer, "U1")
        const failures = [
          yield* Effect.flip(buyer.orders.get(hidden)),
          yield* Effect.flip(buyer.orders.patch({ ...hidden, payload: { state: "paid" } })),
          yield* Effect.flip(buyer.orders.replace({ ...hidden, payload: { customer: "U1" } })),
          yield* Effect.flip(buyer.orders.delete(hidden))
        ]
        assert.deepStrictEqual(failures.map(({ _tag }) => _tag), failures.map(() => "NotFound"))
        // A write must not leave behind what the caller can't reach.
        const given = yield* Effect.flip(buyer.orders.patch({ ...id, payload: { customer: "U2" } }))
        const inserted = yield* Effect.flip(buyer.orders.create({ payload: { customer: "U2" } }))
        assert.deepStrictEqual([given._tag, inserted._tag], ["Forbidden", "Forbidden"])
        yield* buyer.orders.create({ payload: { customer: "U1" } })
        assert.strictEqual(yield* orders.count(), 3)
        // Handlers work with what their caller may read.
        const counts = yield* Effect.forEach([anonymous, buyer, support], ({ counts }) => counts.orders())
        assert.deepStrictEqual(counts.map(({ result }) => result), [0, 2, 3])
        const clerk = yield* as({ subject: "U8", roles: ["clerk"] })
        assert.strictEqual((yield* clerk.counts.all()).result, 3)
        assert.strictEqual((yield* buyer.counts.entries()).result, 0)
      }))

    it.effect("lets nobody choose an identifier who does not reach all documents", () =>
      Effect.gen(function*() {
        const { baseUrl, repositories: { orders } } = yield* engine.test({ store: entries(store) })
        const token = yield* signedAs("U1", "buyer")
        const own = yield* orders.insert(new Order({ customer: "U1" }))
        const other = yield* orders.insert(new Order({ customer: "U2" }))
        const post = (document: unknown, headers: Headers = {}) =>
          Effect.map(
            sendTo(baseUrl, "POST", "/orders", document, { ...token, ...headers }),
            ({ body, status }) => `${status} ${body.message ?? ""}`
          )
        const order = { customer: "U1", state: "paid" }
        const refused = "403 You are not allowed to write id"
        assert.deepStrictEqual(
          [
            yield* post({ ...order, id: own.id }),
            yield* post({ ...order, id: other.id }),
            yield* post({ ...order, id: "Ounknown" }),
            yield* post({ ...order, id: other.id }, { "if-none-match": "*" }),
            yield* post({ ...order, id: "Ounknown" }, { "if-none-match": "*" }),
            yield* post([order, { ...order, id: other.id }]),
            yield* post([order, { ...order, id: "Ounknown" }]),
            yield* post([order])
          ],
          [
            "200 ",
            refused,
            refused,
            refused,
            refused,
            refused,
            refused,
            "201 "
          ]
        )
        assert.strictEqual((yield* orders.findById(other.id)).customer, "U2")
        assert.strictEqual(yield* orders.count(), 3)
      }).pipe(Effect.provide(shop("EdDSA"))))

    it.effect("reads the document of an action by its own rule, within what the caller may read", () =>
      Effect.gen(function*() {
        const { as, repositories: { orders, users } } = yield* engine.test({ store: entries(store) })
        const open = yield* orders.insert(new Order({ customer: "U1" }))
        const paid = yield* orders.insert(new Order({ customer: "U1", state: "paid" }))
        const clerk = yield* as({ subject: "U8", roles: ["clerk"] })
        const unread = yield* Effect.flip(clerk.orders.approve({ params: { id: paid.id } }))
        assert.strictEqual(unread._tag, "NotFound")
        // In the handler, the clerk reads what GET shows. The rule of the action says what it may leave behind.
        assert.deepStrictEqual((yield* clerk.orders.approve({ params: { id: open.id } }))._items, ["open"])
        assert.strictEqual((yield* orders.findById(open.id)).state, "approved")
        assert.strictEqual((yield* orders.findById(paid.id)).state, "paid")
        const jane = yield* users.insert(new User({ name: "Jane" }))
        yield* users.insert(new User({ name: "Joe" }))
        const self = yield* as({ subject: jane.id })
        const renamed = yield* self.users.rename({ params: { id: jane.id }, payload: { name: "Ann" } })
        assert.strictEqual(renamed.result, `${jane.id} ${jane.id} of 1`)
      }))

    it.effect("ends with a role from the next token, also for many requests at once", () =>
      Effect.gen(function*() {
        const { as, repositories: { orders } } = yield* engine.test({ store: entries(store) })
        const own = yield* orders.insert(new Order({ customer: "U1" }))
        const buyer = yield* as({ subject: "U1", roles: ["buyer"] })
        const former = yield* as({ subject: "U1", roles: [] })
        const results = yield* atOnce(40, (i) =>
          (i % 2 === 0 ? buyer : former).orders.get({ params: { id: own.id } }).pipe(
            Effect.as("ok"),
            Effect.catchTag("Forbidden", () => Effect.succeed("forbidden"))
          ))
        assert.deepStrictEqual(results, results.map((_, i) => i % 2 === 0 ? "ok" : "forbidden"))
      }))

    it.effect("is decided for each request, also of one token, and for each of many callers at once", () =>
      Effect.gen(function*() {
        const now = { isOpen: true, shown: "open" }
        const duringHours = Permission.make("during hours", {}, () => Effect.sync(() => now.isOpen))
        const resource = Resource.make(Order, { methods: ["GET", "PUT"] })
          .grant(Permission.and(Role("buyer"), duringHours), {
            rows: (me) => ($) => $.customer.equals(me.subject).and($.state.equals(now.shown))
          })
          .grant(Role("clerk"), { methods: ["GET"], rows: () => ($) => $.state.equals(now.shown) })
        const changing = KernelEngine.make("changing").register(resource).enableSecurity()
        const { as, repositories: { orders } } = yield* changing.test({ store: Layer.fresh(store) })
        const callers = yield* Effect.forEach(["U1", "U2", "U3", "U4"], (subject) =>
          Effect.gen(function*() {
            const { id } = yield* orders.insert(new Order({ customer: subject }))
            yield* orders.insert(new Order({ customer: subject, state: "paid" }))
            return { id, subject, test: yield* as({ subject, roles: ["buyer"] }) }
          }))
        const clerk = yield* as({ subject: "U5", roles: ["clerk"] })
        for (const shown of ["open", "paid", "none", "open"]) {
          now.shown = shown
          const pages = yield* atOnce(20, (i) => callers[i % 4]!.test.orders.list())
          const one = (i: number) => shown === "none" ? [] : [[`U${i % 4 + 1}`, shown]]
          assert.deepStrictEqual(
            pages.map(({ _items }) => _items.map(({ customer, state }) => [customer, state])),
            pages.map((_, i) => one(i))
          )
          assert.lengthOf((yield* clerk.orders.list())._items, shown === "none" ? 0 : 4)
          const found = yield* atOnce(8, (i) =>
            callers[i % 4]!.test.orders.get({ params: { id: callers[(i + Math.floor(i / 4)) % 4]!.id } }).pipe(
              Effect.map(({ customer }) =>
                customer
              ),
              Effect.catchTag("NotFound", () => Effect.succeed("nothing"))
            ))
          // The first four ask for their own, the others for somebody else's.
          assert.deepStrictEqual(found, found.map((_, i) => i < 4 && shown === "open" ? `U${i + 1}` : "nothing"))
        }
        now.isOpen = false
        const results = yield* atOnce(8, (i) =>
          callers[i % 4]!.test.orders.list().pipe(
            Effect.as("ok"),
            Effect.catchTag("Forbidden", () => Effect.succeed("forbidden"))
          ))
        assert.deepStrictEqual(results, results.map(() => "forbidden"))
      }))

    it.effect("has typed errors for whom there are no rights", () =>
      Effect.gen(function*() {
        const { anonymous, as, client } = yield* engine.test({ store: entries(store) })
        const plain = yield* as({ subject: "U1" })
        const nameOf = (test: typeof client) =>
          test.orders.list().pipe(
            Effect.as("ok"),
            Effect.catchTag("Unauthorized", ({ message }) => Effect.succeed(message)),
            Effect.catchTag("Forbidden", ({ message }) => Effect.succeed(message))
          )
        assert.deepStrictEqual(
          yield* Effect.forEach([client, anonymous, plain], nameOf),
          ["This needs credentials", "This needs credentials", "You are not allowed to do this"]
        )
      }))
  })
)

class Task extends Model.Class<Task>()("Task", { id: Model.id(), owner: Schema.String }) {}

const asked = { permission: 0, conditional: 0, rows: 0, restriction: 0 }

const counted = Permission.make("counted", {}, () => Effect.sync(() => ++asked.permission > 0))

/** It depends on the document, and may hold for the links of one that it is not asked about. */
const conditional = Permission.make("conditional", { model: Task }, ({ document }) =>
  Effect.map(document, (task) => {
    asked.conditional++
    return task._tag === "Some" && task.value.owner === "U1"
  }))

const Tasks = Resource.make(Task, { methods: ["GET", "PATCH"] })
  .action("count", { success: Schema.Int }, () =>
    Effect.gen(function*() {
      const tasks = yield* Repository.for(Task)
      yield* Effect.all([tasks.find(), tasks.count(), tasks.exists(($) => $.owner.equals("U1"))], { concurrency: 3 })
      return yield* tasks.count()
    }))
  .grant(counted, {
    rows: (me) =>
      Effect.sync(() => {
        asked.rows++
        return ($) => $.owner.equals(me.subject)
      })
  })
  .require(conditional)
  .restrict((me) =>
    Effect.sync(() => {
      asked.restriction++
      return ($) => $.owner.equals(me.subject)
    })
  )

const TaskCounts = Service.make("CountService").operation(
  "tasks",
  { success: Schema.Int, require: counted },
  () => Effect.flatMap(Repository.for(Task), (tasks) => Effect.andThen(tasks.find(), tasks.count()))
)

const tasksEngine = KernelEngine.make("tasks").register(Tasks).register(TaskCounts).enableSecurity()

describe("rules that are effects", () => {
  it.effect("are asked once for a request", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* tasksEngine.test()
      const { id } = yield* repositories.tasks.insert(new Task({ owner: "U1" }))
      const { counts, tasks } = yield* as({ subject: "U1" })
      const calls = {
        action: tasks.count({ params: { id } }),
        operation: counts.tasks(),
        read: tasks.get({ params: { id } }),
        list: tasks.list(),
        patch: tasks.patch({ params: { id }, payload: { owner: "U1" } })
      }
      for (const [name, call] of Object.entries<Effect.Effect<unknown, unknown>>(calls)) {
        Object.assign(asked, { permission: 0, conditional: 0, rows: 0, restriction: 0 })
        yield* atOnce(4, () => call)
        // The handler of the action works with other documents than the addressed one.
        const conditional = name === "action" ? 8 : 4
        assert.deepStrictEqual(asked, { permission: 4, conditional, rows: 4, restriction: 4 }, name)
      }
    }))
})

describe("a service with access control", () => {
  it.effect("does not start if nothing can prove who calls", () =>
    Effect.gen(function*() {
      const open = KernelEngine.make("tasks").register(Tasks).enableSecurity()
      const error = yield* Effect.flip(Effect.scoped(Layer.build(serving(open, EmbeddedStore.layerMemory))))
      assert.strictEqual(error._tag, "CredentialsUnprovided")
      assert.include(error.message, "nothing can prove who calls: provide Jwt.layer for bearer tokens")
      const keys = Layer.provide(serving(open, EmbeddedStore.layerMemory), ApiKeys.layer)
      assert.strictEqual((yield* Effect.provide(send("GET", "/tasks"), keys)).status, 401)
    }))
})
