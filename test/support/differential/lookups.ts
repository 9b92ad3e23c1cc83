/** Generated stages that read another collection, or documents of their own, by a pipeline. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { kindsWith, references } from "./expressions.ts"
import { filters, projections } from "./queries.ts"
import { common, items, listOf, partial, record, weighted } from "./values.ts"

type Stages = ReadonlyArray<Document>

const k = kindsWith(["$$a"])

const byId: Document = { $sort: { _id: 1 } }

/** A part of the pipeline of a stage: some of it depends on the variable `a`. */
const parts: Some<Stages> = Arbitrary.map(
  weighted<Document | Stages>(
    [2, record({ $match: filters })],
    [2, Arbitrary.map(k.any, (value): Document => ({ $match: { $expr: { $eq: ["$n", value] } } }))],
    [2, Arbitrary.map(k.condition, (condition): Document => ({ $match: { $expr: condition } }))],
    [2, record({ $addFields: either<unknown>(record({ r: k.any }), record({ "o.x": k.number, n: k.any })) })],
    [1, record({ $project: either<unknown>(projections, record({ r: k.any })) })],
    [
      1,
      Arbitrary.map(
        Arbitrary.all([k.any, k.number]),
        ([_id, n]): Stages => [{ $group: { _id, n: { $sum: n }, all: { $push: "$_id" } } }, byId]
      )
    ],
    [1, oneOf<Document>({ $limit: 1 }, { $skip: 1 }, { $count: "n" }, { $unwind: "$l" }, { $unset: "n" })],
    [1, oneOf<Document>({ $lookup: { from: "others", localField: "n", foreignField: "n", as: "more" } })]
  ),
  // Either is an array or a document.
  (part): Stages => Array.isArray(part) ? part : [part as Document]
)

const inner: Some<Stages> = Arbitrary.map(listOf(parts, 2), (list): Stages => [byId, ...list.flat()])

const own: Some<Stages> = Arbitrary.map(
  Arbitrary.all([listOf(either<unknown>(items, partial({ _id: common, n: k.number })), 2), listOf(parts, 1)]),
  ([$documents, list]): Stages => [{ $documents }, ...list.flat()]
)

const fields = { as: oneOf("found", "found", "o.found", "n"), let: record({ a: references }) }

const from = oneOf("others", "others", "nothing")

export const lookups: Some<Stages> = Arbitrary.map(
  weighted<Document>(
    [3, record({ $lookup: record({ from, pipeline: inner, ...fields }) })],
    [1, record({ $lookup: record({ from, pipeline: inner, as: fields.as }) })],
    [
      2,
      record({
        $lookup: record({
          from,
          localField: oneOf("n", "v", "l", "c.x"),
          foreignField: oneOf("n", "v", "l"),
          pipeline: inner,
          ...fields
        })
      })
    ],
    [1, record({ $lookup: record({ pipeline: own, ...fields }) })]
  ),
  (stage): Stages => [stage]
)

/** What a `$graphLookup` finds has no order of its own. */
export const graphLookups: Some<Stages> = Arbitrary.map(
  Arbitrary.all([
    record({
      from,
      startWith: references,
      connectFromField: oneOf("n", "v", "l", "c.x", "_id"),
      connectToField: oneOf("n", "v", "l", "c.x", "_id"),
      as: oneOf("found")
    }),
    partial({
      maxDepth: oneOf<unknown>(0, 1, 2),
      depthField: oneOf("depth", "o.depth"),
      restrictSearchWithMatch: filters
    })
  ]),
  ([search, options]): Stages => [
    { $graphLookup: { ...search, ...options } },
    { $set: { found: { $sortArray: { input: "$found", sortBy: { _id: 1 } } } } }
  ]
)

/** The results of a `$unionWith` have no order of their own. */
export const unions: Some<Stages> = Arbitrary.map(
  weighted<Document>(
    [2, record({ coll: from, pipeline: Arbitrary.map(inner, withoutVariable) })],
    [1, record({ pipeline: Arbitrary.map(own, withoutVariable) })]
  ),
  ($unionWith): Stages => [{ $unionWith }, byId]
)

/** A union has no variables: the constant that stands for one. */
function withoutVariable(stages: Stages): Stages {
  return JSON.stringify(stages).includes("$$a") ? [] : stages
}
