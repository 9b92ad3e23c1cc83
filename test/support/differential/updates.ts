/** Generated updates. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { expressions, kinds, kindsWith } from "./expressions.ts"
import { computed } from "./pipelines.ts"
import { projections } from "./queries.ts"
import { anything, common, ints, items, listOf, numbers, partial, paths, record, weighted } from "./values.ts"

export interface Change {
  readonly update: Document | ReadonlyArray<Document>
  readonly filter?: Document | undefined
  readonly arrayFilters?: ReadonlyArray<Document> | undefined
  /** The variables of the expressions of a pipeline. */
  readonly let?: Document | undefined
}

const targets: Some<string> = weighted(
  [6, paths],
  [2, oneOf("new", "o.new", "o.x.z", "l.2", "c.1.x", "c.5", "_id")],
  [1, oneOf("c.$[].x", "l.$[]", "c.$[].z")]
)

const single = (operator: string, operand: Some<unknown>): Some<Document> =>
  Arbitrary.map(Arbitrary.all([targets, operand]), ([path, value]): Document => ({ [operator]: { [path]: value } }))

const pushed = either<unknown>(
  anything,
  record({ $each: listOf(common, 3) }),
  record({ $each: listOf(common, 2), $position: ints }),
  record({ $each: listOf(common, 2), $slice: ints }),
  record({ $each: listOf(common, 2), $sort: oneOf<unknown>(1, -1), $slice: ints }),
  record({ $each: listOf(items, 2), $sort: oneOf<unknown>({ x: 1 }, { y: -1 }, { x: -1, y: 1 }) })
)

const pulled = either<unknown>(
  common,
  items,
  record({ $gte: common }),
  record({ $in: listOf(common, 2) }),
  record({ x: record({ $gt: common }) }),
  record({ $elemMatch: record({ x: common }) })
)

const changes: Some<Document> = weighted(
  [4, single("$set", anything)],
  [2, single("$unset", oneOf<unknown>("", 1))],
  [3, single("$inc", numbers)],
  [2, single("$mul", numbers)],
  [2, single("$min", common)],
  [2, single("$max", common)],
  [3, single("$push", pushed)],
  [2, single("$addToSet", either<unknown>(anything, record({ $each: listOf(common, 3) })))],
  [1, single("$pop", oneOf<unknown>(1, -1))],
  [2, single("$pull", pulled)],
  [1, single("$pullAll", listOf(common, 3))],
  [1, single("$bit", oneOf<unknown>({ and: 5 }, { or: 6 }, { xor: 3 }, { or: 8, and: 12 }))],
  [1, single("$rename", oneOf<unknown>("r", "o.r", "n", "s"))]
)

const merged = Arbitrary.map(listOf(changes, 3, 1), (list): Document => {
  const update: { [operator: string]: Document } = {}
  for (const change of list) {
    for (const [operator, fields] of Object.entries(change)) {
      update[operator] = { ...update[operator], ...(fields as Document) }
    }
  }
  return update
})

const positional: Some<Change> = either<Change>(
  Arbitrary.map(
    Arbitrary.all([
      either<Document>(
        record({ "c.x": common }),
        record({ c: record({ $elemMatch: items }) }),
        record({ "c.x": record({ $gte: common }) })
      ),
      oneOf("$set", "$inc", "$min", "$unset", "$push"),
      oneOf("c.$.x", "c.$.z", "c.$"),
      anything
    ]),
    ([filter, operator, path, value]): Change => ({ filter, update: { [operator]: { [path]: value } } })
  ),
  Arbitrary.map(
    Arbitrary.all([either<Document>(record({ l: common }), record({ l: record({ $gt: common }) })), common]),
    ([filter, value]): Change => ({ filter, update: { $set: { "l.$": value } } })
  )
)

const itemFilter: Some<Document> = either<Document>(
  record({ "i.x": common }),
  record({ "i.x": record({ $gte: common }) }),
  record({ i: record({ $gt: common }) }),
  record({ i: common }),
  record({ "i.y": record({ $exists: oneOf<unknown>(true, false) }) })
)

const filtered: Some<Change> = Arbitrary.map(
  Arbitrary.all([
    itemFilter,
    oneOf("$set", "$inc", "$mul", "$max", "$unset", "$push"),
    oneOf("c.$[i].x", "c.$[i]", "l.$[i]", "v.$[i].x"),
    anything
  ]),
  ([filter, operator, path, value]): Change => ({ arrayFilters: [filter], update: { [operator]: { [path]: value } } })
)

const byPipeline: Some<Change> = Arbitrary.map(
  listOf(
    weighted<Document>(
      [4, record({ $set: computed })],
      [1, record({ $addFields: computed })],
      [1, record({ $unset: oneOf<unknown>("n", ["o.x", "c.y"], "c.x", "_id") })],
      [1, record({ $project: either(projections, computed) })],
      [1, record({ $replaceWith: either(kinds.object, record({ r: expressions })) })],
      [1, record({ $replaceRoot: record({ newRoot: kinds.object }) })]
    ),
    3,
    1
  ),
  (update) => ({ update })
)

const k = kindsWith(["$$a"])

const byVariables: Some<Change> = Arbitrary.map(
  Arbitrary.all([
    either(common, either<unknown>(record({ x: common }), oneOf<unknown>({ $add: [1, 2] }, ["b"]))),
    either<Document>(record({ $set: record({ r: k.any, n: k.number }) }), record({ $replaceWith: k.object })),
    oneOf<Document | undefined>(undefined, { $expr: { $lte: ["$n", "$$a"] } })
  ]),
  ([a, stage, filter]): Change => ({ update: [stage], let: { a: protectedFromFields(a) }, filter })
)

/** A text with a `$` would name a field. */
const protectedFromFields = (value: unknown): unknown => typeof value === "string" ? { $literal: value } : value

export const updates: Some<Change> = weighted<Change>(
  [7, Arbitrary.map(merged, (update) => ({ update }))],
  [3, byPipeline],
  [1, byVariables],
  [1, positional],
  [1, filtered]
)

export const replacements: Some<Document> = partial({ n: numbers, s: common, v: anything })
