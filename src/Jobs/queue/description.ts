/**
 * Jobs as data: what there is to know of one, whatever its payload is.
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Schedules from "effect/Schedule"
import type * as Schema from "effect/Schema"

/**
 * The options of `enqueue`.
 *
 * @category models
 * @since 0.1.0
 */
export interface EnqueueOptions {
  /** A second job with the same key is none while the first one is known, which includes some time after its end. */
  readonly key?: string | undefined
  /** The time until the first attempt. Defaults to none. */
  readonly delay?: Duration.Input | undefined
}

/**
 * What an implementation knows of its job.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attempt {
  /** The key, or an identifier that was made for the job. It is the same in each attempt. */
  readonly id: string
  /** 1 for the first attempt. */
  readonly attempt: number
}

/**
 * The implementation of any job.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any {
  readonly _tag: "JobImplementation"
  readonly job: { readonly name: string; readonly "~appkernel/Job": Described }
  /** An effect, whose services the engine's type names. */
  readonly run: (payload: never, attempt: Attempt) => unknown
}

/**
 * How work is done, whichever it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface WorkOptions {
  /**
   * How often a job that fails is tried again, and with which delays. Defaults to 9 times, after a second and then twice as long
   * each time, at most 5 minutes. After the last time it is a dead letter.
   */
  readonly retry?: {
    readonly times?: number | undefined
    readonly schedule?: Schedules.Schedule<unknown, number> | undefined
  } | undefined
  /** The time for an attempt, after which it is interrupted and has failed. Defaults to none. */
  readonly timeout?: Duration.Input | undefined
  /** How many of these jobs a process does at a time. Defaults to 1. */
  readonly concurrency?: number | undefined
  /**
   * In whose name a job is done. With `"service"` nobody is the user, and repositories reach all documents. With `"subject"` it is
   * the user who caused the job, with the grants of the service and with the roles that the account has when the job is done, of those
   * only the ones of the credentials by which it was caused. The service then needs `Accounts`, and an attempt fails while the account
   * is gone or blocked. Defaults to `"service"`.
   */
  readonly runAs?: "service" | "subject" | undefined
}

/**
 * What there is to know of a job, whatever its payload is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Described {
  readonly name: string
  readonly payload: Schema.Top
  readonly options: WorkOptions
}

/**
 * The options of `KernelEngine.enableCron`.
 *
 * @category models
 * @since 0.1.0
 */
export interface CronOptions extends Pick<WorkOptions, "retry" | "timeout"> {
  /** The time zone of the expression: `Europe/Zurich`. Defaults to UTC. */
  readonly zone?: string | undefined
  /**
   * What happens to due times at which no process of the service runs. With `"once"` the earliest of them is made up for at the next
   * start, with `"each"` all of them, the earliest first, and with `"skip"` none: a run that would begin more than a minute late
   * is left out. Defaults to `"once"`.
   */
  readonly missed?: "once" | "each" | "skip" | undefined
}

/**
 * A schedule of an engine.
 *
 * @category models
 * @since 0.1.0
 */
export interface Schedule {
  readonly name: string
  readonly expression: string
  /** The work for a due time: an effect, whose services the engine's type names. */
  readonly run: (due: DateTime.Utc) => unknown
  readonly options: CronOptions
}

/**
 * How work fails, whichever work it is.
 *
 * @category errors
 * @since 0.1.0
 */
export interface Failure {
  readonly _tag: string
}
