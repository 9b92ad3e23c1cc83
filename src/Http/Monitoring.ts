/**
 * What a service tells those who operate it: its health, and its metrics.
 *
 * **Details**
 *
 * | Path | With | Answers |
 * |---|---|---|
 * | `/health/live` | `health.enabled` | 200 while the process handles requests |
 * | `/health/ready` | `health.enabled` | 200 if every check succeeds, otherwise, and while the service stops, 503 with the names of those that don't |
 * | `/health` | and `require` | every check with its reason and its duration, for callers that the permission admits |
 * | `/metrics` | `metrics.enabled` | all metrics in the text format of Prometheus, for callers that the permission admits, if there is one |
 *
 * The checks are `store`, `migrations` if the engine has some, `disk` if documents are in a folder, `upstreams`, and those of
 * {@link layer}. A check has `health.timeout`, and its result counts for a second.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Record from "effect/Record"
import type { Permission } from "../Access/Permission.ts"

/**
 * A check: the service is not ready while it fails. The message of its error is the reason.
 *
 * @category models
 * @since 0.1.0
 */
export type Check<R = never> = Effect.Effect<unknown, { readonly message: string }, R>

/**
 * What a program adds to the configuration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> {
  /** Checks by their names. */
  readonly checks?: { readonly [name: string]: Check<R> } | undefined
  /**
   * Who gets `/health` and `/metrics` in a service with access control. Without it there is no `/health`, and `/metrics` is for
   * everybody.
   */
  readonly require?: Permission<boolean, never> | ReadonlyArray<Permission<boolean, never>> | undefined
}

/**
 * The options of the service; defaults to none.
 *
 * @category references
 * @since 0.1.0
 */
export const Monitoring: Context.Reference<Options> = Context.Reference<Options>("appkernel/Http/Monitoring", {
  defaultValue: () => ({})
})

/**
 * Adds checks, and names who may see details.
 *
 * **Example** (A check of a queue)
 *
 * ```ts
 * import { Monitoring, Permission } from "appkernel"
 * import { Effect, Queue } from "effect"
 *
 * const jobs = Effect.runSync(Queue.unbounded<string>())
 *
 * const monitoring = Monitoring.layer({
 *   checks: {
 *     queue: Effect.filterOrFail(Queue.size(jobs), (count) => count < 1000, () => ({ message: "too many jobs wait" }))
 *   },
 *   require: Permission.Role("operator")
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>({ checks = {}, require }: Options<R>): Layer.Layer<never, never, R> =>
  Layer.effect(
    Monitoring,
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.succeed({
        require,
        checks: Record.map(checks, (check) => Effect.provideContext(check, context))
      })
    )
  )
