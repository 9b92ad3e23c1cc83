import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, References, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Anonymous, Authenticated, KernelEngine, Model, Repository, Resource, Role, Service } from "../../src/index.ts"
import { sendTo } from "../support/rest.ts"

class Invoice extends Model.Class<Invoice>()("Invoice", { id: Model.id(), text: Schema.String }) {}

/** A model that only the service itself uses. */
class Counter extends Model.Class<Counter>()("Counter", { id: Model.id(), value: Schema.Int }) {}

class Order extends Model.Class<Order>()("Order", { id: Model.id(), text: Schema.String }) {}

const invoice = Effect.gen(function*() {
  const invoices = yield* Repository.for(Invoice)
  yield* invoices.insert(new Invoice({ text: "a secret" }))
})

const Orders = Resource.make(Order, { methods: ["GET", "POST"] })
  .beforePost(() => invoice)
  .action("bill", { method: "POST", success: Schema.Int }, () => Effect.as(invoice, 1))
  .require(Authenticated)

const Bills = Service.make("BillService")
  .operation("make", { method: "POST", success: Schema.Int, require: Anonymous }, () => Effect.as(invoice, 1))
  .operation(
    "many",
    { method: "POST", success: Schema.Int, require: Anonymous },
    () =>
      Effect.flatMap(Repository.for(Invoice), (invoices) => invoices.bulkInsert([new Invoice({ text: "b" })])).pipe(
        Effect.orElseSucceed(() => 0)
      )
  )
  .operation("count", { method: "POST", success: Schema.Int, require: Anonymous }, () =>
    Effect.gen(function*() {
      const counters = yield* Repository.for(Counter)
      return (yield* counters.insert(new Counter({ value: 1 }))).value
    }))
  .operation("free", { method: "POST", success: Schema.Int, require: Anonymous }, () =>
    Effect.gen(function*() {
      const counters = yield* Repository.unrestricted(Counter)
      return (yield* counters.insert(new Counter({ value: 1 }))).value
    }))

const engine = KernelEngine.make("shop").register(Orders).register(Bills)
  .register(Resource.make(Invoice, { methods: ["GET", "POST"] }).require(Role("accountant")))
  .register(Resource.make(Counter, { methods: [] }))
  .use(HttpRouter.add(
    "POST",
    "/paid/:order",
    Effect.match(invoice, {
      onFailure: () => HttpServerResponse.empty({ status: 403 }),
      onSuccess: () => HttpServerResponse.empty()
    })
  ))
  .enableSecurity()

describe("A write that a handler makes for a caller without a grant", () => {
  it.effect("is a 403, and the log says who refused what, and what has no rules", () => {
    const entries: Array<{ readonly [name: string]: unknown }> = []
    const logger = Logger.make(({ fiber, logLevel, message }) => {
      entries.push({ level: logLevel, message: String(message), ...fiber.getRef(References.CurrentLogAnnotations) })
    })
    const refusals = () =>
      entries.splice(0).flatMap(({ message, ...about }) =>
        String(message).startsWith("A handler may not write this") ? [{ message, ...about }] : []
      )
    return Effect.gen(function*() {
      const { anonymous, as, baseUrl, repositories: { orders } } = yield* engine.test()
      assert.include(
        entries.map(({ level, message }) => `${String(level)} ${String(message)}`),
        "Warn Handlers may not read or write Counter for callers, for want of a rule: " +
          "grant it to somebody, or use Repository.unrestricted"
      )
      const { id } = yield* orders.insert(new Order({ text: "x" }))
      const ann = yield* as({ subject: "ann" })
      refusals()
      const reason = "the caller's grants do not allow it"
      const expected = (reason: string, model: string) => ({
        level: "Info",
        message: `A handler may not write this: ${reason}. Repository.unrestricted(${model}) has no rules`,
        model,
        operation: "insert"
      })
      const forbidden = Effect.fnUntraced(function*(call: Effect.Effect<unknown, { readonly _tag: string }>) {
        // The client of an operation for everybody does not know the 403.
        assert.include(["Forbidden", "HttpClientError"], (yield* Effect.flip(call))._tag)
        return refusals()
      })
      assert.deepStrictEqual(
        [
          ...yield* forbidden(ann.orders.bill({ params: { id } })),
          ...yield* forbidden(ann.orders.create({ payload: { text: "a" } })),
          ...yield* forbidden(ann.bills.make()),
          ...yield* forbidden(anonymous.bills.make()),
          ...yield* forbidden(ann.bills.count())
        ],
        [
          { ...expected(reason, "Invoice"), registration: "orders", call: "bill", subject: "ann" },
          { ...expected(reason, "Invoice"), registration: "orders", method: "POST", subject: "ann" },
          { ...expected(reason, "Invoice"), registration: "bills", call: "make", subject: "ann" },
          { ...expected(reason, "Invoice"), registration: "bills", call: "make", subject: "" },
          {
            ...expected("Counter is registered without a rule", "Counter"),
            registration: "bills",
            call: "count",
            subject: "ann"
          }
        ]
      )
      assert.strictEqual((yield* sendTo(baseUrl, "POST", "/paid/7?signature=secret")).status, 403)
      assert.deepStrictEqual<ReadonlyArray<object>>(refusals(), [{
        ...expected(reason, "Invoice"),
        path: "/paid/7",
        subject: ""
      }])
      yield* ann.bills.many()
      assert.lengthOf(refusals(), 1)
      yield* ann.bills.free()
      const accountant = yield* as({ subject: "bob", roles: ["accountant"] })
      yield* accountant.bills.make()
      assert.lengthOf(refusals(), 0)
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})

describe("Rules without enableSecurity()", () => {
  it.effect("are a warning at the start that names what is open", () => {
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push(String(message))
    })
    const open = KernelEngine.make("open")
      .register(Orders)
      .register(Resource.make(Invoice, { methods: ["GET"] }).restrict(() => ($) => $.text.equals("a")))
      .register(Counter)
    return Effect.gen(function*() {
      yield* open.test()
      assert.deepStrictEqual(warnings.filter((line) => line.startsWith("Everybody may call")), [
        "Everybody may call all of orders, invoices, whatever the rules say: the engine has no enableSecurity()"
      ])
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
