/**
 * The rules of paths in descriptions: their parameters, their form in URLs, which paths the router can't tell
 * apart, and paths that several modules know.
 */

/** The path without the names of its parameters, which may differ between the methods of a path. */
export const shapeOf = (path: `/${string}`): `/${string}` => {
  let count = 0
  return `/${path.slice(1).replaceAll(/:[^/]*/gu, () => `:${count++}`)}`
}

/** The names of the parameters in a path of the router. */
export const parametersIn = (path: string): ReadonlyArray<string> =>
  path.split("/").filter((segment) => segment.startsWith(":")).map((segment) => segment.slice(1))

/** The path as URLs have it. */
export const encoded = (path: string): string =>
  path.replaceAll(/[^!-~]+/gu, (text) => encodeURIComponent(text.toWellFormed()))

/**
 * What the router, clients and documents would understand differently, in a sentence. `what` is what has the path, and only that
 * of a `call` may have parameters.
 */
export const pathProblem = (path: string, what: string, call: boolean): string | undefined => {
  const segments = path.split("/").slice(1)
  const odd = segments.find((segment) => !(text.test(segment) || call && parameter.test(segment)))
  if (odd !== undefined) {
    return `the path ${path} of ${what} has the segment ${odd}, which is ${
      call ? "neither a text nor one parameter, such as {id}, whose name has letters, digits and _" : "no text"
    }`
  }
  const names = parametersIn(path)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  return twice === undefined ? undefined : `the path ${path} of ${what} has the parameter ${twice} twice`
}

const parameter = /^:(?!__proto__$)\w+$/u

/** RFC 3986, section 3.3, without what routers give a meaning, and with letters, which are percent-encoded in URLs. */
const text = /^(?!\.{1,2}$)[\p{L}\p{N}\w\-.~!$&'(),+=@]*$/u

/** Where services that verify this service's tokens find its public keys (RFC 8414, section 2, `jwks_uri`). */
export const keysPath = "/.well-known/jwks.json"

/** The path of the changes of several collections: beside these, `/api/v1/changes` for `/api/v1/orders/changes`. */
export const watchPathOf = (changesPath: string): `/${string}` =>
  `/${changesPath.split("/").slice(1, -2).concat("changes").join("/")}`
