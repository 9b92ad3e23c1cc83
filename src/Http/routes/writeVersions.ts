import * as Effect from "effect/Effect"
import { textOfId } from "../../Repository/introspection.ts"
import { VersionConflict } from "../../Repository/RepositoryError.ts"
import * as preconditions from "../request/preconditions.ts"
import type { Instance, Values, WriteContext, WriteFailure } from "./writeContext.ts"

export const versionOf = ({ versionField }: WriteContext, instance: Instance): number | undefined => {
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

/** Retries a write, which expects no version, while another write comes first. */
export const retryConflicts = <A, E extends { readonly _tag: string }>(
  { retry }: WriteContext,
  id: unknown,
  write: Effect.Effect<A, E>
): Effect.Effect<A, E> => retry(textOfId(id), ({ _tag }) => _tag === "VersionConflict", write)

/** Writes if the preconditions hold, which give the expected version; another one in the body fails as they do. */
export const guarded = <A>(
  context: WriteContext,
  id: unknown,
  bodyVersion: unknown,
  conditions: preconditions.Preconditions,
  write: (expected: number | undefined) => Effect.Effect<A, WriteFailure>
): Effect.Effect<A, WriteFailure> => {
  const stored = Effect.suspend(() => context.repository.findById(id))
  return preconditions.guarded(conditions, {
    isVersioned: context.versionField !== undefined,
    current: Effect.map(stored, (instance) => versionOf(context, instance)),
    retry: (attempt) => retryConflicts(context, id, attempt),
    write: (expected) =>
      expected !== undefined && typeof bodyVersion === "number" && bodyVersion !== expected
        ? Effect.andThen(stored, Effect.fail(preconditions.failed))
        : write(expected)
  })
}
