/**
 * Values for fields that were not given any.
 *
 * A generator is an Effect, so that it may use the clock, chance, or whatever a test replaces.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import { immediate } from "../internal/immediate.ts"

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
  momentOf(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
)

/**
 * The identifier of whoever the running program acts for: the subject of a request's credentials. Nobody, unless somebody
 * says so.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentUserId: Context.Reference<string | undefined> = Context.Reference<string | undefined>(
  "appkernel/Model/Generator/CurrentUserId",
  { defaultValue: () => undefined }
)

/**
 * The identifier of the current user, for ownership and audit; no value where there is none, so that a required field
 * fails.
 *
 * **Example** (Whose note it is)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Generator, Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", {
 *   text: Schema.String,
 *   owner: Schema.String.pipe(Model.generated(Generator.currentUser))
 * }) {}
 *
 * const note = await Effect.runPromise(
 *   Model.finalise(Note, { text: "milk" }).pipe(Effect.provideService(Generator.CurrentUserId, "U1"))
 * )
 * note.owner // => "U1"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const currentUser: Generator<string | undefined> = immediate((fiber) => fiber.getRef(CurrentUserId))

/**
 * A UUID (RFC 9562) behind an optional prefix, for example one letter per model. Version 4, the default, is random;
 * version 7 begins with the time of the clock, so that those of one process are in the order in which they were made, and
 * tell when that was.
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
  return immediate((fiber) => prefix + fiber.getRef(WebCrypto.WebCrypto).randomUUID())
}

/**
 * An ObjectId for `Model.ObjectId`, as BSON has it: the seconds since 1970 by the clock, and eight random bytes. They
 * tell when they were made, and come in that order, but for those of the same second.
 *
 * @category constructors
 * @since 0.1.0
 */
export const objectId: Generator<string> = immediate((fiber) => {
  const seconds = Math.floor(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() / 1000)
  const random = fiber.getRef(WebCrypto.WebCrypto).getRandomValues(new Uint8Array(8))
  return seconds.toString(16).padStart(8, "0").slice(-8) + Hex.encode(random)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// Many instances are made in the same millisecond; a moment takes longer to make than to compare.
let lastMoment = DateTime.makeUnsafe(0)
const momentOf = (milliseconds: number): DateTime.Utc =>
  lastMoment.epochMilliseconds === milliseconds ? lastMoment : lastMoment = DateTime.makeUnsafe(milliseconds)

// One for all, since it is what keeps the order within a millisecond.
const timeOrdered = Effect.withFiber((fiber) => {
  const crypto = fiber.getRef(WebCrypto.WebCrypto)
  let random = sources.get(crypto)
  if (random === undefined) {
    random = SecureRandom.make((size) => crypto.getRandomValues(new Uint8Array(size)))
    sources.set(crypto, random)
  }
  return random.uuidV7()
})

const sources = new WeakMap<object, SecureRandom.SecureRandom["Service"]>()
