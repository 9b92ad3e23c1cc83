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
 * | `due=null`, `due=!null` | no value, or any, where there may be none; through a list, of one of the elements |
 *
 * A value in double quotes has no special meaning: `name=">5"`, `state=["a,b",c]`; `\"` and `\\` in quotes are a
 * quotation mark and a backslash. Where a field takes texts and numbers, it is the text.
 *
 * `logic` combines the conditions with `AND`, the default, or `OR`. A lower and an upper bound on one field are one
 * range in both cases, except that with `OR`, bounds without a common value are alternatives.
 *
 * A date compared with a date-time field is that day in UTC: `=` is within it, `>` after it, `<` before it.
 */
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import { BoundedCache } from "../../internal/boundedCache.ts"
import type { FieldProblem } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import * as Cursor from "../../Repository/Cursor.ts"
import type { Document, Filter, FindOptions, Sort } from "../../Repository/DocumentStore.ts"
import { allOf, fallibleLast, parseSortTerm, type SortKey, totalOrder } from "../../Repository/internal.ts"
import { maxFields, maxSortFields } from "../description/limits.ts"
import { collectionParameters, documentParameters, type PageLimits } from "../description/queryParameters.ts"
import { combined, conditionsOf, type Logic } from "./conditions.ts"
import { type FilterValue, isList, parseFilterValue } from "./filterSyntax.ts"
import * as NativeQueries from "./nativeQueries.ts"
import { parameterReaders, type Parameters, type ParameterValue, queryReader } from "./parameterReader.ts"
import type { Naming } from "./partlyHiddenFields.ts"
import * as QueryFields from "./queryFields.ts"

export type { Parameters } from "./parameterReader.ts"

/** The query of a collection's URL. */
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
  /** What is embedded into the documents. */
  readonly expand?: Expand | undefined
  /** The order that cursors refer to, in cursor pagination. */
  readonly keyset?: Cursor.Keyset | undefined
  /**
   * The options for the store: the page, and one more document if {@link UrlQuery.count} is not exact, to find out
   * whether there is another page.
   */
  readonly find: FindOptions
}

/** The paths that a request expands. */
export interface Expand {
  /** The paths to references: `patient.doctor`. */
  readonly paths: ReadonlyArray<string>
  /** The fields to select of embedded documents, after the prefix `_embedded.` of `fields`. */
  readonly fields: ReadonlyArray<string>
}

/**
 * Makes the parser of a URL's parameters for a model. It is made once and used for every request. It returns all
 * problems of the parameters. If one of them is a forbidden operator, `NativeQueries.forbiddenOf` returns the error.
 * `naming` has the fields that a request may name where documents show different ones.
 */
export const make = (
  model: Model.Any,
  limits: PageLimits,
  options: Cursor.Options = {}
): (parameters: Parameters, naming?: Naming) => Result.Result<UrlQuery, ReadonlyArray<FieldProblem>> => {
  const all = QueryFields.of(model)
  const readers = parameterReaders(collectionParameters(model, limits))
  const readNative = nativeReader(model)
  const readCursor = cursorReader(model, options)
  return (parameters, naming) => {
    const access = naming?.access ?? all
    const problems: Array<FieldProblem> = []
    const report = reporting(problems)
    const logic = readers.logic(parameters["logic"], problems)
    const filters = filtersOf(access, { parameters, readers }, logic ?? "AND", report)
    const native = readNative(readers.query(parameters["query"], problems), access, problems)
    const direction = readers.sort_order(parameters["sort_order"], problems)
    const shown = naming?.condition()
    const sort = sortOf(access, readers.sort_by(parameters["sort_by"], problems), direction, report)
    // An order leaves no document out of a list.
    if (!Equal.equals(shown, naming?.condition())) {
      report("sort_by", "is a field that only some of the documents show: filter by it as well")
    }
    const page = readers.page(parameters["page"], problems)
    const pageSize = readers.page_size(parameters["page_size"], problems)
    if (page !== undefined && pageSize !== undefined && !Number.isSafeInteger(page * pageSize)) {
      report("page", "is too large")
    }
    // A selected field is left out of the documents that do not show it.
    const { expand, fields } = selectionOf(
      all,
      readers.fields?.(parameters["fields"], problems),
      readers.expand?.(parameters["expand"], problems),
      report
    )
    const countMode = readers.count === undefined ? "exact" : readers.count(parameters["count"], problems)
    const { following, keyset } = readCursor(
      readers.cursor?.(parameters["cursor"], problems),
      { sort, hasPage: parameters["page"] !== undefined },
      report
    )
    if (problems.length > 0 || page === undefined || pageSize === undefined || countMode === undefined) {
      return Result.fail(problems)
    }
    // Nothing that the caller asks for is looked for in documents that don't show it.
    const within = (asked: Filter = {}) => allOf(naming?.condition(), fallibleLast(asked)) ?? {}
    const asked = allOf(combined(filters, logic ?? "AND"), native)
    const filter = within(asked)
    const count = keyset !== undefined ? "none" : countMode === "estimated" && !isEmpty(filter) ? "exact" : countMode
    const find = {
      filter: isEmpty(following) ? filter : within(allOf(asked, following)),
      sort,
      skip: (page - 1) * pageSize,
      limit: count === "exact" ? pageSize : pageSize + 1,
      // Which fields a document shows depends on all of them.
      ...(fields === undefined || naming !== undefined
        ? {}
        : { projection: projectionOf(all, [...fields, ...expand?.paths ?? []], sort) })
    }
    return Result.succeed({ filter, sort, page, pageSize, count, fields, expand, keyset, find })
  }
}

/** What the URL of a document selects and expands. */
export type Selected = Pick<UrlQuery, "expand" | "fields">

/**
 * Makes the parser for the parameters of a document's URL: the selected fields, as in {@link UrlQuery.fields}, and what is
 * embedded.
 */
export const selection = (
  model: Model.Any
): (parameters: Parameters) => Result.Result<Selected, ReadonlyArray<FieldProblem>> => {
  const access = QueryFields.of(model)
  const read = queryReader(documentParameters, "is not a parameter of a single document")
  return (parameters) => {
    const listed = read(parameters)
    if (Result.isFailure(listed)) return Result.fail(listed.failure)
    const problems: Array<FieldProblem> = []
    const selected = selectionOf(access, listed.success.fields, listed.success.expand, reporting(problems))
    return problems.length > 0 ? Result.fail(problems) : Result.succeed(selected)
  }
}

/** What a parameter `expand` names. */
export const expandOf = (text: string): Expand => ({ paths: namesIn(text), fields: [] })

/** The fields of these names, as in {@link UrlQuery.fields}, and the names that are none. */
export const selectedFields = (
  model: Model.Any,
  names: ReadonlyArray<string>
): { readonly selected: ReadonlyArray<string>; readonly unknown: ReadonlyArray<string> } => {
  const access = QueryFields.of(model)
  const unknown = names.filter((name) => access.field(name)?.selectable !== true)
  return { selected: withIdentifier(access, names.filter((name) => !unknown.includes(name))), unknown }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type ReportProblem = (field: string, message: string, validator?: string) => void

const valuesOf = (value: ParameterValue): ReadonlyArray<string> =>
  value === undefined ? [] : typeof value === "string" ? [value] : value

const isEmpty = (filter: Filter): boolean => Object.keys(filter).length === 0

/** Parses a native filter and adds its problems. */
const nativeReader = (model: Model.Any) => {
  const readFilter = NativeQueries.filter(model)
  return (text: string | undefined, access: QueryFields.QueryFields, problems: Array<FieldProblem>): Filter => {
    if (text === undefined) return {}
    const read = readFilter(text, access)
    if (Result.isSuccess(read)) return read.success
    problems.push(...read.failure)
    return {}
  }
}

/** The filter of what stands behind a cursor, and the order that it is a place in. */
interface CursorPosition {
  readonly following: Filter
  readonly keyset: Cursor.Keyset | undefined
}

const firstPage: CursorPosition = { following: {}, keyset: undefined }

const cursorReader = (model: Model.Any, options: Cursor.Options) => {
  const keysetOf = keysets(model, options)
  return (
    cursor: string | undefined,
    { hasPage, sort }: { readonly sort: Sort; readonly hasPage: boolean },
    report: ReportProblem
  ): CursorPosition => {
    if (cursor === undefined) return firstPage
    if (hasPage) {
      report("cursor", "can't be given together with page", "Cursor")
      return firstPage
    }
    const keyset = keysetOf(sort)
    const following = Result.flatMap(keyset, ({ after }) => cursor === "" ? Result.succeed({}) : after(cursor))
    if (Result.isFailure(following)) report("cursor", cursorMessage(Result.isSuccess(keyset)), "Cursor")
    return { following: Result.getOrElse(following, () => ({})), keyset: Result.getOrUndefined(keyset) }
  }
}

const filtersOf = (
  access: QueryFields.QueryFields,
  { parameters, readers }: { readonly parameters: Parameters; readonly readers: object },
  logic: Logic,
  report: ReportProblem
): ReadonlyArray<Filter> => {
  const named = new Map<string, { readonly field: QueryFields.QueryField; readonly terms: Array<FilterValue> }>()
  for (const name of Object.keys(parameters)) {
    // Fields of such names are filtered by `page:[2]`.
    if (Object.hasOwn(readers, name)) continue
    const own = access.field(name)
    // `state:[open,paid]` has no `=`, so its complete text is the name.
    const end = own === undefined ? name.indexOf(":[") : -1
    const field = end < 0 ? own : access.field(name.slice(0, end))
    if (field === undefined) {
      report(name, "is neither a field nor a parameter of the collection")
      continue
    }
    const terms: Array<FilterValue> = named.get(field.name)?.terms ?? []
    named.set(field.name, { field, terms })
    for (const value of valuesOf(parameters[name])) {
      const text = end < 0 ? value : name.slice(end + 1) + (value === "" ? "" : `=${value}`)
      if (!text.isWellFormed()) report(field.name, "must be well-formed Unicode")
      else if (end >= 0 && !isList(text)) report(field.name, "needs a list in brackets behind the colon")
      else terms.push(parseFilterValue(text, field.isList))
    }
  }
  const filters: Array<Filter> = []
  for (const { field, terms } of named.values()) {
    filters.push(...conditionsOf(field, terms, logic, (validator, message) => report(field.name, message, validator)))
  }
  return filters
}

const sortOf = (
  access: QueryFields.QueryFields,
  by: string | undefined,
  order: "ASC" | "DESC" | undefined,
  report: ReportProblem
): Sort => {
  const direction = order === "DESC" ? -1 : 1
  const names = by === undefined ? [] : by.split(",", maxSortFields + 1)
  if (names.length > maxSortFields) report("sort_by", `can't take more than ${maxSortFields} fields`, "Limit")
  const keys: Array<SortKey> = []
  for (const listed of names.slice(0, maxSortFields)) {
    const term = parseSortTerm(listed.trim())
    const field = access.field(term.name)
    if (field?.sortable === true) keys.push({ path: field.path, direction: term.direction ?? direction })
    else report("sort_by", `"${listed.trim()}" is not a field to sort by`)
  }
  return totalOrder(keys, direction)
}

const reporting = (problems: Array<FieldProblem>): ReportProblem => (field, message, validator = "Parameter") => {
  problems.push({ field, validator, message })
}

const namesIn = (text: string): ReadonlyArray<string> => text.split(",").map((name) => name.trim())

const embedded = "_embedded."

const selectionOf = (
  access: QueryFields.QueryFields,
  fields: string | undefined,
  expand: string | undefined,
  report: ReportProblem
): Selected => {
  const names = fields === undefined ? [] : fields.split(",", maxFields + 1).map((name) => name.trim())
  if (names.length > maxFields) report("fields", `can't take more than ${maxFields} fields`, "Limit")
  const own: Array<string> = []
  const ofEmbedded: Array<string> = []
  for (const name of names.slice(0, maxFields)) {
    if (expand !== undefined && name.startsWith(embedded)) ofEmbedded.push(name.slice(embedded.length))
    else if (access.field(name)?.selectable === true) own.push(name)
    else report("fields", `"${name}" is not a field to select`)
  }
  return {
    // Of documents of which only embedded ones are named, everything is answered.
    fields: fields === undefined || own.length === 0 && ofEmbedded.length > 0 ? undefined : withIdentifier(access, own),
    expand: expand === undefined ? undefined : { ...expandOf(expand), fields: ofEmbedded }
  }
}

const withIdentifier = ({ field, id }: QueryFields.QueryFields, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set([...id === undefined ? [] : [id], ...names.map((name) => field(name)?.name ?? name)])].toSorted()

/** Complete fields, since a store returns no `null` for a part of one, and the fields of cursors. */
const projectionOf = (access: QueryFields.QueryFields, fields: ReadonlyArray<string>, sort: Sort): Document =>
  Object.fromEntries(
    [...fields.map((name) => access.field(name)?.path ?? name), ...Object.keys(sort)].map((path) => [
      path.split(".", 1)[0],
      1
    ])
  )

const maxKeysets = 256

const maxKeysetLength = 2_048

/** The keysets of requested sort orders, of which there are infinitely many. */
const keysets = (model: Model.Any, options: Cursor.Options) => {
  const made = new BoundedCache<ReturnType<typeof Cursor.make>>(maxKeysets)
  return (sort: Sort) => {
    const order = JSON.stringify(Object.entries(sort))
    const make = () => Cursor.make(model, sort, options)
    return order.length > maxKeysetLength ? make() : made.getOrMake(order, make)
  }
}

const cursorMessage = (hasKeyset: boolean): string =>
  hasKeyset ? "is not one of this collection in this order" : "can't be used in this order"
