/** Indexes of fields that change: the release that declares others starts, is upgraded and finished, and its own ones hold. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { DocumentStore, EmbeddedStore, Index, Model, Repository, Upgrade } from "../../src/index.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { atOnce, sayUnderstood } from "../support/upgrades.ts"

class Login extends Model.Class<Login>()("Account", {
  id: Model.id(),
  email: Schema.String.pipe(Model.indexed(Index.unique))
}) {}

class OptionalLogin extends Model.Class<OptionalLogin>()("Account", {
  id: Model.id(),
  email: Schema.String.pipe(Model.optional, Model.indexed(Index.unique))
}, { versions: [Model.was.madeOptional("email", { down: () => "" })] }) {}

class LooseLogin extends Model.Class<LooseLogin>()("Account", {
  id: Model.id(),
  email: Schema.String.pipe(Model.optional, Model.indexed(Index.unique)),
  city: Schema.String.pipe(Model.optional)
}, { versions: [Model.was.madeOptional("email"), Model.was.added("city")] }) {}

class Named extends Model.Class<Named>()("User", {
  id: Model.id(),
  name: Schema.String.pipe(Model.indexed(Index.unique))
}) {}

/** The name was the login; now it is what others call somebody. */
class Called extends Model.Class<Called>()("User", {
  id: Model.id(),
  login: Schema.String.pipe(Model.indexed(Index.unique)),
  name: Schema.String
}, { versions: [Model.was.renamed("name", "login"), Model.was.added("name", { up: () => "Somebody" })] }) {}

class Coupon extends Model.Class<Coupon>()("Coupon", { id: Model.id(), code: Schema.String, active: Schema.Boolean }, {
  indexes: [Index.compound({ code: 1 }, { unique: true, where: { active: true } })]
}) {}

class RenamedCoupon extends Model.Class<RenamedCoupon>()("Coupon", {
  id: Model.id(),
  code: Schema.String,
  isActive: Schema.Boolean
}, {
  indexes: [Index.compound({ code: 1 }, { unique: true, where: { isActive: true } })],
  versions: [Model.was.renamed("active", "isActive")]
}) {}

class Price extends Model.Class<Price>()("Price", { id: Model.id(), amount: Schema.Int }, {
  indexes: [Index.compound({ amount: 1 }, { unique: true })]
}) {}

/** In cents. */
class PriceInCents extends Model.Class<PriceInCents>()("Price", { id: Model.id(), amount: Schema.Int }, {
  indexes: [Index.compound({ amount: 1 }, { unique: true })],
  versions: [Model.was.retyped("amount", Schema.Int, { up: (amount) => amount * 100, down: (cents) => cents / 100 })]
}) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), mail: Schema.String, body: Schema.String }, {
  indexes: [Index.compound({ mail: 1 }, { name: "address" }), Index.compound({ body: 1 }, { name: "other" })]
}) {}

class RenamedNote extends Model.Class<RenamedNote>()("Note", {
  id: Model.id(),
  email: Schema.String,
  body: Schema.String
}, {
  indexes: [Index.compound({ email: 1 }, { name: "address" }), Index.compound({ body: 1 }, { name: "other" })],
  versions: [Model.was.renamed("mail", "email")]
}) {}

class Page extends Model.Class<Page>()("Page", {
  id: Model.id(),
  title: Schema.String.pipe(Model.indexed(Index.text()))
}) {}

class RenamedPage extends Model.Class<RenamedPage>()("Page", {
  id: Model.id(),
  heading: Schema.String.pipe(Model.indexed(Index.text()))
}, { versions: [Model.was.renamed("title", "heading")] }) {}

class Offer extends Model.Class<Offer>()("Offer", { id: Model.id(), at: Schema.Date, end: Schema.Date }, {
  indexes: [Index.compound({ end: 1 }, { expireAfter: "1 second" })]
}) {}

/** What was the time of the offer is when it ends, and what was its end is when it was last read. */
class OtherOffer extends Model.Class<OtherOffer>()("Offer", {
  id: Model.id(),
  made: Schema.Date,
  until: Schema.Date,
  at: Schema.Date,
  end: Schema.Date
}, {
  indexes: [Index.compound({ at: 1 }, { expireAfter: "1 second" }), Index.compound({ until: 1 }, { expireAfter: 1 })],
  versions: [
    Model.was.renamed("at", "made"),
    Model.was.renamed("end", "until"),
    Model.was.added("at", { up: () => new Date(0) }),
    Model.was.added("end", { up: () => new Date(0) })
  ]
}) {}

const tagOf = <A, E extends { readonly _tag: string }, R>(write: Effect.Effect<A, E, R>) =>
  Effect.match(write, { onFailure: ({ _tag }) => _tag, onSuccess: () => "written" })

const upgraded = (model: Model.Any) => Stream.runDrain(Upgrade.upgrade(model))

/** The names and keys of the indexes that are installed. */
const installed = (collection: string) =>
  Effect.flatMap(
    DocumentStore.DocumentStore,
    (store) =>
      Effect.map(store.listIndexes(collection), (all) =>
        all.map(({ key, name }) => `${name}: ${Object.keys(key).join()}`).toSorted())
  )

const isComplete = Effect.fnUntraced(function*(model: Model.Any) {
  return (yield* Upgrade.storedForms(model)).isComplete
})

/** Starts, synchronises and upgrades the release after another one, which has other indexes. */
const waits = (
  before: Model.Any,
  after: Model.Any,
  [own, later]: readonly [ReadonlyArray<string>, ReadonlyArray<string>]
) =>
  atOnce(Effect.gen(function*() {
    const store = yield* DocumentStore.DocumentStore
    const collection = after.modelName
    yield* Repository.make(before)
    yield* store.insertOne(collection, { _id: "a", mail: "a@x", title: "warm words", body: "b" })
    const repository = yield* Repository.make(after)
    assert.deepStrictEqual(yield* installed(collection), own)
    assert.deepStrictEqual((yield* repository.syncIndexes).dropped, [])
    // The release before starts again.
    yield* Repository.make(before)
    yield* sayUnderstood(collection, 2)
    yield* Repository.make(after)
    yield* upgraded(after)
    assert.isTrue(yield* isComplete(after))
    assert.deepStrictEqual(yield* installed(collection), later)
    yield* Repository.make(after)
  }))

storeMatrix((name, layer) =>
  describe(`indexes of changed fields / ${name}`, () => {
    it.live("let documents be without a value that was required and unique", () =>
      atOnce(Effect.gen(function*() {
        yield* (yield* Repository.make(Login)).insert(new Login({ id: "a", email: "a@x" }))
        const accounts = yield* Repository.make(OptionalLogin)
        yield* sayUnderstood("Account", 2)
        yield* Repository.make(OptionalLogin)
        const insert = (id: string, email?: string) =>
          tagOf(accounts.insert(new OptionalLogin({ id, ...email === undefined ? {} : { email } })))
        assert.deepStrictEqual(
          [yield* insert("b"), yield* insert("c"), yield* insert("d", "a@x")],
          ["written", "written", "DuplicateKey"]
        )
        yield* upgraded(OptionalLogin)
        assert.isTrue(yield* isComplete(OptionalLogin))
        yield* Repository.make(OptionalLogin)
        assert.deepStrictEqual([yield* insert("e"), yield* insert("f", "a@x")], ["written", "DuplicateKey"])
        assert.deepStrictEqual((yield* accounts.syncIndexes).dropped, [])
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("are those of an optional field from the first start on, if there is no way down", () =>
      atOnce(Effect.gen(function*() {
        yield* (yield* Repository.make(Login)).insert(new Login({ id: "a", email: "a@x" }))
        const accounts = yield* Repository.make(LooseLogin)
        const insert = (id: string, email?: string) =>
          tagOf(accounts.insert(new LooseLogin({ id, ...email === undefined ? {} : { email } })))
        assert.deepStrictEqual(
          [yield* insert("b"), yield* insert("c"), yield* insert("d", "a@x")],
          ["written", "written", "DuplicateKey"]
        )
        yield* sayUnderstood("Account", 3)
        yield* Repository.make(LooseLogin)
        yield* upgraded(LooseLogin)
        assert.isTrue(yield* isComplete(LooseLogin))
        assert.deepStrictEqual([yield* insert("e"), yield* insert("f", "a@x")], ["written", "DuplicateKey"])
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("leave a new field that has the name of one that was unique", () =>
      atOnce(Effect.gen(function*() {
        const before = yield* Repository.make(Named)
        yield* before.bulkInsert(["a", "b", "c"].map((id) => new Named({ id, name: id })))
        const users = yield* Repository.make(Called)
        const insert = (id: string, login: string) => tagOf(users.insert(new Called({ id, login, name: "Ann" })))
        assert.deepStrictEqual([yield* insert("d", "d"), yield* insert("e", "e")], ["written", "written"])
        yield* sayUnderstood("User", 3)
        // An upgrade drops the index, too, if no start came between.
        yield* upgraded(Called)
        assert.deepStrictEqual(
          [yield* insert("f", "f"), yield* insert("g", "g"), yield* insert("h", "a")],
          ["written", "written", "DuplicateKey"]
        )
        assert.isTrue(yield* isComplete(Called))
        assert.deepStrictEqual(yield* installed("User"), ["login_1: login"])
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("are replaced if what they leave out depends on a field that was renamed", () =>
      atOnce(Effect.gen(function*() {
        const before = yield* Repository.make(Coupon)
        yield* before.insert(new Coupon({ id: "a", code: "x", active: true }))
        yield* before.insert(new Coupon({ id: "b", code: "x", active: false }))
        const coupons = yield* Repository.make(RenamedCoupon)
        const insert = (id: string, isActive: boolean) =>
          tagOf(coupons.insert(new RenamedCoupon({ id, code: "x", isActive })))
        assert.deepStrictEqual([yield* insert("c", true), yield* insert("d", false)], ["DuplicateKey", "written"])
        yield* sayUnderstood("Coupon", 2)
        yield* Repository.make(RenamedCoupon)
        assert.deepStrictEqual([yield* insert("e", true), yield* insert("f", false)], ["DuplicateKey", "written"])
        yield* upgraded(RenamedCoupon)
        assert.isTrue(yield* isComplete(RenamedCoupon))
        assert.deepStrictEqual([yield* insert("g", true), yield* insert("h", false)], ["DuplicateKey", "written"])
        assert.deepStrictEqual((yield* coupons.syncIndexes).dropped, [])
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("compare values of one form only", () =>
      atOnce(Effect.gen(function*() {
        const before = yield* Repository.make(Price)
        yield* before.bulkInsert([1, 100, 10_000].map((amount) => new Price({ id: String(amount), amount })))
        const prices = yield* Repository.make(PriceInCents)
        yield* sayUnderstood("Price", 2)
        yield* Repository.make(PriceInCents)
        const insert = (id: string, amount: number) => tagOf(prices.insert(new PriceInCents({ id, amount })))
        // The first is what another document had before, and the second what it has now.
        assert.deepStrictEqual([yield* insert("a", 1), yield* insert("b", 100)], ["written", "DuplicateKey"])
        yield* upgraded(PriceInCents)
        assert.isTrue(yield* isComplete(PriceInCents))
        assert.deepStrictEqual(
          (yield* prices.find(undefined, { sort: "amount" })).map(({ amount }) => amount),
          [1, 100, 10_000, 1_000_000]
        )
        assert.strictEqual(yield* insert("c", 100), "DuplicateKey")
        assert.deepStrictEqual(yield* installed("Price"), ["amount_1: amount"])
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("let no document expire by a field that was another one", () =>
      atOnce(Effect.gen(function*() {
        yield* Repository.make(Offer)
        assert.deepStrictEqual(yield* installed("Offer"), ["end_1: end"])
        const offers = yield* Repository.make(OtherOffer)
        assert.deepStrictEqual(yield* installed("Offer"), ["end_1: end", "until_1: until"])
        yield* offers.syncIndexes
        assert.deepStrictEqual(yield* installed("Offer"), ["end_1: end", "until_1: until"])
        yield* sayUnderstood("Offer", 5)
        yield* Repository.make(OtherOffer)
        assert.deepStrictEqual(yield* installed("Offer"), ["until_1: until"])
        yield* upgraded(OtherOffer)
        assert.deepStrictEqual(yield* installed("Offer"), ["at_1: at", "until_1: until"])
      })).pipe(Effect.provide(layer), Effect.scoped))

    it.live("wait for the end of the upgrade if one of another field has the name", () =>
      waits(Note, RenamedNote, [["address: mail", "other: body"], ["address: email", "other: body"]]).pipe(
        Effect.provide(layer),
        Effect.scoped
      ))
  })
)

// SecantusDB has no text indexes.
it.live("a text index of changed fields waits for the end of the upgrade", () =>
  Effect.provide(waits(Page, RenamedPage, [["text: title"], ["text: heading"]]), EmbeddedStore.layerMemory))
