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

// The instructions of regular expressions that a filter may run for a document: about a second.
const maxTest = 2 ** 27

let evaluation = 0
let evaluations = 0
let test = 0

/** Begins the evaluation of a document, with a full budget. */
export const beginEvaluation = (): void => {
  evaluation = 0
  test = 0
  evaluations += 1
}

/** Begins the test of a document by a filter that computes nothing. */
export const beginTest = (): void => {
  test = 0
}

/** The work of the current evaluation so far. */
export const workOfEvaluation = (): number => evaluation

/** The unique number of the current evaluation. */
export const currentEvaluation = (): number => evaluations

/** The work of a rejection that an expression catches, whose error has a stack. */
export const failureCost = 500

/** Counts work of an evaluation before it is done; rejects it beyond the limit. */
export const charge = (units: number): void => {
  spend(units)
  evaluation += units
  if (!(evaluation <= maxEvaluation)) reject("an expression has too much to compute for one document")
}

/**
 * Counts work of a filter's conditions on a document before it is done; rejects it beyond the limit of all of them, which
 * is far above that of expressions: the work of one condition is linear in the document. `instructions` are those of a
 * regular expression, or as much other work.
 */
export const chargeTest = (units: number, instructions: number = 8 * units): void => {
  spend(units)
  test += instructions
  if (!(test <= maxTest)) reject("the filter or the update has too much to do in one document")
}
