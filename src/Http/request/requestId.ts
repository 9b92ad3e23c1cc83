import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { randomUUID } from "node:crypto"

/**
 * The identifier of a request: the caller's `X-Request-Id` when it is safe to repeat, else one of our own, the same
 * whenever it is asked for.
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
 * {@link requestIdOf} for who asks last: an identifier that nobody has asked for yet is not kept.
 *
 * @internal
 */
export const lastRequestIdOf = (request: HttpServerRequest.HttpServerRequest): string =>
  knownIdOf(request) ?? randomUUID()

const knownIdOf = ({ headers, source }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const given = headers["x-request-id"]
  return given !== undefined && safe.test(given) ? given : made.get(source)
}

/** No spaces, quotes or line breaks, with which one line of a log could look like another. */
const safe = /^[\w.:=+@/-]{1,128}$/u

/** By what the platform was given: the request's own object is replaced on its way. */
const made = new WeakMap<object, string>()
