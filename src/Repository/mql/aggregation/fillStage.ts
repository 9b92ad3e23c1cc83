/**
 * `$fill`: gives values to fields that are `null` or missing.
 */
import * as Result from "effect/Result"
import { toDouble } from "../../bson/number.ts"
import { type Direction, segmentsOf, valueAt, withValue } from "../../bson/path.ts"
import { isArray, isDocument, isNumber } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { type Expression, type ExpressionContext, isNothing, timeOf } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { catchRejection, reject, rejectWith } from "../limits/queryProblem.ts"
import { computing } from "../projection/parseProjection.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { type Partition, partitioned } from "./partitions.ts"
import type { StageParser, Transform } from "./stageContext.ts"

/** @internal */
export const parseFill: StageParser = (operand, context) =>
  catchRejection((): Transform => {
    const { output, partitionBy, partitionByFields, sortBy } = isDocument(operand) ? { ...operand } : {}
    if (!isDocument(output) || Object.keys(output).length === 0) return reject("$fill needs an output")
    const fills = Object.entries(output).map(([path, fill]) => fillOf(path, fill, context))
    const byOrder = fills.filter(({ method }) => method !== undefined)
    const setValues = (document: Document): Document =>
      fills.reduce((result, { compute, path }) => {
        const isFilled = compute === undefined || !isNothing(valueAt(document, path))
        return isFilled ? result : withValue(result, path, compute(document))
      }, document)
    if (byOrder.length === 0) return (source) => mapEach(source, computing(setValues))
    const sort = sortBy === undefined ? [] : Result.getOrElse(parseSort(sortBy, context.collator), rejectWith)
    if (sort.length === 0) return reject("$fill with a method needs a sortBy")
    if (byOrder.some(({ method }) => method === "linear") && sort.length > 1) {
      return reject("$fill with the method linear needs a sortBy of one field")
    }
    return partitioned(
      partitionKey(partitionBy, partitionByFields, context),
      sort,
      context,
      function*(partitions) {
        for (const partition of partitions) {
          const filled = byOrder.map(({ method, path }) =>
            method === "locf" ? carried(partition, path) : interpolated(partition, path, sort)
          )
          for (const [i, document] of partition.documents.entries()) {
            yield byOrder.reduce((result, { path }, at) => {
              const value = filled[at]?.[i]
              return value === undefined ? result : withValue(result, path, value)
            }, setValues(document))
          }
        }
      }
    )
  })

// internal

interface Fill {
  readonly path: ReadonlyArray<string>
  readonly method?: "linear" | "locf"
  readonly compute?: Expression
}

/** May throw. */
const fillOf = (path: string, fill: unknown, context: ExpressionContext): Fill => {
  const { method, value, ...others } = isDocument(fill) ? { ...fill } : {}
  if ((method === undefined) === (value === undefined) || Object.keys(others).length > 0) {
    return reject(`"${path}" of $fill needs a value or a method`)
  }
  if (value !== undefined) {
    return { path: segmentsOf(path), compute: Result.getOrElse(parseExpression(value, context), rejectWith) }
  }
  return method === "linear" || method === "locf"
    ? { path: segmentsOf(path), method }
    : reject("the method of $fill is linear or locf")
}

/** May throw. */
const partitionKey = (partitionBy: unknown, partitionByFields: unknown, context: ExpressionContext): Expression => {
  if (partitionBy !== undefined) {
    return partitionByFields === undefined
      ? Result.getOrElse(parseExpression(partitionBy, context), rejectWith)
      : reject("$fill takes partitionBy or partitionByFields")
  }
  const fields = isArray(partitionByFields) ? partitionByFields : []
  const paths = fields.map((path) => typeof path === "string" ? segmentsOf(path) : reject("$fill needs paths"))
  return (document) => paths.map((path) => isDocument(document) ? valueAt(document, path) ?? null : null)
}

/** The last value that is there, for each document. */
const carried = ({ documents }: Partition, path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  let last: unknown = null
  return documents.map((document) => {
    const value = valueAt(document, path)
    if (!isNothing(value)) last = value
    return last
  })
}

/** Values on the straight lines between those that are there, for the documents that have none. */
const interpolated = (
  { documents }: Partition,
  path: ReadonlyArray<string>,
  [direction]: ReadonlyArray<Direction>
): ReadonlyArray<unknown> => {
  const places = documents.map((document) => {
    const place = valueAt(document, direction?.path ?? [])
    return isNumber(place) ? toDouble(place) : timeOf(place) ?? reject("$fill needs numbers or dates to sort by")
  })
  const values = documents.map((document) => valueAt(document, path) ?? null)
  let before = -1
  for (let i = 0; i < values.length; i++) {
    if (values[i] === null) continue
    if (before >= 0) {
      const [x0 = 0, x1 = 0] = [places[before], places[i]]
      const [y0, y1] = [numberAt(values[before]), numberAt(values[i])]
      for (let at = before + 1; at < i; at++) values[at] = y0 + (y1 - y0) * ((places[at] ?? x0) - x0) / (x1 - x0)
    }
    before = i
  }
  return values
}

const numberAt = (value: unknown): number =>
  isNumber(value) ? toDouble(value) : reject("$fill needs numbers for linear")
