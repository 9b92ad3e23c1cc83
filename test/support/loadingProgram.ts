/**
 * A program that serves documents with each of its arguments in turn, of `expand`, `many`, `history`, `deleted` and `tables`, or with
 * `none` of them, and asks for it: it prints the modules of rooms for these that were loaded from the start of this service, or of the
 * program, to the last answer. With `mcp` it has a server for assistants, which nobody asks.
 */
import { Effect, Schema } from "effect"
import { registerHooks } from "node:module"

const loaded = new Set<string>()
registerHooks({
  load: (url, context, next) => {
    const [, name] = /\/src\/Http\/((?:expansion|many|history|tables)\/\w+|mcp\/mcp)\.ts$/u.exec(url) ?? []
    if (name !== undefined) loaded.add(name)
    return next(url, context)
  }
})
const { History, KernelEngine, Model, Resource } = await import("appkernel")

class Customer extends Model.Class<Customer>()("Customer", { id: Model.id(), name: Schema.String }) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  state: Schema.String,
  customer: Model.reference(() => Customer),
  ...Model.versioned,
  ...Model.historied,
  ...Model.softDeleted
}) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const plain = Resource.make(Order, { methods })

const ordersWith = (what: string) =>
  what === "history"
    ? plain.action(History.revisions(Order))
    : what === "deleted"
    ? plain.action(History.deleted(Order))
    : plain

const serve = Effect.fnUntraced(function*(what: string) {
  const engine = KernelEngine.make("shop")
    .register(Customer, { methods })
    .register(ordersWith(what), {
      ...what === "many" ? { many: ["PATCH"] } : {},
      ...what === "tables" ? { tables: true } : {}
    })
  const { baseUrl, client } = yield* (what === "mcp" ? engine.enableMcp({ expose: ["orders"] }) : engine).test()
  const { result: customer } = yield* client.customers.create({ payload: { name: "Ann" } })
  const { result: id } = yield* client.orders.create({ payload: { state: "open", customer } })
  yield* client.orders.patch({ params: { id }, payload: { state: "paid" } })
  const { _items } = yield* client.orders.list({ query: { state: "paid" } })
  if (_items.length !== 1) return yield* Effect.die(new Error("the order is not there"))
  const places: { readonly [what: string]: string } = {
    expand: "/orders?expand=customer",
    history: `/orders/${id}/revisions`,
    deleted: "/orders?deleted=only"
  }
  const answer = yield* Effect.promise(() =>
    what === "many"
      ? fetch(`${baseUrl}/orders?state=paid`, {
        method: "PATCH",
        headers: { "content-type": "application/json" },
        body: `{"state":"sent"}`
      })
      : fetch(baseUrl + (places[what] ?? "/orders"), what === "tables" ? { headers: { accept: "text/csv" } } : {})
  )
  if (answer.status !== 200) return yield* Effect.die(new Error(yield* Effect.promise(() => answer.text())))
})

for (const what of process.argv.slice(2)) {
  await Effect.runPromise(Effect.scoped(serve(what)))
  process.stdout.write(`loaded with ${what}: ${[...loaded].toSorted().join()}\n`)
  loaded.clear()
}
