import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Runs with each hash that `Converter.contentHasher` makes. The engine sets it for all handlers, once.
 *
 * @internal
 */
export const ContentHashed: Context.Reference<(hash: string) => Effect.Effect<void>> = Context.Reference<
  (hash: string) => Effect.Effect<void>
>("appkernel/internal/ContentHashed", { defaultValue: () => () => Effect.void })
