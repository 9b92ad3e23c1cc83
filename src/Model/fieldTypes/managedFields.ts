/**
 * Fields that the repository itself keeps up to date. Spread them into a model's fields; `Model` exports all of them.
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
 * The field of optimistic locking: 1 on insert, incremented by every write; a write that names another than the stored
 * version changes nothing.
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
 * When a document was inserted and last updated, and by whom, where that is known: the identifier is
 * `Generator.CurrentUserId`. A caller sees these fields and can't send them.
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
 * Deleting only marks: `deleted` says since when, and every operation of the repository passes over the document unless
 * it asks for deleted ones. The field is stored, and neither seen nor sent by callers.
 *
 * **Example** (A value that is free again, and a bin that empties itself)
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
 * The schema of the field that {@link softDeleted} adds, by which repositories know such a model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Deletion extends OptionalStored<Temporal.Temporal> {
  readonly "Rebuild": Deletion
  readonly "~appkernel/Model/trait": "deleted"
}

/**
 * The repository keeps each state of a document, together with who wrote it and when: `Repository.history`. `revision`
 * counts them: 1 on insert, one more with every write, and on from there when a document of the identifier of a removed
 * one is inserted. 0 is what nothing is known of. The field is stored, and neither seen nor sent by callers.
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
 * The schema of the field that {@link historied} adds, by which repositories know such a model.
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
