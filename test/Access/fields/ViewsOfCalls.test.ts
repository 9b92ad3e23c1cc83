import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { HttpClientResponse } from "effect/http"
import { Authenticated, KernelEngine, Model, Repository, Resource, Role, Service } from "../../../src/index.ts"

class Offer extends Model.Class<Offer>()("Offer", {
  id: Model.id({ prefix: "O" }),
  owner: Schema.String,
  cost: Schema.Int
}) {}

const Offers = Resource.make(Offer, { methods: ["GET", "POST"] })
  .action("touch", { success: Offer, require: Authenticated }, (offer) => Effect.succeed(offer))
  .action("copy", { payload: Offer, success: Schema.String, require: Authenticated }, ({ id }) => Effect.succeed(id))
  .grant(Role("buyer"), { methods: "GET", hide: ["cost"] })
  .grant(Role("seller"), { rows: (me) => ($) => $.owner.equals(me.subject) })
  .require(Role("admin"))

const Stock = Service.make("StockService").operation(
  "offers",
  { success: Schema.Array(Offer), require: Authenticated },
  () => Effect.flatMap(Repository.for(Offer), (offers) => offers.find())
)

class Inner extends Model.Class<Inner>()("Inner", { offer: Offer }) {}

class Wrap extends Model.Class<Wrap>()("Wrap", {
  offer: Offer,
  offers: Schema.Array(Offer),
  maybe: Offer.pipe(Model.optional),
  inner: Schema.NullOr(Inner)
}) {}

const offerOf = (i: number) => new Offer({ id: `O${i}`, owner: "U1", cost: 7_000 + i })

const wrap = new Wrap({
  offer: offerOf(1),
  offers: [offerOf(2)],
  maybe: offerOf(3),
  inner: new Inner({ offer: offerOf(4) })
})

const Wrapping = Service.make("WrapService")
  .operation("one", { success: Wrap, require: Authenticated }, () => Effect.succeed(wrap))
  .operation("all", { success: Schema.Array(Wrap), require: Authenticated }, () => Effect.succeed([wrap]))

const engine = KernelEngine.make("shop").register(Offers).register(Stock).enableSecurity()

const textOf = <E>(call: Effect.Effect<HttpClientResponse.HttpClientResponse, E>) =>
  Effect.flatMap(call, (response) => response.text)

describe("the fields that a caller sees of a model", () => {
  it.effect("are those of documents in answers of actions and operations, and of their links", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* engine.test()
      yield* repositories.offers.bulkInsert([
        new Offer({ id: "O1", owner: "U1", cost: 7_001 }),
        new Offer({ id: "O2", owner: "U2", cost: 7_002 })
      ])
      const responseMode = "response-only"
      const texts = Effect.fnUntraced(function*(roles: ReadonlyArray<string>) {
        const client = yield* as({ subject: "U1", roles })
        return [
          yield* textOf(client.offers.touch({ params: { id: "O1" }, responseMode })),
          yield* textOf(client.stocks.offers({ responseMode })),
          yield* textOf(client.offers.list({ responseMode }))
        ]
      })
      const costsIn = (texts: ReadonlyArray<string>) => texts.map((text) => text.match(/700\d/gu) ?? [])
      const [touched, listed, read] = yield* texts(["buyer"])
      for (const text of [touched, listed, read]) {
        assert.include(text, "O1")
        assert.notInclude(text, "cost")
      }
      assert.deepStrictEqual(costsIn(yield* texts(["buyer", "seller"])), [["7001"], ["7001"], ["7001"]])
      assert.deepStrictEqual(costsIn(yield* texts(["admin"])), [["7001"], ["7001", "7002"], ["7001", "7002"]])
    }))

  it.effect("are those of models within an unregistered one", () =>
    Effect.gen(function*() {
      const { as } = yield* KernelEngine.make("shop").register(Offers).register(Wrapping).enableSecurity().test()
      const responseMode = "response-only"
      const texts = Effect.fnUntraced(function*(roles: ReadonlyArray<string>) {
        const { wraps } = yield* as({ subject: "U1", roles })
        return yield* Effect.forEach([wraps.one({ responseMode }), wraps.all({ responseMode })], textOf)
      })
      for (const text of yield* texts(["buyer"])) {
        assert.match(text, /O1.*O2.*O3.*O4/u)
        assert.notInclude(text, "cost")
      }
      for (const text of yield* texts(["admin"])) {
        assert.deepStrictEqual(text.match(/700\d/gu), ["7001", "7002", "7003", "7004"])
      }
      // The rules of rows may show them in other documents.
      for (const text of yield* texts(["buyer", "seller"])) assert.notInclude(text, "cost")
    }))
})
