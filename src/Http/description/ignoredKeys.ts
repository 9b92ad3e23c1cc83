import type { ModelLike } from "../../Model/introspection.ts"

/**
 * What answers say beside the fields of a model.
 *
 * @internal
 */
export const shownKeys: ReadonlyArray<string> = ["_type", "_links"]

/**
 * The keys that a caller sees of a model and can't send: they are ignored, so that a document that was read can be sent
 * back.
 *
 * @internal
 */
export const ignoredKeysOf = (model: ModelLike, variant: "create" | "patch"): ReadonlyArray<string> => [
  ...shownKeys,
  ...Object.keys(model.store.fields).filter((key) => !Object.hasOwn(model[variant].fields, key))
]
