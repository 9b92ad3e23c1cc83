/** The schemas of identifiers in URLs and requests, as far as callers see them. */
import type * as Schema from "effect/Schema"
import { isRule } from "../shape/addressable.ts"
import { nameOf } from "../shape/storedForm.ts"
import { managedField, type ModelLike, unwrapped } from "../shape/variants.ts"
import { idSchemaOf } from "./reference.ts"

/** Whether every text that a URL can address is an identifier. */
export const isAnyText = ({ ast }: Schema.Top): boolean =>
  ast._tag === "String" && ast.encoding === undefined &&
  (ast.checks ?? []).every((check) => isRule(check) || nameOf(check) === "effect/schema/isMinLength")

/** The schema of the identifier's wire form; `undefined` if callers don't see it. */
export const shownIdOf = (model: ModelLike): Schema.Top | undefined => {
  const field = model.wire.fields[managedField(model, "id") ?? ""]
  // Every struct field is a schema.
  return field === undefined ? undefined : unwrapped(field as Schema.Top)
}

/** The schema of identifiers in requests; `undefined` if any text is valid. */
export const wireIdOf = (model: ModelLike): Schema.Top | undefined => {
  const stored = idSchemaOf(model)
  return stored === undefined || isAnyText(stored) ? undefined : shownIdOf(model)
}
