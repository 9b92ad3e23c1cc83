/** Removes the bytes of files that no document refers to, again and again while a service runs. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { configOf } from "../../internal/configurationKeys.ts"
import * as Repository from "../../Repository/Repository.ts"

/** Sweeps in the background until the scope closes. Of several processes, one does so in each interval. */
export const sweeping = Effect.gen(function*() {
  const interval = yield* configOf("files.sweep_interval")
  const grace = yield* configOf("files.sweep_grace")
  const swept = Repository.sweepFiles({ grace, every: interval }).pipe(
    Effect.flatMap((count) =>
      count === 0 ? Effect.void : Effect.logInfo(`Removed ${count} files that no document has referred to`)
    ),
    // The next one tries again.
    Effect.catch((error) => Effect.logWarning("Can't remove the files that no document refers to", error))
  )
  yield* Effect.forkScoped(Effect.repeat(swept, Schedule.spaced(interval)))
})
