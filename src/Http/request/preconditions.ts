import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { FieldProblem } from "../../Model/introspection.ts"
import type { VersionConflict } from "../../Repository/RepositoryError.ts"
import { PreconditionFailed } from "../HttpError.ts"
import { en } from "../messages/catalogues/en.ts"
import { sayable } from "../messages/message.ts"

/**
 * An entity tag (RFC 9110, section 8.8.3).
 */
interface EntityTag {
  readonly weak: boolean
  /** What is between the quotation marks. */
  readonly opaque: string
}

/**
 * `*`, or a list of tags.
 *
 * @internal
 */
export type Condition = "any" | ReadonlyArray<EntityTag>

/**
 * The conditions that a request makes. Those on dates are not among them: documents have no date of modification, and
 * without one they count for nothing (RFC 9110, sections 13.1.3 and 13.1.4).
 *
 * @internal
 */
export interface Preconditions {
  readonly ifMatch: Condition | undefined
  readonly ifNoneMatch: Condition | undefined
}

/** @internal */
export const none: Preconditions = { ifMatch: undefined, ifNoneMatch: undefined }

/**
 * The headers that make conditions.
 *
 * @internal
 */
export interface Headers {
  readonly "if-match"?: string | undefined
  readonly "if-none-match"?: string | undefined
}

/**
 * The conditions in the headers of a request, or what is wrong with them.
 *
 * @internal
 */
export const read = (
  headers: Headers
): Result.Result<Preconditions, ReadonlyArray<FieldProblem>> => {
  const match = headers["if-match"]
  const noneMatch = headers["if-none-match"]
  if (match === undefined && noneMatch === undefined) return unconditional
  const ifMatch = match === undefined ? undefined : parse(match)
  const ifNoneMatch = noneMatch === undefined ? undefined : parse(noneMatch)
  const problems = [
    ...(ifMatch === malformed ? [problemOf("If-Match")] : []),
    ...(ifNoneMatch === malformed ? [problemOf("If-None-Match")] : [])
  ]
  return ifMatch === malformed || ifNoneMatch === malformed
    ? Result.fail(problems)
    : Result.succeed({ ifMatch, ifNoneMatch })
}

/**
 * The tag of a document of this version. It is a strong one: a version has one representation at each URL.
 *
 * @internal
 */
export const etagOf = (version: number): string => `"${version}"`

/**
 * What becomes of a read of a document that is there; `version` is `undefined` when the model has none, and so no tag.
 * `If-Match` comes first (RFC 9110, section 13.2.2).
 *
 * @internal
 */
export const ofRead = (
  { ifMatch, ifNoneMatch }: Preconditions,
  version: number | undefined
): "proceed" | "not modified" | "failed" =>
  ifMatch !== undefined && !strongly(ifMatch, version)
    ? "failed"
    : ifNoneMatch !== undefined && weakly(ifNoneMatch, version)
    ? "not modified"
    : "proceed"

/**
 * Whether nothing may be written but what is not there yet.
 *
 * @internal
 */
export const isCreateOnly = ({ ifNoneMatch }: Preconditions): boolean => ifNoneMatch === "any"

/**
 * Whether something has to be there already.
 *
 * @internal
 */
export const isUpdateOnly = ({ ifMatch }: Preconditions): boolean => ifMatch !== undefined

/**
 * Writes to a document under the conditions, which hold at the moment of the write: `write` gets the version that it has
 * to find there, and fails with `VersionConflict` when it finds another. `current` is the version of the document that is
 * there, `undefined` when the model has none; it fails when no document is. Without conditions `write` is all there is.
 *
 * Fails with `PreconditionFailed` when the conditions don't hold.
 *
 * @internal
 */
export const guarded = <A, E extends { readonly _tag: string }>(
  preconditions: Preconditions,
  options: {
    readonly isVersioned: boolean
    readonly current: Effect.Effect<number | undefined, E>
    readonly write: (expected: number | undefined) => Effect.Effect<A, E>
    /** Tries again while it fails with `VersionConflict`. */
    readonly retry: <A2, E2 extends { readonly _tag: string }>(attempt: Effect.Effect<A2, E2>) => Effect.Effect<A2, E2>
  }
): Effect.Effect<A, E | PreconditionFailed> => {
  const { ifMatch, ifNoneMatch } = preconditions
  // To be there is all that is asked, and whoever writes asks that, too.
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

/**
 * The answer to a condition that does not hold.
 *
 * @internal
 */
export const failed = sayable(
  new PreconditionFailed({ message: en["errors.PreconditionFailed"] }),
  "errors.PreconditionFailed"
)

const malformed = "malformed"

const unconditional: Result.Result<Preconditions, never> = Result.succeed(none)

const problemOf = (field: string): FieldProblem => ({
  field,
  validator: "Header",
  message: "must be * or a list of entity tags in quotation marks"
})

/** `etagc` are all visible characters but the quotation mark, and those that are no ASCII. */
const entityTag = /^[ \t]*(W\/)?"([!\u0023-\u007e\u0080-\uffff]*)"[ \t]*(?:,|$)/u

/** Of a list, elements may be empty (RFC 9110, section 5.6.1). */
const emptyElement = /^[ \t]*(?:,|$)/u

const parse = (header: string): Condition | typeof malformed => {
  if (header.trim() === "*") return "any"
  const tags: Array<EntityTag> = []
  let rest = header
  while (rest !== "") {
    const tag = entityTag.exec(rest)
    const [element] = tag ?? emptyElement.exec(rest) ?? []
    if (element === undefined) return malformed
    if (tag !== null) tags.push({ weak: tag[1] !== undefined, opaque: tag[2] ?? "" })
    rest = rest.slice(element.length)
  }
  return tags.length === 0 ? malformed : tags
}

const strongly = (condition: Condition, version: number | undefined): boolean =>
  condition === "any" ||
  version !== undefined && condition.some(({ opaque, weak }) => !weak && opaque === String(version))

const weakly = (condition: Condition, version: number | undefined): boolean =>
  condition === "any" || version !== undefined && condition.some(({ opaque }) => opaque === String(version))

/** The versions that strong tags stand for; others match no document. */
const versionsOf = (tags: ReadonlyArray<EntityTag>): ReadonlyArray<number> => [
  ...new Set(
    tags.flatMap(({ opaque, weak }) => {
      const version = Number(opaque)
      return !weak && Number.isSafeInteger(version) && String(version) === opaque ? [version] : []
    })
  )
]

const isConflict = (error: { readonly _tag: string }): error is VersionConflict => error._tag === "VersionConflict"
