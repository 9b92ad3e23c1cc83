/** Writes that are asked for again by their `Idempotency-Key`: on each store, by callers with grants, and in the description. */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { KernelEngine, Model, OpenApi, Repository, Resource, Role, Service } from "../../../src/index.ts"
import { refused, sendTo } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { idempotencyContract } from "./idempotency.contract.ts"

storeMatrix(idempotencyContract)

class Paper extends Model.Class<Paper>()("Paper", {
  id: Model.id({ prefix: "P" }),
  owner: Schema.String,
  text: Schema.String,
  cost: Schema.Int.pipe(Model.optional)
}) {}

const engine = KernelEngine.make("papers")
  .register(
    Resource.make(Paper, { methods: ["GET", "POST", "PATCH"] })
      .require(Role("chief"))
      .grant(Role("writer"), { rows: (me) => ($) => $.owner.equals(me.subject), hide: ["cost"] }),
    { idempotencyKeys: "accepted" }
  )
  .register(
    Service.make("PeekService").operation("peek", {
      payload: Schema.Struct({ paper: Schema.String }),
      success: Paper,
      require: Role("writer")
    }, ({ payload }) => Repository.for(Paper).pipe(Effect.flatMap((papers) => papers.findById(payload.paper)))),
    { segment: "peek", idempotencyKeys: "accepted" }
  )
  .enableSecurity()

it.effect("an answer is given again to who made it, while they may still see it", () =>
  Effect.gen(function*() {
    const { baseUrl, token } = yield* engine.test()
    const asking = (subject: string, roles: ReadonlyArray<string>) =>
      Effect.map(
        token({ subject, roles }),
        (signed) => (method: string, path: string, body?: unknown, key = "k") =>
          sendTo(baseUrl, method, path, body, {
            authorization: `Bearer ${Redacted.value(signed)}`,
            "idempotency-key": key,
            prefer: "return=representation"
          })
      )
    const chief = yield* asking("ann", ["chief"])
    const writer = yield* asking("ann", ["writer"])
    const other = yield* asking("bob", ["writer"])

    const first = yield* chief("POST", "/papers", { owner: "ann", text: "a", cost: 9 })
    assert.strictEqual(first.status, 201, first.text)
    assert.strictEqual((yield* chief("POST", "/papers", { owner: "ann", text: "a", cost: 9 })).text, first.text)
    // The same person with fewer rights may not see what the chief saw.
    refused(403, yield* writer("POST", "/papers", { owner: "ann", text: "a", cost: 9 }))
    // The key of somebody else is another key.
    const own = yield* other("POST", "/papers", { owner: "bob", text: "a" })
    assert.strictEqual(own.status, 201, own.text)

    const mine = yield* writer("POST", "/papers", { owner: "ann", text: "b" }, "w")
    assert.strictEqual(mine.status, 201, mine.text)
    const path = String(mine.headers["location"])
    assert.strictEqual((yield* writer("POST", "/papers", { owner: "ann", text: "b" }, "w")).text, mine.text)
    // The paper is given to somebody else.
    assert.strictEqual((yield* chief("PATCH", path, { owner: "bob" }, "give")).status, 200)
    refused(404, yield* writer("POST", "/papers", { owner: "ann", text: "b" }, "w"))
    refused(404, yield* writer("PATCH", path, { text: "c" }, "c"))

    // An operation answers with documents of other models, by rights that its own grants do not tell.
    const both = yield* asking("ann", ["chief", "writer"])
    const paper = first.body.id
    const peeked = yield* both("POST", "/peek/peek", { paper }, "peek")
    assert.deepStrictEqual([peeked.status, peeked.body.cost], [200, 9], peeked.text)
    assert.strictEqual((yield* both("POST", "/peek/peek", { paper }, "peek")).text, peeked.text)
    refused(403, yield* writer("POST", "/peek/peek", { paper }, "peek"))
    assert.notProperty((yield* writer("POST", "/peek/peek", { paper }, "another")).body, "cost")
  }))

it("is described where it is taken", () => {
  const document = OpenApi.make(engine, { title: "Papers", version: "1" })
  const operation = (method: string, path: string) => Object(document.paths[path]?.[method])
  const text = JSON.stringify(operation("post", "/papers"))
  assert.include(text, "Idempotency")
  assert.property(operation("patch", "/papers/{id}").responses, "422")
  assert.notInclude(JSON.stringify(operation("get", "/papers")), "Idempotency")
  assert.notProperty(operation("post", "/papers/query").responses, "422")
})
