/** Writes by several grants: one of them has to allow the fields that are sent, the document as it is and as it will be. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, KernelEngine, Model, type Repository, Resource, Role } from "../../../src/index.ts"
import { type Answer, type Method, send } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { servingViewed, type View } from "../../support/viewed.ts"

class Paper extends Model.Class<Paper>()("Paper", {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String.pipe(Model.withDefault(() => "x")),
  approved: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

const Owner = Schema.Literals(["a", "b", "c"])
const State = Schema.Literals(["x", "y"])
const Approved = Schema.Literals([0, 1])
const Field = Schema.Literals(["owner", "state", "approved"])

const upTo = <S extends Schema.Top>(count: number, item: S) => Schema.Array(item).check(Schema.isMaxLength(count))

const Grant = Schema.Struct({
  rows: Schema.NullOr(upTo(2, Owner)),
  /** `null`: the same as the rows. */
  check: Schema.NullOr(Schema.Struct({ owners: upTo(3, Owner), states: upTo(2, State) })),
  readOnly: upTo(2, Field)
})

const Values = Schema.Struct({ owner: Owner, state: State, approved: Approved })

const Sent = Schema.Struct({
  owner: Owner,
  state: Schema.optionalKey(State),
  approved: Schema.optionalKey(Approved)
})

const Case = Schema.Struct({
  grants: Schema.Array(Grant).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
  stored: Values,
  sent: Sent,
  others: upTo(2, Sent),
  change: Schema.Struct({
    owner: Schema.optionalKey(Owner),
    state: Schema.optionalKey(State),
    approved: Schema.optionalKey(Approved)
  })
})

type Grant = typeof Grant.Type
type Values = typeof Values.Type
type Sent = Partial<Values>

const defaults = { state: "x", approved: 0 } as const

const reaches = ({ rows }: Grant, { owner }: Values) => rows === null || rows.includes(owner)

const leaves = (grant: Grant, after: Values) =>
  grant.check === null
    ? reaches(grant, after)
    : grant.check.owners.includes(after.owner) && grant.check.states.includes(after.state)

const fields = ["owner", "state", "approved"] as const

const isWritable = ({ readOnly }: Grant, name: (typeof fields)[number]) => !readOnly.includes(name)

/** What each grant that allows the insertion leaves behind. */
const inserted = (grants: ReadonlyArray<Grant>, sent: Sent & Pick<Values, "owner">): ReadonlyArray<Values> =>
  grants.flatMap((grant) => {
    const after = { ...defaults, ...sent }
    const isAllowed = fields.every((name) => sent[name] === undefined || isWritable(grant, name))
    return isAllowed && leaves(grant, after) ? [after] : []
  })

/** What each grant that allows the update leaves behind. */
const updated = (grants: ReadonlyArray<Grant>, before: Values, sent: Sent, isPatch: boolean): ReadonlyArray<Values> =>
  grants.filter((grant) => reaches(grant, before)).flatMap((grant) => {
    const isAllowed = fields.every((name) =>
      sent[name] === undefined || sent[name] === before[name] || isWritable(grant, name)
    )
    const kept = Object.fromEntries(
      fields.filter((name) => isPatch || !isWritable(grant, name)).map((name) => [
        name,
        before[name]
      ])
    )
    const after = { ...before, ...defaults, ...kept, ...sent }
    return isAllowed && leaves(grant, after) ? [after] : []
  })

storeMatrix((name, store) => {
  const allRuns = Number(process.env["DIFFERENTIAL_RUNS"] ?? 200)
  const runs = name === "memory" ? allRuns : Math.ceil(allRuns / 20)

  let view: View = { read: [], write: [] }
  const resource = Resource.make(Paper, { methods: ["GET", "POST", "PUT", "PATCH"] })
  const admin: View = {
    read: [{ fields: undefined, rows: undefined }],
    write: [{ fields: undefined, rows: undefined }]
  }
  it.layer(servingViewed(resource, store, (caller) => caller === "admin" ? admin : view))(
    `Writes by several grants / ${name}`,
    (it) => {
      const as = (caller: string) => (method: Method, path: string, body?: unknown) =>
        send(method, `/papers${path}`, body, { "x-caller": caller })
      const [root, me] = [as("admin"), as("me")]
      const valuesOf = ({ body }: Answer): Values => ({
        owner: body.owner,
        state: body.state,
        approved: body.approved
      })

      it.effect.prop(
        "one grant allows all of a write, or it is refused and nothing is stored",
        [Case],
        ([{ change, grants, others, sent, stored }]) =>
          Effect.gen(function*() {
            yield* Effect.flatMap(DocumentStore.DocumentStore, (store) => store.deleteMany("Paper", {}))
            view = {
              read: [{ fields: undefined, rows: undefined }],
              write: grants.map(({ check, readOnly, rows }) => ({
                fields: readOnly.length === 0 ? undefined : { hide: [], readOnly },
                rows: rows === null ? undefined : { owner: { $in: rows } },
                ...(check === null ? {} : { check: { owner: { $in: check.owners }, state: { $in: check.states } } })
              }))
            }
            const [possible] = inserted(grants, sent)
            const created = yield* me("POST", "", sent)
            assert.strictEqual(created.status, possible === undefined ? 403 : 201, created.text)
            if (possible !== undefined) {
              assert.deepStrictEqual(valuesOf(yield* root("GET", `/${created.body.result}`)), possible)
            }
            const list = [sent, ...others]
            const all = yield* me("POST", "", list)
            const isPossible = list.every((one) => inserted(grants, one).length > 0)
            assert.strictEqual(all.status, isPossible ? 201 : 403, all.text)
            const { body: { result: id } } = yield* root("POST", "", stored)
            for (
              const [method, body] of [["PATCH", change], ["PUT", sent], ["PUT", { ...stored, ...change }]] as const
            ) {
              const outcomes = updated(grants, stored, body, method === "PATCH")
              const answer = yield* me(method, `/${id}`, body)
              const after = valuesOf(yield* root("GET", `/${id}`))
              const about = `${method} ${JSON.stringify(body)} ${answer.text}`
              const isReached = grants.some((grant) => reaches(grant, stored))
              const isChange = Object.entries(body).some(([name, value]) => Reflect.get(stored, name) !== value)
              // A patch without a change writes nothing.
              if (method === "PATCH" && !isChange) assert.deepStrictEqual(after, stored, about)
              else if (outcomes.length > 0) {
                assert.strictEqual(answer.status, 200, about)
                assert.deepInclude(outcomes, after, about)
              } else {
                // What no grant lets them write is refused before a document is looked for.
                assert.include(isReached ? [403] : [403, 404], answer.status, about)
                assert.deepStrictEqual(after, stored, about)
              }
              yield* root("PUT", `/${id}`, stored)
            }
          }),
        { arbitrary: { runs } }
      )
    }
  )
})

class Claim extends Model.Class<Claim>()("Claim", {
  id: Model.id(),
  owner: Schema.String,
  approved: Schema.Boolean.pipe(Model.withDefault(() => false))
}) {}

const plain = Resource.make(Claim, { methods: ["GET", "POST", "PUT", "PATCH"] })
  .grant(Role("user"), { check: (me) => ($) => $.owner.equals(me.subject) })
  .grant(Role("clerk"), { readOnly: ["approved"] })

const hooked = plain.beforePost(() => Effect.void).beforePut(() => Effect.void).beforePatch(() => Effect.void)

type Fields = { readonly owner: string; readonly approved?: boolean }

/** The typed clients of both resources. */
interface Client {
  readonly create: {
    (_: { readonly payload: Fields }): Effect.Effect<unknown, unknown>
    (_: { readonly payload: ReadonlyArray<Fields> }): Effect.Effect<unknown, unknown>
  }
  readonly patch: (_: { readonly params: { id: string }; readonly payload: Partial<Fields> }) => Effect.Effect<
    unknown,
    unknown
  >
  readonly replace: (
    _: { readonly params: { id: string }; readonly payload: Fields }
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
      const post = (payload: Fields) =>
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
