/**
 * Which request follows a redirect (RFC 9110, section 15.4).
 *
 * **Details**
 *
 * 303 becomes a GET, and so do 301 and 302 of a POST. The others repeat the method and the body. Another origin gets no
 * header that may identify the caller: only those of {@link safeHeaders}.
 */
import type { RawAnswer } from "./transport.ts"

export const maxRedirects = 20

/** Which redirects are followed: those within the origin, also others but from https to http, or any. */
export type Redirects = "SameOrigin" | "Secure" | "Any"

export interface Redirect {
  readonly url: URL
  readonly method: string
  readonly keepsBody: boolean
}

/** The redirect of an answer; `undefined` if it is none that can be followed. */
export const redirectOf = (
  { headers, status }: Pick<RawAnswer, "headers" | "status">,
  { method, url }: { readonly method: string; readonly url: URL },
  redirects: Redirects
): Redirect | undefined => {
  if (!statuses.has(status)) return undefined
  const location = headers["location"]
  const target = typeof location === "string" ? URL.parse(location, url) : null
  if (target === null || !/^https?:$/u.test(target.protocol) || target.username !== "" || target.password !== "") {
    return undefined
  }
  if (redirects === "SameOrigin" && target.origin !== url.origin) return undefined
  if (redirects === "Secure" && url.protocol === "https:" && target.protocol === "http:") return undefined
  // The fragment is not sent.
  target.hash = ""
  const becomesGet = status === 303 && method !== "HEAD" || status < 303 && method === "POST"
  return { url: target, method: becomesGet ? "GET" : method, keepsBody: !becomesGet }
}

const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The headers of a request that another origin may see. */
export const headersForOtherOrigin = (
  headers: { readonly [name: string]: string }
): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => safeHeaders.has(name)))

export const withoutBodyHeaders = (headers: { readonly [name: string]: string }): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")))

const safeHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-language",
  "content-length",
  "content-type",
  // A call that is sent again has to be known there, too.
  "idempotency-key",
  "user-agent"
])
