import * as Effect from "effect/Effect"

/**
 * Begins again when somebody else wrote in between, for a write that means whichever version there is. Each attempt
 * loses only to another that wins, so the bound is never met by chance.
 *
 * @internal
 */
export const retryConflicts = <A, E extends { readonly _tag: string }, R>(
  write: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.retry(write, { while: ({ _tag }) => _tag === "VersionConflict", times: 100 })
