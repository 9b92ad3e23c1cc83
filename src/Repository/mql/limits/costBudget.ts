/**
 * How much work is done: so that no step takes long, and no evaluation goes on without end. It is counted and not timed,
 * for the same request to come to the same end everywhere. A unit is what takes ten nanoseconds or so.
 */
import { refuse } from "./queryProblem.ts"

// Ten milliseconds: others wait for one step, and for the longest evaluation that it may end with.
const maxStep = 1_000_000

// 50 milliseconds.
const maxEvaluation = 5_000_000

let done = 0
// Nothing of the others outlives a step, which nothing interrupts.
let step = 0
let evaluation = 0
let evaluations = 0

/**
 * A new step: others could run before it.
 *
 * @internal
 */
export const beginStep = (): void => {
  step = done
}

/**
 * Whether there was enough work in this step: whatever can wait is for the next one.
 *
 * @internal
 */
export const isStepDone = (): boolean => done - step >= maxStep

/**
 * How much work was done so far. What comes of several steps together is the difference.
 *
 * @internal
 */
export const workDone = (): number => done

/**
 * A new document, whose evaluation may cost as much as any other's.
 *
 * @internal
 */
export const beginEvaluation = (): void => {
  evaluation = 0
  evaluations += 1
}

/**
 * Which evaluation it is: a number that no two have in common.
 *
 * @internal
 */
export const currentEvaluation = (): number => evaluations

/**
 * Counts work that the size of what is stored sets a limit to.
 *
 * @internal
 */
export const spend = (units: number): void => {
  done += units
}

/**
 * Counts work of an evaluation before it is done, and refuses it beyond the limit.
 *
 * @internal
 */
export const charge = (units: number): void => {
  done += units
  evaluation += units
  if (!(evaluation <= maxEvaluation)) refuse("an expression has too much to compute for one document")
}
