/**
 * Conditional requests (RFC 9110, section 13): parses `If-Match`, `If-None-Match` and `If-Modified-Since`, and
 * evaluates them on documents.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { IncomingHttpHeaders } from "node:http"
import type { FieldProblem } from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { errorOf, type PreconditionFailed } from "../HttpError.ts"
import { acceptedTags, malformed, parseTags, strongly, type TagCondition, weakly } from "./entityTags.ts"
import { parseHttpDate } from "./httpDate.ts"

/** Preconditions on tags. `If-Unmodified-Since` is ignored as too coarse (RFC 9110, section 13.1.4). */
export interface Preconditions {
  readonly ifMatch: TagCondition | undefined
  readonly ifNoneMatch: TagCondition | undefined
}

export const none: Preconditions = { ifMatch: undefined, ifNoneMatch: undefined }

/** The headers with preconditions. */
export interface Headers {
  readonly "if-match"?: string | undefined
  readonly "if-none-match"?: string | undefined
  readonly "if-modified-since"?: string | undefined
  readonly "accept-encoding"?: string | ReadonlyArray<string> | undefined
}

/** Parses the preconditions in a request's headers, or returns their problems. */
export const read = (
  headers: Headers
): Result.Result<Preconditions, ReadonlyArray<FieldProblem>> => {
  const match = headers["if-match"]
  const noneMatch = headers["if-none-match"]
  if (match === undefined && noneMatch === undefined) return unconditional
  const ifMatch = match === undefined ? undefined : parseTags(match)
  const ifNoneMatch = noneMatch === undefined
    ? undefined
    : acceptedTags(parseTags(noneMatch), headers["accept-encoding"]?.toString() ?? "")
  const problems = [
    ...(ifMatch === malformed ? [preconditionProblem("If-Match")] : []),
    ...(ifNoneMatch === malformed ? [preconditionProblem("If-None-Match")] : [])
  ]
  return ifMatch === malformed || ifNoneMatch === malformed
    ? Result.fail(problems)
    : Result.succeed({ ifMatch, ifNoneMatch })
}

/**
 * When a document was last modified, as a header has it: in seconds. One that changed less than two seconds ago may do so
 * again without the header telling (RFC 9110, section 8.8.2.2), and has none.
 */
export const lastModifiedOf = (modified: unknown, now: number): string | undefined =>
  modified instanceof Date && modified.getTime() <= now - 2_000 ? modified.toUTCString() : undefined

/**
 * Whether a document is as old as `If-Modified-Since` says, without `If-None-Match` (RFC 9110, section 13.1.3). What is no date says
 * nothing, and neither does one that is still to come: nobody knows what will have changed by then.
 */
export const isNotModifiedSince = (headers: Headers, lastModified: string | undefined, now: number): boolean => {
  const since = parseHttpDate(headers["if-modified-since"] ?? "")
  return since !== undefined && since <= now && lastModified !== undefined && headers["if-none-match"] === undefined
    && since >= Date.parse(lastModified)
}

/** Whether a file was written after `If-Unmodified-Since` says, without `If-Match` (RFC 9110, section 13.1.4). */
export const isModifiedSince = (headers: IncomingHttpHeaders, written: number): boolean => {
  const since = parseHttpDate(headers["if-unmodified-since"] ?? "")
  return since !== undefined && headers["if-match"] === undefined && Math.floor(written / 1_000) * 1_000 > since
}

/**
 * Evaluates the preconditions on an existing document. Its tag is `undefined` if it has none, such as one of a model without
 * versions. `If-Match` is evaluated first (RFC 9110, section 13.2.2).
 */
export const evaluate = (
  { ifMatch, ifNoneMatch }: Preconditions,
  etag: string | undefined
): "proceed" | "not modified" | "failed" =>
  ifMatch !== undefined && !strongly(ifMatch, etag)
    ? "failed"
    : ifNoneMatch !== undefined && weakly(ifNoneMatch, etag)
    ? "not modified"
    : "proceed"

/** Whether a write may only create a document. */
export const isCreateOnly = ({ ifNoneMatch }: Preconditions): boolean => ifNoneMatch === "any"

/** Whether a write may only change an existing document. */
export const isUpdateOnly = ({ ifMatch }: Preconditions): boolean => ifMatch !== undefined

/** Fails with `PreconditionFailed` if a precondition does not hold for the stored document. */
export type PreconditionCheck = (stored: Document) => Effect.Effect<void, PreconditionFailed>

/** The check of the document that a write changes. `undefined`: any document fulfils the preconditions. */
export const checkOf = (
  preconditions: Preconditions,
  etagOf: (document: Document) => string | undefined
): PreconditionCheck | undefined => {
  const { ifMatch, ifNoneMatch } = preconditions
  if (ifNoneMatch === undefined && (ifMatch === undefined || ifMatch === "any")) return undefined
  return (stored) => evaluate(preconditions, etagOf(stored)) === "proceed" ? Effect.void : Effect.fail(failed)
}

/** The failure of a precondition. */
export const failed = errorOf("PreconditionFailed", "errors.PreconditionFailed")

const unconditional: Result.Result<Preconditions, never> = Result.succeed(none)

const preconditionProblem = (field: string): FieldProblem => ({
  field,
  validator: "Header",
  message: "must be * or a list of entity tags in quotation marks"
})
