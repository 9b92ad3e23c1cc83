/**
 * Values for fields that were not given any.
 *
 * A generator is an Effect, so that it may use the clock, chance, or whatever a test replaces.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import { immediate } from "./internal/immediate.ts"

/**
 * Supplies a value of type `A`.
 *
 * @category models
 * @since 0.1.0
 */
export type Generator<A> = Effect.Effect<A>

/**
 * The moment at which the instance is finalised.
 *
 * @category constructors
 * @since 0.1.0
 */
export const dateNow: Generator<DateTime.Utc> = immediate((fiber) =>
  DateTime.makeUnsafe(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
)

/**
 * A random UUID (RFC 9562, version 4) behind an optional prefix, for example one letter per model.
 *
 * **Example** (A prefixed identifier)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Generator } from "appkernel"
 *
 * const id = await Effect.runPromise(Generator.uuid({ prefix: "U" }))
 * id.length // => 37
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const uuid = (options?: { readonly prefix?: string | undefined }): Generator<string> => {
  const prefix = options?.prefix ?? ""
  return immediate((fiber) => prefix + fiber.getRef(WebCrypto.WebCrypto).randomUUID())
}
