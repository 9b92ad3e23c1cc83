/** Generated stages that make or fill what is missing: `$densify` and `$fill`. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { kinds, references } from "./expressions.ts"
import { record, weighted } from "./values.ts"

type Stages = ReadonlyArray<Document>

const partitioned = oneOf<Document>({}, { partitionByFields: ["s"] }, { partitionByFields: ["v", "o.x"] })

const numbers: Some<Document> = record({
  field: oneOf("n"),
  range: either<unknown>(
    record({ step: oneOf<unknown>(1, 0.5, 2), bounds: oneOf<unknown>("full", [-2, 3], [0, 1.5]) }),
    record({ step: oneOf<unknown>(1, 0.25), bounds: oneOf<unknown>([1, 1], [10, 12]) })
  )
})

const dates: Some<Document> = record({
  field: oneOf("t"),
  range: either<unknown>(
    record({
      step: oneOf<unknown>(1, 5),
      unit: oneOf("month", "year", "quarter", "week"),
      bounds: oneOf<unknown>("full", [new Date("2024-01-30"), new Date("2024-07-01")])
    }),
    record({
      step: oneOf<unknown>(12),
      unit: oneOf("hour", "day"),
      bounds: oneOf<unknown>([new Date("2024-02-28"), new Date("2024-03-02")])
    })
  )
})

const within: Document = {
  $match: {
    $and: [
      { $or: [{ n: { $gte: -2, $lte: 4 } }, { n: null }] },
      { $or: [{ t: { $gte: new Date("1960-01-01"), $lte: new Date("2030-01-01") } }, { t: null }] }
    ]
  }
}

/** The documents that are made have no identifiers: all are put into one, in an order. */
const gathered: Stages = [
  { $sort: { n: 1, t: 1, s: 1, v: 1, _id: 1 } },
  { $group: { _id: "all", all: { $push: { i: "$_id", n: "$n", t: "$t", s: "$s", v: "$v", o: "$o" } } } }
]

const densified: Some<Stages> = Arbitrary.map(
  Arbitrary.all([either(numbers, dates), partitioned, oneOf(true, false)]),
  ([densify, partition, isPartition]): Stages => {
    const { range } = densify
    const isOwn = isPartition && Object.keys(partition).length > 0
    const bounds = isOwn ? { range: { ...Object(range), bounds: "partition" } } : {}
    return [within, { $densify: { ...densify, ...partition, ...bounds } }, ...gathered]
  }
)

const fill: Some<Document> = weighted<Document>(
  [2, record({ value: either<unknown>(kinds.any, oneOf<unknown>(0, "x")) })],
  [2, oneOf<Document>({ method: "locf" })],
  [1, oneOf<Document>({ method: "linear" })]
)

const partition: Some<Document> = weighted<Document>(
  [2, oneOf<Document>({})],
  [1, partitioned],
  [1, record({ partitionBy: either<unknown>(references, record({ a: references })) })]
)

const filled: Some<Stages> = Arbitrary.map(
  Arbitrary.all([
    partition,
    oneOf<Document>({ _id: 1 }, { _id: -1 }, { s: 1, _id: 1 }, { n: -1, _id: 1 }),
    either<Document>(record({ n: fill }), record({ v: fill, n: fill }), record({ "o.x": fill }), record({ none: fill }))
  ]),
  ([partition, sortBy, output]): Stages => [{ $fill: { ...partition, sortBy, output } }, { $sort: { _id: 1 } }]
)

export const gapStages: Some<Stages> = either(densified, filled)
