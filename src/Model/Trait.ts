/**
 * Fields that the repository itself keeps up to date. Spread them into a model's fields; `Model` exports all of them.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Field, generated, optional, type OptionalStored } from "./Field.ts"
import * as Generator from "./Generator.ts"
import type { FieldAttributes } from "./internal/annotations.ts"
import { evolve } from "./internal/fields.ts"
import { variants } from "./internal/variants.ts"
import * as Temporal from "./Temporal.ts"

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
    readonly create: Schema.optionalKey<Schema.Int>
    readonly patch: Schema.Int
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
