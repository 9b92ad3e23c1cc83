/**
 * The options with which operations read and write collections. They travel in the fiber's context, so that the operations of
 * every store keep their arguments, and a store that has no use for them does not see them.
 */
import * as Context from "effect/Context"
import type { StoreOptions } from "../DocumentStore.ts"

/** The options by the names of collections. */
export const CurrentStoreOptions = Context.Reference<{ readonly [collection: string]: StoreOptions }>(
  "appkernel/Repository/StoreOptions",
  { defaultValue: () => ({}) }
)
