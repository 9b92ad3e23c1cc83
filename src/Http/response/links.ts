/**
 * Hypermedia links, put together from parts that were prepared at registration.
 *
 * @since 0.1.0
 */
import { quote } from "../../internal/json.ts"
import type { Parameters } from "../query/urlQuery.ts"
import type { ResourceInfo } from "../Registration.ts"

/**
 * Writes the `_links` member of a document, with a comma behind it; empty when links are off.
 *
 * @category models
 * @since 0.1.0
 */
export type DocumentLinks = (id: unknown) => string

/**
 * The links of one resource's documents: `self` with the methods that are registered, `collection`, and one for each
 * action with its method and the names of its arguments. None, where the registration turns links off.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofResource = (
  { calls, enableHateoas, methods, path }: Pick<ResourceInfo, "calls" | "enableHateoas" | "methods" | "path">
): DocumentLinks => {
  if (!enableHateoas) return none
  const head = `"_links":{"self":{"href":"${path}/`
  const standard = `","methods":${JSON.stringify(methods)}},"collection":{"href":"${path}","methods":"GET"}`
  if (calls.length === 0) return (id) => `${head}${segment(id)}${standard}},`
  const prefix = `${path}/:id`
  const actions = calls.map(({ method, name, options, path }) => {
    const args = [
      ...Object.keys(options.requestModel?.create.fields ?? options.payload ?? {}),
      ...Object.keys(options.queryParams ?? {})
    ]
    const rest = JSON.stringify({ methods: method, ...(args.length === 0 ? {} : { args }) }).slice(1)
    return [
      `,${quote(options.rel ?? name)}:{"href":"${prefix.slice(0, -3)}`,
      `${path.slice(prefix.length).replaceAll(/:(\w+)/gu, "{$1}")}",${rest}`
    ]
  })
  return (id) => {
    const encodedId = segment(id)
    let links = `${head}${encodedId}${standard}`
    for (let i = 0; i < actions.length; i++) links += `${actions[i]![0]}${encodedId}${actions[i]![1]}`
    return `${links}},`
  }
}

/**
 * No links at all, for registrations that turn them off.
 *
 * @category constructors
 * @since 0.1.0
 */
export const none: DocumentLinks = () => ""

/**
 * Where a document is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hrefOf = (path: string, id: unknown): string => `${path}/${segment(id)}`

/**
 * A page by its number, and what is known of the others.
 *
 * @category models
 * @since 0.1.0
 */
export interface NumberedPage {
  /** From 1 upwards. */
  readonly page: number
  readonly pageSize: number
  /** How many documents there are on all pages; without it, nobody counted, and there is no `last`. */
  readonly total?: number | undefined
  /** Whether a document was found behind this page. Defaults to what `total` says. */
  readonly hasNext?: boolean | undefined
}

/**
 * The `_links` of one page: `self`, and `first`, `prev`, `next`, `last` where they exist. Every other parameter of the
 * request stays in them, in its place.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofPage = (
  path: string,
  parameters: Parameters,
  { hasNext, page, pageSize, total }: NumberedPage
): string => {
  const counted = total === undefined ? undefined : Math.max(1, Math.ceil(total / pageSize))
  // An estimate may be behind what was found.
  const last = counted === undefined || hasNext !== true ? counted : Math.max(counted, page + 1)
  const names = Object.keys(parameters)
  const [before, after] = otherParameters(names, parameters, "page")
  const link = (number: number): string => quote(`${path}?${before}page=${number}${after}`)
  let links = `"_links":{"self":{"href":${names.length === 0 ? quote(path) : link(page)}}`
  if (total !== 0 || hasNext === true) {
    links += `,"first":{"href":${link(1)}}`
    if (page > 1) links += `,"prev":{"href":${link(last === undefined ? page - 1 : Math.min(page - 1, last))}}`
    if (hasNext ?? (last !== undefined && page < last)) links += `,"next":{"href":${link(page + 1)}}`
    if (last !== undefined) links += `,"last":{"href":${link(last)}}`
  }
  return `${links}}`
}

/**
 * The `_links` of a page that begins at a cursor: `self`, `first`, and `next` where there is a cursor of the next one.
 * Every other parameter of the request stays in them, in its place.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofCursor = (path: string, parameters: Parameters, next: string | undefined): string => {
  const [before, after] = otherParameters(Object.keys(parameters), parameters, "cursor")
  const link = (cursor: string): string => quote(`${path}?${before}cursor=${cursor}${after}`)
  const current = parameters["cursor"]
  const links = `"_links":{"self":{"href":${
    link(typeof current === "string" ? segment(current) : "")
  }},"first":{"href":${link("")}}`
  return next === undefined ? `${links}}` : `${links},"next":{"href":${link(next)}}}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unreserved = /^[\w.~-]*$/u

const segment = (id: unknown): string => {
  const text = String(id).toWellFormed()
  return unreserved.test(text) ? text : encodeURIComponent(text)
}

/** The parameters before and behind the one that changes, each with its separator. */
const otherParameters = (
  names: ReadonlyArray<string>,
  parameters: Parameters,
  changing: string
): readonly [string, string] => {
  let before = ""
  let after = ""
  let isAfter = false
  for (const name of names) {
    if (name === changing) {
      isAfter = true
      continue
    }
    const values = parameters[name]
    for (const value of typeof values === "string" ? [values] : values ?? []) {
      const pair = `${segment(name)}=${segment(value)}`
      if (isAfter) after += `&${pair}`
      else before += `${pair}&`
    }
  }
  return [before, after]
}
