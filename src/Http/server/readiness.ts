/** Orders the start: the server listens after everything else is built, and announcements follow. Says when it stops. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

type Step = Effect.Effect<void, ListenFailed>

/** The steps to run once everything is ready; `undefined` if nothing waits for that. */
const Pending = Context.Reference<Array<Step> | undefined>("appkernel/Http/server/readiness/Pending", {
  defaultValue: () => undefined
})

/** Runs a step once the enclosing {@link readyLast} is complete, or immediately if there is none. @internal */
export const whenReady = (step: Step): Step =>
  // A server is built before the routes it serves, and starts to listen last.
  queued(step, (steps) => steps.unshift(step))

/**
 * Runs a step after those of {@link whenReady}, or immediately if there is no enclosing {@link readyLast}.
 *
 * @internal
 */
export const afterReady = (step: Step): Step => queued(step, (steps) => steps.push(step))

const queued = (step: Step, add: (steps: Array<Step>) => void): Step =>
  Effect.flatMap(Pending, (steps) => steps === undefined ? step : Effect.sync(() => add(steps)))

/** Builds a service and then runs its pending steps, unless an enclosing service does so. @internal */
export const readyLast = <A, E, R>(build: Effect.Effect<A, E, R>): Effect.Effect<A, E | ListenFailed, R> =>
  Effect.flatMap(Pending, (outer): Effect.Effect<A, E | ListenFailed, R> => {
    if (outer !== undefined) return build
    const steps: Array<Step> = []
    return Effect.tap(
      Effect.provideService(build, Pending, steps),
      () => Effect.forEach(steps, (step) => step, { discard: true })
    )
  })

/** Occurs when the server can't listen on its address. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  address: Schema.String,
  port: Schema.Int,
  detail: Schema.String
}) {
  override get message(): string {
    return `Can't listen on ${this.address}:${this.port}: ${this.detail}`
  }
}

/** Whether the service stops: it is not ready any more, and still answers. */
export const Draining: Context.Reference<{ isStopping: boolean }> = Context.Reference<{ isStopping: boolean }>(
  "appkernel/Http/server/readiness/Draining",
  { defaultValue: () => ({ isStopping: false }) }
)
