import * as Context from "effect/Context"

/**
 * The identifier of the current user. `Security` exports it; models and repositories read it.
 *
 * @internal
 */
export const CurrentUserId: Context.Reference<string | undefined> = Context.Reference<string | undefined>(
  "appkernel/Security/CurrentUserId",
  { defaultValue: () => undefined }
)
