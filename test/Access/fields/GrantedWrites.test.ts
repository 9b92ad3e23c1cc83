import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KernelEngine, Model, type Repository, Resource, Role } from "../../../src/index.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { grantedWritesContract } from "./GrantedWrites.contract.ts"

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 200)

storeMatrix((name, layer) => grantedWritesContract(name, layer, name === "memory" ? runs : Math.ceil(runs / 20)))

class Claim extends Model.Class<Claim>()("Claim", {
  id: Model.id(),
  owner: Schema.String,
  approved: Schema.Boolean.pipe(Model.withDefault(() => false))
}) {}

const plain = Resource.make(Claim, { methods: ["GET", "POST", "PUT", "PATCH"] })
  .grant(Role("user"), { check: (me) => ($) => $.owner.equals(me.subject) })
  .grant(Role("clerk"), { readOnly: ["approved"] })

const hooked = plain.beforePost(() => Effect.void).beforePut(() => Effect.void).beforePatch(() => Effect.void)

type Values = { readonly owner: string; readonly approved?: boolean }

/** The typed clients of both resources. */
interface Client {
  readonly create: {
    (_: { readonly payload: Values }): Effect.Effect<unknown, unknown>
    (_: { readonly payload: ReadonlyArray<Values> }): Effect.Effect<unknown, unknown>
  }
  readonly patch: (_: { readonly params: { id: string }; readonly payload: Partial<Values> }) => Effect.Effect<
    unknown,
    unknown
  >
  readonly replace: (
    _: { readonly params: { id: string }; readonly payload: Values }
  ) => Effect.Effect<unknown, unknown>
}

const writes = Effect.fnUntraced(function*(client: Client, claims: Repository.Repository<typeof Claim>) {
  const isAllowed = <A, E, R>(call: Effect.Effect<A, E, R>) =>
    Effect.map(Effect.result(call), (result) => result._tag === "Success")
  const [own, others] = [{ owner: "ann", approved: true }, { owner: "bob", approved: true }]
  assert.isTrue(yield* isAllowed(client.create({ payload: own })))
  assert.isTrue(yield* isAllowed(client.create({ payload: { owner: "bob" } })))
  assert.isFalse(yield* isAllowed(client.create({ payload: others })))
  assert.isTrue(yield* isAllowed(client.create({ payload: [own, { owner: "bob" }] })))
  assert.isFalse(yield* isAllowed(client.create({ payload: [own, others] })))
  const { id } = yield* claims.insert(new Claim({ owner: "bob" }))
  const params = { id }
  assert.isFalse(yield* isAllowed(client.patch({ params, payload: { approved: true } })))
  assert.isFalse(yield* isAllowed(client.replace({ params, payload: others })))
  assert.isTrue(yield* isAllowed(client.patch({ params, payload: { owner: "eve" } })))
  assert.isTrue(yield* isAllowed(client.patch({ params, payload: own })))
  assert.isFalse(yield* isAllowed(client.patch({ params, payload: { owner: "bob", approved: false } })))
  assert.isTrue(yield* isAllowed(client.replace({ params, payload: { owner: "bob", approved: true } })))
  assert.strictEqual(yield* claims.count(($) => $.approved.equals(true)), 3)
})

const caller = { subject: "ann", roles: ["user", "clerk"] }

describe("Who holds a grant with a check, and another one with fewer fields", () => {
  it.effect("writes what one of them allows", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* KernelEngine.make("claims").register(plain).enableSecurity().test()
      yield* writes((yield* as(caller)).claims, repositories.claims)
    }))

  it.effect("writes what one of them allows, with hooks", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* KernelEngine.make("claims").register(hooked).enableSecurity().test()
      yield* writes((yield* as(caller)).claims, repositories.claims)
    }))
})

class Report extends Model.Class<Report>()("Report", {
  id: Model.id(),
  team: Schema.String.pipe(Model.withDefault(() => "none")),
  approved: Schema.Boolean.pipe(Model.withDefault(() => false)),
  ...Model.audited
}) {}

const own = Resource.make(Report, { methods: ["GET", "POST", "PUT", "PATCH"] })
  .grant(Role("author"), { check: (me) => ($) => $.created_by.equals(me.subject) })
  .grant(Role("member"), { check: () => ($) => $.team.equals("red"), readOnly: ["approved"] })

const author = { subject: "ann", roles: ["author", "member"] }

describe("A grant whose check is about what the service sets", () => {
  it.effect("admits what its holder inserts and writes, beside another grant", () =>
    Effect.gen(function*() {
      const { as, repositories: { reports } } = yield* KernelEngine.make("reports").register(own).enableSecurity()
        .test()
      const client = (yield* as(author)).reports
      const { result: id } = yield* client.create({ payload: { approved: true } })
      yield* client.create({ payload: [{ approved: true }, {}, { approved: true }] })
      const params = { id: id }
      yield* client.replace({ params, payload: { team: "blue" } })
      const { approved, team } = yield* reports.findById(id)
      assert.deepStrictEqual({ approved, team }, { approved: false, team: "blue" })
      assert.strictEqual(yield* reports.count(), 4)
    }))

  it.effect("is one of all grants that allow the fields, after the hooks", () =>
    Effect.gen(function*() {
      const hooked = Resource.make(Report, { methods: ["POST"] })
        .grant(Role("author"), { check: () => ($) => $.team.equals("blue") })
        .grant(Role("member"), { check: () => ($) => $.team.equals("red"), readOnly: ["approved"] })
        .beforePost((report) => Effect.succeed(new Report({ ...report, team: report.approved ? "blue" : "red" })))
      const { as, repositories } = yield* KernelEngine.make("reports").register(hooked).enableSecurity().test()
      const client = (yield* as(author)).reports
      yield* client.create({ payload: {} })
      yield* client.create({ payload: { approved: true } })
      yield* client.create({ payload: [{}, { approved: true }] })
      const all = yield* repositories.reports.find()
      assert.deepStrictEqual(all.map(({ team }) => team).toSorted(), ["blue", "blue", "red", "red"])
    }))
})

describe("A POST with the identifier of a document, by several grants", () => {
  it.effect("replaces it by one that allows the fields and what is left behind", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* KernelEngine.make("claims").register(plain).enableSecurity().test()
      const client = (yield* as(caller)).claims
      const { id } = yield* repositories.claims.insert(new Claim({ owner: "ann" }))
      const post = (payload: Values) =>
        Effect.map(
          client.create({ payload: { ...payload, id }, responseMode: "response-only" }),
          ({ status }) => status
        )
      // No one may choose an identifier who may not leave every document behind; both may with that of one that is there.
      assert.strictEqual(yield* post({ owner: "ann", approved: true }), 200)
      assert.strictEqual(yield* post({ owner: "bob", approved: true }), 200)
      assert.deepStrictEqual(yield* repositories.claims.findById(id), new Claim({ id, owner: "bob", approved: true }))
      assert.strictEqual(yield* post({ owner: "bob", approved: false }), 403)
      assert.strictEqual(yield* post({ owner: "eve", approved: false }), 403)
      assert.strictEqual(yield* post({ owner: "ann", approved: false }), 200)
    }))
})
