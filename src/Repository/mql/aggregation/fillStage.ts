/**
 * `$fill`: gives values to fields that are `null` or missing.
 */
import { valueAt, withValue } from "../../bson/path.ts"
import { isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { mapEach } from "../execution/batchIterator.ts"
import {
  type Expression,
  type ExpressionContext,
  isNothing,
  listOf,
  namesOf,
  pathOf
} from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { orReject, reject } from "../limits/queryProblem.ts"
import { computing } from "../projection/parseProjection.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { parseWindowFunction } from "../window/parseWindowFunction.ts"
import { fieldsKey } from "./partitions.ts"
import type { StageParser, Transform } from "./stageContext.ts"
import { type Field, partitionOf, windowsOf } from "./windowStage.ts"

/** @internal */
export const parseFill: StageParser = (operand, context) => {
  const { output, partitionBy, partitionByFields, sortBy } = {
    ...namesOf(operand, "$fill", ["output"], ["partitionBy", "partitionByFields", "sortBy"])
  }
  if (!isDocument(output) || Object.keys(output).length === 0) return reject("$fill needs an output")
  const fills = Object.entries(output).map(([path, fill]) => fillOf(path, fill, context))
  const setValues = (document: Document): Document =>
    fills.reduce((result, { compute, path }) => {
      const segments = pathOf("$fill", path)
      const isFilled = compute === undefined || !isNothing(valueAt(document, segments))
      return isFilled ? result : withValue(result, segments, compute(document))
    }, document)
  const withValues: Transform = (source) => mapEach(source, computing(setValues))
  const key = partitionKey(partitionBy, partitionByFields, context)
  const sort = sortBy === undefined ? [] : orReject(parseSort(sortBy, context.collator))
  const byOrder = fills.flatMap(({ method, path }): ReadonlyArray<Field> =>
    method === undefined ? [] : [{ path, make: parseWindowFunction(path, { [method]: `$${path}` }, sort, context) }]
  )
  if (byOrder.length === 0) return withValues
  if (sort.length === 0) return reject("$fill with a method needs a sortBy")
  const byWindows = windowsOf(key, sort, byOrder, context)
  return (source) => withValues(byWindows(source))
}

// internal

interface Fill {
  readonly path: string
  /** The name of a window function. */
  readonly method?: string
  readonly compute?: Expression
}

const methods: ReadonlyMap<unknown, string> = new Map([["linear", "$linearFill"], ["locf", "$locf"]])

/** May throw. */
const fillOf = (path: string, fill: unknown, context: ExpressionContext): Fill => {
  const { method, value, ...others } = isDocument(fill) ? { ...fill } : {}
  if ((method === undefined) === (value === undefined) || Object.keys(others).length > 0) {
    return reject(`"${path}" of $fill needs a value or a method`)
  }
  if (value !== undefined) {
    return { path, compute: parseExpression(value, context) }
  }
  const name = methods.get(method)
  return name === undefined ? reject("the method of $fill is linear or locf") : { path, method: name }
}

/** May throw. */
const partitionKey = (partitionBy: unknown, partitionByFields: unknown, context: ExpressionContext): Expression => {
  if (partitionBy !== undefined) {
    return partitionByFields === undefined && (typeof partitionBy === "string" || isDocument(partitionBy))
      ? partitionOf(parseExpression(partitionBy, context))
      : reject("$fill takes an expression as its partitionBy, or partitionByFields")
  }
  const fields = partitionByFields === undefined ? [] : listOf("partitionByFields of $fill", partitionByFields)
  return fieldsKey(fields.map((path) => pathOf("partitionByFields of $fill", path)))
}
