/** Generated pipelines whose results have an order that every store agrees on. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { expressions, kinds, references } from "./expressions.ts"
import { gapStages } from "./gaps.ts"
import { graphLookups, lookups, unions } from "./lookups.ts"
import { filters, projections, sorts } from "./queries.ts"
import { listOf, record, weighted } from "./values.ts"
import { windowStages } from "./windows.ts"

/** A part of a pipeline: one stage, or several that belong together. */
type Part = ReadonlyArray<Document>

const stage = (name: string, operand: Some<unknown>): Some<Part> =>
  Arbitrary.map(operand, (operand): Part => [{ [name]: operand }])

const byId: Document = { $sort: { _id: 1 } }

/** Groups have no order of their own. */
const ordered = (part: Some<Part>): Some<Part> => Arbitrary.map(part, (stages): Part => [...stages, byId])

const accumulators: Some<Document> = either<Document>(
  ...["$sum", "$avg", "$min", "$max", "$stdDevPop", "$stdDevSamp"].map((name) => record({ [name]: kinds.number })),
  ...["$push", "$first", "$last", "$min", "$max"].map((name) => record({ [name]: either(references, expressions) })),
  record({ $mergeObjects: kinds.object }),
  oneOf<Document>({ $count: {} }),
  ...["$firstN", "$lastN", "$maxN", "$minN"].map((name) =>
    record({ [name]: record({ input: references, n: oneOf<unknown>(1, 2) }) })
  ),
  ...["$top", "$bottom"].map((name) => record({ [name]: record({ output: references, sortBy: sorts }) })),
  record({ $topN: record({ output: references, sortBy: sorts, n: oneOf<unknown>(2) }) })
)

const groups = ordered(stage(
  "$group",
  record({
    _id: weighted<unknown>([3, references], [1, oneOf<unknown>(null)], [1, expressions]),
    r: accumulators,
    q: accumulators
  })
))

export const computed: Some<Document> = either<Document>(
  record({ r: expressions }),
  record({ r: expressions, "o.x": kinds.any }),
  record({ "c.z": kinds.any }),
  record({ v: kinds.any, n: kinds.number })
)

const unwound = stage(
  "$unwind",
  either<unknown>(
    oneOf<unknown>("$l", "$c", "$v", "$c.x", "$none"),
    record({
      path: oneOf("$l", "$c", "$v"),
      preserveNullAndEmptyArrays: oneOf(true, false),
      includeArrayIndex: oneOf("at", "n")
    })
  )
)

const boundaries = oneOf<unknown>([-1, 0, 2], [0, 1, 2, 3], ["a", "b"])

const automatic = stage(
  "$bucketAuto",
  either<Document>(
    record({ groupBy: references, buckets: oneOf<unknown>(1, 2, 3, 10) }),
    record({ groupBy: kinds.any, buckets: oneOf<unknown>(2, 5), output: record({ r: accumulators }) }),
    record({ groupBy: oneOf("$_id", "$n"), buckets: oneOf<unknown>(2), granularity: oneOf("R5", "E6", "POWERSOF2") })
  )
)

const stages: Some<Part> = weighted<Part>(
  [
    3,
    stage(
      "$project",
      Arbitrary.map(Arbitrary.all([computed, oneOf<Document>({}, { _id: 0 }, { n: 1 })]), ([a, b]) => ({ ...b, ...a }))
    )
  ],
  [2, stage("$project", projections)],
  [4, stage("$addFields", computed)],
  [1, stage("$unset", oneOf<unknown>("n", ["o.x", "c.y"], "c.x"))],
  [3, stage("$match", either(filters, record({ $expr: kinds.condition })))],
  [3, groups],
  [2, unwound],
  [1, stage("$replaceWith", either(kinds.object, record({ r: expressions })))],
  [1, ordered(stage("$sortByCount", references))],
  [1, stage("$count", oneOf("n"))],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([sorts, oneOf<Document>({ $skip: 1 }, { $limit: 2 }, { $skip: 0 })]),
      ([sort, cut]): Part => [{ $sort: sort }, cut]
    )
  ],
  [
    1,
    stage(
      "$bucket",
      Arbitrary.map(
        Arbitrary.all([references, boundaries, accumulators]),
        ([groupBy, boundaries, r]) => ({ groupBy, boundaries, default: "other", output: { r } })
      )
    )
  ],
  [1, stage("$facet", record({ a: Arbitrary.map(groups, (part) => [...part]), b: oneOf<unknown>([{ $count: "n" }]) }))],
  [1, stage("$redact", Arbitrary.map(kinds.condition, (test) => ({ $cond: [test, "$$KEEP", "$$PRUNE"] })))],
  [
    1,
    oneOf<Part>(
      [{ $lookup: { from: "others", localField: "n", foreignField: "n", as: "found" } }],
      [{ $lookup: { from: "others", localField: "c.x", foreignField: "v", as: "found" } }],
      [{ $unionWith: "others" }, byId]
    )
  ],
  [2, lookups],
  [1, unions],
  [1, graphLookups],
  [2, gapStages],
  [1, automatic],
  [4, Arbitrary.map(windowStages, (window): Part => [window])]
)

export const pipelines: Some<Part> = Arbitrary.map(
  Arbitrary.all([
    weighted<Part>([2, oneOf<Part>([])], [1, stage("$match", filters)]),
    listOf(stages, 3, 1)
  ]),
  ([first, parts]): Part => [...first, byId, ...parts.flat()]
)
