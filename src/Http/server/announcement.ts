import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What is to be logged once all is ready; `undefined` where nobody waits for that. */
const Announced = Context.Reference<Array<string> | undefined>("appkernel/Http/server/announcement/Announced", {
  defaultValue: () => undefined
})

/**
 * Logs a line once all of {@link announcedLast} around it is ready; without one, at once.
 *
 * @internal
 */
export const announce = (line: string): Effect.Effect<void> =>
  Effect.flatMap(Announced, (lines) =>
    lines === undefined ? Effect.logInfo(line) : Effect.sync(() => {
      // A server listens before all that it serves is ready, and says so last.
      lines.unshift(line)
    }))

/**
 * Builds a service, and then logs what was announced in it, unless a larger one that it is part of does so.
 *
 * @internal
 */
export const announcedLast = <A, E, R>(build: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Announced, (outer) => {
    if (outer !== undefined) return build
    const lines: Array<string> = []
    return Effect.tap(
      Effect.provideService(build, Announced, lines),
      () => Effect.forEach(lines, (line) => Effect.logInfo(line), { discard: true })
    )
  })
