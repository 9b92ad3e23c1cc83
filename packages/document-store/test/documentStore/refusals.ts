import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter, FindOptions, Update } from "../../src/DocumentStore.ts"
import { collectionOf, type Store, type Tests } from "./collection.ts"

/** What is malformed is refused, never ignored, and changes nothing. */
export const refusalContract = (it: Tests, differs: Differs) => {
  type Call = (store: Store, collection: string) => Effect.Effect<unknown, { readonly _tag: string }>

  const refuses = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>, calls: ReadonlyArray<Call>) {
    const { all, name, store } = yield* collectionOf(documents)
    for (const [place, call] of calls.entries()) {
      const error = yield* Effect.flip(call(store, name))
      assert.include(["QueryRejected", "Unsupported"], error._tag, `call ${place}`)
      assert.deepStrictEqual(yield* all, documents)
    }
  })

  it.effect.each<[string, Filter]>([
    ...malformedFilters,
    ...differs("expressionsOfItems") ? [] : expressionsOfItems,
    ["an unknown operator of a field beside a known one", { a: { $gte: 1, $foo: 1 } }],
    ["values beside an $elemMatch in $all", { l: { $all: [1, { $elemMatch: { $gt: 0 } }] } }],
    ["an $elemMatch beside values in $all", { l: { $all: [{ $elemMatch: { $gt: 0 } }, 1] } }],
    ["an unknown operator of an item", { l: { $elemMatch: { $foo: 1 } } }],
    ["an unknown operator of an item's field", { l: { $elemMatch: { x: { $foo: 1 } } } }]
  ])("refuses a filter with %s", ([, filter]) =>
    refuses(documents, [
      (store, name) => store.find(name, { filter }),
      (store, name) => Stream.runDrain(store.stream(name, { filter })),
      (store, name) => store.count(name, filter),
      (store, name) => store.updateOne(name, filter, { $set: { b: 9 } }),
      (store, name) => store.updateOne(name, filter, { $set: { b: 9 } }, { upsert: true }),
      (store, name) => store.updateMany(name, filter, { $set: { b: 9 } }),
      (store, name) => store.replaceOne(name, filter, { b: 9 }),
      (store, name) => store.deleteOne(name, filter),
      (store, name) => store.deleteMany(name, filter),
      (store, name) => Stream.runDrain(store.aggregate(name, [{ $match: filter }]))
    ]))

  it.effect.each(malformedFilters)(
    "rejects a filter with %s on an empty collection",
    ([, filter]) =>
      refuses([], [
        (store, name) => store.find(name, { filter }),
        (store, name) => Stream.runDrain(store.stream(name, { filter }))
      ])
  )

  if (!differs("laxIdentifiers")) {
    it.effect.each([[[1]], [/a/], [{ $a: 1 }]])("refuses the identifier %o", ([_id]) =>
      refuses(documents, [
        (store, name) => store.insertOne(name, { _id }),
        (store, name) => store.updateOne(name, { a: "none" }, { $set: { _id } }, { upsert: true })
      ]))
  }

  it.effect.each<[string, FindOptions]>([
    ["a negative skip", { skip: -1 }],
    ["a negative limit", { limit: -1 }],
    ["a limit that is no whole number", { limit: 1.5 }],
    ["fields that are both included and excluded", { projection: { a: 1, b: 0 } }],
    ["a projection of a path and of a part of it", { projection: { n: 1, "n.x": 1 } }]
  ])("refuses to find with %s", ([, options]) =>
    Effect.forEach([documents, []], (documents) =>
      refuses(documents, [
        (store, name) => store.find(name, options),
        (store, name) => Stream.runDrain(store.stream(name, options))
      ])))

  it.effect("rejects a projection with an unknown operator", () =>
    refuses(documents, [(store, name) => store.find(name, { projection: { a: { $foo: "$b" } } })]))

  it.effect.each<[string, Update]>([
    ["an unknown operator", { $foo: { a: 1 } }],
    ["an unknown operator beside a known one", { $set: { a: 9 }, $foo: { b: 1 } }],
    ["no operators", { a: 9 }],
    ["nothing", {}],
    ["an operator and a field", { $set: { a: 9 }, b: 9 }],
    ["two changes of one path", { $set: { a: 9 }, $inc: { a: 1 } }],
    ["changes of a path and of a part of it", { $set: { n: {}, "n.x": 1 } }],
    ["an empty path", { $set: { "": 9 } }],
    ["an empty part of a path", { $set: { "n..x": 9 } }]
  ])(
    "rejects an update with %s, whether or not a document matches",
    ([, update]) =>
      Effect.forEach([documents, []], (documents) =>
        refuses(documents, [
          (store, name) => store.updateOne(name, { a: 1 }, update),
          (store, name) => store.updateOne(name, { a: 1 }, update, { upsert: true }),
          (store, name) => store.updateMany(name, {}, update)
        ]))
  )

  it.effect.each<[string, Update]>([
    ["increments by a text", { $inc: { a: "1" } }],
    ["multiplies by null", { $mul: { a: null } }],
    ["pops neither end", { $pop: { l: 2 } }],
    ["renames to what is no text", { $rename: { a: 9 } }],
    ["renames to the same name", { $rename: { a: "a" } }],
    ["pushes each of what is no list", { $push: { l: { $each: 1 } } }],
    ["pushes with an unknown modifier", { $push: { l: { $each: [1], $foo: 1 } } }],
    ["adds each of what is no list", { $addToSet: { l: { $each: 1 } } }],
    ["pulls by an unknown operator", { $pull: { l: { $foo: 1 } } }],
    ...differs("expressionsOfItems") ? [] : [
      ["pulls by an expression", { $pull: { l: { $or: [{ $expr: { $eq: ["$x", 1] } }] } } }] satisfies [string, Update]
    ],
    ["increments a text", { $inc: { s: 1 } }],
    ["increments null", { $inc: { nil: 1 } }],
    ["multiplies a text", { $mul: { s: 2 } }],
    ["pushes onto a text", { $push: { s: 1 } }],
    ["adds to a number as to a set", { $addToSet: { a: 1 } }],
    ["pulls from a text", { $pull: { s: 1 } }],
    ["pops from a number", { $pop: { a: 1 } }],
    ["sets a field of a text", { $set: { "s.x": 1 } }],
    ["sets a field of null", { $set: { "nil.x": 1 } }],
    ["sets a named field of a list", { $set: { "l.x": 1 } }],
    ["renames an item of a list", { $rename: { "l.0": "m" } }],
    ["renames a field of a list", { $rename: { "l.x": "m" } }],
    ["renames a field of a text", { $rename: { "s.x": "m" } }],
    ["changes the identifier", { $set: { _id: 9 } }],
    ["increments the identifier", { $inc: { _id: 1 } }],
    ["removes the identifier", { $unset: { _id: "" } }],
    ["renames the identifier", { $rename: { _id: "id" } }]
  ])(
    "rejects an update that %s, and changes nothing",
    ([, update]) =>
      Effect.forEach(
        [update, { ...update, $set: { first: 1, ...Object(update["$set"]) } }],
        (update) =>
          refuses(documents, [
            (store, name) => store.updateOne(name, { _id: 1 }, update),
            (store, name) => store.updateOne(name, { _id: 1 }, update, { upsert: true }),
            (store, name) => store.updateMany(name, { _id: 1 }, update)
          ])
      )
  )

  it.effect.each<[string, Filter, Document]>([
    ["with operators", { _id: 1 }, { $set: { a: 9 } }],
    ["by another identifier", { _id: 1 }, { _id: 3, a: 9 }],
    ["by the identifier of another document", { a: 1 }, { _id: 2 }]
  ])("refuses a replacement %s", ([, filter, document]) =>
    refuses(documents, [
      (store, name) => store.replaceOne(name, filter, document),
      (store, name) => store.replaceOne(name, filter, document, { upsert: true })
    ]))

  it.effect("rejects an upsert whose identifier differs from the filter's", () =>
    refuses([], [
      (store, name) => store.replaceOne(name, { _id: 1 }, { _id: 2 }, { upsert: true }),
      (store, name) => store.updateOne(name, { _id: 1 }, { $set: { _id: 2 } }, { upsert: true })
    ]))

  it.effect.each<[string, Document]>([
    ["itself in it", itself],
    ["a null character in a key", { _id: 3, "a\0b": 1 }]
  ])("refuses a document with %s", ([, document]) =>
    refuses(documents, [
      (store, name) => store.insertOne(name, document),
      (store, name) => store.replaceOne(name, { _id: 1 }, document)
    ]))

  it.effect.each<[string, Document]>([
    ["an unknown stage", { $foo: 1 }],
    ["a stage of two", { $match: {}, $limit: 1 }],
    ["a stage of nothing", {}],
    ["an unknown operator in an expression", { $project: { b: { $foo: "$a" } } }],
    ["an unknown operator in a nested expression", { $addFields: { b: { $add: [1, { $foo: "$a" }] } } }],
    ["an unknown operator in a group's identifier", { $group: { _id: { $foo: "$a" } } }],
    ["a group without identifier", { $group: { n: { $sum: 1 } } }],
    ["an unknown accumulator", { $group: { _id: null, n: { $foo: 1 } } }],
    ["a best value without what it outputs", { $group: { _id: null, n: { $top: { sortBy: { a: 1 } } } } }],
    ["a group's field that accumulates nothing", { $group: { _id: null, n: 1 } }],
    ["a limit of 0", { $limit: 0 }],
    ["a negative skip", { $skip: -1 }],
    ["a sort by nothing", { $sort: {} }],
    ["a sort in no direction", { $sort: { a: 2 } }],
    ["a projection of nothing", { $project: {} }],
    ["an unwound path without $", { $unwind: "l" }],
    ["a count without name", { $count: "" }],
    ["facets that are no pipelines", { $facet: { a: 1 } }],
    ["an unknown stage in a facet", { $facet: { a: [{ $foo: 1 }] } }],
    ["an unknown variable", { $project: { b: "$$foo" } }]
  ])(
    "rejects a pipeline with %s, whether or not it gets documents",
    ([, stage]) =>
      Effect.forEach([documents, []], (documents) =>
        refuses(documents, [
          (store, name) => Stream.runDrain(store.aggregate(name, [stage])),
          (store, name) => Stream.runDrain(store.aggregate(name, [{ $match: {} }, { $skip: 5 }, stage, { $limit: 1 }]))
        ]))
  )

  it.effect.each([
    "$rank",
    "$denseRank",
    "$documentNumber",
    "$shift",
    "$derivative",
    "$integral",
    "$expMovingAvg",
    "$linearFill",
    "$locf",
    "$push",
    "$addToSet",
    "$top",
    "$bottom",
    "$covariancePop",
    "$foo"
  ])(
    "rejects %s as an expression by name, whether or not it gets documents",
    (operator) =>
      Effect.forEach([documents, []], (documents) =>
        Effect.gen(function*() {
          const { name, store } = yield* collectionOf(documents)
          const expression = { [operator]: {} }
          const pipelines: ReadonlyArray<Document> = [
            { $project: { r: expression } },
            { $project: { r: { $add: [1, expression] } } },
            { $addFields: { r: expression } },
            { $group: { _id: expression } },
            { $group: { _id: null, r: { $sum: expression } } }
          ]
          const errors = yield* Effect.forEach([
            ...pipelines.map((stage) => Stream.runDrain(store.aggregate(name, [stage]))),
            ...documents.length === 0 ? [] : [
              store.find(name, { projection: { r: expression } }),
              store.find(name, { filter: { $expr: expression } })
            ]
          ], (call: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) => Effect.flip(call))
          for (const error of errors) {
            assert.strictEqual(error._tag, "QueryRejected")
            assert.include(error.message, operator)
          }
        }))
  )
}

const malformedFilters: Array<[string, Filter]> = [
  ["an unknown operator of a field", { a: { $foo: 1 } }],
  ["an unknown operator of the filter", { $foo: [{ a: 1 }] }],
  ["an unknown operator in a branch", { $or: [{ a: 9 }, { $and: [{ b: { $foo: 1 } }] }] }],
  ["an unknown operator that is negated", { a: { $not: { $foo: 1 } } }],
  ["an unknown operator of an expression", { $expr: { $foo: ["$a", 1] } }],
  ["no alternatives", { $or: [] }],
  ["alternatives that are no list", { $and: { a: 1 } }],
  ["alternatives that are no filters", { $nor: [1] }],
  ["one of what is no list", { a: { $in: 1 } }],
  ["none of what is no list", { a: { $nin: "x" } }],
  ["one of several operators", { a: { $in: [{ $gt: 1 }] } }],
  ["all of what is no list", { a: { $all: 1 } }],
  ["a negated value", { a: { $not: 1 } }],
  ["an item that is no filter", { l: { $elemMatch: 1 } }],
  ["a negative size", { l: { $size: -1 } }],
  ["a size that is no number", { l: { $size: "1" } }],
  ["a remainder of a division by 0", { a: { $mod: [0, 0] } }],
  ["a remainder that is no pair", { a: { $mod: [2] } }],
  ["an unknown type", { a: { $type: "integer" } }],
  ["a malformed pattern", { a: { $regex: "(" } }],
  ["a pattern that is no text", { a: { $regex: 1 } }],
  ["an unknown option of a pattern", { a: { $regex: "a", $options: "q" } }],
  ["options without a pattern", { a: { $options: "i" } }]
]

const expressionsOfItems: ReadonlyArray<[string, Filter]> = [
  ["an expression of an item", { l: { $elemMatch: { x: 1, $expr: { $eq: ["$x", 1] } } } }],
  ["an expression in a branch of an item", { l: { $elemMatch: { $and: [{ $expr: { $eq: ["$x", 1] } }] } } }]
]

const documents: ReadonlyArray<Document> = [
  { _id: 1, a: 1, b: 1, s: "text", nil: null, n: { x: 1 }, l: [1, { x: 1 }] },
  { _id: 2, a: 2, l: [] }
]

const itself: Record<string, unknown> = { _id: 3 }
itself["self"] = itself
