import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CurrentUser, DocumentStore, Index, Model, Query, Repository } from "../../src/index.ts"
import { documentOperationsOf } from "../../src/Repository/internal.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Member extends Model.Class<Member>()("Member", {
  id: Model.id(),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  club: Schema.String.pipe(Model.indexed(Index.plain)),
  points: Schema.Int,
  ...Model.audited,
  ...Model.versioned,
  ...Model.softDeleted
}) {}

/** With neither a version nor an audit; a name is free again once nobody has it who is there. */
class Label extends Model.Class<Label>()("Label", {
  id: Model.id(),
  name: Schema.String,
  marks: Schema.Array(Schema.Int),
  ...Model.softDeleted
}, { indexes: [Index.compound({ name: 1 }, { unique: true, where: { deleted: null } })] }) {}

/** What is deleted is gone after a while. */
class Draft extends Model.Class<Draft>()("Draft", {
  id: Model.id(),
  gone: Model.softDeleted.deleted
}, { indexes: [Index.compound({ gone: 1 }, { sparse: true, expireAfter: "30 days" })] }) {}

const repositories = Layer.mergeAll(Repository.layer(Member), Repository.layer(Label), Repository.layer(Draft))

/** What a repository does about documents that are only marked as deleted, whichever store is under it. */
storeMatrix((name, store) =>
  it.layer(repositories.pipe(Layer.provideMerge(store)))(`Soft deletion / ${name}`, (it) => {
    const memberOf = (club: string, points: number) =>
      Model.finalise(Member, { email: `${club}-${points}@example.com`, club, points })

    /** Members 0, 1, 2, … of a club, of whom those with an odd number are deleted. */
    const clubOf = Effect.fnUntraced(function*(club: string, count = 4) {
      const members = yield* Repository.for(Member)
      const all = yield* Effect.forEach(Array.from({ length: count }, (_, i) => i), (i) => memberOf(club, i))
      yield* members.bulkInsert(all)
      yield* members.deleteMany(($) => $.club.equals(club).and($.points.in([1, 3, 5, 7])))
      return { all, members }
    })

    const pointsOf = (found: ReadonlyArray<Member>) => found.map(({ points }) => points)

    it.effect("excludes deleted documents from every read", () =>
      Effect.gen(function*() {
        const { all, members } = yield* clubOf("reads")
        const where = ($: Parameters<Parameters<typeof members.find>[0] & {}>[0]) => $.club.equals("reads")
        assert.deepStrictEqual(pointsOf(yield* members.find(where, { sort: "points" })), [0, 2])
        const selected = yield* members.find(where, { sort: "points", select: ["points"] })
        assert.deepStrictEqual(selected.map(({ points }) => points), [0, 2])
        const last = yield* members.findOne(where, { sort: "-points" })
        assert.deepStrictEqual(Option.map(last, ({ points }) => points), Option.some(2))
        const first = yield* members.findPage(where, { sort: "points", pageSize: 1 })
        const second = yield* members.findPage(where, {
          sort: "points",
          pageSize: 1,
          cursor: Option.getOrThrow(first.next)
        })
        assert.deepStrictEqual([pointsOf(first.items), pointsOf(second.items)], [[0], [2]])
        assert.isTrue(Option.isNone(second.next))
        assert.deepStrictEqual(pointsOf(yield* Stream.runCollect(members.stream(where, { sort: "points" }))), [0, 2])
        assert.strictEqual(yield* members.count(where), 2)
        assert.isFalse(yield* members.exists(($) => where($).and($.points.equals(1))))
        assert.sameMembers([...(yield* members.distinct("points", where))], [0, 2])
        assert.deepStrictEqual(
          (yield* Stream.runCollect(members.aggregate([
            { $match: { club: "reads" } },
            { $group: { _id: null, points: { $sum: "$points" } } }
          ]))).map(({ points }) => points),
          [2]
        )
        const grouped = yield* Stream.runCollect(
          members.aggregate([{ $group: { _id: "$club", n: { $sum: 1 } } }, { $match: { _id: "reads" } }])
        )
        assert.deepStrictEqual(grouped.map(({ n }) => n), [2])
        const error = yield* Effect.flip(members.findById(all[1]!.id))
        assert.strictEqual(error._tag, "DocumentNotFound")
        assert.isUndefined(yield* documentOperationsOf(members).findById(all[1]!.id))
        assert.strictEqual((yield* documentOperationsOf(members).find({ filter: { club: "reads" } })).length, 2)
        assert.strictEqual((yield* documentOperationsOf(members).findAndCount({ filter: { club: "reads" } })).total, 2)
        assert.strictEqual(yield* members.estimatedCount, yield* members.count())
      }))

    it.effect("includes deleted documents, or finds only them, on request", () =>
      Effect.gen(function*() {
        const { all, members } = yield* clubOf("asked")
        const where = ($: Parameters<Parameters<typeof members.find>[0] & {}>[0]) => $.club.equals("asked")
        const including = { sort: "points", deleted: "include" } as const
        const only = { sort: "points", deleted: "only" } as const
        assert.deepStrictEqual(pointsOf(yield* members.find(where, including)), [0, 1, 2, 3])
        assert.deepStrictEqual(pointsOf(yield* members.find(where, only)), [1, 3])
        assert.deepStrictEqual(pointsOf(yield* members.find(where, { ...only, deleted: "exclude" })), [0, 2])
        assert.strictEqual(yield* members.count(where, { deleted: "include" }), 4)
        assert.isTrue(yield* members.exists(($) => where($).and($.points.equals(1)), { deleted: "only" }))
        assert.isFalse(yield* members.exists(($) => where($).and($.points.equals(0)), { deleted: "only" }))
        assert.sameMembers([...(yield* members.distinct("points", where, { deleted: "only" }))], [1, 3])
        const page = yield* members.findPage(where, { ...only, pageSize: 5 })
        assert.deepStrictEqual(pointsOf(page.items), [1, 3])
        assert.deepStrictEqual(pointsOf(yield* Stream.runCollect(members.stream(where, only))), [1, 3])
        const one = yield* members.findOne(where, only)
        assert.deepStrictEqual(Option.map(one, ({ points }) => points), Option.some(1))
        assert.isDefined((yield* members.findById(all[1]!.id, { deleted: "include" })).deleted)
        assert.strictEqual(
          (yield* Effect.flip(members.findById(all[0]!.id, { deleted: "only" })))._tag,
          "DocumentNotFound"
        )
        const matched = yield* Stream.runCollect(
          members.aggregate([{ $match: { club: "asked" } }, { $count: "n" }], { deleted: "only" })
        )
        assert.deepStrictEqual(matched, [{ n: 2 }])
      }))

    it.effect("records deletion time and user, and increments the version", () =>
      Effect.gen(function*() {
        const members = yield* Repository.for(Member)
        yield* TestClock.setTime(1_000)
        const { id } = yield* members.insert(yield* memberOf("stamped", 0))
        yield* TestClock.setTime(2_000)
        yield* Effect.provideService(members.deleteById(id), CurrentUser, { subject: "U1", roles: [], claims: {} })
        const deleted = yield* members.findById(id, { deleted: "only" })
        assert.deepStrictEqual(
          [deleted.deleted?.epochMilliseconds, deleted.updated.epochMilliseconds, deleted.updated_by, deleted.version],
          [2_000, 2_000, "U1", 2]
        )
        assert.strictEqual((yield* Effect.flip(members.deleteById(id)))._tag, "DocumentNotFound")
        assert.strictEqual((yield* members.findById(id, { deleted: "only" })).version, 2)
      }))

    it.effect("soft-deletes the given version only", () =>
      Effect.gen(function*() {
        const members = yield* Repository.for(Member)
        const { id } = yield* members.insert(yield* memberOf("one version", 0))
        const conflict = yield* Effect.flip(members.deleteById(id, { version: 2 }))
        assert.deepInclude(conflict, { _tag: "VersionConflict", id, expected: 2 })
        yield* members.deleteById(id, { version: 1 })
        assert.strictEqual((yield* members.findById(id, { deleted: "only" })).version, 2)
        const again = yield* Effect.flip(members.deleteById(id, { version: 2 }))
        assert.strictEqual(again._tag, "DocumentNotFound")
      }))

    it.effect("does not change deleted documents", () =>
      Effect.gen(function*() {
        const { all, members } = yield* clubOf("changes")
        const gone = yield* members.findById(all[1]!.id, { deleted: "only" })
        const updated = yield* members.updateMany(($) => $.club.equals("changes"), ($) => [$.points.increment(10)])
        assert.deepStrictEqual(updated, { matchedCount: 2, modifiedCount: 2 })
        const one = yield* members.updateOne(($) => $.id.equals(gone.id), ($) => [$.points.set(7)])
        assert.strictEqual(one.matchedCount, 0)
        const found = yield* members.findOneAndUpdate(($) => $.id.equals(gone.id), ($) => [$.points.set(7)])
        assert.isTrue(Option.isNone(found))
        for (
          const write of [
            members.patch(gone.id, { points: 7 }),
            members.replace(gone)
          ]
        ) assert.strictEqual((yield* Effect.flip(write))._tag, "DocumentNotFound")
        assert.strictEqual((yield* Effect.flip(members.save(gone)))._tag, "DuplicateKey")
        assert.deepStrictEqual(yield* members.findById(gone.id, { deleted: "only" }), gone)
        assert.strictEqual(yield* members.deleteMany(($) => $.club.equals("changes")), 2)
      }))

    it.effect("a deleted document keeps its identifier and unique values, unless the index excludes it", () =>
      Effect.gen(function*() {
        const { all: [, gone], members } = yield* clubOf("unique")
        const sameId = yield* Effect.flip(members.insert(new Member({ ...gone!, email: "other@example.com" })))
        assert.strictEqual(sameId._tag, "DuplicateKey")
        const sameEmail = yield* Effect.flip(members.insert(yield* memberOf("unique", 1)))
        assert.strictEqual(sameEmail._tag, "DuplicateKey")

        const labels = yield* Repository.for(Label)
        const first = yield* labels.insert(new Label({ name: "free", marks: [] }))
        assert.strictEqual(
          (yield* Effect.flip(labels.insert(new Label({ name: "free", marks: [] }))))._tag,
          "DuplicateKey"
        )
        yield* labels.deleteById(first.id)
        const second = yield* labels.insert(new Label({ name: "free", marks: [] }))
        assert.strictEqual((yield* Effect.flip(labels.restoreById(first.id)))._tag, "DuplicateKey")
        yield* labels.deleteById(second.id)
        assert.isUndefined((yield* labels.restoreById(first.id)).deleted)
        assert.strictEqual((yield* Effect.flip(labels.save(second)))._tag, "DuplicateKey")
      }))

    it.effect("restores one, or many", () =>
      Effect.gen(function*() {
        const { all, members } = yield* clubOf("restored", 8)
        yield* TestClock.setTime(9_000)
        const restored = yield* members.restoreById(all[1]!.id)
        assert.deepStrictEqual(
          [restored.points, restored.deleted, restored.version, restored.updated.epochMilliseconds],
          [1, undefined, 3, 9_000]
        )
        assert.deepStrictEqual(yield* members.findById(restored.id), restored)
        assert.strictEqual((yield* Effect.flip(members.restoreById(restored.id)))._tag, "DocumentNotFound")
        assert.strictEqual((yield* Effect.flip(members.restoreById("none")))._tag, "DocumentNotFound")
        const count = yield* members.restoreMany(($) => $.club.equals("restored").and($.points.lessThan(6)))
        assert.strictEqual(count, 2)
        assert.strictEqual(yield* members.count(($) => $.club.equals("restored")), 7)
      }))

    it.effect("purges only the matching documents", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* TestClock.setTime(50_000)
        const { all, members } = yield* clubOf("purged", 8)
        yield* TestClock.setTime(60_000)
        yield* members.deleteById(all[0]!.id)
        const before = DateTime.makeUnsafe(55_000)
        const purged = yield* members.purge(($) => $.club.equals("purged").and($.deleted.before(before)))
        assert.strictEqual(purged, 4)
        yield* members.purgeById(all[0]!.id)
        yield* members.purgeById(all[2]!.id)
        assert.strictEqual((yield* Effect.flip(members.purgeById(all[2]!.id)))._tag, "DocumentNotFound")
        assert.strictEqual(yield* store.count("Member", { club: "purged" }), 2)
        assert.strictEqual(yield* members.count(($) => $.club.equals("purged")), 2)
        yield* members.insert(all[0]!)
      }))

    it.effect("deletes all documents softly, and keeps them in the store", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const drafts = yield* Repository.for(Draft)
        yield* drafts.bulkInsert([new Draft({ id: "a" }), new Draft({ id: "b" })])
        yield* drafts.deleteById("a")
        assert.strictEqual(yield* drafts.deleteAll, 1)
        assert.strictEqual(yield* drafts.count(), 0)
        assert.strictEqual(yield* store.count("Draft", { gone: { $ne: null } }), 2)
        const [index] = yield* store.listIndexes("Draft")
        assert.deepStrictEqual([index?.sparse, index?.expireAfterSeconds], [true, 2_592_000])
        assert.strictEqual(yield* drafts.purge(), 2)
      }))

    it.effect("resolves positions in lists, and ignores a deletion mark set by the caller", () =>
      Effect.gen(function*() {
        const labels = yield* Repository.for(Label)
        const deleted = DateTime.makeUnsafe(1)
        const label = yield* labels.insert(new Label({ name: "list", marks: [1, 2, 3], deleted }))
        assert.isUndefined(label.deleted)
        const { matchedCount } = yield* labels.updateMany(
          ($) => $.id.equals(label.id).and($.marks.contains(2)),
          ($) => [$.marks.matched.set(20)]
        )
        assert.strictEqual(matchedCount, 1)
        yield* labels.save(new Label({ ...label, name: "saved", deleted }))
        const found = yield* labels.findById(label.id)
        assert.deepStrictEqual([found.name, found.deleted], ["saved", undefined])
      }))

    it.effect("a deletion commits or aborts with its transaction", () =>
      Effect.gen(function*() {
        const { all, members } = yield* clubOf("transaction")
        const fails = Repository.transaction(Effect.andThen(members.deleteById(all[0]!.id), Effect.fail("no")))
        assert.strictEqual(yield* Effect.flip(fails), "no")
        assert.strictEqual(yield* members.count(($) => $.club.equals("transaction")), 2)
      }))

    it.effect("one of many concurrent deletes of a document succeeds", () =>
      Effect.gen(function*() {
        const members = yield* Repository.for(Member)
        const { id } = yield* members.insert(yield* memberOf("race", 0))
        const results = yield* Effect.forEach(
          Array.from({ length: 20 }, () => id),
          (id) => Effect.isSuccess(members.deleteById(id)),
          { concurrency: 20 }
        )
        assert.strictEqual(results.filter((isDeleted) => isDeleted).length, 1)
        assert.strictEqual((yield* members.findById(id, { deleted: "only" })).version, 2)
      }))
  })
)

class Article extends Model.Class<Article>()("Article", {
  id: Model.id(),
  text: Schema.String.pipe(Model.indexed(Index.text({ language: "none" }))),
  ...Model.softDeleted
}) {}

// SecantusDB has no text indexes.
storeMatrix((name, store, server) =>
  describe.skipIf(server?.name.startsWith("SecantusDB") === true)("with texts", () => {
    it.layer(Repository.layer(Article).pipe(Layer.provideMerge(store)))(`Soft deletion, searching / ${name}`, (it) => {
      it.effect("excludes deleted documents from text searches, where the search has to be the first stage", () =>
        Effect.gen(function*() {
          const articles = yield* Repository.for(Article)
          yield* articles.bulkInsert([
            new Article({ id: "a", text: "green tea" }),
            new Article({ id: "b", text: "black tea" })
          ])
          yield* articles.deleteById("b")
          const found = yield* articles.find(() => Query.text("tea"))
          assert.deepStrictEqual(found.map(({ id }) => id), ["a"])
          const search = [{ $match: { $text: { $search: "tea" } } }, { $project: { _id: 1 } }]
          assert.deepStrictEqual(yield* Stream.runCollect(articles.aggregate(search)), [{ _id: "a" }])
          assert.deepStrictEqual(yield* Stream.runCollect(articles.aggregate(search, { deleted: "only" })), [{
            _id: "b"
          }])
        }))
    })
  })
)
