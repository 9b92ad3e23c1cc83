/**
 * How often repositories do what, how long it takes, and what becomes of it: Effect metrics, named as OpenTelemetry's
 * conventions for databases name them. They tell the collection, if there is one, the operation and the outcome; never values.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"

/** Counts one operation that has ended, and the nanoseconds that it took. */
type Recorder = (
  exit: Exit.Exit<unknown, unknown>,
  nanoseconds: bigint,
  context: Context.Context<never>
) => void

/**
 * What is known of an operation before it begins. A transaction has no collection.
 *
 * @internal
 */
export const attributesOf = (
  operation: string,
  collection: string | undefined
): { readonly [name: string]: string } => ({
  ...collection === undefined ? {} : { "db.collection.name": collection },
  "db.operation.name": operation
})

/**
 * The recorder of an operation with these attributes. Its series are made once for each outcome; where they are kept is up
 * to the context of who runs the operation.
 *
 * @internal
 */
export const operationRecorder = (known: { readonly [name: string]: string }): Recorder => {
  const seriesOf = (outcome: string): Series => {
    const attributes = { ...known, outcome }
    return {
      count: Metric.counter("db.client.operations", {
        description: "Operations of repositories that have ended",
        attributes,
        incremental: true
      }),
      duration: Metric.histogram("db.client.operation.duration", {
        description: "How long operations of repositories took, in seconds",
        attributes,
        boundaries: secondsBetween
      })
    }
  }
  const ok = seriesOf("ok")
  const others = new Map<string, Series>()
  const otherwise = (outcome: string): Series => {
    const known = others.get(outcome)
    if (known !== undefined) return known
    const made = seriesOf(outcome)
    others.set(outcome, made)
    return made
  }
  return (exit, nanoseconds, context) => {
    const { count, duration } = exit._tag === "Success" ? ok : otherwise(outcomeOf(exit.cause))
    count.updateUnsafe(1, context)
    duration.updateUnsafe(Number(nanoseconds) / 1e9, context)
  }
}

// internal

interface Series {
  readonly count: Metric.Counter<number>
  readonly duration: Metric.Histogram<number>
}

// Those that OpenTelemetry advises for this metric.
const secondsBetween = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** The tag of the error; there are only so many. */
const outcomeOf = (cause: Cause.Cause<unknown>): string => {
  const failure = cause.reasons.find(Cause.isFailReason)
  if (failure === undefined) return Cause.hasInterruptsOnly(cause) ? "interrupted" : "defect"
  return Predicate.hasProperty(failure.error, "_tag") && Predicate.isString(failure.error._tag)
    ? failure.error._tag
    : "failure"
}
