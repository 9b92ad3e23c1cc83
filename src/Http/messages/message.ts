/** The messages of the engine: problems of fields with their texts, and the errors that list them. */
import { type Argument, type Text } from "../../internal/text.ts"
import { englishOf, type Key, textOfKey } from "../../internal/texts.ts"
import { type FieldProblem, limitProblems } from "../../Model/internal.ts"
import type { BulkInsertFailed } from "../../Repository/RepositoryError.ts"
import {
  BadRequest,
  type Conflict,
  errorOf,
  type Forbidden,
  fromFailure,
  type HttpError,
  type PayloadTooLarge,
  TooManyRequests
} from "../HttpError.ts"

/** A problem with the message of a key. */
export const fieldProblem = (
  field: string,
  validator: string,
  key: Key,
  args?: { readonly [name: string]: Argument }
): FieldProblem => {
  const text = args === undefined ? { key } : { key, args }
  return { field, validator, message: englishOf(text), text }
}

/** The error for all problems of a request. */
export const badRequestOf = (all: ReadonlyArray<FieldProblem>): BadRequest => {
  const problems = limitProblems(all)
  const text = textOfKey("errors.Invalid", {
    problems: problems.map(({ field, message, text }) =>
      text === undefined
        ? `${field} ${message}`
        : textOfKey("errors.Problem", { label: field, message: text })
    )
  })
  return new BadRequest({ message: englishOf(text), text, errors: problems })
}

/** Why an item of a list is not inserted. */
export type Rejection = BulkInsertFailed["failures"][number]["error"]

/** The error of a list with an item that is not inserted; its `index` is from 0. */
export const rejectionOf = (
  index: number,
  error: Rejection | undefined
): BadRequest | Forbidden | Conflict | PayloadTooLarge => {
  const position = index + 1
  switch (error?._tag) {
    case "DuplicateKey":
      return errorOf("Conflict", "errors.InItem", { position, message: messageOf(fromFailure(error)) })
    case "AccessDenied":
      return errorOf("Forbidden", "errors.InItem", { position, message: messageOf(fromFailure(error)) })
    case "FileQuotaExceeded":
      return errorOf("PayloadTooLarge", "errors.InItem", { position, message: messageOf(fromFailure(error)) })
    case "ValidationException":
    case "PropertyRequiredException":
      return badItem(index, error.problems)
    default:
      return errorOf("BadRequest", "errors.ItemRejected", { position })
  }
}

/** The error of a list with an item that has problems. */
export const badItem = (index: number, problems: ReadonlyArray<FieldProblem>): BadRequest =>
  badRequestOf(under(index, problems))

/** The problems of an item of a list, with its index before their fields. */
export const under = (index: number, problems: ReadonlyArray<FieldProblem>): ReadonlyArray<FieldProblem> =>
  problems.map((problem) => ({
    ...problem,
    field: problem.field === "" ? String(index) : `${index}.${problem.field}`
  }))

/** The problems of an error with their texts, which are part of the error's own text. */
export const problemsIn = ({ errors, text }: BadRequest): ReadonlyArray<FieldProblem> => {
  const listed = text?.args?.["problems"]
  const texts = new Map<string, Text>()
  for (const one of Array.isArray(listed) ? listed : []) {
    const said: Argument | undefined = typeof one === "object" && "key" in one ? one.args?.["message"] : undefined
    if (typeof said === "object" && "key" in said) texts.set(englishOf(said), said)
  }
  return texts.size === 0 ? errors : errors.map((problem) => ({ ...problem, text: texts.get(problem.message) }))
}

/** The text of an error; `undefined` if an application has given it a message of its own. */
export const textIn = ({ message, text }: HttpError): Text | undefined =>
  text !== undefined && englishOf(text) === message ? text : undefined

/** What an error says within another one. */
export const messageOf = (error: HttpError): Text | string => textIn(error) ?? error.message

/** The error of a caller who has to wait. `wait` is in milliseconds. */
export const tooManyRequestsAfter = (
  key: "errors.TooManyRequests" | "errors.TooManyAttempts" | "errors.CostlyStreams",
  wait: number
): TooManyRequests => {
  const seconds = Math.max(1, Math.ceil(wait / 1_000))
  const text = key === "errors.CostlyStreams" ? textOfKey(key) : textOfKey(key, { retry_after: seconds })
  return new TooManyRequests({ message: englishOf(text), text, retry_after: seconds })
}
