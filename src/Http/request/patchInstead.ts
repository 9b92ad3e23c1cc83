/** A JSON Patch of the service itself, which a `PATCH` applies in the place of a body. */
import * as Context from "effect/Context"
import type { JsonPatch } from "effect/JsonPatch"

export const PatchInstead = Context.Reference<JsonPatch | undefined>("appkernel/Http/request/patchInstead", {
  defaultValue: () => undefined
})
