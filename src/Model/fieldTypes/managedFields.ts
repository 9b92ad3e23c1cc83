/**
 * Fields that the repository keeps up to date. Spread them into a model's fields; `Model` exports all of them.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Temporal from "../codec/temporal.ts"
import { type Field, generated, optional, type OptionalStored, withDefault } from "../Field.ts"
import * as Generator from "../Generator.ts"
import type { FieldAttributes } from "../shape/annotations.ts"
import { evolve } from "../shape/fields.ts"
import { variants } from "../shape/variants.ts"

/**
 * The version for optimistic locking: 1 on insert, incremented by every write. A write that gives another version than
 * the stored one fails with a conflict and changes nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const versioned = {
  version: managed(
    "version",
    generated(Effect.succeed(1))(
      variants.Field({ store: Schema.Int, wire: Schema.Int, create: Schema.Int, patch: Schema.Int })
    )
  ) as unknown as Field<{
    readonly store: Schema.withConstructorDefault<Schema.Int>
    readonly wire: Schema.Int
    readonly create: Schema.optionalKey<Schema.NullOr<Schema.Int>>
    readonly patch: Schema.NullOr<Schema.Int>
  }> // as `generated` evolves it
} as const

/**
 * When a document was inserted and last updated, and by which user: the identifier is `Generator.CurrentUserId`, if
 * there is one. Callers read these fields and can't send them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const audited = {
  inserted: moment("inserted"),
  updated: moment("updated"),
  created_by: user("created_by"),
  updated_by: user("updated_by")
} as const

/**
 * Deletes mark a document instead of removing it: `deleted` holds the time, and every operation of the repository
 * excludes the document unless it asks for deleted ones. The field is stored, and callers neither read nor send it.
 *
 * **Example** (A unique value among active documents, and documents that are removed a month after their deletion)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Index, Model } from "appkernel"
 *
 * class Member extends Model.Class<Member>()("Member", {
 *   id: Model.id(),
 *   email: Schema.String,
 *   ...Model.softDeleted
 * }, {
 *   indexes: [
 *     Index.compound({ email: 1 }, { unique: true, where: { deleted: null } }),
 *     Index.compound({ deleted: 1 }, { sparse: true, expireAfter: "30 days" })
 *   ]
 * }) {}
 *
 * Object.keys(Member.wire.fields) // => ["_type", "id", "email"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const softDeleted = {
  deleted: managed("deleted", optional(variants.Field({ store: Temporal.DateTime }))) as unknown as Field<{
    readonly store: Deletion
  }> // as `optional` evolves it; `Deletion` only has a name of its own
} as const

/**
 * The schema of the field that {@link softDeleted} adds. Repositories recognise such a model by it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Deletion extends OptionalStored<Temporal.Temporal> {
  readonly "Rebuild": Deletion
  readonly "~appkernel/Model/trait": "deleted"
}

/**
 * The repository records each state of a document with its author and time: `Repository.history`. `revision` counts the
 * states: 1 on insert, then one more with every write. If a document is inserted with the identifier of a removed one,
 * the count continues. 0 means unknown. The field is stored, and callers neither read nor send it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const historied = {
  revision: managed("revision", withDefault(() => 0)(variants.Field({ store: Schema.Int }))) as unknown as Field<{
    readonly store: Revision
  }> // as `withDefault` evolves it; `Revision` only has a name of its own
} as const

/**
 * The schema of the field that {@link historied} adds. Repositories recognise such a model by it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision extends Schema.withConstructorDefault<Schema.withDecodingDefaultTypeKey<Schema.Int>> {
  readonly "~appkernel/Model/trait": "revision"
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function managed(purpose: FieldAttributes["managed"], self: Field.Any): Field.Any {
  return evolve(self, {}, { managed: purpose })
}

function moment(purpose: "inserted" | "updated"): Field<{
  readonly store: Schema.withConstructorDefault<Temporal.Temporal>
  readonly wire: Temporal.Temporal
}> {
  return managed(
    purpose,
    generated(Generator.dateNow)(variants.Field({ store: Temporal.DateTime, wire: Temporal.DateTime }))
  )
}

function user(purpose: "created_by" | "updated_by"): Field<{
  readonly store: Schema.withConstructorDefault<OptionalStored<Schema.String> & Schema.WithoutConstructorDefault>
  readonly wire: Schema.optionalKey<Schema.String>
}> {
  return managed(
    purpose,
    generated(Generator.currentUser)(optional(variants.Field({ store: Schema.String, wire: Schema.String })))
  )
}
