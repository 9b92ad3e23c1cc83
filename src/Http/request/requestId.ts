import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { randomUUID } from "node:crypto"

/**
 * The identifier of a request: the client's `X-Request-Id` if it is safe to repeat, otherwise a generated one that
 * stays the same for the request.
 *
 * @internal
 */
export const requestIdOf = (request: HttpServerRequest.HttpServerRequest): string => {
  const known = knownIdOf(request)
  if (known !== undefined) return known
  const id = randomUUID()
  made.set(request.source, id)
  return id
}

/**
 * {@link requestIdOf} for the last use of a request, which does not store a new identifier.
 *
 * @internal
 */
export const lastRequestIdOf = (request: HttpServerRequest.HttpServerRequest): string =>
  knownIdOf(request) ?? randomUUID()

const knownIdOf = ({ headers, source }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const given = headers["x-request-id"]
  return given !== undefined && safe.test(given) ? given : made.get(source)
}

/** Spaces, quotes and line breaks would allow a client to forge log lines. */
const safe = /^[\w.:=+@/-]{1,128}$/u

/** The key is the platform's request, since middleware replaces Effect's request object. */
const made = new WeakMap<object, string>()
