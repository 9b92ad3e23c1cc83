/** References that callers of an earlier form write in fields that were none then. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, Model, Repository } from "../../src/index.ts"
import { withFilters } from "../support/decisions.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Customer extends Model.Class<Customer>()("Customer", { id: Model.id(), name: Schema.String }) {}

const to = () => Model.reference(() => Customer, { checked: true, onDelete: "restrict" })

/** The payer was a text, the seller had another name, and the first word of a line was the buyer. */
class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  payer: to(),
  seller: to(),
  buyer: to(),
  ...Model.softDeleted
}, {
  versions: [
    Model.was.retyped("payer", Schema.String, {
      // The brand of an identifier has no value at run time.
      up: (payer) => payer as never,
      down: (payer) => payer
    }),
    Model.was.renamed("by", "seller"),
    Model.was.replaced(["buyer"], { line: Schema.String }, {
      up: ({ line }) => ({ buyer: line.split(" ")[0] as never }),
      down: ({ buyer }) => ({ line: buyer })
    })
  ]
}) {}

class OrderV1 extends Model.Class<OrderV1>()("Order", {
  id: Model.id(),
  payer: Schema.String,
  by: to(),
  line: Schema.String,
  ...Model.softDeleted
}) {}

const form = Model.form(Order, 1, OrderV1)

const orderOf = (id: string, more: { readonly payer?: string; readonly by?: string; readonly line?: string } = {}) =>
  OrderV1.make({ id, payer: "C1", line: "C1 yesterday", by: "C1" as never, ...more as object })

/** Why a write is refused, in short. */
const outcomeOf = <A, E extends { readonly message: string }, R>(write: Effect.Effect<A, E, R>) =>
  Effect.match(write, {
    onFailure: ({ message }) => message.replace("The property ", "").replace(" on class Order must be", ":"),
    onSuccess: () => "written"
  })

const refused = (field: string) => `${field}: the identifier of an existing Customer`

storeMatrix((name, layer) =>
  describe(`references of an earlier form / ${name}`, () => {
    it.live("are checked where the newest form has them, by every write", () =>
      Effect.gen(function*() {
        const [customers, orders] = [yield* Repository.make(Customer), yield* Repository.make(form)]
        yield* Repository.make(Order)
        const store = yield* DocumentStore.DocumentStore
        for (const id of ["C1", "C2"]) yield* customers.insert(Customer.make({ id: id as never, name: id }))
        yield* orders.insert(orderOf("1"))
        const stored = yield* store.find("Order", {})
        const writes = {
          payer: orders.insert(orderOf("2", { payer: "none" })),
          by: orders.insert(orderOf("2", { by: "none" })),
          line: orders.insert(orderOf("2", { line: "none now" }))
        }
        for (const [field, write] of Object.entries(writes)) {
          assert.strictEqual(yield* outcomeOf(write), refused(field))
        }
        const payer = { payer: "none" }
        assert.deepStrictEqual(
          yield* Effect.forEach([
            orders.patch("1", payer),
            orders.save(orderOf("1", payer)),
            orders.save(orderOf("3", payer)),
            orders.replace(orderOf("1", payer)),
            orders.updateOne(($) => $.by.equals("C1"), ($) => [$.payer.set("none")]),
            orders.updateMany(($) => $.by.equals("C1"), ($) => [$.payer.set("none")]),
            orders.findOneAndUpdate(($) => $.by.equals("C1"), ($) => [$.payer.set("none")])
          ], (write) => outcomeOf<unknown, { readonly message: string }, never>(write)),
          Array.from({ length: 7 }, () => refused("payer"))
        )
        assert.deepStrictEqual(yield* store.find("Order", {}), stored)
        const many = yield* Effect.flip(orders.bulkInsert([orderOf("4"), orderOf("5", payer), orderOf("6")]))
        assert.strictEqual(many._tag === "BulkInsertFailed" ? many.insertedCount : many._tag, 1)
        // What is there is taken, and what stays is not checked again.
        yield* orders.patch("1", { payer: "C2", line: "C2 today" })
        yield* store.insertOne("Order", { _id: "7", payer: "gone", by: "C1", line: "gone too" })
        yield* orders.patch("7", { line: "gone then" })
        assert.strictEqual(yield* outcomeOf(orders.patch("7", { line: "none" })), refused("line"))
        yield* orders.deleteById("7")
        assert.strictEqual(yield* outcomeOf(orders.restoreById("7")), refused("payer"))
        assert.strictEqual((yield* Effect.flip(customers.deleteById("C2")))._tag, "DocumentReferenced")
      }).pipe(Effect.provide(layer), Effect.scoped))

    it.live("lead to no document that the caller may not read", () =>
      Effect.gen(function*() {
        const [customers, orders] = [yield* Repository.make(Customer), yield* Repository.make(form)]
        for (const id of ["C1", "C2"]) yield* customers.insert(Customer.make({ id: id as never, name: id }))
        const rows = { _id: { $ne: "C2" } }
        const asCaller = withFilters({ rows: () => rows, check: () => rows })
        assert.deepStrictEqual(
          yield* Effect.forEach(
            [orderOf("1"), orderOf("2", { payer: "C2" }), orderOf("3", { line: "C2 now" })],
            (order) => outcomeOf(asCaller(orders.insert(order)))
          ),
          ["written", refused("payer"), refused("line")]
        )
      }).pipe(Effect.provide(layer), Effect.scoped))
  })
)
