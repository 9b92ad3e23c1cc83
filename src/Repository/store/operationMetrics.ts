/**
 * Metrics of repository operations: their number, duration and outcome. They are Effect metrics with the names and attributes
 * of OpenTelemetry's conventions for databases: the collection, if there is one, the operation and the outcome, never values.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"

/** Records an operation that has ended, with its duration in nanoseconds. */
type Recorder = (
  exit: Exit.Exit<unknown, unknown>,
  nanoseconds: bigint,
  context: Context.Context<never>
) => void

/**
 * The attributes of an operation that are known before it runs. A transaction has no collection.
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
 * The recorder of an operation with these attributes. A series is made once for each outcome. The context of the operation
 * determines the registry of the metrics.
 *
 * @internal
 */
export const operationRecorder = (operation: { readonly [name: string]: string }): Recorder => {
  const seriesOf = (outcome: string): Series => {
    const attributes = { ...operation, outcome }
    return {
      count: Metric.counter("db.client.operations", {
        description: "Operations of repositories that have ended",
        attributes,
        incremental: true
      }),
      duration: Metric.histogram("db.client.operation.duration", {
        description: "How long operations of repositories took, in seconds",
        attributes,
        boundaries: durationBoundaries
      })
    }
  }
  const ok = seriesOf("ok")
  const failures = new Map<string, Series>()
  const failureSeries = (outcome: string): Series => {
    const existing = failures.get(outcome)
    if (existing !== undefined) return existing
    const series = seriesOf(outcome)
    failures.set(outcome, series)
    return series
  }
  return (exit, nanoseconds, context) => {
    const { count, duration } = exit._tag === "Success" ? ok : failureSeries(outcomeOf(exit.cause))
    count.updateUnsafe(1, context)
    duration.updateUnsafe(Number(nanoseconds) / 1e9, context)
  }
}

// internal

interface Series {
  readonly count: Metric.Counter<number>
  readonly duration: Metric.Histogram<number>
}

// In seconds, as OpenTelemetry recommends for this metric.
const durationBoundaries = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** The outcome of a failure: the tag of its error, of which the number is bounded. */
const outcomeOf = (cause: Cause.Cause<unknown>): string => {
  const failure = cause.reasons.find(Cause.isFailReason)
  if (failure === undefined) return Cause.hasInterruptsOnly(cause) ? "interrupted" : "defect"
  return Predicate.hasProperty(failure.error, "_tag") && Predicate.isString(failure.error._tag)
    ? failure.error._tag
    : "failure"
}
