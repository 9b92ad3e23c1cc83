/**
 * Hypermedia links, put together from parts that were prepared at registration.
 *
 * @since 0.1.0
 */
import { quote } from "../Model/internal/serialiser.ts"
import type { Parameters } from "./UrlQuery.ts"

/**
 * Writes the `_links` member of a document, with a comma behind it; empty when links are off.
 *
 * @category models
 * @since 0.1.0
 */
export type DocumentLinks = (id: unknown) => string

/**
 * The links of one resource's documents: `self` with the methods that are registered, and `collection`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofDocument = (path: string, methods: ReadonlyArray<string>): DocumentLinks => {
  const head = `"_links":{"self":{"href":"${path}/`
  const tail = `","methods":${JSON.stringify(methods)}},"collection":{"href":"${path}","methods":"GET"}},`
  return (id) => `${head}${segment(id)}${tail}`
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
 * The `_links` of one page: `self`, and `first`, `prev`, `next`, `last` where they exist. Every other parameter of the
 * request stays in them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofPage = (
  path: string,
  parameters: Parameters,
  page: { readonly page: number; readonly pageSize: number; readonly total: number }
): string => {
  const last = Math.max(1, Math.ceil(page.total / page.pageSize))
  const names = Object.keys(parameters)
  const [before, after] = around(names, parameters)
  const link = (number: number): string => quote(`${path}?${before}page=${number}${after}`)
  let links = `"_links":{"self":{"href":${names.length === 0 ? quote(path) : link(page.page)}}`
  if (page.total > 0) {
    links += `,"first":{"href":${link(1)}}`
    if (page.page > 1) links += `,"prev":{"href":${link(Math.min(page.page - 1, last))}}`
    if (page.page < last) links += `,"next":{"href":${link(page.page + 1)}}`
    links += `,"last":{"href":${link(last)}}`
  }
  return `${links}}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const plain = /^[\w.~-]*$/u

const segment = (id: unknown): string => {
  const text = String(id).toWellFormed()
  return plain.test(text) ? text : encodeURIComponent(text)
}

/** The parameters before and behind `page`, each with its separator. */
const around = (names: ReadonlyArray<string>, parameters: Parameters): readonly [string, string] => {
  let before = ""
  let after = ""
  let seen = false
  for (const name of names) {
    if (name === "page") {
      seen = true
      continue
    }
    const values = parameters[name]
    for (const value of typeof values === "string" ? [values] : values ?? []) {
      const pair = `${segment(name)}=${segment(value)}`
      if (seen) after += `&${pair}`
      else before += `${pair}&`
    }
  }
  return [before, after]
}
