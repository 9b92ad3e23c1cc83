/** Writes by several grants: one of them has to allow the fields that are sent, the document as it is and as it will be. */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { DocumentStore, Model, Resource } from "../../../src/index.ts"
import { type Answer, type Method, send } from "../../support/rest.ts"
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

export const grantedWritesContract = <E>(
  name: string,
  store: Layer.Layer<DocumentStore.DocumentStore, E>,
  runs: number
) => {
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
}
