/**
 * Hypermedia links, built from parts that are prepared at registration.
 *
 * @since 0.1.0
 */
import { quote } from "../../internal/json.ts"
import { fieldsOf } from "../description/callEndpoint.ts"
import type { Parameters } from "../query/urlQuery.ts"
import type { ResourceInfo } from "../Registration.ts"
import type { ModelView } from "../view/modelView.ts"

/**
 * Writes the `_links` member of a document with a trailing comma. Empty if links are disabled.
 *
 * @category models
 * @since 0.1.0
 */
export type DocumentLinks = (id: unknown) => string

/**
 * The links of a resource's documents: `self` with the registered methods, `collection`, and one for each action with
 * its method and argument names. Empty if the registration disables links. Of an action that takes the model itself,
 * fields that `view` hides are not among the arguments.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofResource = (
  { calls, enableHateoas, methods, model, path }: Pick<
    ResourceInfo,
    "calls" | "enableHateoas" | "methods" | "model" | "path"
  >,
  view?: Pick<ModelView, "rules">
): DocumentLinks => {
  if (!enableHateoas) return none
  const head = `"_links":{"self":{"href":"${path}/`
  const standard = `","methods":${JSON.stringify(methods)}},"collection":{"href":"${path}","methods":"GET"}`
  if (calls.length === 0) return (id) => `${head}${segment(id)}${standard}},`
  const prefix = `${path}/:id`
  const actions = calls.map(({ method, name, options, path }) => {
    const args = [
      ...Object.keys(fieldsOf(options.payload)).filter((field) =>
        options.payload !== model || view?.rules.isHidden(field) !== true
      ),
      ...Object.keys(fieldsOf(options.query))
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
 * No links, for registrations that disable them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const none: DocumentLinks = () => ""

/**
 * The URL of a document.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hrefOf = (path: string, id: unknown): string => `${path}/${segment(id)}`

/**
 * A page by number, with what is known about the other pages.
 *
 * @category models
 * @since 0.1.0
 */
export interface NumberedPage {
  /** The page's number, from 1. */
  readonly page: number
  readonly pageSize: number
  /** The number of documents on all pages. Without it, nothing was counted and there is no `last`. */
  readonly total?: number | undefined
  /** Whether there is a document after this page. Defaults to what `total` implies. */
  readonly hasNext?: boolean | undefined
}

/**
 * The `_links` of a page: `self`, and `first`, `prev`, `next`, `last` where they exist. Every other parameter of the
 * request keeps its position.
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
  // An estimated total may be too low.
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
 * The `_links` of a page that starts at a cursor: `self`, `first`, and `next` if there is a next page. Every other
 * parameter of the request keeps its position.
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

/** The parameters before and after the changing one, each with its separator. */
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
