import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Anonymous, KernelApi, KernelEngine, Model, Resource, Role } from "../../../src/index.ts"
import { sendTo, signedAs } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

class Address extends Model.Class<Address>()("Address", { city: Schema.String, phone: Schema.String }) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  text: Schema.String,
  margin: Schema.Int,
  address: Address
}) {}

const methods = ["GET", "POST"] as const

const order = { id: "O1", text: "tea", margin: 3, address: { city: "Bern", phone: "1" } }

const prefer = { prefer: "return=representation" } as const

describe("a typed client", () => {
  it.effect("reads documents without fields that are required and hidden from it", () =>
    Effect.gen(function*() {
      const Orders = Resource.make(Order, { methods })
        .grant(Anonymous, { methods: "GET", hide: ["margin", "address.phone"] })
        .require(Role("admin"))
      const { anonymous, as } = yield* KernelEngine.make("shop").register(Orders).enableSecurity().test()
      const admin = yield* as({ subject: "A", roles: ["admin"] })
      const created = yield* admin.orders.create({ payload: order, headers: prefer })
      assert.strictEqual(created.margin, 3)

      const shown = yield* anonymous.orders.get({ params: { id: "O1" } })
      const margin: number | undefined = shown.margin
      const text: string = shown.text
      const phone: string | undefined = shown.address?.phone
      assert.deepStrictEqual([text, margin, shown.address?.city, phone], ["tea", undefined, "Bern", undefined])
      const { _items: [first] } = yield* anonymous.orders.list()
      const listed: number | undefined = first?.margin
      assert.isUndefined(listed)
    }))

  it.effect("of a description knows from it which fields may be hidden", () =>
    Effect.gen(function*() {
      const OrdersApi = Resource.describe(Order, { methods, anonymous: ["GET", "POST"], hidden: ["margin"] })
      const api = KernelApi.make("shop").register(OrdersApi).enableSecurity()
      const Orders = Resource.implement(OrdersApi, {})
        .grant(Anonymous, { methods: "GET", hide: ["margin"] })
        .require(Anonymous, "POST")
      const { anonymous } = yield* KernelEngine.fromApi(api, [Orders]).test()
      const { id: _, ...payload } = order
      // What a write answers is what the caller may read.
      const created = yield* anonymous.orders.create({ payload, headers: prefer })
      const margin: number | undefined = created.margin
      assert.deepStrictEqual([created.text, margin], ["tea", undefined])
      const described = Resource.describe(Order)
      const undescribed = Resource.implement(described, {}).grant(Role("a"), { hide: ["margin" as never] })
      const error = yield* Effect.flip(
        KernelEngine.fromApi(KernelApi.make("shop").register(described), [undescribed]).test()
      )
      assert.include(error.message, "a rule hides margin, which is not described as hidden")
    }))
})

class Terms extends Model.Class<Terms>()("Terms", { text: Schema.String, code: Schema.String }) {}

class Deal extends Model.Class<Deal>()("Deal", {
  id: Model.id({ prefix: "D" }),
  name: Schema.String,
  sure: Terms,
  maybe: Terms.pipe(Model.optional)
}) {}

class Person extends Model.Class<Person>()("Person", { name: Schema.String, mail: Schema.String }) {}

class Clause extends Model.Class<Clause>()("Clause", {
  text: Schema.String,
  code: Schema.String.pipe(Model.withDefault(() => "a")),
  memo: Schema.String.pipe(Model.optional),
  by: Person.pipe(Model.optional)
}) {}

class Contract extends Model.Class<Contract>()("Contract", {
  id: Model.id({ prefix: "C" }),
  name: Schema.String,
  clause: Clause.pipe(Model.optional)
}) {}

describe("somebody who writes a nested model that is hidden from them", () => {
  it.effect("learns from no patch whether it, or one within it, is stored", () =>
    Effect.gen(function*() {
      const patching = ["GET", "PATCH"] as const
      const Contracts = Resource.make(Contract, { methods: ["GET", "PATCH"] })
        .grant(Role("clerk"), { methods: "GET", hide: ["clause"] })
        .grant(Role("clerk"), { methods: "PATCH" })
        .grant(Role("writer"), { methods: "GET", hide: ["clause"] })
        .grant(Role("writer"), { methods: "PATCH", readOnly: ["clause.memo"] })
        .grant(Role("partly"), { methods: "GET", hide: ["clause.by"] })
        .grant(Role("partly"), { methods: "PATCH" })
        .grant(Role("sometimes"), { methods: patching, rows: () => ($) => $.name.equals("x") })
        .grant(Role("sometimes"), { methods: "GET", hide: ["clause"] })
        .grant(Role("sometimes"), { methods: "PATCH" })
      const { baseUrl, repositories: { contracts } } = yield* KernelEngine.make("contracts").register(Contracts)
        .enableSecurity().test()
      const by = new Person({ name: "Ann", mail: "a@example.com" })
      const stored = [
        new Contract({ id: "C1", name: "a" }),
        new Contract({ id: "C2", name: "a", clause: new Clause({ text: "net" }) }),
        new Contract({ id: "C3", name: "a", clause: new Clause({ text: "net", memo: "m", by }) })
      ]
      yield* contracts.bulkInsert(stored)
      const clauses = [
        null,
        {},
        { text: "new" },
        { code: "b" },
        { memo: "n" },
        { memo: null },
        { text: null },
        { text: "new", memo: "n" },
        { by: null },
        { by: { name: "Bob" } },
        { text: "new", by: {} },
        { text: "new", by: { name: "Bob" } },
        { text: "new", by: { name: "Bob", mail: "b@example.com" } },
        { text: "new", by: { name: null } },
        { text: 5 },
        7
      ]
      for (const role of ["clerk", "writer", "sometimes", "partly"]) {
        const token = yield* signedAs("A", role)
        for (const clause of clauses) {
          // Who sees the clause knows whether there is one.
          const alike = role === "partly" ? stored.slice(1) : stored
          const answers = yield* Effect.forEach(alike, (contract) =>
            sendTo(baseUrl, "PATCH", `/contracts/${contract.id}`, { clause }, token).pipe(
              Effect.map(({ status, text }) =>
                `${status} ${status === 200 ? "" : text}`
              ),
              Effect.ensuring(Effect.orDie(contracts.save(contract)))
            ))
          assert.strictEqual(new Set(answers).size, 1, `${role} ${JSON.stringify(clause)} ${answers.join(" | ")}`)
          if (JSON.stringify(clause) === "{\"text\":\"new\"}") assert.strictEqual(answers[0], "200 ", role)
        }
      }
    }).pipe(Effect.provide(shop("EdDSA"))))
})

describe("somebody who may not read", () => {
  it.effect("learns from no write whether a nested model is stored whose required part they can't write", () =>
    Effect.gen(function*() {
      const Deals = Resource.make(Deal, { methods: ["GET", "PUT", "PATCH"] })
        .grant(Role("writer"), { methods: ["PUT", "PATCH"], readOnly: ["sure.code", "maybe.code"] })
        .grant(Role("hider"), {
          methods: ["PUT", "PATCH"],
          rows: () => ($) => $.id.in(["D1", "D2"]),
          hide: ["sure.code", "maybe.code"]
        })
        // Who sees other documents only.
        .grant(Role("guest"), { methods: ["GET"], rows: () => ($) => $.name.equals("public") })
        .grant(Role("guest"), { methods: ["PUT", "PATCH"], readOnly: ["sure.code", "maybe.code"] })
        .grant(Role("seller"), { methods: ["GET", "PUT", "PATCH"], readOnly: ["sure.code", "maybe.code"] })
      const { baseUrl, repositories } = yield* KernelEngine.make("deals").register(Deals).enableSecurity().test()
      const terms = new Terms({ text: "net", code: "a" })
      yield* repositories.deals.bulkInsert([
        new Deal({ id: "D1", name: "with", sure: terms, maybe: terms }),
        new Deal({ id: "D2", name: "without", sure: terms })
      ])
      /** The statuses of the documents with and without the nested model. */
      const statuses = Effect.fnUntraced(function*(role: string, method: "PUT" | "PATCH", part: object) {
        const token = yield* signedAs("A", role)
        const body = { ...(method === "PUT" ? { name: "x", sure: { text: "new" } } : {}), ...part }
        return yield* Effect.forEach(
          ["D1", "D2"],
          (id) => Effect.map(sendTo(baseUrl, method, `/deals/${id}`, body, token), ({ status }) => status)
        )
      })
      const [maybe, sure] = [{ maybe: { text: "new" } }, { sure: { text: "new" } }]
      for (const role of ["writer", "hider", "guest"]) {
        assert.deepStrictEqual(yield* statuses(role, "PUT", maybe), [403, 403], role)
        assert.deepStrictEqual(yield* statuses(role, "PATCH", maybe), [403, 403], role)
        // Every document has this one.
        assert.deepStrictEqual(yield* statuses(role, "PUT", sure), [200, 200], role)
        assert.deepStrictEqual(yield* statuses(role, "PATCH", sure), [200, 200], role)
      }
      // Somebody who sees the documents knows.
      assert.deepStrictEqual(yield* statuses("seller", "PUT", maybe), [200, 400])
      assert.deepStrictEqual(yield* statuses("seller", "PATCH", maybe), [200, 400])
    }).pipe(Effect.provide(shop("EdDSA"))))
})
