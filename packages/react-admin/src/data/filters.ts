/** Filters of react-admin as parameters of the URL language. */
import { isJson, textOf } from "../description/json.ts"

/**
 * Adds the parameters of a filter: `{ price: { ">": 5, "<": 10 }, state: "open", $text: "blue" }`. A value without an operator
 * is equal, a list is one of its elements. Returns the paths of the conditions that say nothing, which are left out: those of
 * inputs in which nothing was entered. An empty text is meant where its operator is `=` or `!`.
 */
export const addFilter = (
  query: URLSearchParams,
  filter: { readonly [path: string]: unknown } = {},
  { search }: { readonly search?: string | undefined } = {}
): ReadonlyArray<string> => {
  const left = new Set<string>()
  for (const [path, condition] of Object.entries(filter)) {
    if (condition === undefined || condition === "") left.add(path)
    else if (path === "$text") query.append("query", JSON.stringify({ $text: { $search: textOf(condition) } }))
    else if (path === "$query") {
      query.append("query", typeof condition === "string" ? condition : JSON.stringify(condition))
    } else if (path === "$logic") query.append("logic", textOf(condition))
    else if (path === "$deleted") query.append("deleted", textOf(condition))
    else if (path === "q") {
      if (search === undefined) left.add(path)
      else query.append(search, `~${literal(condition)}`)
    } else if (isJson(condition) && !(condition instanceof Date)) {
      if (!addOperators(query, path, condition)) left.add(path)
    } else if (isEmptyList(condition)) {
      // The URL language has no list without an element.
      query.append("query", JSON.stringify({ [path]: { $in: [] } }))
    } else if (Array.isArray(condition)) query.append(path, jsonList(condition))
    else query.append(path, condition === null ? "null" : literal(condition))
  }
  return [...left]
}

/** Whether each of the operators says something. */
const addOperators = (
  query: URLSearchParams,
  path: string,
  operators: { readonly [operator: string]: unknown }
): boolean => {
  const said = Object.entries(operators).filter(([operator, value]) =>
    value !== undefined && (value !== "" || operator === "=" || operator === "!")
  )
  for (const [operator, value] of said) {
    switch (operator) {
      case "=":
      case "!":
        query.append(
          path,
          `${operator === "=" ? "" : "!"}${
            Array.isArray(value) ? jsonList(value) : value === null ? "null" : literal(value)
          }`
        )
        break
      case "[]":
      case "![]":
        query.append(path, `${operator === "[]" ? "" : "!"}${jsonList(Array.isArray(value) ? value : [value])}`)
        break
      case "#":
        query.append(path, `#${textOf(value)}`)
        break
      case "null":
        query.append(path, value === false ? "!null" : "null")
        break
      // `>`, `<`, `>=`, `<=` and `~`: the service names what it does not know.
      default:
        query.append(path, `${operator}${literal(value)}`)
    }
  }
  return said.length > 0 && said.length === Object.keys(operators).length
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** A value of which no character has a meaning. */
const literal = (value: unknown): string =>
  typeof value === "string"
    ? `"${value.replaceAll(/["\\]/gu, (one) => `\\${one}`)}"`
    : value instanceof Date
    ? literal(value.toISOString())
    : textOf(value)

const jsonList = (values: ReadonlyArray<unknown>): string => `[${values.map(literal).join(",")}]`
