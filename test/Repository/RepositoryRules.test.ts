import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Stream } from "effect"
import { type DocumentStore, type Query, Repository } from "../../src/index.ts"
import { documentOperationsOf, nothing } from "../../src/Repository/internal.ts"
import { withFilters } from "../support/decisions.ts"
import { as, models, Plain, repositories, storedOf, twoOwners, under } from "../support/ruled.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

/** What a repository does under the rules of a caller, whichever store is under it. */
storeMatrix((name, store) =>
  it.layer(repositories.pipe(Layer.provideMerge(store)))(`Rules of callers / ${name}`, (it) => {
    it.effect.each(models)(
      "every read of a %s reaches the caller's documents only",
      ([, model]) =>
        Effect.gen(function*() {
          const { all, ann, bob, mine, theirs, unknown } = yield* twoOwners(model)
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
          const own = yield* twoOwners(model)
          const { all, ann, bob, instances, mine, theirs, unknown } = own
          const both: Query.Where<typeof Plain> = ($) => $.owner.in([ann, bob])
          const before = yield* storedOf(model, own)
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
                const error = yield* Effect.flip<unknown, { readonly _tag: string; readonly message: string }, never>(
                  write
                )
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
          assert.deepStrictEqual(yield* storedOf(model, own), expected)
          assert.strictEqual(yield* all.deleteAll.pipe(as(ann)), 3)
          assert.strictEqual(yield* all.count(both), 3)
        })
    )

    it.effect.each(models)("no write leaves a %s behind that the check rejects", ([, model]) =>
      Effect.gen(function*() {
        const own = yield* twoOwners(model)
        const { all, ann, instances, mine, theirs } = own
        const documents = documentOperationsOf(all)
        const foreign = new model({ ...instances[0]!, id: `${mine}-new`, owner: "somebody" })
        const moved = new model({ ...(yield* all.findById(mine)), owner: "somebody" })
        const before = yield* storedOf(model, own)
        const total = yield* all.count()
        const denied = [
          all.insert(foreign),
          documents.insert({ _id: foreign.id, owner: "somebody", state: "open", points: 0 }),
          all.save(foreign),
          all.save(moved),
          all.replace(moved),
          all.patch(mine, { owner: "somebody" }),
          documents.patch(mine, { owner: "somebody" }),
          all.modify(mine, () => Effect.succeed(moved)),
          all.updateOne(($) => $.id.equals(mine), ($) => [$.owner.set("somebody")]),
          // The first of them is the only one that is moved.
          all.updateMany(undefined, ($) => [$.points.increment(1), $.owner.set("somebody")]),
          all.findOneAndUpdate(undefined, ($) => [$.owner.set("somebody")], { sort: "-points" })
        ]
        for (const write of denied) {
          const error = yield* Effect.flip(write as Effect.Effect<unknown, Error & { readonly _tag: string }>).pipe(
            as(ann)
          )
          assert.deepStrictEqual([error._tag, error.message], [
            "AccessDenied",
            `The caller may not write this ${model.modelName}`
          ])
        }
        assert.deepStrictEqual(yield* storedOf(model, own), before)
        assert.strictEqual(yield* all.count(), total)
        // An identifier that is taken by a document that is not the caller's.
        const taken = yield* Effect.flip(all.save(new model({ ...instances[1]!, owner: ann }))).pipe(as(ann))
        assert.strictEqual(taken._tag, "DuplicateKey")
        assert.deepStrictEqual(yield* storedOf(model, own), before)
        // A check that isn't the rows: what the update does not touch is checked as well.
        const open = under({ owner: { $eq: ann } }, { state: { $eq: "open" } })
        assert.strictEqual((yield* all.patch(mine, { points: 10 }).pipe(open)).points, 10)
        assert.strictEqual(
          (yield* all.updateMany(undefined, ($) => [$.points.increment(1)]).pipe(open)).matchedCount,
          3
        )
        yield* all.patch(mine, { state: "closed" })
        for (
          const write of [
            all.patch(mine, { points: 12 }),
            all.updateOne(($) => $.id.equals(mine), ($) => [$.points.increment(1)]),
            all.updateMany(undefined, ($) => [$.points.increment(1)])
          ]
        ) {
          const error = yield* Effect.flip(write as Effect.Effect<unknown, { readonly _tag: string }>).pipe(open)
          assert.strictEqual(error._tag, "AccessDenied")
        }
        assert.strictEqual((yield* all.patch(mine, { state: "open" }).pipe(open)).points, 11)
        // A delete leaves nothing behind.
        yield* all.deleteById(mine).pipe(under({ owner: { $eq: ann } }, nothing))
        assert.deepStrictEqual(
          (yield* storedOf(model, own)).map((document) => "deleted" in document ? undefined : document["_id"]).filter((
            id
          ) => id === mine),
          []
        )
        assert.strictEqual((yield* all.findById(theirs)).state, "open")
      }))

    it.effect.each(models)("inserts and saves the %ss that the check admits", ([, model]) =>
      Effect.gen(function*() {
        const { all, ann, instances, mine } = yield* twoOwners(model)
        const instance = (id: string, owner: string) => new model({ ...instances[0]!, id: `${mine}-${id}`, owner })
        const many = [
          instance("a", ann),
          instance("b", ann),
          instance("c", "x"),
          instance("d", ann),
          instance("e", "x")
        ]
        const ordered = yield* Effect.flip(all.bulkInsert(many)).pipe(as(ann))
        assert.deepStrictEqual(
          ordered._tag === "BulkInsertFailed" &&
            [ordered.insertedCount, ordered.failures.map(({ error, index }) => [index, error._tag])],
          [2, [[2, "AccessDenied"]]]
        )
        const others = many.map(({ id, owner }) => instance(`${id}2`, owner))
        const unordered = yield* Effect.flip(all.bulkInsert([many[0]!, ...others], { ordered: false })).pipe(as(ann))
        assert.deepStrictEqual(
          unordered._tag === "BulkInsertFailed" &&
            [unordered.insertedCount, unordered.failures.map(({ error, index }) => [index, error._tag])],
          [3, [[0, "DuplicateKey"], [3, "AccessDenied"], [5, "AccessDenied"]]]
        )
        assert.strictEqual(yield* all.count().pipe(as(ann)), 8)
        yield* all.insert(instance("f", ann)).pipe(as(ann))
        const saved = yield* all.save(instance("g", ann)).pipe(as(ann))
        assert.strictEqual((yield* all.save(new model({ ...saved, state: "saved" })).pipe(as(ann))).state, "saved")
        // Some may only insert, others only update.
        const onlyInserts = withFilters({
          rows: () => undefined,
          check: (privilege) => privilege === "insert" ? undefined : nothing
        })
        const onlyUpdates = withFilters({
          rows: () => undefined,
          check: (privilege) => privilege === "update" ? undefined : nothing
        })
        const again = yield* all.findById(saved.id)
        assert.strictEqual((yield* Effect.flip(all.save(again).pipe(onlyInserts)))._tag, "AccessDenied")
        assert.strictEqual((yield* all.save(instance("h", ann)).pipe(onlyInserts)).owner, ann)
        assert.strictEqual((yield* all.save(again).pipe(onlyUpdates)).state, "saved")
        assert.strictEqual((yield* Effect.flip(all.save(instance("i", ann)).pipe(onlyUpdates)))._tag, "AccessDenied")
      }))

    it.effect("refuses pipelines that reach other collections, by the name of the stage", () =>
      Effect.gen(function*() {
        const { all, ann } = yield* twoOwners(Plain)
        const lookup = { $lookup: { from: "Marked", localField: "owner", foreignField: "owner", as: "marked" } }
        const pipelines: ReadonlyArray<readonly [string, ReadonlyArray<DocumentStore.Document>]> = [
          ["$lookup", [lookup]],
          ["$lookup", [{ $match: {} }, { $facet: { a: [{ $count: "n" }], b: [lookup] } }]],
          ["$unionWith", [{ $unionWith: { coll: "Marked", pipeline: [] } }]],
          ["$unionWith", [{ $unionWith: "Marked" }]],
          ["$graphLookup", [{
            $graphLookup: { from: "Marked", startWith: "$owner", connectFromField: "a", connectToField: "b", as: "c" }
          }]],
          ["$lookup", [{ $lookup: { from: "Marked", pipeline: [], as: "a" } }]],
          ["$lookup", [{
            $facet: { a: [{ $facet: { b: [{ $lookup: { pipeline: [{ $documents: [] }], as: "a" } }] } }] }
          }]],
          ["$unionWith", [{ $facet: { a: [{ $unionWith: "Marked" }] } }]],
          ["$out", [{ $facet: { a: [{ $out: "Marked" }] } }]],
          ["$merge", [{ $facet: { a: [{ $merge: "Marked" }] } }]],
          ["$merge", [{ $match: {} }, { $merge: { into: "Marked", whenMatched: [{ $set: { owner: "a" } }] } }]],
          ["$out", [{ $out: "Marked" }]],
          ["$merge", [{ $merge: { into: "Plain" } }]]
        ]
        // A model without rules, too: the other one may have some.
        const unlimited = withFilters(undefined)
        for (const [stage, pipeline] of pipelines) {
          for (const caller of [as(ann), unlimited]) {
            const error = yield* Effect.flip(Stream.runCollect(all.aggregate(pipeline))).pipe(caller)
            assert.strictEqual(error._tag, "QueryRejected")
            assert.include(error.message, stage)
          }
        }
        assert.strictEqual((yield* Stream.runCollect(all.aggregate([{ $match: { owner: ann } }, lookup]))).length, 3)
        const unrestricted = yield* Repository.unrestricted(Plain)
        const joined = Stream.runCollect(unrestricted.aggregate([{ $match: { owner: ann } }, lookup]))
        assert.strictEqual((yield* joined.pipe(as(ann))).length, 3)
      }))

    it.effect("hold in transactions, streams and forked fibers, and not in an unrestricted repository", () =>
      Effect.gen(function*() {
        const { all, ann, bob, mine, theirs } = yield* twoOwners(Plain)
        const both: Query.Where<typeof Plain> = ($) => $.owner.in([ann, bob])
        const ids = yield* Repository.transaction(Effect.gen(function*() {
          yield* all.patch(mine, { state: "in" })
          assert.strictEqual((yield* Effect.result(all.findById(theirs)))._tag, "Failure")
          return (yield* all.find(both)).map(({ id }) => id)
        })).pipe(as(ann))
        assert.strictEqual(ids.length, 3)
        // One denied write, and nothing of the transaction is stored.
        const failed = Repository.transaction(Effect.gen(function*() {
          yield* all.patch(mine, { state: "rolled back" })
          yield* all.updateOne(($) => $.id.equals(mine), ($) => [$.owner.set(bob)])
        }))
        assert.strictEqual((yield* Effect.flip(failed).pipe(as(ann)))._tag, "AccessDenied")
        assert.strictEqual((yield* all.findById(mine)).state, "in")
        const fiber = yield* Effect.forkChild(Effect.andThen(Effect.yieldNow, all.count(both))).pipe(as(ann))
        assert.strictEqual(yield* Fiber.join(fiber), 3)
        const stream = all.stream(both).pipe(Stream.rechunk(1), Stream.tap(() => Effect.yieldNow))
        assert.strictEqual((yield* Stream.runCollect(stream).pipe(as(ann))).length, 3)
        const unrestricted = yield* Repository.unrestricted(Plain)
        yield* Effect.gen(function*() {
          assert.strictEqual(yield* unrestricted.count(both), 6)
          assert.strictEqual((yield* unrestricted.patch(theirs, { state: "seen" })).state, "seen")
          assert.strictEqual((yield* documentOperationsOf(unrestricted).find({ filter: { owner: bob } })).length, 3)
          // The change of a modification still has the rights of the caller.
          yield* unrestricted.modify(
            theirs,
            (current) => Effect.map(Effect.orDie(all.count(both)), (points) => new Plain({ ...current, points }))
          )
        }).pipe(as(ann))
        assert.strictEqual((yield* all.findById(theirs)).points, 3)
      }))
  })
)
