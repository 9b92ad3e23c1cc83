/** Generated `$setWindowFields`. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { kinds, references } from "./expressions.ts"
import { sorts } from "./queries.ts"
import { partial, record, weighted } from "./values.ts"

const operator = (name: string, operand: Some<unknown>): Some<Document> => record({ [name]: operand })

/** Accumulators over a window. */
const accumulated: Some<Document> = weighted<Document>(
  [
    4,
    either(
      ...["$sum", "$avg", "$min", "$max", "$stdDevPop", "$stdDevSamp"].map((name) =>
        operator(name, either(oneOf("$n", "$_id"), kinds.number))
      )
    )
  ],
  [3, either(...["$push", "$first", "$last", "$min", "$max"].map((name) => operator(name, references)))],
  [1, oneOf<Document>({ $count: {} })],
  [
    1,
    either(
      ...["$firstN", "$lastN", "$maxN", "$minN"].map((name) =>
        operator(name, record({ input: references, n: oneOf<unknown>(1, 2) }))
      )
    )
  ],
  [1, either(...["$top", "$bottom"].map((name) => operator(name, record({ output: references, sortBy: sorts }))))],
  [1, operator("$topN", record({ output: references, sortBy: sorts, n: oneOf<unknown>(1, 2) }))],
  [
    1,
    either<Document>(
      operator("$median", record({ input: oneOf("$n", "$_id"), method: oneOf("approximate") })),
      operator(
        "$percentile",
        record({ input: oneOf("$n"), p: oneOf([0, 0.5, 1], [0.9]), method: oneOf("approximate") })
      )
    )
  ],
  [
    1,
    either(
      ...["$covariancePop", "$covarianceSamp"].map((name) =>
        operator(name, oneOf(["$n", "$_id"], ["$_id", 2], ["$n", "$n"]))
      )
    )
  ]
)

const documentBounds = oneOf<unknown>(
  ["unbounded", "unbounded"],
  ["unbounded", "current"],
  ["current", "unbounded"],
  [-1, 1],
  [-2, 0],
  [0, 0],
  [1, 2],
  [-2, -1],
  ["current", 1],
  [-1, "current"],
  ["unbounded", -1]
)

const rangeBounds = oneOf<unknown>(
  ["unbounded", "current"],
  ["current", "current"],
  [-1, 1],
  [0, 2],
  [-0.5, 0.5],
  [-3, -1],
  [1, "unbounded"],
  ["unbounded", "unbounded"]
)

const within = (functions: Some<Document>, window: Some<Document | undefined>): Some<Document> =>
  Arbitrary.map(
    Arbitrary.all([functions, window]),
    ([value, window]): Document => window === undefined ? value : { ...value, window }
  )

const inDocuments = within(
  accumulated,
  either<Document | undefined>(
    oneOf(undefined),
    record({ documents: documentBounds }),
    record({ documents: documentBounds })
  )
)

const ordered: Some<Document> = either<Document>(
  oneOf<Document>({ $rank: {} }, { $denseRank: {} }, { $documentNumber: {} }, { $locf: "$n" }, { $locf: "$v" }, {
    $linearFill: "$n"
  }),
  operator(
    "$shift",
    either<unknown>(
      record({ output: references, by: oneOf(-1, 1, 2) }),
      record({ output: references, by: oneOf(-2, 0), default: oneOf<unknown>(0, null, "a") })
    )
  ),
  operator(
    "$expMovingAvg",
    either<unknown>(
      record({ input: oneOf("$n"), N: oneOf(1, 2, 3) }),
      record({ input: oneOf("$_id", "$n"), alpha: oneOf(0.5, 0.1) })
    )
  )
)

const partitions: Some<unknown> = weighted<unknown>(
  [2, oneOf<unknown>(null, "$s", "$n", "$none")],
  [1, oneOf<unknown>({ $type: "$v" }, { $mod: ["$_id", 2] }, { s: "$s" })],
  [1, references]
)

const stageOf = (fields: { readonly [key: string]: Some<unknown> }): Some<Document> =>
  record({ $setWindowFields: either(record(fields), record({ partitionBy: partitions, ...fields })) })

/** A total order, so that every store has the same windows. */
const totallySorted = stageOf({
  sortBy: sorts,
  output: either<Document>(
    record({ r: inDocuments }),
    record({ r: inDocuments, "o.x": inDocuments }),
    partial({ r: inDocuments, n: inDocuments, "c.z": inDocuments })
  )
})

const units = oneOf("day", "hour", "month", "second")

/** The documents come by `_id`, and the sort keeps the order of equal ones. */
const ranges = either(
  stageOf({
    sortBy: oneOf({ n: 1 }, { _id: 1 }),
    output: record({ r: within(accumulated, record({ range: rangeBounds })) })
  }),
  stageOf({
    sortBy: oneOf({ t: 1 }),
    output: record({
      r: within(
        accumulated,
        record({ range: oneOf<unknown>([-1, 1], ["unbounded", "current"], [-40, 0], [0, 3]), unit: units })
      )
    })
  })
)

const onOrder = either(
  stageOf({ sortBy: sorts, output: record({ r: ordered, q: ordered }) }),
  stageOf({
    sortBy: oneOf({ _id: 1 }, { n: 1 }, { s: -1 }),
    output: record({ r: oneOf<Document>({ $rank: {} }, { $denseRank: {} }, { $documentNumber: {} }) })
  }),
  stageOf({
    sortBy: oneOf({ _id: 1 }, { n: 1 }),
    output: record({
      r: within(
        either(
          operator("$derivative", record({ input: oneOf("$n", "$_id") })),
          operator("$integral", record({ input: oneOf("$n", "$_id") }))
        ),
        record({ documents: documentBounds })
      )
    })
  }),
  stageOf({
    sortBy: oneOf({ t: 1 }),
    output: record({
      r: within(
        either(
          operator("$derivative", record({ input: oneOf("$n", "$_id"), unit: oneOf("hour", "day") })),
          operator("$integral", record({ input: oneOf("$n", "$_id"), unit: oneOf("hour", "day") }))
        ),
        record({ documents: documentBounds })
      )
    })
  })
)

export const windowStages: Some<Document> = weighted([3, totallySorted], [1, ranges], [1, onOrder])
