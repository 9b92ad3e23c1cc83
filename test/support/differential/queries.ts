/** Generated filters, sorts, projections and indexes. */
import { Binary, Double, Long } from "bson"
import { Arbitrary } from "effect"
import type { Document, IndexDescription, Sort } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { regionFilters } from "./geography.ts"
import { schemaFilters } from "./schemas.ts"
import { anything, common, fields, ints, items, listOf, numbers, partial, paths, record, weighted } from "./values.ts"

/** What a path is usually compared with: values of its field's kind. */
const valueAt = (path: string): Some<unknown> => weighted([3, fields[path] ?? common], [1, anything])

const typeNames = oneOf<unknown>(
  "double",
  "string",
  "object",
  "array",
  "binData",
  "objectId",
  "bool",
  "date",
  "null",
  "regex",
  "int",
  "timestamp",
  "long",
  "decimal",
  "minKey",
  "maxKey",
  "number",
  2,
  -1
)

const regularExpressions: Some<Document> = oneOf<Document>(
  { $regex: "^a" },
  { $regex: "a", $options: "i" },
  { $regex: "b$" },
  { $regex: "^.$", $options: "s" },
  { $regex: /A/i }
)

const one = (operator: string, operand: Some<unknown>): Some<Document> => record({ [operator]: operand })

const comparison = (value: Some<unknown>): Some<Document> =>
  either(...["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"].map((operator) => one(operator, value)))

const bits: Some<unknown> = weighted<unknown>(
  [3, oneOf<unknown>(0, 1, 5, 256, Long.fromString("4294967297"), Long.MAX_VALUE, new Double(2), -1, 1.5)],
  [3, listOf(oneOf<unknown>(0, 1, 2, 31, 32, 63, 64, 200), 2)],
  [
    2,
    oneOf<unknown>(
      ...[[], [0], [1], [3], [1, 2], [0, 0, 0, 0, 0, 0, 0, 0, 1]].map((bytes) => new Binary(Uint8Array.from(bytes)))
    )
  ],
  [1, numbers]
)

const operators = (value: Some<unknown>): Some<Document> =>
  weighted(
    [6, comparison(value)],
    [1, one("$in", listOf(value, 3))],
    [1, one("$nin", listOf(value, 3))],
    [1, one("$exists", oneOf<unknown>(true, false, 1, 0))],
    [1, one("$type", either(typeNames, listOf(typeNames, 2, 1)))],
    [1, one("$size", ints)],
    [1, one("$mod", listOf(numbers, 2, 2))],
    [1, one("$all", listOf(either(value, one("$elemMatch", comparison(value))), 2))],
    [
      1,
      either(
        ...["$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"].map((name) => one(name, bits))
      )
    ],
    [1, regularExpressions],
    [1, Arbitrary.map(Arbitrary.all([comparison(value), comparison(value)]), ([a, b]) => ({ ...a, ...b }))]
  )

const condition = (value: Some<unknown>): Some<unknown> =>
  weighted<unknown>(
    [3, value],
    [6, operators(value)],
    [1, one("$not", either(operators(value), regularExpressions))],
    [1, one("$elemMatch", operators(common))],
    [1, one("$elemMatch", partial({ x: either(common, operators(common)), y: common }))]
  )

const on = (path: string): Some<Document> => record({ [path]: condition(valueAt(path)) })

const leaf = either(
  ...["n", "s", "t", "l", "o", "c", "v", "o.x", "c.x", "c.y", "l.0", "c.0.x", "v.x", "none"].map((path) => on(path)),
  on("n"),
  on("s"),
  on("v"),
  on("c.x"),
  schemaFilters,
  regionFilters
)

const logical = (inner: Some<Document>): Some<Document> =>
  weighted(
    [6, inner],
    [1, one("$and", listOf(inner, 2, 1))],
    [1, one("$or", listOf(inner, 3, 1))],
    [1, one("$nor", listOf(inner, 2, 1))],
    [1, Arbitrary.map(Arbitrary.all([inner, inner]), ([a, b]) => ({ ...a, ...b }))]
  )

export const filters: Some<Document> = weighted(
  [1, Arbitrary.Constant<Document>({})],
  [9, logical(logical(leaf))]
)

const direction = oneOf<1 | -1>(1, -1)

/** A total order. */
export const sorts: Some<Sort> = Arbitrary.map(
  Arbitrary.all([listOf(Arbitrary.all([paths, direction]), 2), direction]),
  ([keys, last]): Sort => ({ ...Object.fromEntries(keys), _id: last })
)

const flag = oneOf<unknown>(1, true)

export const projections: Some<Document> = either(
  Arbitrary.map(listOf(paths, 3, 1), (list): Document => Object.fromEntries(list.map((path) => [path, 1]))),
  Arbitrary.map(listOf(paths, 3, 1), (list): Document => Object.fromEntries(list.map((path) => [path, 0]))),
  Arbitrary.map(Arbitrary.all([paths, flag]), ([path, value]): Document => ({ [path]: value, _id: 0 })),
  record({ l: one("$slice", either<unknown>(ints, listOf(ints, 2, 2))) }),
  record({ c: one("$slice", ints), n: oneOf<unknown>(0, 1) }),
  record({ c: one("$elemMatch", partial({ x: common })) }),
  record({ l: one("$elemMatch", operators(common)), _id: flag }),
  record({ c: record({ x: flag }), s: flag })
)

/** A query whose filter is on items of `c`, for a projection of `c.$`. */
export const positionalFilters: Some<Document> = either(
  record({ "c.x": common }),
  record({ c: one("$elemMatch", items) }),
  record({ l: either(common, comparison(common)) })
)

export const indexLists: Some<ReadonlyArray<IndexDescription>> = Arbitrary.map(
  listOf(
    oneOf<IndexDescription>(
      { name: "n", key: { n: 1 } },
      { name: "s", key: { s: -1 } },
      { name: "t", key: { t: 1 } },
      { name: "l", key: { l: 1 } },
      { name: "v", key: { v: 1 } },
      { name: "o", key: { o: 1 } },
      { name: "ox", key: { "o.x": -1 } },
      { name: "c", key: { "c.x": 1 } },
      { name: "first of l", key: { "l.0": 1 } },
      { name: "n and s", key: { n: 1, s: -1 } },
      { name: "c twice", key: { "c.x": -1, "c.y": 1 } },
      { name: "s and c", key: { s: 1, "c.y": 1, n: -1 } },
      { name: "unique n", key: { n: -1, _id: 1 }, unique: true },
      { name: "unique s", key: { s: 1 }, unique: true },
      { name: "unique c", key: { "c.x": 1, n: 1 }, unique: true },
      { name: "sparse v", key: { v: -1 }, sparse: true },
      { name: "sparse c", key: { "c.y": 1, s: 1 }, sparse: true },
      { name: "unique sparse o", key: { "o.y": 1 }, unique: true, sparse: true },
      { name: "n where s", key: { n: -1, v: 1 }, partialFilterExpression: { s: { $gte: "a" } } },
      { name: "great n", key: { n: 1, t: 1 }, partialFilterExpression: { n: { $gt: 0 } } },
      { name: "c that is there", key: { "c.x": 1, l: 1 }, partialFilterExpression: { "c.x": { $exists: true } } },
      { name: "texts", key: { v: 1, s: 1 }, partialFilterExpression: { v: { $type: "string" } } },
      { name: "unique where", key: { v: 1, o: 1 }, unique: true, partialFilterExpression: { n: { $lte: 1 } } }
    ),
    3
  ),
  (list) => [...new Map(list.map((index) => [index.name, index])).values()]
)
