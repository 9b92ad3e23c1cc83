/** Content negotiation: whether a client accepts JSON or another media type. */
import Negotiator from "negotiator"

/** Whether an `Accept` header (RFC 9110, section 12.5.1) accepts JSON. A missing or empty header accepts everything. */
export const acceptsJson = (accept: string | undefined): boolean =>
  accept === "*/*" || accept === "application/json" || accepts(accept, json)

/** Whether an `Accept` header accepts one of the types. */
export const accepts = (accept: string | undefined, types: ReadonlyArray<string>): boolean =>
  accept === undefined || accept.trim() === "" ||
  new Negotiator({ headers: { accept } }).mediaType([...types]) !== undefined

/** The one of the types, all of which are texts in UTF-8, that an `Accept` header prefers; the first if it prefers none. */
export const preferred = <const T extends string>(
  accept: string | undefined,
  types: ReadonlyArray<T>
): T | undefined => {
  if (accept === undefined || accept.trim() === "") return types[0]
  const offered = types.flatMap((type) => withCharset(type))
  const found = new Negotiator({ headers: { accept } }).mediaType(offered)
  return types.find((type) => found !== undefined && withCharset(type).includes(found))
}

/** JSON is always UTF-8 (RFC 8259), so a request for that charset is accepted. */
const withCharset = (type: string): Array<string> => [type, `${type}; charset=utf-8`]

const json = withCharset("application/json")
