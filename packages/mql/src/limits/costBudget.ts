/**
 * The budget of computation for the evaluation of one document.
 *
 * Its work is counted as that of the step that it is part of. An evaluation is rejected after about 50 ms. The counters are
 * module-wide, since an evaluation is synchronous and nothing interrupts it.
 */
import { spend } from "@appkernel/document-store/internal"
import { reject } from "./queryProblem.ts"

// About 50 milliseconds.
const maxEvaluation = 5_000_000

let evaluation = 0
let evaluations = 0

/** Begins the evaluation of a document, with a full budget. */
export const beginEvaluation = (): void => {
  evaluation = 0
  evaluations += 1
}

/** The work of the current evaluation so far. */
export const workOfEvaluation = (): number => evaluation

/** The unique number of the current evaluation. */
export const currentEvaluation = (): number => evaluations

/** Counts work of an evaluation before it is done; rejects it beyond the limit. */
export const charge = (units: number): void => {
  spend(units)
  evaluation += units
  if (!(evaluation <= maxEvaluation)) reject("an expression has too much to compute for one document")
}
