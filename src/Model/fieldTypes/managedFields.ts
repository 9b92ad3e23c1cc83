/**
 * Fields that the repository keeps up to date. Spread them into a model's fields; `Model` exports all of them.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import * as Temporal from "../codec/temporal.ts"
import * as Generator from "../Generator.ts"
import type { FieldAttributes } from "../shape/annotations.ts"
import { defaulted, readAs, supplied } from "../shape/defaults.ts"
import { type AnyField, evolve, type FieldInput, optionality, type OptionalStored } from "../shape/fields.ts"
import { variants } from "../shape/variants.ts"

/**
 * Adds the field `version` for optimistic locking: it is 1 after the insert, and every write increments it. A write
 * with another version than the stored one fails with `VersionConflict` and changes nothing. A document from before the
 * model had versions has version 0.
 *
 * @category constructors
 * @since 0.1.0
 */
export const versioned = {
  version: managed(
    "version",
    supplied(
      readAs(variants.Field({ store: Schema.Int, wire: Schema.Int, create: Schema.Int, patch: Schema.Int }), () => 0),
      Effect.succeed(1),
      {}
    )
  ) as unknown as VariantSchema.Field<{
    readonly store: Schema.withConstructorDefault<Schema.Int>
    readonly wire: Schema.Int
    readonly create: Schema.optionalKey<Schema.NullOr<Schema.Int>>
    readonly patch: Schema.NullOr<Schema.Int>
  }> // as `supplied` evolves it; only documents from before the model had versions lack the field
} as const

/**
 * Adds the fields `inserted`, `updated`, `created_by` and `updated_by`: when a document was inserted and last updated,
 * and by which users. A user's identifier is the subject of `CurrentUser`; without one, there is no value. Callers can
 * read these fields and can't send them. The times of a document from before the model was audited are the first moment of
 * 1970, until it is updated.
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
 * The schema of the times that {@link audited} adds. Code can't set a field of this type.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuditedTime extends Schema.withConstructorDefault<Temporal.Temporal> {
  readonly "~appkernel/Model/trait": "audited"
}

/**
 * The schema of the users that {@link audited} adds. Code can't set a field of this type.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuditedUser
  extends Schema.withConstructorDefault<OptionalStored<Schema.String> & Schema.WithoutConstructorDefault>
{
  readonly "~appkernel/Model/trait": "audited"
}

/**
 * Adds the field `deleted`. A delete sets it to the current time instead of removing the document. The operations of
 * the repository exclude deleted documents unless their option `deleted` includes them. The field is stored; callers
 * can neither read nor send it.
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
  deleted: managed("deleted", optional(variants.Field({ store: Temporal.DateTime }))) as unknown as VariantSchema.Field<
    {
      readonly store: Deletion
    }
  > // as `optional` evolves it; `Deletion` only has a name of its own
} as const

/**
 * The schema of the field that {@link softDeleted} adds. By this type a repository has the operations on deleted
 * documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface Deletion extends OptionalStored<Temporal.Temporal> {
  readonly "Rebuild": Deletion
  readonly "~appkernel/Model/trait": "deleted"
}

/**
 * Adds the field `revision`, and a history: with every write, the repository stores a copy of the document as it is
 * after the write, with the time and the user. `history(id)` of the repository returns these states, and
 * `history.at(id, { revision })` returns one of them.
 *
 * `revision` is the number of the document's latest state: 1 after the insert, then one more with every write. It
 * continues if a document is removed and inserted again. It is 0 if it is not known, as in a document from before the
 * model had a history. The field is stored; callers can neither read nor send it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const historied = {
  revision: managed(
    "revision",
    defaulted(variants.Field({ store: Schema.Int }), () => 0)
  ) as unknown as VariantSchema.Field<{
    readonly store: Revision
  }> // as `defaulted` evolves it; `Revision` only has a name of its own
} as const

/**
 * The schema of the field that {@link historied} adds. By this type a repository has a history.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision extends Schema.withConstructorDefault<Schema.withDecodingDefaultTypeKey<Schema.Int>> {
  readonly "~appkernel/Model/trait": "revision"
}

// internal

const unknownTime = DateTime.makeUnsafe(0)

function managed(purpose: FieldAttributes["managed"], self: AnyField): AnyField {
  return evolve(self, {}, { managed: purpose })
}

function moment(purpose: "inserted" | "updated"): VariantSchema.Field<{
  readonly store: AuditedTime
  readonly wire: Temporal.Temporal
}> {
  return managed(
    purpose,
    supplied(
      readAs(variants.Field({ store: Temporal.DateTime, wire: Temporal.DateTime }), () => unknownTime),
      Generator.dateNow,
      {}
    )
  ) as never // as `supplied` evolves it; `AuditedTime` only has a name of its own
}

function user(purpose: "created_by" | "updated_by"): VariantSchema.Field<{
  readonly store: AuditedUser
  readonly wire: Schema.optionalKey<Schema.String>
}> {
  return managed(
    purpose,
    supplied(optional(variants.Field({ store: Schema.String, wire: Schema.String })), Generator.currentUserId, {})
  ) as never // as `supplied` evolves it; `AuditedUser` only has a name of its own
}

function optional(self: FieldInput): AnyField {
  return evolve(self, optionality(Function.identity), { optional: true })
}
