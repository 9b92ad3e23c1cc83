/**
 * The identifier of a model, as text.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import * as Generator from "../Generator.ts"
import { supplied } from "../shape/defaults.ts"
import { variants } from "../shape/variants.ts"

/**
 * The identifier: a string that is stored as `_id`. The default is a UUID after `prefix`: a random one, or with
 * `version: 7` one that starts with the time, so that new documents sort last.
 *
 * With `brand` the identifier has a type of its own, and the identifier of another model does not compile in its place: in
 * repositories, conditions, hooks and typed clients. Without `brand` it is a `string`.
 *
 * **Example** (A branded identifier)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class User extends Model.Class<User>()("User", {
 *   id: Model.id({ prefix: "U", brand: "UserId" }),
 *   name: Schema.String
 * }) {}
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id(), author: User.wire.fields.id }) {}
 *
 * const jane: User["id"] = User.wire.fields.id.make("U1")
 * new Note({ author: jane }).author // => "U1"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const id = <const Brand extends string = never>(
  options: {
    readonly prefix?: string | undefined
    readonly version?: 4 | 7 | undefined
    /** The name of the identifier's type. It exists at compile time only. Defaults to none. */
    readonly brand?: Brand | undefined
  } = {}
): VariantSchema.Field<{
  readonly store: Schema.withConstructorDefault<IdSchema<Brand>>
  readonly wire: IdSchema<Brand>
  readonly create: Schema.optionalKey<Schema.NullOr<IdSchema<Brand>>>
}> => {
  const text = options.brand === undefined
    ? Schema.NonEmptyString
    // The name is a single brand, which the type parameter does not say.
    : Schema.NonEmptyString.pipe(Schema.brand(options.brand as never))
  const field = supplied(variants.Field({ store: text, wire: text, create: text }), Generator.uuid(options), {
    managed: "id"
  })
  // The schemas are those of the type: branded if there is a brand.
  return field as ReturnType<typeof id<Brand>>
}

/** The schema of an identifier with a brand, or without one for `never`. */
type IdSchema<Brand extends string> = [Brand] extends [never] ? Schema.String : Schema.brand<Schema.String, Brand>
