/** Small pipelines of excessive cost, and their documents. */
import { type Duration, Effect } from "effect"
import type { Document, DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"

/** The outcome of a pipeline: rejected, timed out, or successful. */
type End = "QueryRejected" | "QueryTimeout" | "done"

export interface Attack {
  readonly name: string
  readonly collection: "one" | "few" | "many"
  readonly pipeline: ReadonlyArray<Document>
  /** With several outcomes, the speed of the machine decides. */
  readonly ends: ReadonlyArray<End>
  readonly timeLimit: Duration.Input
}

/** The collections: one large document, a thousand with a list each, and a hundred thousand small ones. */
export const fill = Effect.fnUntraced(function*(store: DocumentStore["Service"]) {
  yield* store.insertMany("one", [{
    _id: 1,
    a: [1, 2],
    s: "ab",
    text: "a".repeat(200_000),
    numbers: times(1_000, (i) => i),
    documents: times(20_000, (i) => ({ b: i % 7 }))
  }])
  yield* store.insertMany("few", times(1_000, (_id) => ({ _id, k: _id % 10, list: times(100, (i) => i) })))
  for (let from = 0; from < 100_000; from += 10_000) {
    yield* store.insertMany(
      "many",
      times(10_000, (i) => ({ _id: from + i, k: i % 100, s: `some text ${from + i}`, o: { a: 1, b: [1, 2, 3] } }))
    )
  }
})

const times = <A>(count: number, make: (i: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, i) => make(i))

const named = (count: number, make: (i: number) => unknown): Document =>
  Object.fromEntries(times(count, (i) => [`f${i}`, make(i)]))

const nested = (levels: number, innermost: unknown, wrap: (inner: unknown) => unknown): unknown =>
  times(levels, (i) => i).reduce<unknown>((inner) => wrap(inner), innermost)

const computing = (r: unknown): ReadonlyArray<Document> => [{ $project: { r } }]

const reducing = (rounds: number, initialValue: unknown, inner: unknown) =>
  computing({ $reduce: { input: { $range: [0, rounds] }, initialValue, in: inner } })

const perNumber = (inner: unknown) => computing({ $map: { input: "$numbers", in: inner } })

const twice = (operator: string, operand: string) => ({ [operator]: [operand, operand] })

const slowExpression = {
  $gt: [{ $size: { $map: { input: { $range: [0, 20_000] }, in: { $add: ["$$this", 1] } } } }, 1]
}

const lists = { a: "$list", b: "$list", c: "$list", d: "$list", e: "$list", f: "$list" }

const unwindings = Object.keys(lists).map((key) => ({ $unwind: `$${key}` }))

const deepPath = `$$v${".b".repeat(28)}`

const refused: ReadonlyArray<
  readonly [name: string, collection: Attack["collection"], pipeline: ReadonlyArray<Document>]
> = [
  ["an array that doubles in 28 stages", "one", times(28, () => ({ $addFields: { a: twice("$concatArrays", "$a") } }))],
  ["an array that doubles in 22 stages", "one", times(22, () => ({ $addFields: { a: twice("$concatArrays", "$a") } }))],
  ["an array that doubles in $reduce, 28 times", "one", reducing(28, [1], twice("$concatArrays", "$$value"))],
  ["an array that doubles in $reduce, 22 times", "one", reducing(22, [1], twice("$concatArrays", "$$value"))],
  ["an array of itself in 28 stages", "one", times(28, () => ({ $addFields: { a: ["$a", "$a"] } }))],
  ["a document of itself in 28 stages", "one", times(28, () => ({ $replaceWith: { x: "$$ROOT", y: "$$ROOT" } }))],
  ["an array of itself in $reduce", "one", reducing(28, 1, ["$$value", "$$value"])],
  [
    "an array of itself that is compared",
    "one",
    reducing(28, { x: 1, y: true }, {
      x: ["$$value", "$$value"],
      y: { $eq: [["$$value"], ["$$value"]] }
    })
  ],
  [
    "an array of itself that a path leads through",
    "one",
    computing({
      $let: {
        vars: { v: 1 },
        in: nested(28, deepPath, (inner) => ({ $let: { vars: { v: { b: ["$$v", "$$v"] } }, in: inner } }))
      }
    })
  ],
  ["a text that doubles in 28 stages", "one", times(28, () => ({ $addFields: { s: twice("$concat", "$s") } }))],
  ["a text that doubles in $reduce", "one", reducing(40, "ab", twice("$concat", "$$value"))],
  [
    "a text that $replaceAll makes longer",
    "one",
    reducing(8, "aaaaaaaa", {
      $replaceAll: { input: "$$value", find: "a", replacement: "a".repeat(16) }
    })
  ],
  ["a $range of a billion numbers", "one", computing({ $range: [0, 1e9] })],
  [
    "$map in $map in $map in $map",
    "one",
    computing(
      nested(4, 1, (inner) => ({ $map: { input: { $range: [0, 1_000] }, in: inner } }))
    )
  ],
  ["$map of large arrays", "one", perNumber("$documents")],
  ["$map of a path through a large array", "one", perNumber("$documents.b")],
  ["$map of a path that leads nowhere", "one", perNumber("$documents.nothing")],
  ["$map of reversed arrays", "one", perNumber({ $size: { $reverseArray: "$documents" } })],
  ["$map of searches in an array", "one", perNumber({ $in: [{ b: 99 }, "$documents"] })],
  ["$map of long texts", "one", perNumber({ $trim: { input: "$text", chars: "a" } })],
  ["$map of lengths of long texts", "one", perNumber({ $strLenCP: "$text" })],
  ["$map of regular expressions", "one", perNumber({ $regexMatch: { input: "$text", regex: "(b|c)+d" } })],
  [
    "$filter of half a million numbers",
    "one",
    computing({
      $filter: { input: { $range: [0, 500_000] }, cond: { $eq: [{ $mod: ["$$this", 7] }, 0] } }
    })
  ],
  [
    "a regular expression that matches 200,000 times",
    "one",
    computing({
      $regexFindAll: { input: "$text", regex: "a" }
    })
  ],
  [
    "a regular expression that looks far behind each match",
    "one",
    computing({
      $regexFindAll: { input: "$text", regex: "a.*b|a" }
    })
  ],
  [
    "a text that is almost everywhere in another",
    "one",
    computing({
      $indexOfBytes: ["$text", {
        $concat: [{ $substrCP: ["$text", 0, 500] }, "b", { $substrCP: ["$text", 0, 50_000] }]
      }]
    })
  ],
  [
    "$zip that grows by each of ten rounds",
    "one",
    reducing(10, "$numbers", {
      $zip: { inputs: ["$$value", "$$value", "$$value", "$$value"] }
    })
  ],
  ["$zip of a thousand large arrays", "one", computing({ $zip: { inputs: times(1_000, () => "$documents") } })],
  [
    "$concatArrays of ten thousand large arrays",
    "one",
    computing({
      $concatArrays: times(10_000, () => "$documents")
    })
  ],
  [
    "$setUnion of values that hash alike",
    "one",
    computing({
      $setUnion: [{ $map: { input: { $range: [0, 100_000] }, in: [{ $multiply: ["$$this", 4294967296] }] } }]
    })
  ],
  [
    "$sortArray of arrays",
    "one",
    computing({
      $sortArray: { input: { $map: { input: { $range: [0, 1_000] }, in: { $range: [0, 1_000] } } }, sortBy: 1 }
    })
  ],
  [
    "$mergeObjects of ever more fields",
    "one",
    reducing(100_000, {}, {
      $mergeObjects: ["$$value", { $arrayToObject: [[{ k: { $toString: "$$this" }, v: 1 }]] }]
    })
  ],
  ["$cond, 10,000 levels deep", "one", computing(nested(10_000, 1, (inner) => ({ $cond: [true, inner, 0] })))],
  ["2,000 stages", "few", times(2_000, () => ({ $skip: 0 }))],
  ["$facet with 500 times all documents", "few", [{ $facet: named(500, () => []) }]],
  ["$facet with unwound lists", "few", [{ $facet: named(20, () => [{ $unwind: "$list" }]) }]],
  ["$facet of $facet", "few", times(20, () => ({ $facet: { a: [], b: [] } }))],
  ["$group that pushes everything, 30 times", "many", [{
    $group: { _id: null, ...named(30, () => ({ $push: "$$ROOT" })) }
  }]],
  ["$group that pushes what it makes", "many", [{ $group: { _id: null, all: { $push: { $range: [0, 1_000] } } } }]],
  ["$group that pushes to many groups", "many", [{ $group: { _id: "$_id", all: { $push: { $range: [0, 1_000] } } } }]],
  ["$bucketAuto that pushes what it makes", "many", [{
    $bucketAuto: { groupBy: "$_id", buckets: 5, output: { all: { $push: { $range: [0, 1_000] } } } }
  }]],
  ["$sort of what two lists make", "few", [
    { $addFields: { a: "$list", b: "$list" } },
    { $unwind: "$a" },
    { $unwind: "$b" },
    { $sort: { a: 1 } }
  ]],
  ["$sort of documents that were made large", "many", [
    { $addFields: { r: { $range: [0, 200] } } },
    { $sort: { s: -1 } }
  ]],
  ["$lookup of everything, sorted", "few", [
    { $lookup: { from: "few", localField: "nothing", foreignField: "nothing", as: "all" } },
    { $lookup: { from: "few", localField: "nothing", foreignField: "nothing", as: "more" } },
    { $sort: { all: 1 } }
  ]]
]

const bounded: typeof refused = [
  ["an array that doubles in 17 stages, for each document", "few", [
    { $addFields: { a: [1, 2] } },
    ...times(17, () => ({ $addFields: { a: twice("$concatArrays", "$a") } }))
  ]],
  ["six lists that are unwound", "few", [{ $addFields: lists }, ...unwindings, { $count: "n" }]],
  ["six lists that are unwound and grouped", "few", [
    { $addFields: lists },
    ...unwindings,
    { $group: { _id: "$a", n: { $sum: 1 } } }
  ]],
  ["steps without end in $densify", "few", [
    { $densify: { field: "_id", range: { step: 1e-9, bounds: "full" } } },
    { $count: "n" }
  ]],
  ["$match with a slow expression", "few", [{ $match: { $expr: slowExpression } }]],
  ["$match with a slow expression, later", "few", [{ $skip: 1 }, { $match: { $expr: slowExpression } }]],
  ["a hundred times all documents", "few", times(100, () => ({ $unionWith: "many" }))],
  ["$lookup of everything", "few", [
    { $lookup: { from: "many", localField: "nothing", foreignField: "nothing", as: "all" } }
  ]],
  ["$lookup of everything by an inequality", "few", [
    {
      $lookup: {
        from: "many",
        let: { id: "$_id" },
        pipeline: [{ $match: { $expr: { $gt: ["$_id", "$$id"] } } }],
        as: "all"
      }
    }
  ]],
  ["all documents before each one", "many", [{
    $setWindowFields: {
      sortBy: { _id: 1 },
      output: { all: { $push: "$$ROOT", window: { documents: ["unbounded", "current"] } } }
    }
  }]]
]

const affordable: typeof refused = [
  ["an array that doubles in 17 stages", "one", times(17, () => ({ $addFields: { a: twice("$concatArrays", "$a") } }))],
  ["an array that doubles in $reduce, 15 times", "one", reducing(15, [1], twice("$concatArrays", "$$value"))],
  ["a $range of a million numbers", "one", computing({ $range: [0, 1e6] })],
  ["nothing, 60 levels deep", "one", computing(nested(60, "$nothing", (inner) => ({ inner })))],
  ["$cond, 60 levels deep", "one", computing(nested(60, 1, (inner) => ({ $cond: [true, inner, 0] })))],
  ["$first of large arrays", "one", computing({ $first: { $map: { input: "$numbers", in: "$documents" } } })],
  ["a list that is unwound six times", "few", times(6, () => ({ $unwind: "$list" }))],
  ["$group that pushes 100,000 documents", "many", [{ $group: { _id: null, all: { $push: "$$ROOT" } } }]],
  ["$group of 100,000 different texts", "many", [{ $group: { _id: null, all: { $addToSet: "$s" } } }]],
  ["$group with what has to be sorted", "many", [{
    $group: {
      _id: null,
      last: { $topN: { n: 5, sortBy: { s: -1 }, output: "$s" } },
      median: { $median: { input: "$_id", method: "approximate" } },
      deviation: { $stdDevPop: "$_id" }
    }
  }]],
  ["$setWindowFields over everything", "many", [{
    $setWindowFields: {
      sortBy: { _id: 1 },
      output: { n: { $sum: "$k", window: { documents: ["unbounded", "current"] } } }
    }
  }]],
  ["$sort of 100,000 documents", "many", [{ $sort: { s: -1 } }]],
  ["$sort by large values", "few", [{ $addFields: { r: { x: { $range: [0, 2_000] } } } }, { $sort: { r: 1 } }]],
  ["$bucketAuto of 100,000 documents", "many", [{ $bucketAuto: { groupBy: "$_id", buckets: 7 } }]],
  ["$sample of more than there are", "many", [{ $sample: { size: 1e9 } }]],
  ["a field of what are no documents", "one", [
    { $addFields: { q: { $range: [0, 100_000] } } },
    { $project: { "q.b": 1, x: { $add: [1, 2] } } }
  ]]
]

const ending = (given: typeof refused, timeLimit: Duration.Input, ...ends: ReadonlyArray<End>): ReadonlyArray<Attack> =>
  given.map(([name, collection, pipeline]) => ({ name, collection, pipeline, ends, timeLimit }))

export const attacks: ReadonlyArray<Attack> = [
  // What they compute ends them, however slow the machine is.
  ...ending(refused, "5 minutes", "QueryRejected"),
  ...ending(bounded, "300 millis", "QueryTimeout", "QueryRejected", "done"),
  ...ending(affordable, "5 minutes", "done")
]
