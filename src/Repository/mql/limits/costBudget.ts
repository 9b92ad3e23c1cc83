/**
 * Budgets of computation: for a step, after which other fibers run, and for the evaluation of one document.
 *
 * Work is counted, not timed, so that a request has the same outcome on every machine. A unit is roughly ten nanoseconds.
 * Limits: a step ends after about 10 ms, an evaluation is refused after about 50 ms. The counters are module-wide, since
 * a step is synchronous and nothing interrupts it.
 */
import { refuse } from "./queryProblem.ts"

// About ten milliseconds. A step may exceed it by one evaluation.
const maxStep = 1_000_000

// About 50 milliseconds.
const maxEvaluation = 5_000_000

let done = 0
let step = 0
let evaluation = 0
let evaluations = 0

/**
 * Begins a step: other fibers could run before it.
 *
 * @internal
 */
export const beginStep = (): void => {
  step = done
}

/**
 * Whether the step has used its budget: the caller leaves the rest to the next step.
 *
 * @internal
 */
export const isStepDone = (): boolean => done - step >= maxStep

/**
 * The units of work done so far; a caller takes the difference of two readings.
 *
 * @internal
 */
export const workDone = (): number => done

/**
 * Begins the evaluation of a document, with a full budget.
 *
 * @internal
 */
export const beginEvaluation = (): void => {
  evaluation = 0
  evaluations += 1
}

/**
 * The unique number of the current evaluation.
 *
 * @internal
 */
export const currentEvaluation = (): number => evaluations

/**
 * Counts work that is bounded by the size of stored data.
 *
 * @internal
 */
export const spend = (units: number): void => {
  done += units
}

/**
 * Counts work of an evaluation before it is done; refuses it beyond the limit.
 *
 * @internal
 */
export const charge = (units: number): void => {
  done += units
  evaluation += units
  if (!(evaluation <= maxEvaluation)) refuse("an expression has too much to compute for one document")
}
