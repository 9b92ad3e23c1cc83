import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CurrentUser, DocumentStore, Generator, Index, Model, Repository, Validator } from "../../src/index.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Part extends Model.Class<Part>()("Part", { name: Schema.String, size: Schema.Int }) {}

class Item extends Model.Class<Item>()("Item", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.plain)),
  group: Schema.String,
  rank: Schema.Int,
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  parts: Schema.Array(Part).pipe(Model.withDefault(() => [])),
  main: Part.pipe(Model.optional),
  made: Model.DateTime.pipe(Model.generated(Generator.dateNow))
}) {}

class Account extends Model.Class<Account>()("Account", {
  id: Model.id(),
  balance: Schema.Int,
  ...Model.versioned
}) {}

class Page extends Model.Class<Page>()("Page", {
  id: Model.id(),
  title: Schema.String.pipe(Validator.notEmpty),
  ...Model.audited,
  ...Model.versioned
}) {}

class Draft extends Model.Class<Draft>()("Draft", { id: Model.id(), title: Schema.String, ...Model.audited }) {}

const repositories = Layer.mergeAll(
  Repository.layer(Item),
  Repository.layer(Account),
  Repository.layer(Page),
  Repository.layer(Draft)
)

/** What a repository does beyond single documents, whichever store is under it. */
storeMatrix((name, store) =>
  it.layer(repositories.pipe(Layer.provideMerge(store)))(
    `Repository operations / ${name}`,
    (it) => {
      const item = (group: string, rank: number, more: Partial<typeof Item.create.Type> = {}) =>
        Model.finalise(Item, { name: `item ${rank}`, group, rank, ...more })

      const fill = Effect.fnUntraced(function*(group: string, count: number) {
        const items = yield* Repository.for(Item)
        yield* items.bulkInsert(
          yield* Effect.forEach(Array.from({ length: count }, (_, i) => i), (i) => item(group, i))
        )
        return items
      })

      const as = <A, E, R>(user: string, effect: Effect.Effect<A, E, R>) =>
        Effect.provideService(effect, CurrentUser, { subject: user, roles: [], claims: {} })

      it.effect("finds one document, or fails with DocumentNotFound", () =>
        Effect.gen(function*() {
          const items = yield* fill("one", 3)
          const last = yield* items.findOne(($) => $.group.equals("one"), { sort: "-rank" })
          assert.deepStrictEqual(Option.map(last, ({ rank }) => rank), Option.some(2))
          assert.deepStrictEqual(yield* items.findOne(($) => $.group.equals("none")), Option.none())
          assert.isTrue(yield* items.exists(($) => $.group.equals("one")))
          assert.isFalse(yield* items.exists(($) => $.group.equals("none")))
        }))

      it.effect("returns the selected fields", () =>
        Effect.gen(function*() {
          const items = yield* Repository.for(Item)
          yield* items.insert(yield* item("select", 1, { main: { name: "lid", size: 3 } }))
          const found = yield* items.find(($) => $.group.equals("select"), { select: ["rank", "main.name"] })
          assert.deepStrictEqual(found.map((one) => ({ ...one })), [{ rank: 1, main: { name: "lid" } }])
        }))

      it.effect("sorts by several fields", () =>
        Effect.gen(function*() {
          const items = yield* Repository.for(Item)
          for (const [rank, size] of [[1, 1], [2, 1], [1, 2]] as const) {
            yield* items.insert(yield* item("sorted", rank, { main: { name: "m", size } }))
          }
          const found = yield* items.find(($) => $.group.equals("sorted"), {
            sort: ["-main.size", "rank"]
          })
          assert.deepStrictEqual(found.map(({ main, rank }) => [main?.size, rank]), [[2, 1], [1, 1], [1, 2]])
        }))

      it.effect("pages by cursor during concurrent inserts", () =>
        Effect.gen(function*() {
          const items = yield* fill("cursor", 7)
          const seen: Array<number> = []
          let cursor: string | undefined
          do {
            const page = yield* items.findPage(($) => $.group.equals("cursor"), { sort: "rank", pageSize: 3, cursor })
            seen.push(...page.items.map(({ rank }) => rank))
            yield* items.insert(yield* item("cursor", -1))
            cursor = Option.getOrUndefined(page.next)
          } while (cursor !== undefined)
          assert.deepStrictEqual(seen, [0, 1, 2, 3, 4, 5, 6])
          const page = yield* items.findPage(($) => $.group.equals("cursor"), { sort: "rank", pageSize: 2 })
          const other = yield* Effect.flip(
            items.findPage(undefined, { sort: "name", pageSize: 2, cursor: Option.getOrThrow(page.next) })
          )
          assert.strictEqual(other._tag, "QueryRejected")
        }))

      it.effect("streams in order, up to the limit", () =>
        Effect.gen(function*() {
          const items = yield* fill("stream", 300)
          const ranks = items.stream(($) => $.group.equals("stream"), { sort: "rank" }).pipe(
            Stream.map(({ rank }) => rank)
          )
          assert.deepStrictEqual(yield* Stream.runCollect(ranks), Array.from({ length: 300 }, (_, i) => i))
          assert.deepStrictEqual(yield* Stream.runCollect(Stream.take(ranks, 2)), [0, 1])
        }))

      it.effect("returns the distinct values of a field, and of the elements of a list", () =>
        Effect.gen(function*() {
          const items = yield* Repository.for(Item)
          yield* TestClock.setTime(1_000)
          yield* items.insert(yield* item("distinct", 1, { tags: ["a", "b"] }))
          yield* items.insert(yield* item("distinct", 2, { tags: ["b", "c"] }))
          const tags = yield* items.distinct("tags", ($) => $.group.equals("distinct"))
          assert.deepStrictEqual(tags.toSorted(), ["a", "b", "c"])
          assert.deepStrictEqual(yield* items.distinct("made", ($) => $.group.equals("distinct")), [
            DateTime.makeUnsafe(1_000)
          ])
        }))

      it.effect("aggregates with native pipelines", () =>
        Effect.gen(function*() {
          const items = yield* fill("sum", 4)
          const [total] = yield* Stream.runCollect(items.aggregate([
            { $match: { group: "sum" } },
            { $group: { _id: null, ranks: { $sum: "$rank" } } }
          ]))
          assert.strictEqual(total?.["ranks"], 6)
        }))

      it.effect("estimates the count", () =>
        Effect.gen(function*() {
          const items = yield* fill("rough", 2)
          assert.isAtLeast(yield* items.estimatedCount, 2)
        }))

      it.effect("changes documents atomically, by typed changes", () =>
        Effect.gen(function*() {
          const items = yield* Repository.for(Item)
          const one = yield* items.insert(yield* item("atomic", 1, { main: { name: "lid", size: 3 }, tags: ["a"] }))
          const result = yield* items.updateOne(($) => $.id.equals(one.id), ($) => [
            $.rank.increment(2),
            $.tags.append("b"),
            $.main.name.set("cap")
          ])
          assert.deepStrictEqual([result.matchedCount, result.modifiedCount], [1, 1])
          const after = yield* items.findById(one.id)
          assert.deepStrictEqual([after.rank, after.tags, { ...after.main }], [3, ["a", "b"], { name: "cap", size: 3 }])
          const none = yield* items.updateOne(($) => $.id.equals("none"), ($) => [$.rank.increment(1)])
          assert.strictEqual(none.matchedCount, 0)
        }))

      it.effect("validates set values, and writes nothing of an invalid update", () =>
        Effect.gen(function*() {
          const items = yield* Repository.for(Item)
          const one = yield* items.insert(yield* item("refused", 1))
          const error = yield* Effect.flip(
            items.updateOne(($) => $.id.equals(one.id), ($) => [$.name.set(""), $.rank.increment(1)])
          )
          assert.strictEqual(error._tag, "ValidationException")
          assert.strictEqual((yield* items.findById(one.id)).rank, 1)
        }))

      it.effect("changes many, and removes many", () =>
        Effect.gen(function*() {
          const items = yield* fill("many", 5)
          const { modifiedCount } = yield* items.updateMany(
            ($) => $.group.equals("many").and($.rank.greaterThan(1)),
            ($) => [$.tags.addToSet("late")]
          )
          assert.strictEqual(modifiedCount, 3)
          assert.strictEqual(yield* items.deleteMany(($) => $.group.equals("many").and($.tags.contains("late"))), 3)
          assert.strictEqual(yield* items.count(($) => $.group.equals("many")), 2)
        }))

      it.effect("returns the changed document, before or after the change", () =>
        Effect.gen(function*() {
          const items = yield* fill("give", 2)
          const after = yield* items.findOneAndUpdate(
            ($) => $.group.equals("give"),
            ($) => [$.rank.increment(10)],
            { sort: "-rank" }
          )
          assert.deepStrictEqual(Option.map(after, ({ rank }) => rank), Option.some(11))
          const before = yield* items.findOneAndUpdate(
            ($) => $.rank.equals(11).and($.group.equals("give")),
            ($) => [$.rank.set(0)],
            { returnDocument: "before" }
          )
          assert.deepStrictEqual(Option.map(before, ({ rank }) => rank), Option.some(11))
        }))

      it.effect("increments the version with every atomic change", () =>
        Effect.gen(function*() {
          const accounts = yield* Repository.for(Account)
          const { id } = yield* accounts.insert(new Account({ balance: 0 }))
          yield* accounts.updateOne(($) => $.id.equals(id), ($) => [$.balance.increment(5)])
          assert.strictEqual((yield* accounts.findById(id)).version, 2)
        }))

      it.effect("loses no increment of two writers with optimistic locking and retry", () =>
        Effect.gen(function*() {
          const accounts = yield* Repository.for(Account)
          const { id } = yield* accounts.insert(new Account({ balance: 0 }))
          let tries = 0
          const increment = Effect.gen(function*() {
            tries++
            const account = yield* accounts.findById(id)
            yield* accounts.replace(new Account({ ...account, balance: account.balance + 1 }))
          }).pipe(Effect.retry({ while: ({ _tag }) => _tag === "VersionConflict" }))
          const writer = Effect.forEach(Array.from({ length: 100 }), () => increment, { discard: true })
          yield* Effect.all([writer, writer], { concurrency: 2 })
          const account = yield* accounts.findById(id)
          assert.deepStrictEqual([account.balance, account.version], [200, 201])
          // They have met.
          assert.isAbove(tries, 200)
        }))

      it.effect("a transaction is atomic", () =>
        Effect.gen(function*() {
          const accounts = yield* Repository.for(Account)
          const [a, b] = [
            yield* accounts.insert(new Account({ balance: 10 })),
            yield* accounts.insert(new Account({ balance: 0 }))
          ]
          const transfer = (amount: number) =>
            Repository.transaction(Effect.gen(function*() {
              yield* accounts.updateOne(($) => $.id.equals(a.id), ($) => [$.balance.increment(-amount)])
              yield* accounts.updateOne(($) => $.id.equals(b.id), ($) => [$.balance.increment(amount)])
              const { balance } = yield* accounts.findById(a.id)
              return balance < 0 ? yield* Effect.fail("overdrawn" as const) : balance
            }))
          assert.strictEqual(yield* transfer(7), 3)
          assert.strictEqual(yield* Effect.flip(transfer(7)), "overdrawn")
          const balances = yield* Effect.forEach([a, b], ({ id }) => accounts.findById(id))
          assert.deepStrictEqual(balances.map(({ balance }) => balance), [3, 7])
        }))

      it.effect("reports a version conflict in a transaction, too", () =>
        Effect.gen(function*() {
          const accounts = yield* Repository.for(Account)
          const account = yield* accounts.insert(new Account({ balance: 1 }))
          yield* accounts.save(account)
          const error = yield* Effect.flip(Repository.transaction(accounts.save(account)))
          assert.strictEqual(error._tag, "VersionConflict")
          assert.strictEqual((yield* accounts.findById(account.id)).version, 2)
        }))

      it.effect("keeps a total through concurrent transactions", () =>
        Effect.gen(function*() {
          const accounts = yield* Repository.for(Account)
          const all = yield* Effect.forEach([1, 2, 3], () => accounts.insert(new Account({ balance: 100 })))
          const transfer = (from: string, to: string) =>
            Repository.transaction(Effect.gen(function*() {
              const [source, target] = [yield* accounts.findById(from), yield* accounts.findById(to)]
              yield* accounts.replace(new Account({ ...source, balance: source.balance - 1 }))
              yield* accounts.replace(new Account({ ...target, balance: target.balance + 1 }))
            }))
          // Who loses waits before it tries again.
          yield* TestClock.withLive(Effect.forEach(
            Array.from({ length: 16 }, (_, i) => i),
            (i) =>
              Effect.retry(transfer(all[i % 3]!.id, all[(i + 1) % 3]!.id), {
                while: ({ _tag }) => _tag === "VersionConflict" || _tag === "StoreUnavailable"
              }),
            { concurrency: 16 }
          ))
          const balances = yield* Effect.forEach(all, ({ id }) => accounts.findById(id))
          assert.strictEqual(balances.reduce((sum, { balance }) => sum + balance, 0), 300)
          assert.strictEqual(balances.reduce((sum, { version }) => sum + version, 0), 3 + 32)
        }))

      it.effect("sets insertion and update times and users of an audited document", () =>
        Effect.gen(function*() {
          const pages = yield* Repository.for(Page)
          const auditOf = ({ created_by, inserted, updated, updated_by }: Page) => [
            inserted.epochMilliseconds,
            updated.epochMilliseconds,
            created_by,
            updated_by
          ]
          yield* TestClock.setTime(1_000)
          const page = yield* Model.finalise(Page, { title: "a" })
          yield* TestClock.setTime(2_000)
          const inserted = yield* as("U1", pages.insert(page))
          assert.deepStrictEqual(auditOf(inserted), [2_000, 2_000, "U1", "U1"])
          yield* TestClock.setTime(3_000)
          assert.deepStrictEqual(auditOf(yield* as("U2", pages.patch(page.id, { title: "b" }))), [
            2_000,
            3_000,
            "U1",
            "U2"
          ])
          yield* TestClock.setTime(4_000)
          const forged = yield* Model.finalise(Page, { id: page.id, title: "c", version: 2 })
          assert.deepStrictEqual(auditOf(yield* as("U3", pages.replace(forged))), [2_000, 4_000, "U1", "U3"])
          yield* TestClock.setTime(5_000)
          yield* pages.updateOne(($) => $.id.equals(page.id), ($) => [$.title.set("d")])
          const last = yield* pages.findById(page.id)
          assert.deepStrictEqual(auditOf(last), [2_000, 5_000, "U1", "U3"])
          assert.deepStrictEqual([last.title, last.version], ["d", 4])
          const conflict = yield* Effect.flip(pages.replace(forged))
          assert.strictEqual(conflict._tag, "VersionConflict")
        }))

      it.effect("audits what it saves and inserts in bulk, without a version as well", () =>
        Effect.gen(function*() {
          const drafts = yield* Repository.for(Draft)
          const draft = yield* Model.finalise(Draft, { title: "a" })
          yield* TestClock.setTime(10_000)
          const saved = yield* drafts.save(draft)
          assert.deepStrictEqual([saved.inserted.epochMilliseconds, saved.created_by], [10_000, undefined])
          yield* TestClock.setTime(20_000)
          const again = yield* as("U1", drafts.save(draft))
          assert.deepStrictEqual(
            [again.inserted.epochMilliseconds, again.updated.epochMilliseconds, again.created_by, again.updated_by],
            [10_000, 20_000, undefined, "U1"]
          )
          yield* drafts.bulkInsert(yield* Effect.forEach(["b", "c"], (title) => Model.finalise(Draft, { title })))
          const found = yield* drafts.find(($) => $.title.in(["b", "c"]))
          assert.deepStrictEqual(found.map(({ inserted }) => inserted.epochMilliseconds), [20_000, 20_000])
        }))

      it.effect("syncs the installed indexes with the model", () =>
        Effect.gen(function*() {
          const items = yield* Repository.for(Item)
          const store = yield* DocumentStore.DocumentStore
          yield* store.createIndexes("Item", [{ name: "old_1", key: { old: 1 } }])
          assert.deepStrictEqual((yield* items.syncIndexes).dropped, ["old_1"])
          assert.deepStrictEqual((yield* store.listIndexes("Item")).map(({ name }) => name), ["name_1"])
        }))
    }
  )
)
