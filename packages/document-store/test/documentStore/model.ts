import { assert } from "@effect/vitest"
import { Arbitrary, Data, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { either, oneOf, type Some, upTo } from "../../../../test/support/choices.ts"
import * as Model from "../../../../test/support/modelStore.ts"
import type { Document, InsertManyResult } from "../../src/DocumentStore.ts"
import type { StoreError } from "../../src/StoreError.ts"
import { collectionOf, type Store, type Tests } from "./collection.ts"

/** Whatever is done to a store, it answers and holds what the plainest of all stores does. */
export const modelContract = (it: Tests) => {
  it.effect.prop(
    "behaves like a simple model of a store, step by step",
    { steps: Arbitrary.array(step, { minLength: 10, maxLength: 30 }), isIndexed: Arbitrary.schema(Schema.Boolean) },
    ({ isIndexed, steps }) =>
      TestClock.withLive(Effect.gen(function*() {
        const { name, store } = yield* collectionOf([])
        yield* store.createIndexes(name, isIndexed ? [unique, ...others] : [unique])
        let things: Model.Things = new Map()
        for (const [place, { expect, query, run, title }] of steps.entries()) {
          const where = `step ${place}: ${title}`
          const expected = expect(things)
          const [result, message] = yield* Effect.match(run(store, name), {
            onSuccess: (answer) => [answer, ""] as const,
            onFailure: ({ _tag, message }) => [_tag, message] as const
          })
          assert.deepStrictEqual<unknown>(result, expected.result, `${where}: ${message}`)
          things = expected.things
          assert.deepStrictEqual(yield* store.find(name, { sort: { _id: 1 } }), inOrder(things), where)
          yield* query(store, name, things, where)
        }
        assert.strictEqual(yield* store.count(name, {}), things.size)
        assert.strictEqual(yield* store.estimatedCount(name), things.size)
      })),
    { arbitrary: { runs: 60 } }
  )
}

class GivenUp extends Data.TaggedError("given up") {}

const unique = { name: "u", key: { u: 1 }, unique: true, sparse: true } as const

const others = [
  { name: "a", key: { a: 1 } },
  { name: "s and a", key: { s: -1, a: 1 } },
  { name: "l", key: { l: 1 } }
] as const

const inOrder = (things: Model.Things): ReadonlyArray<Document> =>
  Array.from(things.values()).toSorted((a, b) => a._id - b._id).map((thing) => ({ ...thing }))

// What a step does to the model and to a store, and what is asked afterwards.
interface Step {
  readonly title: string
  readonly expect: (things: Model.Things) => Model.Outcome
  readonly run: (store: Store, name: string) => Effect.Effect<unknown, StoreError | GivenUp>
  readonly query: (
    store: Store,
    name: string,
    things: Model.Things,
    where: string
  ) => Effect.Effect<void, StoreError>
}

type Write = Omit<Step, "query">

const flag = oneOf(true, false)

// Few of each, so that they meet.
const id = upTo(7)
const number = upTo(4)
const text = oneOf("", "a", "ab", "b")
const list = Arbitrary.array(number, { maxLength: 3 })

const maybe = <A>(value: Some<A>): Some<A | undefined> =>
  either<A | undefined>(Arbitrary.Constant(undefined), value, value)

const content: Some<Model.Content> = Arbitrary.map(
  Arbitrary.all({ a: maybe(number), s: maybe(text), l: maybe(list), u: maybe(upTo(9)) }),
  ({ a, l, s, u }) => ({
    ...a === undefined ? {} : { a },
    ...s === undefined ? {} : { s },
    ...l === undefined ? {} : { l },
    ...u === undefined ? {} : { u }
  })
)

const thing: Some<Model.Thing> = Arbitrary.map(Arbitrary.all([id, content]), ([_id, content]) => ({ _id, ...content }))

const simple = either<Model.Condition>(
  Arbitrary.Constant({ filter: {}, holds: () => true }),
  Arbitrary.map(number, (n) => ({ filter: { a: n }, holds: ({ a }) => a === n })),
  Arbitrary.map(number, (n) => ({ filter: { a: { $ne: n } }, holds: ({ a }) => a !== n })),
  Arbitrary.map(number, (n) => ({ filter: { a: { $gt: n } }, holds: ({ a }) => a !== undefined && a > n })),
  Arbitrary.map(number, (n) => ({ filter: { a: { $lte: n } }, holds: ({ a }) => a !== undefined && a <= n })),
  Arbitrary.map(flag, (is) => ({ filter: { a: { $exists: is } }, holds: ({ a }) => (a !== undefined) === is })),
  Arbitrary.map(Arbitrary.all([text, text]), (texts) => ({
    filter: { s: { $in: texts } },
    holds: ({ s }) => texts.some((text) => text === s)
  })),
  Arbitrary.map(text, (prefix) => ({
    filter: { s: { $regex: `^${prefix}` } },
    holds: ({ s }) => s?.startsWith(prefix) === true
  })),
  Arbitrary.map(number, (n) => ({ filter: { l: n }, holds: ({ l }) => l?.includes(n) === true })),
  Arbitrary.map(upTo(2), (size) => ({ filter: { l: { $size: size } }, holds: ({ l }) => l?.length === size })),
  Arbitrary.map(number, (n) => ({
    filter: { l: { $elemMatch: { $gte: n } } },
    holds: ({ l }) => l?.some((item) => item >= n) === true
  })),
  Arbitrary.map(id, (n) => ({ filter: { _id: { $gte: n } }, holds: ({ _id }) => _id >= n }))
)

const condition = either<Model.Condition>(
  simple,
  simple,
  simple,
  Arbitrary.map(
    Arbitrary.all([simple, simple]),
    (both) => ({
      filter: { $and: both.map(({ filter }) => filter) },
      holds: (_) => both.every(({ holds }) => holds(_))
    })
  ),
  Arbitrary.map(
    Arbitrary.all([simple, simple]),
    (both) => ({ filter: { $or: both.map(({ filter }) => filter) }, holds: (_) => both.some(({ holds }) => holds(_)) })
  ),
  Arbitrary.map(
    Arbitrary.all([simple, simple]),
    (both) => ({
      filter: { $nor: both.map(({ filter }) => filter) },
      holds: (_) => !both.some(({ holds }) => holds(_))
    })
  )
)

const dropping = (field: "a" | "s" | "l" | "u") => (thing: Model.Thing): Model.Thing => {
  const { [field]: _, ...rest } = thing
  return rest
}

// Leaves `u` alone, whose order of writes would matter where there are many.
const change = either<Model.Change>(
  Arbitrary.map(number, (n) => ({ update: { $set: { a: n } }, apply: (_) => ({ ..._, a: n }) })),
  Arbitrary.map(
    Arbitrary.all([text, list]),
    ([s, l]) => ({ update: { $set: { s, l } }, apply: (_) => ({ ..._, s, l }) })
  ),
  Arbitrary.map(oneOf<"a" | "s" | "l">("a", "s", "l"), (field) => ({
    update: { $unset: { [field]: "" } },
    apply: dropping(field)
  })),
  Arbitrary.map(number, (n) => ({ update: { $inc: { a: n } }, apply: (_) => ({ ..._, a: (_.a ?? 0) + n }) })),
  Arbitrary.map(number, (n) => ({ update: { $mul: { a: n } }, apply: (_) => ({ ..._, a: (_.a ?? 0) * n }) })),
  Arbitrary.map(number, (n) => ({ update: { $min: { a: n } }, apply: (_) => ({ ..._, a: Math.min(_.a ?? n, n) }) })),
  Arbitrary.map(number, (n) => ({ update: { $max: { a: n } }, apply: (_) => ({ ..._, a: Math.max(_.a ?? n, n) }) })),
  Arbitrary.map(number, (n) => ({ update: { $push: { l: n } }, apply: (_) => ({ ..._, l: [..._.l ?? [], n] }) })),
  Arbitrary.map(Arbitrary.all([number, number]), (items) => ({
    update: { $push: { l: { $each: items, $slice: -3 } } },
    apply: (_) => ({ ..._, l: [..._.l ?? [], ...items].slice(-3) })
  })),
  Arbitrary.map(number, (n) => ({
    update: { $addToSet: { l: n } },
    apply: (_) => _.l?.includes(n) === true ? _ : { ..._, l: [..._.l ?? [], n] }
  })),
  Arbitrary.map(number, (n) => ({
    update: { $pull: { l: n } },
    apply: (_) => _.l === undefined ? _ : { ..._, l: _.l.filter((item) => item !== n) }
  })),
  Arbitrary.Constant({
    update: { $pop: { l: 1 } },
    apply: (_) => _.l === undefined ? _ : { ..._, l: _.l.slice(0, -1) }
  }),
  Arbitrary.map(Arbitrary.all([number, text]), ([n, s]) => ({
    update: { $inc: { a: n }, $set: { s }, $unset: { l: "" } },
    apply: (_) => ({ ...dropping("l")(_), a: (_.a ?? 0) + n, s })
  }))
)

const moving = either<Model.Change>(
  change,
  change,
  Arbitrary.map(upTo(9), (u) => ({ update: { $set: { u } }, apply: (_) => ({ ..._, u }) })),
  Arbitrary.Constant({ update: { $unset: { u: "" } }, apply: dropping("u") })
)

const told = (parts: object): string => JSON.stringify(parts)

const byId = (_id: number, { filter }: Model.Condition): Document => ({ $and: [{ _id }, filter] })

const facts = ({ failures, insertedCount }: InsertManyResult) => ({
  insertedCount,
  failures: failures.map(({ error, index }) => [index, error._tag] as const)
})

const which = oneOf<"before" | "after">("before", "after")

const sortOf = (isLast: boolean) => ({ _id: isLast ? -1 : 1 } as const)

const write = either<Write>(
  Arbitrary.map(thing, (thing) => ({
    title: `insertOne ${told(thing)}`,
    expect: (things) => Model.insert(things, thing),
    run: (store, name) => store.insertOne(name, { ...thing })
  })),
  Arbitrary.map(thing, (thing) => ({
    title: `insertOne ${told(thing)}`,
    expect: (things) => Model.insert(things, thing),
    run: (store, name) => store.insertOne(name, { ...thing })
  })),
  // Two conditions might ask for one value twice, of which MongoDB makes no document.
  Arbitrary.map(Arbitrary.all([id, simple, content, flag]), ([id, condition, content, upsert]) => ({
    title: `replaceOne ${told([id, condition, content, upsert])}`,
    expect: (things) => Model.replaceOne(things, id, condition, content, upsert),
    run: (store, name) => store.replaceOne(name, byId(id, condition), { ...content }, { upsert })
  })),
  Arbitrary.map(Arbitrary.all([id, condition, moving]), ([id, condition, change]) => ({
    title: `updateOne ${told([id, condition, change])}`,
    expect: (things) => Model.updateOne(things, id, condition, change),
    run: (store, name) => store.updateOne(name, byId(id, condition), change.update)
  })),
  Arbitrary.map(Arbitrary.all([id, moving]), ([id, change]) => ({
    title: `upsert ${told([id, change])}`,
    expect: (things) => Model.upsertOne(things, id, change),
    run: (store, name) => store.updateOne(name, { _id: id }, change.update, { upsert: true })
  })),
  Arbitrary.map(Arbitrary.all([condition, change]), ([condition, change]) => ({
    title: `updateMany ${told([condition, change])}`,
    expect: (things) => Model.updateMany(things, condition, change),
    run: (store, name) => store.updateMany(name, condition.filter, change.update)
  })),
  Arbitrary.map(Arbitrary.all([condition, flag, moving, which]), ([condition, isLast, change, which]) => ({
    title: `findOneAndUpdate ${told([condition, isLast, change, which])}`,
    expect: (things) => Model.findOneAndUpdate(things, condition, isLast, change, which),
    run: (store, name) =>
      store.findOneAndUpdate(name, condition.filter, change.update, { sort: sortOf(isLast), returnDocument: which })
  })),
  Arbitrary.map(Arbitrary.all([condition, flag, content, which]), ([condition, isLast, content, which]) => ({
    title: `findOneAndReplace ${told([condition, isLast, content, which])}`,
    expect: (things) => Model.findOneAndReplace(things, condition, isLast, content, which),
    run: (store, name) =>
      store.findOneAndReplace(name, condition.filter, { ...content }, { sort: sortOf(isLast), returnDocument: which })
  })),
  Arbitrary.map(Arbitrary.all([condition, flag]), ([condition, isLast]) => ({
    title: `findOneAndDelete ${told([condition, isLast])}`,
    expect: (things) => Model.findOneAndDelete(things, condition, isLast),
    run: (store, name) => store.findOneAndDelete(name, condition.filter, { sort: sortOf(isLast) })
  })),
  Arbitrary.map(Arbitrary.all([id, condition]), ([id, condition]) => ({
    title: `deleteOne ${told([id, condition])}`,
    expect: (things) => Model.deleteOne(things, id, condition),
    run: (store, name) => store.deleteOne(name, byId(id, condition))
  })),
  Arbitrary.map(Arbitrary.all([condition, condition]), ([one, other]) => ({
    title: `deleteMany ${told([one, other])}`,
    expect: (things) =>
      Model.deleteMany(things, { filter: {}, holds: (thing) => one.holds(thing) && other.holds(thing) }),
    run: (store, name) => store.deleteMany(name, { $and: [one.filter, other.filter] })
  }))
)

const insertMany: Some<Write> = Arbitrary.map(
  Arbitrary.all([Arbitrary.array(thing, { minLength: 1, maxLength: 4 }), flag]),
  ([all, ordered]) => ({
    title: `insertMany ${told([all, ordered])}`,
    expect: (things) => Model.insertMany(things, all, ordered),
    run: (store, name) => Effect.map(store.insertMany(name, all.map((thing) => ({ ...thing })), { ordered }), facts)
  })
)

const transaction: Some<Write> = Arbitrary.map(
  Arbitrary.all([Arbitrary.array(write, { minLength: 1, maxLength: 4 }), oneOf(true, true, false)]),
  ([writes, succeeds]) => ({
    title: `transaction of ${writes.map(({ title }) => title).join(", ")}${succeeds ? "" : ", given up"}`,
    expect: (things) => Model.transaction(things, writes.map(({ expect }) => expect), succeeds),
    run: (store, name) =>
      store.transaction(Effect.andThen(
        Effect.forEach(writes, ({ run }) => run(store, name)),
        (results) => succeeds ? Effect.succeed(results) : Effect.fail(new GivenUp())
      ))
  })
)

const query: Some<Step["query"]> = either<Step["query"]>(
  Arbitrary.map(
    Arbitrary.all([condition, flag, upTo(2), upTo(4)]),
    ([condition, isLast, skip, limit]) =>
      Effect.fnUntraced(function*(store, name, things, where) {
        const found = Model.matching(things, condition).map((thing): Document => ({ ...thing }))
        const expected = (isLast ? found.toReversed() : found).slice(skip, skip + limit)
        const options = { filter: condition.filter, sort: sortOf(isLast), skip, limit }
        assert.deepStrictEqual(yield* store.find(name, options), expected, `find after ${where}`)
        const counted = { documents: expected, total: found.length }
        assert.deepStrictEqual(yield* store.findAndCount(name, options), counted, `findAndCount after ${where}`)
        const { find: { atOnce: find }, findAndCount: { atOnce: findAndCount } } = store
        if (find === undefined || findAndCount === undefined) return
        assert.deepStrictEqual(find(name, options, 0), expected, `find.atOnce after ${where}`)
        assert.deepStrictEqual(findAndCount(name, options, 0), counted, `findAndCount.atOnce after ${where}`)
      })
  ),
  Arbitrary.map(condition, (condition) =>
    Effect.fnUntraced(function*(store, name, things, where) {
      const count = yield* store.count(name, condition.filter)
      assert.strictEqual(count, Model.matching(things, condition).length, `count after ${where}`)
    })),
  Arbitrary.map(
    Arbitrary.all([oneOf<"a" | "s" | "l">("a", "s", "l"), condition]),
    ([path, condition]) =>
      Effect.fnUntraced(function*(store, name, things, where) {
        const values = yield* store.distinct(name, path, condition.filter)
        assert.sameMembers([...values], [...Model.distinct(things, path, condition)], `distinct after ${where}`)
      })
  ),
  Arbitrary.map(id, (id) =>
    Effect.fnUntraced(function*(store, name, things, where) {
      const thing = things.get(id)
      const expected = thing === undefined ? undefined : { ...thing }
      assert.deepStrictEqual(yield* store.findById(name, id), expected, `findById after ${where}`)
      const { atOnce } = store.findById
      if (atOnce !== undefined) assert.deepStrictEqual(atOnce(name, id), expected, `findById.atOnce after ${where}`)
    }))
)

const step: Some<Step> = Arbitrary.map(
  Arbitrary.all([either<Write>(write, write, write, write, insertMany, transaction), query]),
  ([write, query]) => ({ ...write, query })
)
