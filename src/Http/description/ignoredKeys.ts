/** Read-only keys of documents. A body may contain them, so that clients can send back what they have read. */
import type { ModelLike } from "../../Model/internal.ts"

/** The members of responses besides a model's fields. */
export const shownKeys: ReadonlyArray<string> = ["_type", "_links", "_embedded"]

/** The keys that callers read and can't send. They are ignored, so that a document that was read can be sent back. */
export const ignoredKeysOf = (model: ModelLike, variant: "create" | "patch"): ReadonlyArray<string> => [
  ...shownKeys,
  ...Object.keys(model.store.fields).filter((key) => !Object.hasOwn(model[variant].fields, key))
]
