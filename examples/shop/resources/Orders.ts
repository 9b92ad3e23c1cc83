import { Authenticated, History, Repository, Resource, Role, ServiceError } from "appkernel"
import { Effect, Option, Schema } from "effect"
import { Order, OrderLine } from "../models/Order.ts"
import { Product } from "../models/Product.ts"
import { User } from "../models/User.ts"
import { SendReceipt } from "../receipts.ts"

export class OutOfStock extends ServiceError<OutOfStock>()("OutOfStock", {
  status: 409,
  message: "There is too little of a product in stock",
  fields: { product: Schema.String, quantity: Schema.Int }
}) {}

export class AlreadyPlaced extends ServiceError<AlreadyPlaced>()("AlreadyPlaced", {
  status: 409,
  message: "An order that is placed stays as it is"
}) {}

/**
 * Takes what is ordered out of the stock, at the prices of the products; all of it or, as the hook is in the order's transaction,
 * nothing.
 */
const takeFromStock = Effect.fn("takeFromStock")(function*(order: Order) {
  const products = yield* Repository.for(Product)
  const lines = yield* Effect.forEach(order.lines, (line) =>
    Effect.gen(function*() {
      const { product, quantity } = line
      const taken = yield* products.findOneAndUpdate(
        ($) => $.id.equals(product).and($.stock.greaterThanOrEqualTo(quantity)),
        ($) => [$.stock.increment(-quantity)]
      )
      if (Option.isNone(taken)) return yield* new OutOfStock({ product, quantity })
      return new OrderLine({ ...line, price: taken.value.price })
    }))
  return new Order({ ...order, lines })
})

export const Orders = Resource.make(Order, { methods: ["GET", "POST"], transactional: true })
  .beforePost(
    (order, { previous }) =>
      Option.isSome(previous)
        ? Effect.fail(new AlreadyPlaced())
        : Effect.andThen(SendReceipt.enqueue({ order: order.id }), takeFromStock(order)),
    { error: [OutOfStock, AlreadyPlaced] }
  )
  // How the order went: placed, paying, paid, and when.
  .action(History.revisions(Order))
  .action(History.revision(Order))
  .afterPost((order) => Effect.logInfo("An order is placed", { order: order.id, lines: order.lines.length }))
  .grant(Authenticated, {
    rows: (me) => ($) => $.customer.equals(User.wire.fields.id.make(me.subject)),
    readOnly: ["state"]
  })
  .require(Role("admin"))
