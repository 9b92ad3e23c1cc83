import type * as Schema from "effect/Schema"
import { managedField, type ModelLike, unwrapped } from "./variants.ts"

/**
 * The schema of a model's identifier, if it has one.
 *
 * @internal
 */
export const idSchemaOf = (model: ModelLike): Schema.Codec<unknown> | undefined => {
  const field = managedField(model, "id")
  // The fields of a model are codecs without services.
  return field === undefined ? undefined : unwrapped(model.store.fields[field] as Schema.Top) as Schema.Codec<unknown>
}
