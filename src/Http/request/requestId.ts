/** The identifier of a request in responses and logs. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { randomUUID } from "node:crypto"

/** The client's `X-Request-Id` if it is safe to repeat, else a generated one that stays for the request. */
export const requestIdOf = (request: HttpServerRequest.HttpServerRequest): string => {
  const existing = existingIdOf(request)
  if (existing !== undefined) return existing
  const id = randomUUID()
  generated.set(request.source, id)
  return id
}

/** {@link requestIdOf} for the last use of a request, which does not store a new identifier. */
export const lastRequestIdOf = (request: Identified): string => existingIdOf(request) ?? randomUUID()

/** What the identifier is of: Effect's request, or the headers and the message of Node's. */
interface Identified {
  readonly headers: { readonly [name: string]: unknown }
  readonly source: object
}

const existingIdOf = ({ headers, source }: Identified): string | undefined => {
  const header = headers["x-request-id"]
  return typeof header === "string" && safeId.test(header) ? header : generated.get(source)
}

/** Spaces, quotes and line breaks would allow a client to forge log lines. */
const safeId = /^[\w.:=+@/-]{1,128}$/u

/** The key is the platform's request, since middleware replaces Effect's request object. */
const generated = new WeakMap<object, string>()
