import {
  type DocumentStore,
  Index,
  Marshaller,
  Model,
  type ModelError,
  Query,
  type Repository,
  type RepositoryError,
  Update,
  Validator
} from "appkernel"
import { type BigDecimal, type Brand, type DateTime, Effect, type Option, Schema, type Stream } from "effect"
import { describe, expectTypeOf, it } from "vitest"

class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty),
  /** Named as an operator. */
  isPresent: Schema.Boolean
}) {}

class Line extends Model.Class<Line>()("Line", {
  product: Schema.String,
  quantity: Schema.Int.pipe(Model.withDefault(() => 1)),
  discounts: Schema.Array(Schema.Finite)
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String.pipe(Model.indexed(Index.plain)),
  status: Schema.Literals(["open", "paid"]),
  total: Schema.Finite,
  rating: Schema.Int.pipe(Model.optional),
  confirmed: Schema.NullOr(Schema.Boolean),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  address: Address.pipe(Model.optional),
  billing: Schema.NullOr(Address),
  lines: Schema.Array(Line),
  placed: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  shipped: Model.Date.pipe(Model.optional),
  weight: Schema.FiniteFromString,
  ...Model.versioned
}) {
  get isLarge() {
    return this.total > 1000
  }
}

declare const moment: DateTime.Utc

const where = (condition: Query.Where<typeof Order>) => condition

describe("conditions", () => {
  it("know what can be said of a field", () => {
    where(($) => {
      expectTypeOf($.id).toEqualTypeOf<Query.Text<string>>()
      expectTypeOf($.customer).toEqualTypeOf<Query.Text<string>>()
      expectTypeOf($.status).toEqualTypeOf<Query.Text<"open" | "paid">>()
      expectTypeOf($.total).toEqualTypeOf<Query.Ordered<number>>()
      expectTypeOf($.rating).toEqualTypeOf<Query.Ordered<number>>()
      expectTypeOf($.confirmed).toEqualTypeOf<Query.Field<boolean | null>>()
      expectTypeOf($.placed).toEqualTypeOf<Query.Moment<DateTime.Utc>>()
      expectTypeOf($.shipped).toEqualTypeOf<Query.Moment<DateTime.Utc>>()
      expectTypeOf($.tags).toEqualTypeOf<Query.List<ReadonlyArray<string>, string>>()
      expectTypeOf($.weight).toEqualTypeOf<Query.Ordered<number>>()
      expectTypeOf($.version).toEqualTypeOf<Query.Ordered<number>>()
      return $.id.equals("O1")
    })
  })

  it("take values of the field's type", () => {
    expectTypeOf(where).parameter(0).parameter(0).toEqualTypeOf<Query.Fields<typeof Order>>()
    where(($) => $.customer.contains("jan").and($.status.in(["open", "paid"])).or($.total.between(1, 2)).not())
    where(($) => $.placed.before(moment).and($.shipped.isMissing()).and($.confirmed.equals(null)))
    where(($) => $.tags.contains("new").and($.tags.size(2)).and($.tags.equals(["new", "old"])))
    // @ts-expect-error a text is no number
    where(($) => $.total.greaterThan("1"))
    // @ts-expect-error no such status
    where(($) => $.status.equals("lost"))
    where(($) => $.customer.startsWith("Jan").or($.customer.contains("Jan", { caseSensitive: true })))
    // @ts-expect-error case is ignored or not, by this name
    where(($) => $.customer.startsWith("Jan", { ignoreCase: true }))
    // @ts-expect-error a number has no parts
    where(($) => $.total.contains("1"))
    // @ts-expect-error an element is a text
    where(($) => $.tags.contains(1))
    // @ts-expect-error a date is no text
    where(($) => $.placed.before("2026-01-01"))
    // @ts-expect-error null is no value of the field
    where(($) => $.customer.equals(null))
    // @ts-expect-error no such field
    where(($) => $.custmer.equals("x"))
  })

  it("reach into models and lists of models", () => {
    expectTypeOf(where).parameter(0).parameter(0).toEqualTypeOf<Query.Fields<typeof Order>>()
    where(($) => $.address.city.equals("Bern").and($.billing.city.startsWith("B")).and($.billing.equals(null)))
    where(($) => $.address.isPresent().and($.lines.quantity.greaterThan(3)).and($.lines.discounts.contains(0.1)))
    where(($) => $.lines.any((line) => line.product.equals("tea").and(line.quantity.greaterThan(3))))
    // @ts-expect-error a quantity is no text
    where(($) => $.lines.any((line) => line.quantity.equals("3")))
    // @ts-expect-error a model's own operator goes before a field of that name
    where(($) => $.address.isPresent.equals(true))
    // @ts-expect-error one model is no list
    where(($) => $.address.any((address) => address.city.equals("Bern")))
  })

  it("reach what is not the model's, by a schema", () => {
    expectTypeOf(Query.path("meta.colour", Schema.String)).toEqualTypeOf<Query.Text<string>>()
    where(($) => Query.path("address.isPresent", Schema.Boolean).equals(true).and($.total.lessThan(1)))
  })
})

describe("a selection", () => {
  it("has the fields that were asked for, and nothing else", () => {
    const { fromDocument } = Query.select(Order, [
      "customer",
      "rating",
      "address.city",
      "lines.product",
      "billing.city"
    ])
    expectTypeOf(fromDocument).returns.toEqualTypeOf<
      Effect.Effect<{
        readonly customer: string
        readonly rating?: number
        readonly address?: { readonly city: string }
        readonly lines: ReadonlyArray<{ readonly product: string }>
        readonly billing: { readonly city: string } | null
      }, RepositoryError.DocumentInvalid>
    >()
  })

  it("has a model as a whole where one was asked for", () => {
    const { fromDocument } = Query.select(Order, ["address", "address.city"])
    expectTypeOf(fromDocument).returns.toEqualTypeOf<
      Effect.Effect<{ readonly address?: Address }, RepositoryError.DocumentInvalid>
    >()
  })

  it("takes the names of fields only", () => {
    expectTypeOf<"lines.discounts">().toExtend<Query.Path<typeof Order>>()
    // @ts-expect-error no such field
    Query.select(Order, ["address.town"])
    // @ts-expect-error what a class adds is not stored
    Query.select(Order, ["isLarge"])
  })
})

describe("orders", () => {
  it("are of fields", () => {
    expectTypeOf(Query.toSort(Order, [])).toEqualTypeOf<DocumentStore.Sort>()
    Query.toSort(Order, ["address.city", "-id"])
    // @ts-expect-error no such field
    Query.toSort(Order, ["town"])
  })

  it("are written in one way wherever one is taken", () => {
    expectTypeOf(orders.find).toBeCallableWith(undefined, { sort: "customer", select: ["total"] })
    expectTypeOf(orders.find).toBeCallableWith(undefined, { sort: ["status", "-placed"] })
    expectTypeOf(orders.findOne).toBeCallableWith(undefined, { sort: "-billing.city" })
    expectTypeOf(orders.findPage).toBeCallableWith(undefined, { sort: "-total", pageSize: 10 })
    expectTypeOf(orders.stream).toBeCallableWith(undefined, { sort: ["rating", "id"] })
    expectTypeOf(orders.findOneAndUpdate).toBeCallableWith(undefined, () => [], { sort: "-weight" })
    expectTypeOf<Query.SortTerm<typeof Page>>().toEqualTypeOf<
      "id" | "-id" | "title" | "-title" | "deleted" | "-deleted" | "revision" | "-revision"
    >()
  })

  it("are of fields with a single value", () => {
    expectTypeOf<"tags" | "lines" | "address">().exclude<Query.SortTerm<typeof Order>>().toEqualTypeOf<
      "tags" | "lines" | "address"
    >()
    // @ts-expect-error a list has many values
    Query.toSort(Order, "tags")
    // @ts-expect-error and so has what is in one
    Query.toSort(Order, "lines.product")
    // @ts-expect-error a model has fields of its own
    Query.toSort(Order, "address")
    // @ts-expect-error a direction is a sign
    Query.toSort(Order, "+total")
  })

  it("leave the result its type", () => {
    expectTypeOf(orders.find(undefined, { sort: "-total", pageSize: 3 })).toEqualTypeOf<
      Effect.Effect<ReadonlyArray<Order>, RepositoryError.DocumentInvalid | RepositoryError.ReadError>
    >()
    expectTypeOf(orders.find(undefined, { select: [] })).toEqualTypeOf<
      Effect.Effect<ReadonlyArray<{}>, RepositoryError.DocumentInvalid | RepositoryError.ReadError>
    >()
    expectTypeOf(orders.find(undefined, { sort: "-total", select: ["id", "address.city"] })).toEqualTypeOf<
      Effect.Effect<
        ReadonlyArray<{ readonly id: string; readonly address?: { readonly city: string } }>,
        RepositoryError.DocumentInvalid | RepositoryError.ReadError
      >
    >()
  })
})

const changes = (changes: Update.Changes<typeof Order>) => changes

describe("changes", () => {
  it("know how a field can change", () => {
    changes(($) => {
      expectTypeOf($.customer).toEqualTypeOf<Update.Value<string>>()
      expectTypeOf($.total).toEqualTypeOf<Update.Numeric<number>>()
      expectTypeOf($.rating).toEqualTypeOf<Update.Optional & Update.Numeric<number>>()
      expectTypeOf($.placed).toEqualTypeOf<Update.Moment<DateTime.Utc>>()
      expectTypeOf($.weight).toEqualTypeOf<Update.Value<number>>()
      return []
    })
  })

  it("take values of the field's type", () => {
    expectTypeOf(changes).parameter(0).parameter(0).toEqualTypeOf<Update.Fields<typeof Order>>()
    changes(($) => [
      $.customer.set("Jane"),
      $.total.increment(1),
      $.rating.unset(),
      $.placed.currentDate(),
      $.shipped.max(moment),
      $.confirmed.set(null),
      $.tags.append("new"),
      $.tags.appendAll(["a"], { position: 0, slice: 10 }),
      $.tags.remove("old"),
      $.address.city.set("Bern"),
      $.address.set(new Address({ street: "Main", city: "Bern", isPresent: true })),
      $.lines.append({ product: "tea", discounts: [] }),
      $.lines.set([{ product: "tea", quantity: 2, discounts: [] }]),
      $.lines.removeWhere((line) => line.quantity.lessThan(1)),
      $.lines.matched.quantity.increment(1),
      $.lines.each.discounts.append(0.1),
      $.lines.at(0).quantity.set(3),
      $.lines.where((line) => line.product.equals("tea")).discounts.popFirst()
    ])
    // @ts-expect-error a text is no number
    changes(($) => [$.total.set("1")])
    // @ts-expect-error a text can't be added to
    changes(($) => [$.customer.increment(1)])
    // @ts-expect-error what is stored as text can't be added to
    changes(($) => [$.weight.increment(1)])
    // @ts-expect-error a required field stays
    changes(($) => [$.customer.unset()])
    // @ts-expect-error an element is a text
    changes(($) => [$.tags.append(1)])
    // @ts-expect-error the street is missing
    changes(($) => [$.address.set({ city: "Bern", isPresent: true })])
    // @ts-expect-error a list's elements are reached one by one, or all
    changes(($) => [$.lines.quantity.set(1)])
  })

  it("leave the identifier and the version alone", () => {
    expectTypeOf<Update.Fields<typeof Order>>().not.toHaveProperty("id")
    expectTypeOf<Update.Fields<typeof Order>>().not.toHaveProperty("version")
    // @ts-expect-error the identifier stays
    changes(($) => [$.id.set("O2")])
    // @ts-expect-error the version is the framework's
    changes(($) => [$.version.set(2)])
  })

  it("may fail as finalisation does, and when they conflict", () => {
    expectTypeOf(Update.toUpdate(Order, ($) => [$.total.increment(1)])).toEqualTypeOf<
      Effect.Effect<Update.AtomicUpdate, ModelError.ModelError | RepositoryError.QueryRejected>
    >()
  })
})

class Page extends Model.Class<Page>()("Page", {
  id: Model.id(),
  title: Schema.String,
  ...Model.softDeleted,
  ...Model.historied
}) {}

/** Its fields only look like those of the traits. */
class Lookalike extends Model.Class<Lookalike>()("Lookalike", {
  id: Model.id(),
  deleted: Model.DateTime.pipe(Model.optional),
  revision: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

declare const pages: Repository.Repository<typeof Page>
declare const orders: Repository.Repository<typeof Order>

class Ticket extends Model.Class<Ticket>()("Ticket", {
  id: Model.id(),
  title: Schema.String,
  state: Schema.Literals(["new", "paid"]).pipe(Model.withDefault(() => "new" as const), Model.readOnly),
  reason: Model.field(Schema.String, { readOnly: true }),
  at: Model.DateTime.pipe(Model.generated(Effect.die("never run")), Model.readOnly),
  ...Model.versioned,
  ...Model.audited,
  ...Model.historied,
  ...Model.softDeleted
}) {}

declare const tickets: Repository.Repository<typeof Ticket>

describe("a repository", () => {
  it("sets fields that callers can't send, and no managed ones", () => {
    expectTypeOf<Parameters<typeof tickets.patch>[1]>().branded.toEqualTypeOf<{
      readonly title?: string
      readonly version?: number | null
      readonly state?: "new" | "paid"
      readonly reason?: string | null
      readonly at?: DateTime.Utc
    }>()
    expectTypeOf<keyof Update.Fields<typeof Ticket>>().toEqualTypeOf<"title" | "state" | "reason" | "at">()
  })

  it("works on instances", () => {
    expectTypeOf<Extract<keyof Repository.Repository<typeof Page>, `${string}Document${string}`>>().toBeNever()
  })
})

describe("a repository of a model that is deleted softly", () => {
  it("finds what is deleted, when it is asked to", () => {
    expectTypeOf(pages.find).toBeCallableWith(($) => $.deleted.isPresent(), { deleted: "only", pageSize: 10 })
    expectTypeOf(pages.find).toBeCallableWith(undefined, { deleted: "include", select: ["title"] })
    expectTypeOf(pages.findById).toBeCallableWith("P1", { deleted: "include" })
    expectTypeOf(pages.count).toBeCallableWith(undefined, { deleted: "exclude" })
    expectTypeOf(pages.distinct("title", undefined, { deleted: "only" })).toEqualTypeOf<
      Effect.Effect<ReadonlyArray<string>, RepositoryError.ReadError>
    >()
    expectTypeOf(pages.aggregate).toBeCallableWith([], { deleted: "only" })
    // @ts-expect-error there is no such choice
    expectTypeOf(pages.find).toBeCallableWith(undefined, { deleted: true })
  })

  it("restores and purges", () => {
    expectTypeOf(pages.restoreById("P1")).toEqualTypeOf<
      Effect.Effect<
        Page,
        RepositoryError.DocumentNotFound | RepositoryError.DocumentInvalid | RepositoryError.WriteError
      >
    >()
    expectTypeOf(pages.purge()).toEqualTypeOf<Effect.Effect<number, RepositoryError.DeleteError>>()
  })

  it("does nothing of it for other models", () => {
    expectTypeOf(orders).not.toHaveProperty("restoreById")
    expectTypeOf(orders).not.toHaveProperty("purge")
    expectTypeOf<Repository.Repository<typeof Lookalike>>().not.toHaveProperty("purge")
    // @ts-expect-error an order is removed when it is deleted
    expectTypeOf(orders.find).toBeCallableWith(undefined, { deleted: "only" })
    // @ts-expect-error nor can it be counted
    expectTypeOf(orders.count).toBeCallableWith(undefined, { deleted: "include" })
  })
})

describe("a repository of a model with a history", () => {
  it("reads it", () => {
    type Revision = Repository.Revision<typeof Page>
    expectTypeOf(pages.history("P1", { pageSize: 10, before: { revision: 3 } })).toEqualTypeOf<
      Effect.Effect<ReadonlyArray<Revision>, RepositoryError.ReadError>
    >()
    expectTypeOf(pages.history.stream("P1")).toEqualTypeOf<Stream.Stream<Revision, RepositoryError.ReadError>>()
    expectTypeOf(pages.history.at("P1", { revision: 3 })).toEqualTypeOf<
      Effect.Effect<Option.Option<Revision>, RepositoryError.ReadError>
    >()
    expectTypeOf(pages.history.at).toBeCallableWith("P1", { time: moment })
    expectTypeOf<Revision["instance"]>().toEqualTypeOf<Effect.Effect<Page, RepositoryError.DocumentInvalid>>()
  })

  it("takes no number for a revision without saying so", () => {
    expectTypeOf(pages.history.at).parameter(1).toEqualTypeOf<Repository.HistoryPoint>()
    // @ts-expect-error a version or a revision
    void pages.history.at("P1", 3)
    // @ts-expect-error versions are no revisions
    void pages.history.at("P1", { version: 3 })
    // @ts-expect-error a time is no revision
    void pages.history.at("P1", { revision: moment })
    // @ts-expect-error a revision is no time
    void pages.history.at("P1", { time: 3 })
    // @ts-expect-error a time is no text
    void pages.history.at("P1", { time: "2026-01-01" })
    // @ts-expect-error one of the two
    void pages.history.at("P1", { revision: 3, time: moment })
  })

  it("has nothing of it for other models", () => {
    expectTypeOf(orders).not.toHaveProperty("history")
    expectTypeOf<Repository.Repository<typeof Lookalike>>().not.toHaveProperty("history")
  })

  it("changes neither the mark nor the number of the state", () => {
    expectTypeOf<Update.Fields<typeof Page>>().not.toHaveProperty("deleted")
    expectTypeOf<Update.Fields<typeof Page>>().not.toHaveProperty("revision")
  })
})

class Kinds extends Model.Class<Kinds>()("Kinds", {
  id: Schema.Int,
  price: Schema.BigDecimal,
  count: Schema.BigInt,
  content: Schema.Uint8Array,
  made: Schema.DateTimeUtc,
  sold: Schema.DateTimeUtc.pipe(Model.optional),
  prices: Schema.Array(Schema.BigDecimal),
  contents: Schema.Array(Schema.Uint8Array).pipe(Model.optional)
}) {}

declare const decimal: BigDecimal.BigDecimal

describe("fields of decimals, big integers, bytes and moments", () => {
  const whereKind = (condition: Query.Where<typeof Kinds>) => condition
  const changeKind = (changes: Update.Changes<typeof Kinds>) => changes

  it("are compared as what they are", () => {
    whereKind(($) => {
      expectTypeOf($.price).toEqualTypeOf<Query.Ordered<BigDecimal.BigDecimal>>()
      expectTypeOf($.count).toEqualTypeOf<Query.Ordered<bigint>>()
      expectTypeOf($.content).toEqualTypeOf<Query.Field<Uint8Array<ArrayBufferLike>>>()
      expectTypeOf($.made).toEqualTypeOf<Query.Moment<DateTime.Utc>>()
      expectTypeOf($.sold).toEqualTypeOf<Query.Moment<DateTime.Utc>>()
      expectTypeOf($.prices).toEqualTypeOf<Query.List<ReadonlyArray<BigDecimal.BigDecimal>, BigDecimal.BigDecimal>>()
      return $.price.between(decimal, decimal).and($.count.greaterThan(2n ** 60n))
        .and($.content.equals(new Uint8Array([1]))).and($.made.before(moment)).and($.sold.isMissing())
        .and($.prices.contains(decimal)).and($.contents.contains(new Uint8Array()))
    })
    // @ts-expect-error a number is no decimal
    whereKind(($) => $.price.greaterThan(1.5))
    // @ts-expect-error a number is no big integer
    whereKind(($) => $.count.equals(1))
    // @ts-expect-error bytes have no order
    whereKind(($) => $.content.greaterThan(new Uint8Array()))
    // @ts-expect-error a text is no bytes
    whereKind(($) => $.content.equals("AQ=="))
    // @ts-expect-error a moment is no JavaScript date
    whereKind(($) => $.made.after(new Date(0)))
    // @ts-expect-error an element is a decimal
    whereKind(($) => $.prices.contains(1n))
  })

  it("are changed to what they are", () => {
    expectTypeOf<Update.Fields<typeof Kinds>["price"]>().toEqualTypeOf<Update.Value<BigDecimal.BigDecimal>>()
    changeKind(($) => [
      $.price.set(decimal),
      $.count.set(1n),
      $.content.set(new Uint8Array([1])),
      $.made.set(moment),
      $.sold.unset(),
      $.prices.append(decimal)
    ])
    // @ts-expect-error a number is no decimal
    changeKind(($) => [$.price.set(1)])
    // @ts-expect-error a number is no big integer
    changeKind(($) => [$.count.set(1)])
    // @ts-expect-error bytes can't be added to
    changeKind(($) => [$.content.increment(1)])
  })
})

class Coupon extends Model.Class<Coupon>()("Coupon", {
  id: Schema.String.pipe(Schema.brand("Coupon")),
  note: Schema.String,
  ...Model.historied,
  ...Model.softDeleted
}) {}

class Customer extends Model.Class<Customer>()("Customer", {
  id: Model.id({ prefix: "C", brand: "CustomerId" }),
  name: Schema.String,
  ...Model.versioned,
  ...Model.historied,
  ...Model.softDeleted
}) {}

class Held extends Model.Class<Held>()("Held", { code: Model.id(), note: Schema.String }) {}

declare const kinds: Repository.Repository<typeof Kinds>
declare const coupons: Repository.Repository<typeof Coupon>
declare const customers: Repository.Repository<typeof Customer>
declare const customer: Customer
declare const held: Repository.Repository<typeof Held>
declare const coupon: Coupon["id"]

describe("identifiers", () => {
  it("are those of the model", () => {
    expectTypeOf<Model.Id<typeof Kinds>>().toEqualTypeOf<number>()
    expectTypeOf<Model.Id<typeof Coupon>>().toEqualTypeOf<Coupon["id"]>()
    expectTypeOf<Model.Id<typeof Order>>().toEqualTypeOf<string>()
    expectTypeOf<Model.Id<typeof Held>>().toEqualTypeOf<string>()
    expectTypeOf<Model.Id<Model.Any>>().toEqualTypeOf<unknown>()
  })

  it("have a type of their own with a brand, and are texts without one", () => {
    expectTypeOf<Customer["id"]>().toEqualTypeOf<string & Brand.Brand<"CustomerId">>()
    expectTypeOf<Order["id"]>().toEqualTypeOf<string>()
    expectTypeOf(Customer.wire.fields.id.make("C1")).toEqualTypeOf<Customer["id"]>()
    expectTypeOf<NonNullable<typeof Customer.create.Type["id"]>>().toEqualTypeOf<Customer["id"]>()
    expectTypeOf(new Customer({ name: "Jane" }).id).toEqualTypeOf<Customer["id"]>()
  })

  it("of one model are not those of another", () => {
    const { id } = customer
    for (
      const operation of [
        customers.findById(id),
        customers.patch(id, { name: "Jane" }),
        customers.modify(id, (customer) => Effect.succeed(customer)),
        customers.deleteById(id),
        customers.deleteById(id, { version: 1 }),
        customers.restoreById(id),
        customers.purgeById(id),
        customers.history(id),
        customers.history.at(id, { revision: 1 }),
        customers.find(($) => $.id.in([id]))
      ]
    ) expectTypeOf(operation).not.toBeAny()
    // A branded identifier is a text, too.
    void held.findById(id)
    // @ts-expect-error a coupon is no customer
    void customers.findById(coupon)
    // @ts-expect-error a coupon is no customer
    void customers.patch(coupon, { name: "Jane" })
    // @ts-expect-error a coupon is no customer
    void customers.modify(coupon, (customer) => Effect.succeed(customer))
    // @ts-expect-error a coupon is no customer
    void customers.deleteById(coupon)
    // @ts-expect-error a coupon is no customer
    void customers.deleteById(coupon, { version: 1 })
    // @ts-expect-error a coupon is no customer
    void customers.history(coupon)
    // @ts-expect-error a coupon is no customer
    void customers.find(($) => $.id.equals(coupon))
    // @ts-expect-error any text is no customer
    void customers.findById("C1")
  })

  it("are what repositories take", () => {
    for (
      const operation of [
        kinds.findById(1),
        kinds.patch(1, {}),
        kinds.modify(1, (kind) => Effect.succeed(kind)),
        kinds.deleteById(1),
        orders.findById("O1"),
        held.deleteById("x"),
        coupons.findById(coupon),
        coupons.history(coupon),
        coupons.history.at(coupon, { revision: 1 }),
        coupons.history.purge(coupon),
        coupons.restoreById(coupon),
        coupons.purgeById(coupon)
      ]
    ) expectTypeOf(operation).not.toBeAny()
    expectTypeOf(coupons.history.stream).parameter(0).toEqualTypeOf<Coupon["id"]>()
    expectTypeOf<Repository.Revision<typeof Coupon>["id"]>().toEqualTypeOf<Coupon["id"]>()
    // @ts-expect-error a text is no number
    void kinds.findById("1")
    // @ts-expect-error a text is no number
    void kinds.patch("1", {})
    // @ts-expect-error a text is no number
    void kinds.deleteById("1")
    // @ts-expect-error a text is not yet one of this brand
    void coupons.history("C1")
    // @ts-expect-error a text is not yet one of this brand
    void coupons.restoreById("C1")
    // @ts-expect-error a number is no text
    void orders.findById(1)
  })
})
