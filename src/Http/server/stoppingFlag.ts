/** The flag of a server that shuts down, which the readiness check reads. */
import * as Context from "effect/Context"

/** Whether the service stops: it is not ready any more, and still answers. */
export const Draining: Context.Reference<{ isStopping: boolean }> = Context.Reference<{ isStopping: boolean }>(
  "appkernel/Http/server/stoppingFlag",
  { defaultValue: () => ({ isStopping: false }) }
)
