/**
 * Budgets of steps: synchronous work after which other fibers run.
 *
 * Work is counted, not timed, so that a request has the same outcome on every machine. A unit is roughly ten nanoseconds. A
 * step ends after about 10 ms. The counters are module-wide, since a step is synchronous and nothing interrupts it.
 */

// About ten milliseconds. A step may exceed it by one evaluation.
const maxStep = 1_000_000

let done = 0
let step = 0

/** Begins a step: other fibers could run before it. */
export const beginStep = (): void => {
  step = done
}

/** Whether the step has used its budget: the caller leaves the rest to the next step. */
export const isStepDone = (): boolean => done - step >= maxStep

/** The units of work done so far; a caller takes the difference of two readings. */
export const workDone = (): number => done

/** Counts work that is bounded by the size of stored data. */
export const spend = (units: number): void => {
  done += units
}
