import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * How the address of the current client is found. The engine sets it for all handlers, once.
 *
 * @internal
 */
export const ClientAddressSource: Context.Reference<Effect.Effect<string | undefined>> = Context.Reference<
  Effect.Effect<string | undefined>
>("appkernel/internal/ClientAddressSource", { defaultValue: () => Effect.succeed(undefined) })

/**
 * The address of the client whose request the fiber handles; `undefined` outside of requests.
 *
 * @internal
 */
export const currentClientAddress: Effect.Effect<string | undefined> = Effect.flatMap(
  ClientAddressSource,
  (source) => source
)
