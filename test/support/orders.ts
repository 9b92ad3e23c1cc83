/** The models for the tests of conditions, updates and cursors. */
import { DateTime, Effect, Schema } from "effect"
import { Converter, DocumentStore, Marshaller, Model, Validator } from "../../src/index.ts"
import { documentCodec } from "../../src/Repository/collection/documentCodec.ts"

export class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty),
  /** A field with the name of an operator. */
  isPresent: Schema.Boolean.pipe(Model.optional)
}) {}

export class Line extends Model.Class<Line>()("Line", {
  id: Model.id({ prefix: "L" }),
  product: Schema.String.pipe(Validator.min(2)),
  quantity: Schema.Int.pipe(Validator.min(1), Model.withDefault(() => 1)),
  note: Schema.String.pipe(Model.optional),
  discounts: Schema.Array(Schema.Finite).pipe(Model.withDefault(() => []))
}) {}

export class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String.pipe(Validator.min(3)),
  pin: Schema.String.pipe(
    Validator.min(4),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.optional,
    Model.omitted
  ),
  status: Schema.Literals(["open", "paid"]).pipe(Model.withDefault(() => "open" as const)),
  total: Schema.Finite.pipe(Validator.min(0), Model.withDefault(() => 0)),
  rating: Schema.Int.pipe(Model.optional),
  confirmed: Schema.NullOr(Schema.Boolean).pipe(Model.withDefault(() => null)),
  tags: Schema.Array(Schema.String.pipe(Validator.notEmpty)).pipe(Model.withDefault(() => [])),
  answers: Schema.Array(Schema.NullOr(Schema.Int)).pipe(Model.optional),
  grid: Schema.Array(Schema.Array(Schema.Int)).pipe(Model.withDefault(() => [])),
  address: Address.pipe(Model.optional),
  billing: Schema.NullOr(Address).pipe(Model.withDefault(() => null)),
  lines: Schema.Array(Line).pipe(Model.withDefault(() => [])),
  placed: Model.DateTime.pipe(Validator.past, Model.optional),
  paid: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp), Model.optional),
  due: Model.Date.pipe(Model.optional),
  cents: Schema.FiniteFromString.pipe(Model.optional),
  ...Model.versioned
}) {}

export const codec = documentCodec(Order)

export const at = (text: string) => DateTime.toUtc(DateTime.makeUnsafe(text))

/** An order with its required fields only. */
const newOrder = (id: string, more: Partial<typeof Order.create.Type> = {}) =>
  Model.finalise(Order, { id, customer: "Jane", ...more })

/** A collection that no other test uses, with the orders in it. */
export const ordersIn = Effect.fnUntraced(function*(
  collection: string,
  orders: ReadonlyArray<Partial<typeof Order.create.Type> & { readonly id: string }>
) {
  const store = yield* DocumentStore.DocumentStore
  const instances = yield* Effect.forEach(orders, ({ id, ...more }) => newOrder(id, more))
  yield* store.insertMany(collection, instances.map((order) => codec.toDocument(order)))
  return store
})
