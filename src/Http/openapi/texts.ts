/** The English texts of the OpenAPI document: status descriptions, summaries, and the help on filters. */
import { statusOf } from "../HttpError.ts"

/** The description of each error. It stands apart from the table, since clients load that one. */
const descriptions: { readonly [T in keyof typeof statusOf]: string } = {
  BadRequest: "The request can't be understood or is not valid; `errors` names every problem",
  Unauthorized: "There are no credentials, or they are not valid",
  Forbidden: "The caller may not do this",
  NotFound: "There is no such document",
  MethodNotAllowed: "The route is there, but not with this method",
  NotAcceptable: "The answer exists in no content type that the request accepts",
  Conflict: "A unique value is taken, another document refers to this one, or somebody else wrote in between",
  Gone: "What has changed since the place is no longer kept: begin anew",
  PreconditionFailed: "The document is not the one that the request's precondition names",
  PayloadTooLarge: "The body is larger than the server takes",
  UnsupportedMediaType: "The body is of a content type that the server does not take here",
  UnprocessableContent: "The `Idempotency-Key` was used for another request",
  TooManyRequests: "There were too many requests; `retry_after` and `Retry-After` are the seconds to wait",
  InternalServerError: "The request could not be handled; it is logged under the identifier in the message",
  NotImplemented: "The store at hand can't do this",
  ServiceUnavailable: "The store does not answer, or the answer took too long"
}

/** The description of each status. */
export const statusTexts: { readonly [status: string]: string } = Object.fromEntries([
  [304, "The caller has this already"],
  ...Object.entries(descriptions).map(([tag, text]) => [Reflect.get(statusOf, tag), text])
])

/** The description of a response: for the framework's errors that of their status, for others their own. */
export const describeStatus = (status: string, generated: string): string => {
  const text = statusTexts[status]
  if (text === undefined) return generated
  const parts = generated.split(" | ")
  const own = parts.filter((part) => !Object.hasOwn(statusOf, part) && part !== unsaying).map((part) =>
    /^\w+$/u.test(part) ? `${summaryOf(part)} (\`${part}\`)` : part
  )
  return (own.length < parts.length ? [text, ...own] : own).join("; or: ")
}

/** The generator's description of an error without one. */
const unsaying = "Error"

/** The summary of an operation without one: its name as a sentence. */
export const summaryOf = (name: string): string => {
  const words = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/gu, " ").replaceAll(/[_\s-]+/gu, " ").trim().toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The name with its indefinite article by pronunciation: `an Order`, `a User`, `an SKU`. */
export const withArticle = (name: string): string => `${vowel.test(name) ? "an" : "a"} ${name}`

/** Abbreviations are spelled; some words with a vowel begin with the sound of "you" or "won". */
const vowel =
  /^(?:[AEFHILMNORSX](?=[A-Z\d]|$)|(?!U[A-Z\d]|[Ee]u|[Oo]ne(?![a-z])|[Oo]nce|[Uu](?:ni|[b-df-hj-np-tv-z][aeiou]))[AEIOUaeiou]|[Hh](?:our|eir|on(?:est|ou?r)))/u

/** The description of a collection's filters. */
export const filterText = [
  "Parameters that are named as fields choose documents. Each may be repeated.",
  "",
  "| Value | Meaning |",
  "|---|---|",
  "| `42` | equal; of a list, one of its elements is |",
  "| `>42`, `<42`, `>=42`, `<=42` | greater, less, or the same as well |",
  "| `~jan` | has this text in it, in upper or lower case; of a list, has this element |",
  "| `!42` | another value, or none |",
  "| `[open,paid]`, `![open,paid]` | one of these, none of these |",
  "| `#2` | a list of two elements |",
  "| `null`, `!null` | no value, or any |",
  "",
  "A value in double quotes stands for nothing but itself."
].join("\n")
