/** Filters of react-admin as parameters of the URL language. */
import { isJson, textOf } from "../description/json.ts"
import { KernelError } from "../KernelError.ts"

/**
 * Adds the parameters of a filter: `{ price: { ">": 5, "<": 10 }, state: "open", $text: "blue" }`. A value without an operator
 * is equal, a list is one of its elements. Returns the paths of the conditions that say nothing, which are left out: those of
 * inputs in which nothing was entered. An empty text is meant where its operator is `=` or `!`. What is searched for is needed in
 * any case, also where one of the conditions is enough.
 */
export const addFilter = (
  query: URLSearchParams,
  filter: { readonly [path: string]: unknown } = {},
  { search }: { readonly search?: string | undefined } = {}
): ReadonlyArray<string> => {
  const left = new Set<string>()
  /** What is said in the store's language, as JSON. */
  const native: Array<string> = []
  const add = (path: string, operator: string, value: unknown) => {
    if (!parameterNames.has(path)) query.append(path, termOf(operator, value))
    else if ((operator === "=" || operator === "[]") && value !== null) {
      query.append(`${path}:${listOf(value)}`, "")
    } else if (filter["$logic"] === "OR") {
      // The store's language stands beside the alternatives, and is none of them.
      throw new KernelError(400, `${path} has the name of a parameter: as an alternative, it can only be equal`)
    } else native.push(JSON.stringify({ [path]: nativeOf(operator, value) }))
  }
  for (const [path, condition] of Object.entries(filter)) {
    if (condition === undefined || condition === "") left.add(path)
    else if (path === "$text") native.push(JSON.stringify({ $text: { $search: textOf(condition) } }))
    else if (path === "$query") native.push(typeof condition === "string" ? condition : JSON.stringify(condition))
    else if (path === "$logic") query.append("logic", textOf(condition))
    else if (path === "$deleted") query.append("deleted", textOf(condition))
    else if (path === "q") {
      if (search === undefined) left.add(path)
      // The store's language stands beside the alternatives: what is searched for is needed in any case.
      else if (filter["$logic"] === "OR") native.push(JSON.stringify({ [search]: nativeOf("~", condition) }))
      else add(search, "~", condition)
    } else if (isJson(condition) && !(condition instanceof Date)) {
      const said = Object.entries(condition).filter(([operator, value]) =>
        value !== undefined && (value !== "" || operator === "=" || operator === "!")
      )
      for (const [operator, value] of said) add(path, operator, value)
      if (said.length === 0 || said.length < Object.keys(condition).length) left.add(path)
    } else if (isEmptyList(condition)) {
      // The URL language has no list without an element.
      native.push(JSON.stringify({ [path]: { $in: [] } }))
    } else add(path, "=", condition)
  }
  // The parameter can be given once.
  if (native.length > 0) query.append("query", native.length === 1 ? native.join() : `{"$and":[${native.join()}]}`)
  return [...left]
}

/** The parameters of lists, writes of many and streams, where a field of such a name has no meaning, or may have none. */
const parameterNames: ReadonlySet<string> = new Set([
  "page",
  "page_size",
  "sort_by",
  "sort_order",
  "query",
  "logic",
  "fields",
  "expand",
  "cursor",
  "count",
  "all",
  "dry_run",
  "offset",
  "live"
])

/** The value of a parameter. */
const termOf = (operator: string, value: unknown): string => {
  switch (operator) {
    case "=":
    case "!":
      return `${operator === "=" ? "" : "!"}${
        Array.isArray(value) ? listOf(value) : value === null ? "null" : literal(value)
      }`
    case "[]":
    case "![]":
      return `${operator === "[]" ? "" : "!"}${listOf(value)}`
    case "#":
      return `#${textOf(value)}`
    case "null":
      return value === false ? "!null" : "null"
    // `>`, `<`, `>=`, `<=` and `~`: the service names what it does not know.
    default:
      return `${operator}${literal(value)}`
  }
}

const nativeOperators: ReadonlyMap<string, string> = new Map([
  ["=", "$eq"],
  ["!", "$ne"],
  [">", "$gt"],
  [">=", "$gte"],
  ["<", "$lt"],
  ["<=", "$lte"],
  ["#", "$size"]
])

/** A condition in the store's language. */
const nativeOf = (operator: string, value: unknown): { readonly [operator: string]: unknown } => {
  if (operator === "null") return value === false ? { $ne: null } : { $eq: null }
  if (operator === "~") return { $regex: textOf(value).replaceAll(/[$()*+.?[\\\]^{|}]/gu, "\\$&"), $options: "i" }
  if (operator === "![]" || (operator === "!" && Array.isArray(value))) {
    return { $nin: allOf(value) }
  }
  return { [nativeOperators.get(operator) ?? operator]: value }
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** A value of which no character has a meaning. */
const literal = (value: unknown): string =>
  typeof value === "string"
    ? `"${value.replaceAll(/["\\]/gu, (one) => `\\${one}`)}"`
    : value instanceof Date
    ? literal(value.toISOString())
    : textOf(value)

/** One value is a list of it. */
const allOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : [value]

const listOf = (value: unknown): string => `[${allOf(value).map(literal).join(",")}]`
