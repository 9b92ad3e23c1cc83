import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { DocumentStore, Model, Query, Repository } from "../../../src/index.ts"
import { CallerRules, documentOperationsOf, nothing } from "../../../src/Repository/introspection.ts"

const fields = {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String,
  points: Schema.Int
}

class Plain extends Model.Class<Plain>()("Plain", fields) {}

/** Whose replacements are compared with the stored version. */
class Versioned extends Model.Class<Versioned>()("Versioned", { ...fields, ...Model.versioned, ...Model.audited }) {}

class Marked extends Model.Class<Marked>()("Marked", { ...fields, ...Model.versioned, ...Model.softDeleted }) {}

class Recorded extends Model.Class<Recorded>()("Recorded", {
  ...fields,
  ...Model.audited,
  ...Model.softDeleted,
  ...Model.historied
}) {}

const repositories = Layer.mergeAll(
  Repository.layer(Plain),
  Repository.layer(Versioned),
  Repository.layer(Marked),
  Repository.layer(Recorded)
)

// The operations that all four have; the suites that differ by model are at the end.
const models = [Plain, Versioned, Marked, Recorded].map((model) =>
  // Each has the fields of `Plain`.
  [model.modelName, model as unknown as typeof Plain] as const
)

/** Runs an effect for a caller with these rules, which are the same for every model. */
const under = (rows: DocumentStore.Filter, check: DocumentStore.Filter | undefined = rows) => {
  const rules = { rows: () => rows, check: () => check }
  return Effect.provideService(CallerRules, { of: () => Effect.succeed(rules) })
}

/** Runs an effect for a caller who reaches and writes documents with this owner. */
const as = (owner: string) => under({ owner: { $eq: owner } })

/** What a repository does under the rules of a caller, whichever store is under it. */
export const repositoryRulesContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(repositories.pipe(Layer.provideMerge(store)))(`Rules of callers / ${name}`, (it) => {
    let made = 0

    /** A repository, and instances of two owners in it: Ann's have even points, Bob's odd ones. */
    const two = Effect.fnUntraced(function*(model: typeof Plain, count = 6) {
      const all = yield* Repository.for(model)
      made += 1
      const [ann, bob] = [`ann${made}`, `bob${made}`]
      const instances = yield* Effect.forEach(
        Array.from({ length: count }, (_, i) => i),
        (points) =>
          Model.finalise(model, {
            id: `${made}-${points}`,
            owner: points % 2 === 0 ? ann : bob,
            state: "open",
            points
          })
      )
      yield* all.bulkInsert(instances)
      return { all, ann, bob, instances, mine: `${made}-0`, theirs: `${made}-1`, unknown: `${made}-x` }
    })

    /** The stored documents of both owners, without what the framework manages. */
    const stored = Effect.fnUntraced(
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

    it.effect.each(models)(
      "every read of a %s reaches the caller's documents only",
      ([, model]) =>
        Effect.gen(function*() {
          const { all, ann, bob, mine, theirs, unknown } = yield* two(model)
          const both: Query.Where<typeof Plain> = ($) => $.owner.in([ann, bob])
          const pointsOf = (found: ReadonlyArray<{ readonly points?: unknown }>) => found.map(({ points }) => points)
          const documents = documentOperationsOf(all)
          const pipeline = [{ $match: { owner: { $in: [ann, bob] } } }, {
            $group: { _id: null, n: { $sum: "$points" } }
          }]
          yield* Effect.gen(function*() {
            assert.deepStrictEqual(pointsOf(yield* all.find(both, { sort: "points" })), [0, 2, 4])
            assert.deepStrictEqual(pointsOf(yield* all.find(both, { sort: "points", select: ["points"] })), [0, 2, 4])
            assert.deepStrictEqual(pointsOf(yield* all.find(both, { sort: "-points", page: 2, pageSize: 2 })), [0])
            assert.deepStrictEqual(
              Option.map(yield* all.findOne(both, { sort: "-points" }), ({ points }) => points),
              Option.some(4)
            )
            assert.deepStrictEqual(pointsOf(yield* Stream.runCollect(all.stream(both, { sort: "points" }))), [0, 2, 4])
            const first = yield* all.findPage(both, { sort: "points", pageSize: 2 })
            const cursor = Option.getOrThrow(first.next)
            const second = yield* all.findPage(both, { sort: "points", pageSize: 2, cursor })
            assert.deepStrictEqual([pointsOf(first.items), pointsOf(second.items)], [[0, 2], [4]])
            assert.isTrue(Option.isNone(second.next))
            assert.strictEqual(yield* all.count(both), 3)
            assert.strictEqual(yield* all.count(), 3)
            assert.strictEqual(yield* all.estimatedCount, 3)
            assert.isTrue(yield* all.exists(both))
            assert.isFalse(yield* all.exists(($) => $.owner.equals(bob)))
            assert.sameMembers([...(yield* all.distinct("points", both))], [0, 2, 4])
            assert.deepStrictEqual(yield* Stream.runCollect(all.aggregate(pipeline)), [{ _id: null, n: 6 }])
            assert.deepStrictEqual(yield* Stream.runCollect(all.aggregate([{ $count: "n" }])), [{ n: 3 }])
            assert.deepStrictEqual(yield* Stream.runCollect(all.aggregate([])), yield* documents.find({}))
            assert.strictEqual((yield* all.findById(mine)).points, 0)
            for (const id of [theirs, unknown]) {
              const error = yield* Effect.flip(all.findById(id))
              assert.strictEqual(error._tag, "DocumentNotFound")
              assert.strictEqual(error.message, `${model.modelName} ${id} does not exist`)
            }
            assert.strictEqual((yield* documents.findById(mine))?.["points"], 0)
            assert.isUndefined(yield* documents.findById(theirs))
            assert.strictEqual((yield* documents.find({ filter: { owner: { $in: [ann, bob] } } })).length, 3)
            assert.strictEqual(
              (yield* documents.findAndCount({ filter: { owner: { $in: [ann, bob] } }, limit: 1 })).total,
              3
            )
          }).pipe(as(ann))
          assert.strictEqual(yield* all.count(both), 6)
          assert.deepStrictEqual(yield* Stream.runCollect(all.aggregate(pipeline)), [{ _id: null, n: 15 }])
          assert.strictEqual(yield* all.count(both).pipe(under(nothing)), 0)
        })
    )

    it.effect.each(models)(
      "every write of a %s reaches the caller's documents only",
      ([, model]) =>
        Effect.gen(function*() {
          const own = yield* two(model)
          const { all, ann, bob, instances, mine, theirs, unknown } = own
          const both: Query.Where<typeof Plain> = ($) => $.owner.in([ann, bob])
          const before = yield* stored(model, own)
          const expected = before.map((document) => ({ ...document }))
          yield* Effect.gen(function*() {
            for (const id of [theirs, unknown]) {
              const instance = new model({ ...instances[1]!, id, owner: ann })
              for (
                const write of [
                  all.patch(id, { state: "taken" }),
                  all.modify(id, (current) => Effect.succeed(new model({ ...current, state: "taken" }))),
                  all.replace(instance),
                  all.replace(new model({ ...instance, owner: bob })),
                  all.deleteById(id),
                  documentOperationsOf(all).patch(id, { state: "taken" })
                ]
              ) {
                const error = yield* Effect.flip(write as Effect.Effect<unknown, Error & { readonly _tag: string }>)
                assert.deepStrictEqual([error._tag, error.message], [
                  "DocumentNotFound",
                  `${model.modelName} ${id} does not exist`
                ])
              }
            }
            assert.deepStrictEqual(
              yield* all.updateOne(($) => $.id.equals(theirs), ($) => [$.state.set("taken")]),
              { matchedCount: 0, modifiedCount: 0 }
            )
            assert.isTrue(Option.isNone(
              yield* all.findOneAndUpdate(($) => $.id.equals(theirs), ($) => [$.state.set("taken")])
            ))
            assert.strictEqual(yield* all.deleteMany(($) => $.id.equals(theirs)), 0)
            assert.strictEqual((yield* all.updateMany(both, ($) => [$.state.set("mine")])).matchedCount, 3)
            assert.strictEqual((yield* all.patch(mine, { state: "patched" })).state, "patched")
          }).pipe(as(ann))
          for (const document of expected) if (document.owner === ann) document.state = "mine"
          expected[0]!.state = "patched"
          assert.deepStrictEqual(yield* stored(model, own), expected)
          assert.strictEqual(yield* all.deleteAll.pipe(as(ann)), 3)
          assert.strictEqual(yield* all.count(both), 3)
        })
    )
  })
