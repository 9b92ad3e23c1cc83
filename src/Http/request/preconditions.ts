import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { FieldProblem } from "../../Model/introspection.ts"
import type { VersionConflict } from "../../Repository/RepositoryError.ts"
import { PreconditionFailed } from "../HttpError.ts"
import { errorOf } from "../messages/message.ts"
import { type Condition, malformed, parseTags, strongly, versionsOf, weakly } from "./entityTags.ts"

/** Preconditions on tags. `If-Unmodified-Since` is ignored as too coarse (RFC 9110, section 13.1.4). */
export interface Preconditions {
  readonly ifMatch: Condition | undefined
  readonly ifNoneMatch: Condition | undefined
}

export const none: Preconditions = { ifMatch: undefined, ifNoneMatch: undefined }

/** The headers with preconditions. */
export interface Headers {
  readonly "if-match"?: string | undefined
  readonly "if-none-match"?: string | undefined
  readonly "if-modified-since"?: string | undefined
}

/** Parses the preconditions in a request's headers, or returns their problems. */
export const read = (
  headers: Headers
): Result.Result<Preconditions, ReadonlyArray<FieldProblem>> => {
  const match = headers["if-match"]
  const noneMatch = headers["if-none-match"]
  if (match === undefined && noneMatch === undefined) return unconditional
  const ifMatch = match === undefined ? undefined : parseTags(match)
  const ifNoneMatch = noneMatch === undefined ? undefined : parseTags(noneMatch)
  const problems = [
    ...(ifMatch === malformed ? [problemOf("If-Match")] : []),
    ...(ifNoneMatch === malformed ? [problemOf("If-None-Match")] : [])
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

/** Whether a document is as old as `If-Modified-Since` says, without `If-None-Match` (RFC 9110, section 13.1.3). */
export const isNotModifiedSince = (headers: Headers, lastModified: string | undefined): boolean => {
  const since = headers["if-modified-since"]
  return since !== undefined && lastModified !== undefined && headers["if-none-match"] === undefined
    && Date.parse(since) >= Date.parse(lastModified)
}

/**
 * Evaluates the preconditions of a read of an existing document. `version` is `undefined` if the model has none, and
 * then the document has no tag. `If-Match` is evaluated first (RFC 9110, section 13.2.2), and compares versions only.
 */
export const ofRead = (
  { ifMatch, ifNoneMatch }: Preconditions,
  version: number | undefined,
  text?: string
): "proceed" | "not modified" | "failed" =>
  ifMatch !== undefined && !strongly(ifMatch, version)
    ? "failed"
    : ifNoneMatch !== undefined && weakly(ifNoneMatch, version, text)
    ? "not modified"
    : "proceed"

/** Whether a write may only create a document. */
export const isCreateOnly = ({ ifNoneMatch }: Preconditions): boolean => ifNoneMatch === "any"

/** Whether a write may only change an existing document. */
export const isUpdateOnly = ({ ifMatch }: Preconditions): boolean => ifMatch !== undefined

/**
 * Writes a document under the preconditions, which hold at the time of the write. `write` gets the expected version and
 * fails with `VersionConflict` if the stored one differs. `current` is the stored version, `undefined` if the model has
 * none; it fails if there is no document. Without preconditions only `write` runs.
 *
 * Fails with `PreconditionFailed` if a precondition does not hold.
 */
export const guarded = <A, E extends { readonly _tag: string }>(
  preconditions: Preconditions,
  options: {
    readonly isVersioned: boolean
    readonly current: Effect.Effect<number | undefined, E>
    readonly write: (expected: number | undefined) => Effect.Effect<A, E>
    /** Retries while it fails with `VersionConflict`. */
    readonly retry: <A2, E2 extends { readonly _tag: string }>(attempt: Effect.Effect<A2, E2>) => Effect.Effect<A2, E2>
  }
): Effect.Effect<A, E | PreconditionFailed> => {
  const { ifMatch, ifNoneMatch } = preconditions
  // `If-Match: *` only requires existence, which the write checks itself.
  if (ifNoneMatch === undefined && (ifMatch === undefined || ifMatch === "any")) return options.write(undefined)
  const versions = ifMatch === undefined || ifMatch === "any" ? [] : versionsOf(ifMatch)
  if (options.isVersioned && ifNoneMatch === undefined && versions.length === 1) {
    return Effect.catchIf(options.write(versions[0]), isConflict, () => Effect.fail(failed))
  }
  const attempt = Effect.flatMap(
    options.current,
    (version): Effect.Effect<A, E | PreconditionFailed> =>
      ofRead(preconditions, version) === "proceed" ? options.write(version) : Effect.fail(failed)
  )
  return options.retry(attempt)
}

/** The failure of a precondition. */
export const failed = errorOf(PreconditionFailed, "errors.PreconditionFailed")

const unconditional: Result.Result<Preconditions, never> = Result.succeed(none)

const problemOf = (field: string): FieldProblem => ({
  field,
  validator: "Header",
  message: "must be * or a list of entity tags in quotation marks"
})

const isConflict = (error: { readonly _tag: string }): error is VersionConflict => error._tag === "VersionConflict"
