/** The parts of the change streams that routes use, as a type: only services that record changes load the code. */
import type { changesRoute } from "./changesRoute.ts"
import type { LiveStreams } from "./liveStreams.ts"
import type { watchRoute } from "./watchRoute.ts"

/** What streams changes, where a service records some. */
export interface Live {
  readonly streams: LiveStreams
  readonly changesRoute: typeof changesRoute
  readonly watchRoute: typeof watchRoute
}
