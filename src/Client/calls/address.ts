/**
 * The URLs of calls.
 *
 * **Details**
 *
 * | | |
 * |---|---|
 * | `proxy.<name>` | `{root}/<name>/` |
 * | `proxy.wrap(path)` | `{root}/<path>` |
 * | `pathExtension` | appended with one slash between |
 */

/** A root address without slashes at its end; `undefined` if it is no plain HTTP URL that somebody can listen at. */
export const rootAddress = (address: string | URL): string | undefined => {
  const url = URL.parse(address)
  return url === null || !/^https?:$/u.test(url.protocol) || url.search !== "" || url.hash !== "" || url.port === "0" ||
      url.username !== "" ||
      url.password !== ""
    ? undefined
    : withoutSlashes(url.href)
}

export const namedUrl = (root: string, name: string): string => `${root}/${encodeURIComponent(name)}/`

export const wrappedUrl = (root: string, path: string): string => `${root}/${path.replace(/^\/+/u, "")}`

export const extendedUrl = (url: string, extension: string | number | undefined): string =>
  extension === undefined || extension === ""
    ? url
    : `${withoutSlashes(url)}/${String(extension).replace(/^\/+/u, "")}`

/** The URL of a call; `undefined` if it is malformed or outside of the root, as with `..` in an extension. */
export const urlWithin = (root: string, address: string): URL | undefined => {
  const url = URL.parse(address)
  return url === null || !`${url.href}/`.startsWith(`${root}/`) || hasDotSegments(address) ? undefined : url
}

/** The name of the service behind a URL: the last segment of its path, or its host. */
export const serviceOf = (address: string): string => {
  const url = URL.parse(address)
  const segments = url?.pathname.split("/").filter((segment) => segment !== "") ?? []
  return segments.at(-1) ?? url?.hostname ?? address
}

const withoutSlashes = (text: string): string => {
  let end = text.length
  while (text[end - 1] === "/") end--
  return text.slice(0, end)
}

/** The parser of URLs drops control characters, and spaces at the end. */
const hasDotSegments = (address: string): boolean => {
  const [path = ""] = address.split(/[?#]/u, 1)
  return /\p{Cc}/u.test(address) || dots.test(path) && path.trimEnd().split(/[/\\]/u).some(leadsAway)
}

const dots = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\;]|%2f|%5c|%3b|\s*$)/iu

/** Whether a segment leads elsewhere, for some servers also `..%2fx` and `..;`; `a%2f..%2fb` does not. */
const leadsAway = (segment: string): boolean => {
  let depth = 0
  let hasDots = false
  for (const part of segment.split(/%2f|%5c/iu)) {
    const [name = ""] = part.replace(/%2e/giu, ".").split(/;|%3b/iu, 1)
    if (name === "." || name === "..") hasDots = true
    if (name === "..") depth--
    else if (name !== "." && name !== "") depth++
    if (depth < 0) return true
  }
  return hasDots && depth === 0
}
