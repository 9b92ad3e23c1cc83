import Negotiator from "negotiator"

/**
 * Whether an `Accept` header (RFC 9110, section 12.5.1) lets the answer be JSON. Without one, or with an empty one,
 * everything is welcome.
 *
 * @internal
 */
export const acceptsJson = (accept: string | undefined): boolean =>
  accept === undefined || accept === "*/*" || accept === "application/json" || accept.trim() === "" ||
  new Negotiator({ headers: { accept } }).mediaType(json) !== undefined

/** JSON is UTF-8 anyway (RFC 8259), so who asks for that is served as well. */
const json = ["application/json", "application/json; charset=utf-8"]
