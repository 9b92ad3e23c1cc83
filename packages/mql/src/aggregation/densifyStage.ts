/**
 * `$densify` adds documents where a sequence of numbers or dates has gaps, and `$fill` gives values to fields that are `null` or
 * missing.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { type BsonNumber, compareNumbers } from "../bson/number.ts"
import { type Segments, valueAt, withValue } from "../bson/path.ts"
import { compare, isArray, isDocument, isNumber } from "../bson/value.ts"
import { utc } from "../dates/timeZone.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { dateAt, plus } from "../expression/arithmeticOperators.ts"
import { timeAfter, unitOf } from "../expression/dateOperators.ts"
import {
  type Expression,
  type ExpressionContext,
  fieldPathOf,
  isNothing,
  listOperand,
  namesOf,
  wholeOf
} from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { orReject, reject } from "../limits/queryProblem.ts"
import { computing } from "../projection/parseProjection.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { parseWindowFunction } from "../window/parseWindowFunction.ts"
import { fieldsKey, type Partition, partitioned } from "./partitions.ts"
import type { StageParser, Transform } from "./stageContext.ts"
import { type Field, partitionOf, windowsOf } from "./windowStage.ts"

export const parseDensify: StageParser = (operand, context) => {
  const densify = read(operand)
  return partitioned(
    fieldsKey(densify.partitionFields),
    [{ path: densify.field, descending: false }],
    context,
    (partitions) => densified(partitions, densify)
  )
}

// internal

type Value = BsonNumber | Date

interface Densify {
  readonly field: Segments
  readonly partitionFields: ReadonlyArray<Segments>
  readonly bounds: "full" | "partition" | readonly [least: Value, beyond: Value]
  readonly step: Step
}

interface Step {
  /** Rejects a value of another type than the step. */
  readonly check: (value: Value) => void
  /** The value one step after another one. May throw. */
  readonly after: (value: Value) => Value
}

// MongoDB's limit.
const maxMade = 500_000

const isValue = (value: unknown): value is Value => isNumber(value) || value instanceof Date

/** May throw. */
const read = (operand: unknown): Densify => {
  const { field: name, partitionByFields = [], range } = {
    ...namesOf(operand, "$densify", ["field", "range"], ["partitionByFields"])
  }
  const { bounds, step: size, unit } = { ...namesOf(range, "the range of $densify", ["bounds", "step"], ["unit"]) }
  const names = listOperand("partitionByFields of $densify", partitionByFields)
  const [field, partitionFields] = [fieldPathOf("$densify", name), names.map((name) => fieldPathOf("$densify", name))]
  if (names.includes(name)) return reject("the field of $densify can't be one of its partitionByFields")
  if (!isNumber(size) || compareNumbers(size, 0) <= 0) return reject("$densify needs a positive step")
  const step = unit === undefined ? numberStep(size) : dateStep(size, unit)
  const densify = { field, partitionFields, step }
  if (bounds === "full") return { ...densify, bounds }
  if (bounds === "partition") {
    return names.length > 0 ? { ...densify, bounds } : reject("$densify needs partitionByFields")
  }
  const [least, beyond, ...others] = isArray(bounds) ? bounds : []
  if (!isValue(least) || !isValue(beyond) || others.length > 0 || isNumber(least) !== isNumber(beyond)) {
    return reject("the bounds of $densify are full, partition, or an array of two numbers or dates")
  }
  if (compare(least, beyond) > 0) return reject("the bounds of $densify must be in order")
  step.check(least)
  return { ...densify, bounds: [least, beyond] }
}

const numberIn = (value: Value): BsonNumber => isNumber(value) ? value : reject("$densify needs a unit for dates")

const numberStep = (size: BsonNumber): Step => ({ check: numberIn, after: (value) => plus(numberIn(value), size) })

const dateIn = (value: Value): Date =>
  value instanceof Date ? value : reject("$densify needs dates, since it has a unit")

const dateStep = (given: BsonNumber, unit: unknown): Step => {
  const [size, name] = [wholeOf("the step of $densify for dates", given), unitOf("$densify", unit)]
  return { check: dateIn, after: (value) => dateAt(timeAfter(dateIn(value).getTime(), size, name, utc)) }
}

/** May throw. */
const densified = function*(partitions: ReadonlyArray<Partition>, densify: Densify): Iterable<Document> {
  const { bounds, field: path, partitionFields, step } = densify
  const valueIn = (document: Document): Value | undefined => {
    const value = valueAt(document, path)
    if (isNothing(value)) return undefined
    if (!isValue(value)) return reject("$densify needs numbers or dates")
    step.check(value)
    return value
  }
  const rangeOf = (some: ReadonlyArray<Partition>): readonly [Value, Value] | undefined => {
    const values = some.flatMap(({ documents }) => {
      const first = documents.find((document) => valueIn(document) !== undefined)
      return [first, documents.at(-1)].flatMap((document) => document === undefined ? [] : valueIn(document) ?? [])
    }).toSorted(compare)
    const [least, most = least] = [values[0], values.at(-1)]
    return least === undefined || most === undefined ? undefined : [least, most]
  }
  const fullRange = bounds === "full" ? rangeOf(partitions) : undefined
  let made = 0
  for (const partition of partitions) {
    const range = bounds === "full" ? fullRange : bounds === "partition" ? rangeOf([partition]) : bounds
    const known = isArray(partition.key) ? partition.key : []
    const base = partitionFields.reduce<Document>(
      (document, name, i) => withValue(document, name, known[i]),
      {}
    )
    const isWithin = (value: Value): boolean => {
      const order = range === undefined ? 1 : compare(value, range[1])
      return order < 0 || (order === 0 && typeof bounds === "string")
    }
    const make = (value: Value): Document => {
      made += 1
      return made > maxMade ? reject(`$densify makes more than ${maxMade} documents`) : withValue(base, path, value)
    }
    let next = range?.[0]
    for (const document of partition.documents) {
      const value = valueIn(document)
      if (value !== undefined && range !== undefined && next !== undefined && compare(value, range[0]) >= 0) {
        // As in MongoDB, each value is a step after the one before it: after February 28 comes March 28.
        for (; isWithin(next) && compare(next, value) < 0; next = step.after(next)) yield make(next)
        if (compare(next, value) === 0) next = step.after(next)
      }
      yield document
    }
    for (; next !== undefined && isWithin(next); next = step.after(next)) yield make(next)
  }
}

export const parseFill: StageParser = (operand, context) => {
  const { output, partitionBy, partitionByFields, sortBy } = {
    ...namesOf(operand, "$fill", ["output"], ["partitionBy", "partitionByFields", "sortBy"])
  }
  if (!isDocument(output) || Object.keys(output).length === 0) return reject("$fill needs an output")
  const fills = Object.entries(output).map(([path, fill]) => fillOf(path, fill, context))
  const setValues = (document: Document): Document =>
    fills.reduce((result, { compute, path }) => {
      const segments = fieldPathOf("$fill", path)
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
  const fields = partitionByFields === undefined ? [] : listOperand("partitionByFields of $fill", partitionByFields)
  return fieldsKey(fields.map((path) => fieldPathOf("partitionByFields of $fill", path)))
}
