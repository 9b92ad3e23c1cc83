/**
 * What a contestant of the benchmark of the query language brings, and what all of them do.
 */
import type { Order } from "./data.ts"

type Part = { readonly [key: string]: unknown }

/** A filter, a pipeline, or an update of all documents, in MongoDB's language. */
export type Task =
  | { readonly kind: "filter"; readonly filter: Part }
  | { readonly kind: "pipeline"; readonly pipeline: ReadonlyArray<Part> }
  | { readonly kind: "update"; readonly update: Part }

/** The matches of a filter, the results of a pipeline, or the updated documents. */
export type Run = (documents: Array<Order>) => ReadonlyArray<unknown>

export interface Contestant {
  readonly title: string
  /** Parses a task; `undefined` if it has no such tasks. */
  readonly prepare: (task: Task) => Run | undefined
}

const filter = (filter: Part): Task => ({ kind: "filter", filter })
const pipeline = (...pipeline: ReadonlyArray<Part>): Task => ({ kind: "pipeline", pipeline })
const update = (update: Part): Task => ({ kind: "update", update })

/** The tasks by their option names. */
export const tasks: ReadonlyMap<string, Task> = new Map(Object.entries({
  equality: filter({ status: "paid" }),
  range: filter({ total: { $gte: 100, $lt: 200 } }),
  dates: filter({ placed: { $gte: new Date("2026-06-01T00:00:00Z"), $lt: new Date("2026-07-01T00:00:00Z") } }),
  in: filter({ customer: { $in: Array.from({ length: 100 }, (_, index) => `C${index * 97}`) } }),
  or: filter({ $or: [{ status: "open", quantity: { $gt: 35 } }, { "address.city": "Bern" }] }),
  list: filter({ tags: "insured" }),
  nested: filter({ "lines.sku": "S42" }),
  elemMatch: filter({ lines: { $elemMatch: { price: { $gt: 150 }, quantity: { $gte: 8 } } } }),
  regex: filter({ customer: { $regex: "^C12" } }),
  expr: filter({ $expr: { $gt: [{ $multiply: ["$total", "$quantity"] }, 30_000] } }),
  project: pipeline({
    $project: {
      customer: 1,
      label: { $concat: ["$customer", "/", "$status"] },
      value: { $multiply: ["$total", "$quantity"] },
      city: "$address.city"
    }
  }),
  group: pipeline(
    { $group: { _id: "$status", orders: { $sum: 1 }, items: { $sum: "$quantity" }, most: { $max: "$total" } } },
    { $sort: { _id: 1 } }
  ),
  groups: pipeline(
    { $group: { _id: "$customer", orders: { $sum: 1 }, mean: { $avg: "$quantity" } } },
    { $sort: { _id: 1 } }
  ),
  unwind: pipeline(
    { $match: { status: "paid" } },
    { $unwind: "$lines" },
    { $group: { _id: "$address.city", sold: { $sum: "$lines.quantity" } } },
    { $sort: { _id: 1 } }
  ),
  sort: pipeline({ $sort: { total: -1, _id: 1 } }, { $limit: 50 }),
  set: update({ $set: { status: "archived", "address.country": "CH" } }),
  inc: update({ $inc: { quantity: 1 }, $max: { total: 500 } }),
  push: update({ $push: { tags: "seen" } })
}))
