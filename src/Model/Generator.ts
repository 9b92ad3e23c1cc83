/**
 * Generators supply the values of fields that the input leaves out.
 *
 * A generator is an Effect, so it may use the clock, randomness, or any service that a test replaces.
 *
 * @since 0.1.0
 */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import { memoize } from "effect/Function"
import { synchronous } from "../internal/synchronous.ts"

/**
 * Supplies a value of type `A`.
 *
 * @category models
 * @since 0.1.0
 */
export type Generator<A> = Effect.Effect<A>

/**
 * The time at which the instance is finalised.
 *
 * @category constructors
 * @since 0.1.0
 */
export const dateNow: Generator<DateTime.Utc> = synchronous((fiber) =>
  momentOf(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
)

/**
 * The identifier of the current user, the subject of `CurrentUser`, for ownership and audit fields. Without a user there
 * is no value, so a required field fails.
 *
 * **Example** (The owner of a note)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { CurrentUser, Generator, Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", {
 *   text: Schema.String,
 *   owner: Schema.String.pipe(Model.generated(Generator.currentUserId))
 * }) {}
 *
 * const jane = { subject: "U1", roles: [], claims: {} }
 * const note = await Effect.runPromise(
 *   Model.finalise(Note, { text: "milk" }).pipe(Effect.provideService(CurrentUser, jane))
 * )
 * note.owner // => "U1"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const currentUserId: Generator<string | undefined> = synchronous(currentUserIdOf)

/**
 * A UUID (RFC 9562) after an optional prefix, for example one letter for each model. Version 4, the default, is random.
 * Version 7 starts with the clock's time, so the UUIDs of one process sort by creation and carry their creation time.
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
export const uuid = (
  options?: { readonly prefix?: string | undefined; readonly version?: 4 | 7 | undefined }
): Generator<string> => {
  const prefix = options?.prefix ?? ""
  if (options?.version === 7) return Effect.map(timeOrdered, (uuid) => prefix + uuid)
  return synchronous((fiber) => prefix + fiber.getRef(WebCrypto.WebCrypto).randomUUID())
}

/**
 * An ObjectId for `Model.ObjectId` in BSON's layout: the seconds since 1970 by the clock, and eight random bytes. It
 * carries its creation time and sorts by it to the second.
 *
 * @category constructors
 * @since 0.1.0
 */
export const objectId: Generator<string> = synchronous((fiber) => {
  const seconds = Math.floor(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() / 1000)
  const random = fiber.getRef(WebCrypto.WebCrypto).getRandomValues(new Uint8Array(8))
  return seconds.toString(16).padStart(8, "0").slice(-8) + Hex.encode(random)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// Many instances are made in the same millisecond, and comparing times is cheaper than making one.
let lastMoment = DateTime.makeUnsafe(0)
const momentOf = (milliseconds: number): DateTime.Utc =>
  lastMoment.epochMilliseconds === milliseconds ? lastMoment : lastMoment = DateTime.makeUnsafe(milliseconds)

// All generators share this state, which keeps the order within a millisecond.
const timeOrdered = Effect.withFiber((fiber) => randomOf(fiber.getRef(WebCrypto.WebCrypto)).uuidV7())

const randomOf = memoize((crypto: Pick<Crypto, "getRandomValues">) =>
  SecureRandom.make((size) => crypto.getRandomValues(new Uint8Array(size)))
)
