/**
 * The query language of a collection's URL: filters, sort order, pagination and field selection.
 *
 * **Details**
 *
 * A parameter with the name of a field is a filter. Its value is decoded by the field's schema:
 *
 * | Form | Meaning |
 * |---|---|
 * | `age=42` | equal; of a list, one of the elements is |
 * | `age=>42`, `age=<42`, `age=>=42`, `age=<=42` | greater, less, or the same as well |
 * | `name=~jan` | has this text in it, in upper or lower case; of a list, has this element |
 * | `age=!42` | another value, or none |
 * | `state=[open,paid]`, `state:[open,paid]` | one of these; `state=![open,paid]` none of these |
 * | `tags=#2` | a list of two elements |
 * | `address.city=Bern` | a field of a nested model, of one in a list, of a record |
 * | `due=null`, `due=!null` | no value, or any, where there may be none |
 *
 * A value in double quotes has no special meaning: `name=">5"`, `state=["a,b",c]`; `\"` and `\\` in quotes are a
 * quotation mark and a backslash. {@link literal} writes such a value.
 *
 * `logic` combines the conditions with `AND`, the default, or `OR`. A lower and an upper bound on one field are one
 * range in both cases, except that with `OR`, bounds without a common value are alternatives.
 *
 * A date compared with a date-time field is that day in UTC: `=` is within it, `>` after it, `<` before it.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import * as Cursor from "../../Repository/Cursor.ts"
import type { Document, Filter, FindOptions, Sort } from "../../Repository/DocumentStore.ts"
import { maxFields, maxSortFields } from "../description/limits.ts"
import { copied, problemOf } from "../messages/message.ts"
import { combined, conditionsOf, type Logic } from "./conditions.ts"
import * as FieldAccess from "./fieldAccess.ts"
import * as QueryGuard from "./nativeQuery.ts"
import { isList, parseTerm, quoted, type Term } from "./term.ts"

/**
 * The parameters of a URL; repeated ones are lists.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parameters {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

/**
 * The query of a collection's URL.
 *
 * @category models
 * @since 0.1.0
 */
export interface UrlQuery {
  /** The filter for the documents on all pages. */
  readonly filter: Filter
  /** The sort order. It ends with the identifier, so that pages do not overlap. */
  readonly sort: Sort
  /** The page's number, from 1. */
  readonly page: number
  readonly pageSize: number
  /**
   * What to count: the documents of `filter`, an estimate of all documents, or nothing. It is `none` with a cursor, and
   * never `estimated` with a filter.
   */
  readonly count: "exact" | "estimated" | "none"
  /** The selected fields, sorted and unique, including the identifier. Without it, all fields are selected. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** The order that cursors refer to, in cursor pagination. */
  readonly keyset?: Cursor.Keyset | undefined
  /**
   * The options for the store: the page, and one more document if {@link UrlQuery.count} is not exact, to find out
   * whether there is another page.
   */
  readonly find: FindOptions
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

/** The maximum number of parameters in one URL, with repeated ones counted each time. */
const maxParameters = 1_000

/**
 * Makes the parser of a URL's parameters for a model. It is made once and used for every request. It returns all
 * problems of the parameters. If one of them is a forbidden operator, `QueryGuard.forbiddenOf` returns the error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  model: Model.Any,
  limits: Limits
): (parameters: Parameters) => Result.Result<UrlQuery, ReadonlyArray<Problem>> => {
  const access = FieldAccess.of(model)
  const readNative = QueryGuard.filter(model)
  const keysetOf = keysets(model)
  return (parameters) => {
    const names = Object.keys(parameters)
    const excess = beyondLimit(names, parameters)
    if (excess !== undefined) return Result.fail([excess])
    const problems: Array<Problem> = []
    const refuse = (field: string, message: string, validator = "Parameter"): void => {
      problems.push(new Problem({ field, validator, message }))
    }
    const parameter = (name: string): Given =>
      reserved.has(name) || access.field(name) === undefined ? parameters[name] : undefined

    const logic = logicOf(parameter("logic"))
    if (logic === undefined) refuse("logic", "must be AND or OR")
    const filters = filtersOf(access, parameters, logic ?? "AND", refuse)
    const query = parameter("query")
    let native: Filter = {}
    if (typeof query === "string") {
      const read = readNative(query)
      if (Result.isSuccess(read)) native = read.success
      else problems.push(...read.failure)
    } else if (query !== undefined) {
      const once = problemOf("query", "Parameter", "errors.query.GivenOnce")
      problems.push(copied(once, new Problem(once)))
    }
    const fieldFilter = combined(filters, logic ?? "AND")
    const filter = isEmpty(native) ? fieldFilter : isEmpty(fieldFilter) ? native : { $and: [fieldFilter, native] }

    const sort = sortOf(access, parameter("sort_by"), parameter("sort_order"), refuse)
    const page = numberOf(parameter("page"), 1, Number.MAX_SAFE_INTEGER)
    if (page === undefined) refuse("page", "must be a whole number from 1 upwards")
    const pageSize = numberOf(parameter("page_size"), limits.defaultPageSize, limits.maxPageSize)
    if (pageSize === undefined) refuse("page_size", `must be a whole number from 1 to ${limits.maxPageSize}`)
    else if (page !== undefined && !Number.isSafeInteger(page * pageSize)) refuse("page", "is too large")
    const fields = fieldsOf(access, parameter("fields"), refuse)
    const count = countOf(parameter("count"))
    if (count === undefined) refuse("count", "must be exact, estimated or none")

    const cursor = parameter("cursor")
    let keyset: Cursor.Keyset | undefined
    let behind: Filter = {}
    if (cursor !== undefined) {
      if (typeof cursor !== "string") refuse("cursor", "can be given once")
      else if (parameter("page") !== undefined) refuse("cursor", "can't be given together with page", "Cursor")
      else {
        const made = keysetOf(sort)
        const place = Result.flatMap(made, ({ after }) => cursor === "" ? Result.succeed({}) : after(cursor))
        if (Result.isSuccess(made)) keyset = made.success
        if (Result.isSuccess(place)) behind = place.success
        else refuse("cursor", cursorMessage(Result.isSuccess(made)), "Cursor")
      }
    }
    if (problems.length > 0 || page === undefined || pageSize === undefined || count === undefined) {
      return Result.fail(problems)
    }
    const counted = keyset !== undefined ? "none" : count === "estimated" && !isEmpty(filter) ? "exact" : count
    return Result.succeed({
      filter,
      sort,
      page,
      pageSize,
      count: counted,
      fields,
      keyset,
      find: {
        filter: isEmpty(behind) ? filter : isEmpty(filter) ? behind : { $and: [filter, behind] },
        sort,
        skip: (page - 1) * pageSize,
        limit: counted === "exact" ? pageSize : pageSize + 1,
        ...(fields === undefined ? {} : { projection: projectionOf(access, fields, sort) })
      }
    })
  }
}

/**
 * The page among the documents that `find` returned, and what follows it: whether there are more documents and, in
 * cursor pagination, the cursor of the next page. An exact count determines whether there are more.
 *
 * @category combinators
 * @since 0.1.0
 */
export const pageOf = (
  { count, keyset, pageSize }: UrlQuery,
  documents: ReadonlyArray<Document>
): { readonly documents: ReadonlyArray<Document>; readonly hasNext: boolean; readonly next: string | undefined } => {
  const hasNext = count !== "exact" && documents.length > pageSize
  const page = hasNext ? documents.slice(0, pageSize) : documents
  const last = page.at(-1)
  return { documents: page, hasNext, next: hasNext && last !== undefined ? keyset?.cursor(last) : undefined }
}

/**
 * A text as a quoted filter value without special meaning: `">5"`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const literal = (text: string): string => quoted(text)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Given = string | ReadonlyArray<string> | undefined

type Refuse = (field: string, message: string, validator?: string) => void

/** Filters on fields of these names are written as `page:[2]`. */
const reserved: ReadonlySet<string> = new Set(["logic", "query", "sort_by", "sort_order", "page", "page_size"])

/** A field of the model takes precedence over these names. */
const yielding: ReadonlySet<string> = new Set(["fields", "cursor", "count"])

const valuesOf = (value: Given): ReadonlyArray<string> =>
  value === undefined ? [] : typeof value === "string" ? [value] : value

const beyondLimit = (names: ReadonlyArray<string>, parameters: Parameters): Problem | undefined => {
  let count = 0
  for (const field of names) {
    const value = parameters[field]
    count += typeof value === "string" ? 1 : value?.length ?? 0
    if (count > maxParameters) {
      return new Problem({ field, validator: "Limit", message: `is one of more than ${maxParameters} parameters` })
    }
  }
  return undefined
}

const isEmpty = (filter: Filter): boolean => Object.keys(filter).length === 0

const filtersOf = (
  access: FieldAccess.FieldAccess,
  parameters: Parameters,
  logic: Logic,
  refuse: Refuse
): ReadonlyArray<Filter> => {
  const named = new Map<string, { readonly field: FieldAccess.AccessibleField; readonly terms: Array<Term> }>()
  for (const name of Object.keys(parameters)) {
    if (reserved.has(name)) continue
    const own = access.field(name)
    if (own === undefined && yielding.has(name)) continue
    // `state:[open,paid]` has no `=`, so its complete text is the name.
    const end = own === undefined ? name.indexOf(":[") : -1
    const field = end < 0 ? own : access.field(name.slice(0, end))
    if (field === undefined) {
      refuse(name, "is neither a field nor a parameter of the collection")
      continue
    }
    const terms: Array<Term> = named.get(field.name)?.terms ?? []
    named.set(field.name, { field, terms })
    for (const value of valuesOf(parameters[name])) {
      const text = end < 0 ? value : name.slice(end + 1) + (value === "" ? "" : `=${value}`)
      if (!text.isWellFormed()) refuse(field.name, "must be well-formed Unicode")
      else if (end >= 0 && !isList(text)) refuse(field.name, "needs a list in brackets behind the colon")
      else terms.push(parseTerm(text, field.isList))
    }
  }
  return Array.from(
    named.values(),
    ({ field, terms }) =>
      conditionsOf(field, terms, logic, (validator, message) => refuse(field.name, message, validator))
  ).flat()
}

const logicOf = (value: Given): Logic | undefined => {
  if (value === undefined) return "AND"
  const logic = typeof value === "string" ? value.toUpperCase() : ""
  return logic === "AND" || logic === "OR" ? logic : undefined
}

const countOf = (value: Given): UrlQuery["count"] | undefined =>
  value === undefined ? "exact" : value === "exact" || value === "estimated" || value === "none" ? value : undefined

const numberOf = (value: Given, fallback: number, maximum: number): number | undefined => {
  if (value === undefined) return fallback
  if (typeof value !== "string" || !/^\d{1,16}$/u.test(value)) return undefined
  const number = Number(value)
  return number >= 1 && number <= maximum ? number : undefined
}

const sortOf = (access: FieldAccess.FieldAccess, by: Given, order: Given, refuse: Refuse): Sort => {
  const direction = order === undefined
    ? 1
    : typeof order === "string"
    ? directions.get(order.toUpperCase())
    : undefined
  if (direction === undefined) refuse("sort_order", "must be ASC or DESC")
  const names = valuesOf(by).flatMap((list) => list.split(",", maxSortFields + 1))
  if (names.length > maxSortFields) refuse("sort_by", `can't take more than ${maxSortFields} fields`, "Limit")
  const sort: { [path: string]: 1 | -1 } = {}
  let last: 1 | -1 = direction ?? 1
  for (const given of names.slice(0, maxSortFields)) {
    const name = given.trim()
    const isDescending = name.startsWith("-")
    const field = access.field(isDescending ? name.slice(1) : name)
    if (field === undefined || !field.sortable) {
      refuse("sort_by", `"${name}" is not a field to sort by`)
      continue
    }
    last = isDescending ? -1 : direction ?? 1
    sort[field.path] ??= last
    // The identifier is unique, so a further sort key has no effect.
    if (field.path === "_id") return sort
  }
  return { ...sort, _id: last }
}

const directions: ReadonlyMap<string, 1 | -1> = new Map([["ASC", 1], ["DESC", -1]])

const fieldsOf = (access: FieldAccess.FieldAccess, value: Given, refuse: Refuse): ReadonlyArray<string> | undefined => {
  if (value === undefined) return undefined
  const names = valuesOf(value).flatMap((list) => list.split(",", maxFields + 1))
  if (names.length > maxFields) refuse("fields", `can't take more than ${maxFields} fields`, "Limit")
  const fields = new Set<string>(access.id === undefined ? [] : [access.id])
  for (const given of names.slice(0, maxFields)) {
    const name = given.trim()
    if (access.field(name)?.selectable === true) fields.add(name)
    else refuse("fields", `"${name}" is not a field to select`)
  }
  return [...fields].toSorted()
}

/** Complete fields, since a store returns no `null` for a part of one, and the fields of cursors. */
const projectionOf = (access: FieldAccess.FieldAccess, fields: ReadonlyArray<string>, sort: Sort): Document =>
  Object.fromEntries(
    [...fields.map((name) => access.field(name)?.path ?? name), ...Object.keys(sort)].map((path) => [
      path.split(".", 1)[0],
      1
    ])
  )

const maxKeysets = 256

/** The keysets of requested sort orders, of which there are infinitely many. */
const keysets = (model: Model.Any) => {
  const made = new Map<string, ReturnType<typeof Cursor.make>>()
  return (sort: Sort): ReturnType<typeof Cursor.make> => {
    const key = JSON.stringify(Object.entries(sort))
    const known = made.get(key)
    if (known !== undefined) return known
    if (made.size >= maxKeysets) made.clear()
    const keyset = Cursor.make(model, sort)
    made.set(key, keyset)
    return keyset
  }
}

const cursorMessage = (hasKeyset: boolean): string =>
  hasKeyset ? "is not one of this collection in this order" : "can't be used in this order"
