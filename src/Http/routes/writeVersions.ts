/**
 * Versions and preconditions of writes: detects conflicts with other writes, and retries writes that expect no version.
 */
import * as Effect from "effect/Effect"
import { storedFieldsOf, textOfId } from "../../Repository/internal.ts"
import { VersionConflict } from "../../Repository/RepositoryError.ts"
import * as preconditions from "../request/preconditions.ts"
import type { Instance, Values, WriteContext, WriteFailure } from "./writeContext.ts"

const versionOf = ({ versionField }: WriteContext, instance: Instance): number | undefined => {
  const version: unknown = versionField === undefined ? undefined : Reflect.get(Object(instance), versionField)
  return typeof version === "number" ? version : undefined
}

/** The version in a body; `undefined` without one. */
export const versionIn = ({ versionField }: WriteContext, values: Values): unknown =>
  versionField === undefined ? undefined : values[versionField] ?? undefined

/** Fails with `VersionConflict` if a version is expected and the stored document has another one. */
export const checkVersion = <A extends Instance>(
  context: WriteContext,
  id: unknown,
  stored: A,
  expected: unknown
): Effect.Effect<A, VersionConflict> =>
  expected === undefined || expected === versionOf(context, stored)
    ? Effect.succeed(stored)
    : Effect.fail(
      new VersionConflict({ model: context.model.modelName, id: textOfId(id), expected: Number(expected) })
    )

/**
 * The fields of a document that was read for a write, which then succeeds only while they are unchanged: all of them if
 * preconditions were tested, so that these hold at the time of the write.
 */
export const expectedFields = (
  { model }: WriteContext,
  check: preconditions.PreconditionCheck | undefined,
  otherwise: ReadonlyArray<string>
): ReadonlyArray<string> => check === undefined ? otherwise : storedFieldsOf(model)

/** Retries a write, which expects no version, while another write comes first. */
export const retryConflicts = <A, E extends { readonly _tag: string }>(
  { retry }: WriteContext,
  id: unknown,
  write: Effect.Effect<A, E>
): Effect.Effect<A, E> => retry(textOfId(id), ({ _tag }) => _tag === "VersionConflict", write)

/**
 * Writes under preconditions, which `write` tests on the stored document as the caller sees it. Another write that comes first
 * repeats the test; a version in the body that is not the stored one fails as the preconditions do.
 */
export const guarded = <A>(
  context: WriteContext,
  id: unknown,
  bodyVersion: unknown,
  conditions: preconditions.Preconditions,
  write: (check: preconditions.PreconditionCheck | undefined) => Effect.Effect<A, WriteFailure>
): Effect.Effect<A, WriteFailure> =>
  Effect.withFiber((fiber) => {
    const check = preconditions.checkOf(conditions, context.tagsFor(fiber))
    if (check === undefined) return write(undefined)
    const once = write(check)
    return Effect.catchIf(
      bodyVersion === undefined ? retryConflicts(context, id, once) : once,
      (error) => error._tag === "VersionConflict",
      () => Effect.fail(preconditions.failed)
    )
  })
