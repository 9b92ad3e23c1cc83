/** Models and callers for the tests of rules on documents. */
import { Effect, Layer, Schema } from "effect"
import { DocumentStore, Model, Repository } from "../../src/index.ts"
import { withFilters } from "./decisions.ts"

const fields = {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String,
  points: Schema.Int
}

export class Plain extends Model.Class<Plain>()("Plain", fields) {}

/** Whose replacements are compared with the stored version. */
class Versioned extends Model.Class<Versioned>()("Versioned", { ...fields, ...Model.versioned, ...Model.audited }) {}

export class Marked extends Model.Class<Marked>()("Marked", { ...fields, ...Model.versioned, ...Model.softDeleted }) {}

export class Recorded extends Model.Class<Recorded>()("Recorded", {
  ...fields,
  ...Model.audited,
  ...Model.softDeleted,
  ...Model.historied
}) {}

export const repositories = Layer.mergeAll(
  Repository.layer(Plain),
  Repository.layer(Versioned),
  Repository.layer(Marked),
  Repository.layer(Recorded)
)

/** All four, for the operations that each has. */
export const models = [Plain, Versioned, Marked, Recorded].map((model) =>
  // Each has the fields of `Plain`.
  [model.modelName, model as unknown as typeof Plain] as const
)

/** Runs an effect for a caller with these rules, which are the same for every model. */
export const under = (rows: DocumentStore.Filter, check: DocumentStore.Filter | undefined = rows) =>
  withFilters({ rows: () => rows, check: () => check })

/** Runs an effect for a caller who reaches and writes documents with this owner. */
export const as = (owner: string) => under({ owner: { $eq: owner } })

let made = 0

/** A repository, and instances of two owners in it: Ann's have even points, Bob's odd ones. */
export const twoOwners = Effect.fnUntraced(function*(model: typeof Plain, count = 6) {
  const all = yield* Repository.for(model)
  made += 1
  const prefix = `${made}`
  const [ann, bob] = [`ann${prefix}`, `bob${prefix}`]
  const instances = yield* Effect.forEach(
    Array.from({ length: count }, (_, i) => i),
    (points) =>
      Model.finalise(model, {
        id: `${prefix}-${points}`,
        owner: points % 2 === 0 ? ann : bob,
        state: "open",
        points
      })
  )
  yield* all.bulkInsert(instances)
  return { all, ann, bob, instances, prefix, mine: `${prefix}-0`, theirs: `${prefix}-1`, unknown: `${prefix}-x` }
})

/** The stored documents of both owners, without what the framework manages. */
export const storedOf = Effect.fnUntraced(
  function*(model: typeof Plain, { ann, bob }: { readonly ann: string; readonly bob: string }) {
    const { find } = yield* DocumentStore.DocumentStore
    const found = yield* find(model.modelName, { filter: { owner: { $in: [ann, bob] } }, sort: { points: 1 } })
    return found.map(({ _id, deleted, owner, points, state }) => ({
      _id,
      owner,
      points,
      state,
      ...(deleted === undefined ? {} : { deleted: true })
    }))
  }
)
