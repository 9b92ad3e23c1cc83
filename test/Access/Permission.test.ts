import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { type AccessRequest, effectiveGrants } from "../../src/Access/decision/effectiveGrants.ts"
import * as Permission from "../../src/Access/Permission.ts"
import * as Resource from "../../src/Http/Resource.ts"
import * as Model from "../../src/Model/Model.ts"
import { rowMatcher } from "../../src/Repository/evaluation.ts"
import type { EffectiveGrant } from "../../src/Repository/internal.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  customer: Schema.String,
  state: Schema.String,
  cost: Schema.Int
}) {}

const caller = (subject: string, ...roles: ReadonlyArray<string>): Permission.Caller => ({ subject, roles, claims: {} })

const situation = (who: Permission.Caller | undefined): AccessRequest => ({
  caller: Option.fromUndefinedOr(who),
  request: HttpServerRequest.fromWeb(new Request("http://localhost/")),
  model: Order,
  subjectFilter: (subject) => ({ _id: { $eq: subject } }),
  document: Effect.succeedNone
})

const resource = Resource.make(Order, { methods: ["GET", "POST", "DELETE"] })

const held = (
  { rules }: Resource.Any,
  name: string,
  who: Permission.Caller | undefined,
  isOperation = false
): Effect.Effect<ReadonlyArray<EffectiveGrant>, Permission.Failure> =>
  effectiveGrants(rules, rules.idsFor(name, isOperation), situation(who))

const isO1 = Permission.make("is O1", {}, ({ caller }) => Effect.succeed(caller.subject === "O1"))

const leaves: ReadonlyArray<Permission.Permission<boolean, never>> = [
  Permission.Role("a"),
  Permission.Role("b"),
  Permission.Authenticated,
  Permission.Anonymous,
  Permission.Denied,
  Permission.CurrentSubject,
  isO1
]

/** All combinations of one or two of the permissions. */
const combinations = (parts: typeof leaves): typeof leaves => [
  ...parts.map((part) => Permission.not(part)),
  ...parts.flatMap((one, i) =>
    parts.slice(i).flatMap((other) => [Permission.and(one, other), Permission.or(other, one)])
  )
]

/** Whether the permission admits a caller to the document: the table of the documentation, without filters. */
const admits = (node: Permission.Node, who: Permission.Caller | undefined, id: string): boolean => {
  switch (node._tag) {
    case "Anonymous":
      return true
    case "Denied":
      return false
    case "Authenticated":
      return who !== undefined
    case "Role":
      return who?.roles.includes(node.name) === true
    case "CurrentSubject":
      return who?.subject === id
    case "Custom":
      return who?.subject === "O1"
    case "Not":
      return who !== undefined && !admits(node.part, who, id)
    case "And":
      return node.parts.length === 0 ? who !== undefined : node.parts.every((part) => admits(part, who, id))
    case "Or":
      return node.parts.some((part) => admits(part, who, id))
  }
}

describe("Permission", () => {
  it("any permission of two levels admits any caller to the documents that its parts say", () => {
    const first = [...leaves, Permission.and(), Permission.or(), ...combinations(leaves)]
    const callers = [undefined, caller("O1"), caller("O2", "a"), caller("O3", "a", "b")]
    let compared = 0
    for (const permission of [...first, ...combinations(first)]) {
      for (const who of callers) {
        const [one] = Effect.runSync(held(resource.require(permission, "GET"), "GET", who))
        const isReached = one?.rows === undefined ? () => one !== undefined : rowMatcher(one.rows)
        for (const id of ["O1", "O2", "O3"]) {
          if (isReached({ _id: id }) !== admits(permission.node, who, id)) {
            assert.fail(`${Permission.describe(permission)}, ${JSON.stringify(who)}, ${id}`)
          }
          compared++
        }
      }
    }
    assert.isAbove(compared, 60_000)
  })

  it("only Anonymous admits nobody, and the type says so", () => {
    const open: true = undefined as unknown as Permission.IsOpen<
      readonly [typeof Permission.CurrentSubject, typeof Permission.Anonymous]
    >
    void open
    assert.isTrue(Permission.isOpen([Permission.CurrentSubject, Permission.Anonymous]))
    assert.isFalse(Permission.isOpen(Permission.not(Permission.Role("suspended"))))
    assert.isFalse(Permission.isOpen(Permission.and(Permission.Anonymous, Permission.Role("a"))))
  })

  it.effect("several rules are alternatives, each with its own rows and fields", () =>
    Effect.gen(function*() {
      const orders = resource
        .grant(Permission.Role("buyer"), { rows: (me) => ($) => $.customer.equals(me.subject), hide: ["cost"] })
        .require(Permission.Role("support"), "GET")
      const both = yield* held(orders, "GET", caller("U1", "buyer", "support"))
      assert.deepStrictEqual(both, [
        {
          id: 0,
          rows: { customer: { $eq: "U1" } },
          check: { customer: { $eq: "U1" } },
          fields: { hide: ["cost"], readOnly: [] }
        },
        { id: 1, rows: undefined, check: undefined, fields: undefined }
      ])
      assert.deepStrictEqual((yield* held(orders, "POST", caller("U1", "buyer", "support"))).map(({ id }) => id), [0])
      assert.deepStrictEqual(yield* held(orders, "GET", undefined), [])
      assert.deepStrictEqual(yield* held(orders.denyAll(), "GET", caller("U1", "support")), [])
    }))

  it.effect("a restriction limits every rule, and callers without credentials reach nothing", () =>
    Effect.gen(function*() {
      const orders = resource
        .restrict((me) => Effect.succeed(($) => $.state.in([me.claims["tenant"]].filter(Predicate.isString))))
        .require(Permission.Anonymous)
        .grant(Permission.Role("a"), {
          rows: () => ($) => $.cost.greaterThan(3),
          check: () => ($) => $.cost.lessThan(9)
        })
      const found = yield* held(orders, "GET", { ...caller("U1", "a"), claims: { tenant: "T" } })
      assert.deepStrictEqual(found.map(({ check, rows }) => [rows, check]), [
        [{ state: { $in: ["T"] } }, { state: { $in: ["T"] } }],
        [
          { $and: [{ cost: { $gt: 3 } }, { state: { $in: ["T"] } }] },
          { $and: [{ cost: { $lt: 9 } }, { state: { $in: ["T"] } }] }
        ]
      ])
      assert.deepStrictEqual(yield* held(orders, "GET", undefined), [])
    }))

  it.effect("an action with a rule of its own is under the rules alone that name it", () =>
    Effect.gen(function*() {
      const orders = resource
        .action("cancel", { method: "POST", require: Permission.Role("a") }, () => Effect.void)
        .require(Permission.Role("b"))
      const ids = (name: string, role: string) =>
        Effect.map(held(orders, name, caller("U1", role), true), (found) => found.map(({ id }) => id))
      assert.deepStrictEqual(yield* ids("cancel", "a"), [0])
      assert.deepStrictEqual(yield* ids("cancel", "b"), [])
      assert.deepStrictEqual(yield* ids("ship", "b"), [1])
      assert.isUndefined(orders.description.actions[0]?.options.require)
    }))

  it("describes itself in words", () => {
    const { and, describe, not, or, Role } = Permission
    assert.strictEqual(
      describe([and(Role("a"), or(Role("b"), not(Role("c")))), Permission.CurrentSubject]),
      "a and (b, or not c), or the subject itself"
    )
  })
})
