import Negotiator from "negotiator"

/**
 * Whether an `Accept` header (RFC 9110, section 12.5.1) accepts JSON. A missing or empty header accepts everything.
 *
 * @internal
 */
export const acceptsJson = (accept: string | undefined): boolean =>
  accept === undefined || accept === "*/*" || accept === "application/json" || accept.trim() === "" ||
  new Negotiator({ headers: { accept } }).mediaType(json) !== undefined

/** JSON is always UTF-8 (RFC 8259), so a request for that charset is accepted. */
const json = ["application/json", "application/json; charset=utf-8"]
