/** Splits the stages off a pipeline that a find can run by an index. */
import type { FindOptions, Sort } from "@appkernel/document-store/StoreTypes"
import { toDouble } from "../bson/number.ts"
import { isDocument, isNumber } from "../bson/value.ts"

/** Splits a leading `$match`, `$sort` and `$limit` off a pipeline: as a find, they can use an index. */
export const splitLeadingFind = (
  stages: ReadonlyArray<unknown>
): { readonly options: FindOptions; readonly rest: ReadonlyArray<unknown> } => {
  const [first, second, third] = stages
  const filter = operandOf(first, "$match")
  if (!isDocument(filter)) return { options: {}, rest: stages }
  const sort = operandOf(second, "$sort")
  const limit = limitIn(third)
  // An empty sort stays in the pipeline, whose parser rejects it; a find accepts it.
  return isDocument(sort) && Object.keys(sort).length > 0
    ? { options: { filter, sort: sort as Sort, ...limit === Infinity ? {} : { limit } }, rest: stages.slice(2) }
    : { options: { filter }, rest: stages.slice(1) }
}

/** The limit of a `$limit` stage; `Infinity` for any other. */
export const limitIn = (stage: unknown): number => naturalNumber(operandOf(stage, "$limit")) ?? Infinity

export const naturalNumber = (value: unknown): number | undefined => {
  const double = isNumber(value) ? toDouble(value) : -1
  return Number.isInteger(double) && double >= 0 ? double : undefined
}

// internal

const operandOf = (stage: unknown, name: string): unknown =>
  isDocument(stage) && Object.keys(stage).length === 1 ? stage[name] : undefined
