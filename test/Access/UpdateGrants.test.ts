/** Updates by two grants: one of them has to admit the document both as it is and as it will be. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { filtersOfMethod } from "../../src/Access/decision/rowFilters.ts"
import { Repository, type Update } from "../../src/index.ts"
import { withFilters } from "../support/decisions.ts"
import { Plain, repositories } from "../support/ruled.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

const memoryRuns = Number(process.env["DIFFERENTIAL_RUNS"] ?? 100)

const Owner = Schema.Literals(["a", "b", "c"])
const State = Schema.Literals(["x", "y", "z"])

const upTo = <S extends Schema.Top>(count: number, item: S) =>
  Schema.Array(item).check(Schema.isMinLength(1), Schema.isMaxLength(count))

/** Without `states`, a document stays within the rows; `any` leaves it as it likes. */
const Grant = Schema.Struct({
  owners: Schema.NullOr(upTo(2, Owner)),
  states: Schema.Union([Schema.Null, Schema.Literal("any"), upTo(2, State)])
})

const Case = Schema.Struct({
  documents: upTo(4, Schema.Struct({ owner: Owner, state: State })),
  grants: Schema.Tuple([Grant, Grant]),
  change: Schema.Struct({
    owner: Schema.optionalKey(Owner),
    state: Schema.optionalKey(State),
    points: Schema.Literals([0, 1])
  })
})

type Grant = (typeof Grant)["Type"]

type Values = { readonly owner: string; readonly state: string }

/** `points` are of no grant. They are those that are stored if an update may change nothing. */
type Change = Partial<Values> & { readonly points: 0 | 1 }

const operations = {
  patch: (all, { id }, change) => all.patch(id, change),
  modify: (all, { id }, change) => all.modify(id, (current) => Effect.succeed(new Plain({ ...current, ...change }))),
  updateOne: (all, { id }, change) => all.updateOne(($) => $.id.equals(id), setting(change)),
  findOneAndUpdate: (all, { id }, change) => all.findOneAndUpdate(($) => $.id.equals(id), setting(change)),
  updateMany: (all, { id }, change) => all.updateMany(($) => $.id.equals(id), setting(change)),
  replace: (all, instance, change) => all.replace(new Plain({ ...instance, ...change })),
  save: (all, instance, change) => all.save(new Plain({ ...instance, ...change }))
} satisfies {
  readonly [name: string]: (
    all: Repository.Repository<typeof Plain>,
    instance: Plain,
    change: Change
  ) => Effect.Effect<unknown, { readonly _tag: string }>
}

const setting = (change: Change): Update.Changes<typeof Plain> => ($) => [
  $.points.increment(change.points),
  ...(change.owner === undefined ? [] : [$.owner.set(change.owner)]),
  ...(change.state === undefined ? [] : [$.state.set(change.state)])
]

let made = 0

storeMatrix((name, store) => {
  const runs = name === "memory" ? memoryRuns : Math.ceil(memoryRuns / 10)
  it.layer(Layer.provideMerge(repositories, store))(`Grants for updates / ${name}`, (it) => {
    it.effect.prop(
      "one grant admits a document before and after any update of it",
      [Case],
      ([{ change, documents, grants }]) =>
        Effect.gen(function*() {
          const all = yield* Repository.for(Plain)
          const held = grants.map(({ owners, states }, id) => {
            const rows = owners === null ? undefined : { owner: { $in: owners } }
            const check = states === null ? rows : states === "any" ? undefined : { state: { $in: states } }
            return { id, rows, check, fields: undefined }
          })
          const rules = filtersOfMethod(held)
          const asCaller = withFilters(rules)
          const isReached = ({ owner }: Values, { owners }: Grant) =>
            owners === null || owners.some((one) => one === owner)
          const mayBe = (after: Values, grant: Grant) =>
            grant.states === null
              ? isReached(after, grant)
              : grant.states === "any" || grant.states.some((one) => one === after.state)
          const isAllowed = (before: Values) =>
            grants.some((grant) => isReached(before, grant) && mayBe({ ...before, ...change }, grant))
          const shown = ({ owner, state }: Values) => `${owner} ${state}`
          for (const [name, operation] of Object.entries(operations)) {
            for (const values of documents) {
              const instance = new Plain({ ...values, id: `G${++made}`, points: 0 })
              yield* all.insert(instance)
              const result = yield* Effect.result(asCaller<unknown, { readonly _tag: string }, never>(
                operation(all, instance, change)
              ))
              const after = yield* all.findById(instance.id)
              const about = `${name} ${JSON.stringify({ values, change, grants })}`
              assert.strictEqual(shown(after), shown(isAllowed(values) ? { ...values, ...change } : values), about)
              const isDenied = result._tag === "Failure" && result.failure._tag === "AccessDenied"
              const isFound = grants.some((grant) => isReached(values, grant))
              // What is not found is inserted by `save`, which the insertion's own check may deny.
              if (isFound || name !== "save") assert.strictEqual(isDenied, isFound && !isAllowed(values), about)
            }
          }
          // All of several documents, or none of them.
          const instances = documents.map((values) => new Plain({ ...values, id: `G${++made}`, points: 0 }))
          const ids = instances.map(({ id }) => id)
          yield* all.bulkInsert(instances)
          yield* Effect.ignore(asCaller(all.updateMany(($) => $.id.in(ids), setting(change))))
          const reached = documents.filter((values) => grants.some((grant) => isReached(values, grant)))
          const isWritten = reached.every(isAllowed)
          const found = yield* all.find(($) => $.id.in(ids))
          assert.sameMembers(
            found.map(shown),
            documents.map((values) => shown(isWritten && isAllowed(values) ? { ...values, ...change } : values))
          )
        }),
      { arbitrary: { runs } }
    )
  })
})
