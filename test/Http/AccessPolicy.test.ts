import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Anonymous, CurrentSubject, Denied, Role } from "../../src/Access/Permission.ts"
import * as AccessPolicy from "../../src/Http/AccessPolicy.ts"
import * as KernelEngine from "../../src/Http/KernelEngine.ts"
import * as Resource from "../../src/Http/Resource.ts"
import * as Service from "../../src/Http/Service.ts"
import * as Model from "../../src/Model/Model.ts"
import * as Query from "../../src/Repository/Query.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String,
  tenant: Schema.String,
  state: Schema.String,
  cost: Schema.Int
}) {}

class User extends Model.Class<User>()("User", { id: Model.id({ prefix: "U" }), name: Schema.String }) {}

const Orders = Resource.make(Order, { methods: ["GET", "POST", "DELETE"] })
  .action("cancel", { method: "POST", require: [Role("support"), CurrentSubject] }, () => Effect.void)
  .action("ship", { method: "POST" }, () => Effect.void)
  .restrict((me) => ($) => $.tenant.in([me.claims["tenant"]].filter(Predicate.isString)))
  .grant(Role("buyer"), {
    methods: ["GET", "POST"],
    rows: (me) => ($) => $.customer.equals(me.subject),
    check: () => Effect.succeed(($) => $.state.equals("new")),
    hide: ["cost"],
    readOnly: ["state"]
  })

const Users = Resource.make(User).require(Anonymous, "GET")

const Payments = Service.make("PaymentService")
  .operation("methods", { require: Anonymous }, () => Effect.void)
  .operation("refund", { method: "POST", require: Denied }, () => Effect.void)

const engine = KernelEngine.make("shop")
  .register(Orders, { urlBase: "/api" })
  .register(Users)
  .register(Payments)

const expected = `| Endpoint | Who | Documents | Left behind | Hidden | Read-only |
| --- | --- | --- | --- | --- | --- |
| GET /api/orders | buyer | {"customer":{"$eq":"‹subject›"}} and {"tenant":{"$in":["‹tenant›"]}} | a condition that follows from the caller and {"tenant":{"$in":["‹tenant›"]}} | cost | state |
| GET /api/orders/:id | buyer | {"customer":{"$eq":"‹subject›"}} and {"tenant":{"$in":["‹tenant›"]}} | a condition that follows from the caller and {"tenant":{"$in":["‹tenant›"]}} | cost | state |
| GET /api/orders/aggregate | buyer | {"customer":{"$eq":"‹subject›"}} and {"tenant":{"$in":["‹tenant›"]}} | a condition that follows from the caller and {"tenant":{"$in":["‹tenant›"]}} | cost | state |
| POST /api/orders/query | buyer | {"customer":{"$eq":"‹subject›"}} and {"tenant":{"$in":["‹tenant›"]}} | a condition that follows from the caller and {"tenant":{"$in":["‹tenant›"]}} | cost | state |
| POST /api/orders (creates or replaces) | buyer | {"customer":{"$eq":"‹subject›"}} and {"tenant":{"$in":["‹tenant›"]}} | a condition that follows from the caller and {"tenant":{"$in":["‹tenant›"]}} | cost | state |
| DELETE /api/orders/:id | nobody | - | - | - | - |
| GET /api/orders/schema | buyer | {"customer":{"$eq":"‹subject›"}} and {"tenant":{"$in":["‹tenant›"]}} | a condition that follows from the caller and {"tenant":{"$in":["‹tenant›"]}} | cost | state |
| GET /api/orders/meta | buyer | {"customer":{"$eq":"‹subject›"}} and {"tenant":{"$in":["‹tenant›"]}} | a condition that follows from the caller and {"tenant":{"$in":["‹tenant›"]}} | cost | state |
| POST /api/orders/:id/cancel | support, or the subject itself | {"tenant":{"$in":["‹tenant›"]}} | {"tenant":{"$in":["‹tenant›"]}} | - | - |
| POST /api/orders/:id/ship | nobody | - | - | - | - |
| GET /users | everybody | all | all | - | - |
| GET /users/:id | everybody | all | all | - | - |
| GET /users/aggregate | everybody | all | all | - | - |
| POST /users/query | everybody | all | all | - | - |
| GET /users/schema | everybody | all | all | - | - |
| GET /users/meta | everybody | all | all | - | - |
| GET /payments/methods | everybody | - | - | - | - |
| POST /payments/refund | nobody | - | - | - | - |
`

describe("AccessPolicy", () => {
  it("is a table of who, which documents and which fields", () => {
    const { policy } = engine.enableSecurity()
    assert.strictEqual(AccessPolicy.toMarkdown(policy), expected)
    const [header = "", ...rows] = AccessPolicy.toText(policy).split("\n")
    assert.isTrue(rows.every((row) => row.indexOf(policy.entries[rows.indexOf(row)]!.who) === header.indexOf("Who")))
    assert.deepStrictEqual(AccessPolicy.unreachable(policy), [
      "DELETE /api/orders/:id",
      "POST /api/orders/:id/ship",
      "POST /payments/refund"
    ])
  })

  it("without security, says that everybody may do everything", () => {
    assert.deepStrictEqual(new Set(engine.policy.entries.map(({ who }) => who)), new Set(["everybody"]))
  })

  it.effect("is held by a file, which a changed rule no longer matches", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const file = `${yield* files.makeTempDirectoryScoped()}/policy.md`
      const { policy } = engine.enableSecurity()
      yield* AccessPolicy.matchesFile(policy, file)
      assert.strictEqual(yield* files.readFileString(file), expected)
      yield* AccessPolicy.matchesFile(policy, file)

      const changed = KernelEngine.make("shop")
        .register(Orders.require(Role("support"), "DELETE"), { urlBase: "/api" })
        .register(Users)
        .register(Payments)
        .enableSecurity()
      const { difference } = yield* Effect.flip(AccessPolicy.matchesFile(changed.policy, file)).pipe(
        Effect.flatMap((error) => error._tag === "PolicyChanged" ? Effect.succeed(error) : Effect.die(error))
      )
      assert.match(
        difference,
        /^- \| DELETE \/api\/orders\/:id \| nobody .*\n\+ \| DELETE \/api\/orders\/:id \| support \|/u
      )
      yield* AccessPolicy.matchesFile(changed.policy, file, { update: true })
      yield* AccessPolicy.matchesFile(changed.policy, file)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))

  it.effect("a rule that can't hold ends the start", () =>
    Effect.gen(function*() {
      const detailOf = (target: Resource.Any | Service.Any) =>
        Effect.scoped(KernelEngine.make("shop").register(target as never).test()).pipe(
          Effect.flip,
          Effect.map((error) => "detail" in error ? error.detail : error.message)
        )
      const described = Resource.describe(User, { methods: ["GET"] })
      assert.strictEqual(
        yield* detailOf(Resource.implement(described, {}).require(Anonymous as never, "GET")),
        "a rule admits callers without credentials to GET, which is not described as anonymous"
      )
      assert.strictEqual(
        yield* detailOf(Resource.make(User).require(Role("a"), "DELETE" as never)),
        "a rule is about DELETE, and there is only GET"
      )
      assert.match(
        yield* detailOf(Resource.make(User).grant(Role("a"), { hide: ["nam" as never] })),
        /nam/u
      )
      assert.strictEqual(
        yield* detailOf(Resource.make(Order).restrict(() => () => Query.text("tea"))),
        "$text can't be used in a rule, because a rule is evaluated for single documents"
      )
      assert.strictEqual(
        yield* detailOf(Payments.operation("mine", { require: CurrentSubject }, () => Effect.void)),
        "a rule compares the subject with the id of mine, whose path has none"
      )
    }))
})
