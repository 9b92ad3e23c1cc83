/** Tools by the rights of their callers: for random grants they do and show what REST does and shows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { KernelEngine, Model, type Query, Resource, Role } from "../../../src/index.ts"
import { sessionOf } from "../../support/mcpClient.ts"

class Item extends Model.Class<Item>()("Item", {
  id: Model.id(),
  owner: Schema.String,
  cost: Schema.Finite.pipe(Model.optional),
  note: Schema.String.pipe(Model.optional)
}) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const roles = ["one", "two"] as const
const ids = ["1", "2", "3"] as const
const owners = ["a", "b"] as const

const Grant = Schema.Struct({
  methods: Schema.Array(Schema.Literals(methods)),
  hide: Schema.Array(Schema.Literals(["cost", "note"])),
  ofOwner: Schema.Boolean
})

const Body = Schema.Struct({
  owner: Schema.optionalKey(Schema.Literals(owners)),
  cost: Schema.optionalKey(Schema.Literals([1, 2, "x"])),
  note: Schema.optionalKey(Schema.Literals(["n", 3]))
})

const id = Schema.Literals(ids)

const Call = Schema.Union([
  Schema.Struct({ tool: Schema.Literal("list"), query: Schema.Literals(["", "cost", "fields"]) }),
  Schema.Struct({ tool: Schema.Literals(["get", "delete"]), id }),
  Schema.Struct({ tool: Schema.Literals(["create", "replace", "patch"]), id, body: Body })
])

const Case = Schema.Struct({
  grants: Schema.Struct({ one: Grant, two: Grant }),
  subject: Schema.Literals(owners),
  roles: Schema.Array(Schema.Literals(roles)).check(Schema.isMaxLength(2)),
  calls: Schema.Array(Call).check(Schema.isMinLength(8), Schema.isMaxLength(12))
})

type Call = (typeof Call)["Type"]

/** The request to REST that does the same as a call of a tool. */
const requestOf = (call: Call): { readonly method: string; readonly path: string; readonly body?: object } => {
  switch (call.tool) {
    case "list":
      return {
        method: "GET",
        path: {
          "": "/items?cursor=",
          cost: "/items?cursor=&cost=%3E1",
          fields: "/items?fields=owner%2Ccost&cursor="
        }[call.query]
      }
    case "get":
      return { method: "GET", path: `/items/${call.id}` }
    case "delete":
      return { method: "DELETE", path: `/items/${call.id}` }
    case "create":
      return { method: "POST", path: "/items", body: { ...call.body, id: call.id } }
    case "replace":
      return { method: "PUT", path: `/items/${call.id}`, body: call.body }
    case "patch":
      return { method: "PATCH", path: `/items/${call.id}`, body: call.body }
  }
}

const argumentsOf = (call: Call): object =>
  call.tool === "list"
    ? { "": {}, cost: { cost: ">1" }, fields: { fields: "owner,cost" } }[call.query]
    : call.tool === "create"
    ? { body: { ...call.body, id: call.id } }
    : "body" in call
    ? { id: call.id, body: call.body }
    : { id: call.id }

/** A role's grant, whose rows may be those of the caller. */
const grantOf = ({ hide, methods, ofOwner }: (typeof Grant)["Type"]) => ({
  methods: [...new Set(methods)],
  hide: [...new Set(hide)],
  ...ofOwner ? { rows: ofCaller } : {}
})

const ofCaller = (me: { readonly subject: string }) => ($: Query.Fields<typeof Item>) => $.owner.equals(me.subject)

describe("A tool", () => {
  it.effect.prop(
    "answers what REST answers the same caller, and is refused where REST is",
    [Case],
    ([{ calls, grants, roles, subject }]) =>
      Effect.gen(function*() {
        const resource = Resource.make(Item, { methods })
          .grant(Role("one"), grantOf(grants.one))
          .grant(Role("two"), grantOf(grants.two))
        const engine = KernelEngine.make("items").register(resource, { urlBase: "/" }).enableSecurity()
          .enableMcp({ expose: ["items"] })
        const [rest, tools] = yield* Effect.all([engine.test(), engine.test()])
        const headersOf = ({ token }: typeof rest) =>
          Effect.map(token({ subject, roles }), (token) => ({ authorization: `Bearer ${Redacted.value(token)}` }))
        const headers = yield* headersOf(rest)
        const { call } = yield* sessionOf(`${tools.baseUrl}/mcp`, yield* headersOf(tools))
        for (const { repositories } of [rest, tools]) {
          yield* repositories.items.bulkInsert(
            owners.map((owner, i) => new Item({ id: ids[i] ?? "", owner, cost: 2, note: "n" }))
          )
        }
        for (const one of calls) {
          const { body, method, path } = requestOf(one)
          const response = yield* Effect.promise(() =>
            fetch(`${rest.baseUrl}${path}`, {
              method,
              headers: { ...headers, accept: "application/json", "content-type": "application/json" },
              ...body === undefined ? {} : { body: JSON.stringify(body) }
            })
          )
          const answer = yield* Effect.promise(() => response.json())
          const { error, isError, structuredContent, text } = yield* call(`items_${one.tool}`, argumentsOf(one))
          assert.isUndefined(error)
          assert.strictEqual(isError, !response.ok, JSON.stringify([one, response.status, text]))
          if (response.ok) assert.deepStrictEqual(structuredContent, answer)
          else assert.isTrue(text?.startsWith(answer.message))
        }
        const left = ({ repositories }: typeof rest) => repositories.items.find()
        assert.deepStrictEqual(yield* left(tools), yield* left(rest))
      }),
    { arbitrary: { runs: 20 } }
  )
})
