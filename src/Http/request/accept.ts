/** Content negotiation: whether a client accepts JSON or another media type. */
import Negotiator from "negotiator"

/** Whether an `Accept` header (RFC 9110, section 12.5.1) accepts JSON. A missing or empty header accepts everything. */
export const acceptsJson = (accept: string | undefined): boolean =>
  accept === "*/*" || accept === "application/json" || accepts(accept, json)

/** Whether an `Accept` header accepts one of the types. */
export const accepts = (accept: string | undefined, types: ReadonlyArray<string>): boolean =>
  accept === undefined || accept.trim() === "" ||
  new Negotiator({ headers: { accept } }).mediaType([...types]) !== undefined

/** JSON is always UTF-8 (RFC 8259), so a request for that charset is accepted. */
const json = ["application/json", "application/json; charset=utf-8"]
