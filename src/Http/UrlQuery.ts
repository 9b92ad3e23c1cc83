/**
 * The query language of a collection's URL: field filters, `sort_by`, `sort_order`, `page` and `page_size`.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Model from "../Model/Model.ts"
import { Problem } from "../Model/ModelError.ts"
import type { Filter, Sort } from "../Repository/DocumentStore.ts"
import { type AccessibleField, fieldsOf } from "./FieldAccess.ts"

/**
 * The parameters of a URL, a repeated one as a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parameters {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

/**
 * What a URL asks of a collection.
 *
 * @category models
 * @since 0.1.0
 */
export interface UrlQuery {
  readonly filter: Filter
  /** Ends in the identifier, so that pages never overlap. */
  readonly sort: Sort
  /** From 1 upwards. */
  readonly page: number
  readonly pageSize: number
}

/**
 * Limits of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly defaultPageSize: number
  readonly maxPageSize: number
}

/**
 * Reads the parameters of a URL as a query over the model's fields. The reader is made once and used for every request;
 * what it can't read it gives back as problems, one for each parameter.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  model: Model.Any,
  limits: Limits
): (parameters: Parameters) => Result.Result<UrlQuery, ReadonlyArray<Problem>> => {
  const fields = fieldsOf(model)
  return (parameters) => {
    const problems: Array<Problem> = []
    const conditions: Array<Filter> = []
    const refuse = (field: string, message: string): void => {
      problems.push(new Problem({ field, validator: "Parameter", message }))
    }
    for (const name of Object.keys(parameters)) {
      if (reserved.has(name)) continue
      const field = fields.get(name)
      if (field === undefined) {
        refuse(name, "is neither a field nor a parameter of the collection")
        continue
      }
      for (const text of valuesOf(parameters[name])) {
        const value = field.read(text)
        if (Option.isNone(value)) refuse(name, "can't take this value")
        else conditions.push({ [field.path]: { $eq: value.value } })
      }
    }
    const sort = sortOf(fields, parameters, refuse)
    const page = numberOf(parameters["page"], 1, Number.MAX_SAFE_INTEGER)
    if (page === undefined) refuse("page", "must be an integer from 1 upwards")
    const pageSize = numberOf(parameters["page_size"], limits.defaultPageSize, limits.maxPageSize)
    if (pageSize === undefined) refuse("page_size", `must be an integer from 1 to ${limits.maxPageSize}`)
    if (problems.length > 0 || page === undefined || pageSize === undefined) return Result.fail(problems)
    if (!Number.isSafeInteger(page * pageSize)) {
      return Result.fail([new Problem({ field: "page", validator: "Parameter", message: "is too large" })])
    }
    const filter = conditions.length > 1 ? { $and: conditions } : conditions[0] ?? {}
    return Result.succeed({ filter, sort, page, pageSize })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const reserved: ReadonlySet<string> = new Set(["page", "page_size", "sort_by", "sort_order"])

const valuesOf = (value: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  value === undefined ? [] : typeof value === "string" ? [value] : value

const numberOf = (
  value: string | ReadonlyArray<string> | undefined,
  fallback: number,
  maximum: number
): number | undefined => {
  if (value === undefined) return fallback
  if (typeof value !== "string" || !/^\d{1,16}$/u.test(value)) return undefined
  const number = Number(value)
  return number >= 1 && number <= maximum ? number : undefined
}

const byId: Sort = { _id: 1 }

const sortOf = (
  fields: ReadonlyMap<string, AccessibleField>,
  parameters: Parameters,
  refuse: (field: string, message: string) => void
): Sort => {
  const order = parameters["sort_order"]
  const direction = order === undefined
    ? 1
    : typeof order === "string"
    ? directions.get(order.toUpperCase())
    : undefined
  if (direction === undefined) refuse("sort_order", "must be ASC or DESC")
  const names = valuesOf(parameters["sort_by"])
  if (names.length === 0 && order === undefined) return byId
  const sort: { [path: string]: 1 | -1 } = {}
  for (const name of names.flatMap((list) => list.split(","))) {
    const field = fields.get(name)
    if (field === undefined || !field.sortable) refuse("sort_by", `"${name}" is not a field to sort by`)
    else sort[field.path] ??= direction ?? 1
  }
  return { ...sort, _id: sort["_id"] ?? direction ?? 1 }
}

const directions: ReadonlyMap<string, 1 | -1> = new Map([["ASC", 1], ["DESC", -1]])
