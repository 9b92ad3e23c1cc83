import { assert } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import type { Document, Filter, IndexDescription, Sort, Update } from "../../../../src/Repository/DocumentStore.ts"
import { either, oneOf, type Some } from "../../../support/choices.ts"
import type { Differs } from "../../../support/serverDifferences.ts"
import { collectionOf, day, type Tests } from "./collection.ts"

/** Indexes make no difference but to the time that something takes. */
export const equivalenceContract = (it: Tests, differs: Differs) => {
  const comparable = differs("partialIndexes")
    ? indexes.filter(({ partialFilterExpression }) => partialFilterExpression === undefined)
    : indexes
  it.effect.prop(
    "returns the same with indexes as without, after any writes",
    {
      documents: Arbitrary.array(document, { minLength: 8, maxLength: 16 }),
      writes: Arbitrary.array(write, { maxLength: 3 }),
      queries: Arbitrary.array(query, { minLength: 15, maxLength: 25 })
    },
    ({ documents, queries, writes }) =>
      Effect.gen(function*() {
        const stored = documents.map((document, _id) => ({ _id, ...document }))
        const plain = yield* collectionOf(stored)
        const indexed = yield* collectionOf([])
        const { store } = plain
        yield* store.createIndexes(indexed.name, indexes.slice(0, 3))
        yield* store.insertMany(indexed.name, stored)
        yield* store.createIndexes(indexed.name, comparable)
        for (const { filter, update } of writes) {
          const run = (name: string) =>
            update === undefined
              ? Effect.asSome(store.deleteMany(name, filter))
              : Effect.asSome(store.updateMany(name, filter, update))
          assert.deepStrictEqual(yield* run(indexed.name), yield* run(plain.name))
        }
        assert.deepStrictEqual(yield* indexed.all, yield* plain.all)
        for (const { filter, limit, skip, sort } of queries) {
          const options = { filter, sort: { ...sort, _id: 1 }, skip, limit } as const
          assert.deepStrictEqual(yield* indexed.find(options), yield* plain.find(options))
          assert.sameDeepMembers([...(yield* indexed.find({ filter }))], [...(yield* plain.find({ filter }))])
          assert.strictEqual(yield* store.count(indexed.name, filter), yield* store.count(plain.name, filter))
        }
      }),
    { timeout: 60_000, arbitrary: { runs: 40 } }
  )
}

// Each has at most one field that may hold a list.
const indexes: ReadonlyArray<IndexDescription> = [
  { name: "a", key: { a: 1 } },
  { name: "b and a", key: { b: -1, a: 1 } },
  { name: "every b", key: { b: 1, _id: 1 }, unique: true },
  { name: "c", key: { "c.x": 1 } },
  { name: "two of c", key: { "c.x": -1, "c.y": 1 } },
  { name: "some d", key: { d: 1 }, sparse: true },
  { name: "some c", key: { "c.y": 1, d: -1 }, sparse: true },
  { name: "a where b", key: { a: -1 }, partialFilterExpression: { b: { $gte: 0 } } },
  { name: "great d", key: { d: -1 }, partialFilterExpression: { d: { $gt: 0, $lte: 2 } } },
  { name: "c that is there", key: { "c.x": -1, d: 1 }, partialFilterExpression: { "c.x": { $exists: true } } },
  { name: "a of text", key: { a: 1, b: 1 }, partialFilterExpression: { a: { $type: "string" } } },
  { name: "b without d", key: { b: 1 }, partialFilterExpression: { d: null } }
]

const scalar = oneOf<unknown>(-1, 0, 1, 1.5, 2, null, "a", "b", true, day(1))

const list = Arbitrary.array(scalar, { minLength: 1, maxLength: 4 })

const nested = Arbitrary.map(Arbitrary.all([scalar, scalar]), ([x, y]): unknown => y === null ? { x } : { x, y })

const anyA = either(scalar, list, list, nested, oneOf<unknown>([], [[0]]))

const anyC = either(nested, Arbitrary.array(nested, { minLength: 1, maxLength: 3 }), oneOf<unknown>({}, [{}, 1], [], 1))

const field = (key: string, value: Some<unknown>): Some<Document> => {
  const present = Arbitrary.map(value, (value): Document => ({ [key]: value }))
  return either(Arbitrary.Constant({}), present, present, present)
}

const document = Arbitrary.map(
  Arbitrary.all([field("a", anyA), field("b", scalar), field("c", anyC), field("d", scalar)]),
  ([a, b, c, d]): Document => ({ ...a, ...b, ...c, ...d })
)

const bound = Arbitrary.map(
  Arbitrary.all([oneOf("$gt", "$gte", "$lt", "$lte"), oneOf<unknown>(-1, 0, 1, 2, "a", day(0))]),
  ([operator, value]) => ({ [operator]: value })
)

const condition = either<unknown>(
  scalar,
  scalar,
  anyA,
  nested,
  bound,
  bound,
  bound,
  Arbitrary.map(list, (values) => ({ $in: values })),
  Arbitrary.map(list, (values) => ({ $nin: values })),
  Arbitrary.map(scalar, (value) => ({ $ne: value })),
  Arbitrary.map(bound, (bound) => ({ $not: bound })),
  Arbitrary.map(bound, (bound) => ({ $elemMatch: bound })),
  oneOf<unknown>({ $exists: true }, { $exists: false }, { $type: "string" }, { $size: 1 }, { $all: [0, 1] }),
  oneOf<unknown>({ $regex: "A", $options: "i" }, { $regex: "^a" })
)

const on = (path: string): Some<Filter> => Arbitrary.map(condition, (condition) => ({ [path]: condition }))

const onAny = either(...["a", "a.x", "b", "c", "c.x", "c.y", "d"].map((path) => on(path)))

const filterOn = (path: string): Some<Filter> =>
  either<Filter>(
    on(path),
    on(path),
    on(path),
    Arbitrary.map(Arbitrary.all([bound, bound]), (bounds) => ({ $and: bounds.map((bound) => ({ [path]: bound })) })),
    Arbitrary.map(Arbitrary.all([on(path), onAny]), ([one, other]) => ({ ...one, ...other })),
    Arbitrary.map(
      Arbitrary.all([oneOf("$and", "$or", "$nor"), on(path), onAny]),
      ([operator, ...filters]) => ({ [operator]: filters })
    ),
    Arbitrary.Constant({})
  )

const queryOn = (path: string, ...sorts: ReadonlyArray<Sort>) =>
  Arbitrary.all({
    filter: filterOn(path),
    sort: oneOf({}, { [path]: 1 }, { [path]: -1 }, ...sorts),
    skip: oneOf(0, 0, 1),
    limit: oneOf<number | undefined>(undefined, 1, 3)
  })

const query = either(
  queryOn("a", { a: 1, b: -1 }),
  queryOn("b", { b: -1, a: 1 }, { b: 1, a: -1 }),
  queryOn("c.x", { "c.x": -1, "c.y": 1 }),
  queryOn("c.y", { "c.y": 1, d: -1 }),
  queryOn("d", { d: -1, "c.y": 1 })
)

const write = Arbitrary.all({
  filter: onAny,
  update: either<Update | undefined>(
    Arbitrary.Constant(undefined),
    Arbitrary.map(anyA, (a) => ({ $set: { a } })),
    Arbitrary.map(Arbitrary.all([scalar, anyC]), ([b, c]) => ({ $set: { b, c } })),
    oneOf({ $unset: { a: "", d: "" } }, { $unset: { b: "", c: "" } }, { $rename: { d: "a" } })
  )
})
