/**
 * Runs mingo's stages: document by document in bounded steps, or on all documents at once within the memory budget.
 */
import * as Result from "effect/Result"
import { Lazy } from "mingo/lazy"
import { isStepDone, spend } from "../../../internal/stepBudget.ts"
import { isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { type BatchIterator, ended, mapEach } from "../execution/batchIterator.ts"
import { definedFields, readable, thaw } from "../expression/mingoDocuments.ts"
import type { EvaluationOptions } from "../expression/operatorContext.ts"
import { stageOf, tryMingo } from "../expression/operators.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { type Problem, rejected } from "../limits/queryProblem.ts"
import { checkSize, type Memory, memoryOf } from "../limits/sizeLimits.ts"

/**
 * A stage in two phases: makes a document readable for mingo, then computes the result, which may be none.
 *
 * @internal
 */
export type Phases = readonly [
  prepare: (document: Document) => Document,
  run: (prepared: Document) => Result.Result<Document | undefined, Problem>
]

/**
 * A stage that maps one document at a time to a result or to none.
 *
 * @internal
 */
export const perDocument = (
  name: string,
  operand: unknown,
  options: EvaluationOptions
): (document: Document) => Result.Result<Document | undefined, Problem> => {
  const [prepare, run] = phasesOf(name, operand, options)
  return (document) =>
    Result.map(run(prepare(document)), (made) => made === undefined ? undefined : definedFields(made))
}

/**
 * The phases of {@link perDocument}, for large documents between whose phases other fibers run.
 *
 * @internal
 */
export const phasesOf = (name: string, operand: unknown, options: EvaluationOptions): Phases => {
  const waiting: Array<Document> = []
  const started = tryMingo(() =>
    stageOf(name)?.(
      // The end of this input is not final: mingo asks again for the next document.
      Lazy(() => waiting.length > 0 ? { value: waiting.pop(), done: false } : { done: true }),
      operand,
      options
    )
  )
  return [
    changesNested(name, operand) ? thaw : readable,
    (prepared) => {
      if (Result.isFailure(started)) return Result.fail(started.failure)
      beginEvaluation()
      waiting.push(prepared)
      return Result.flatMap(tryMingo(() => started.success?.next().value), made)
    }
  ]
}

/**
 * Applies the phases of a stage to each document of a pipeline.
 *
 * @internal
 */
export const eachIn = (source: BatchIterator, [prepare, run]: Phases): BatchIterator => {
  const read = mapEach(source, (document) => Result.succeed(prepare(document)))
  return mapEach(mapEach(read, run), (document) => Result.succeed(definedFields(document)))
}

/**
 * Validates the operand of a stage early: mingo would report it only with the first document.
 *
 * @internal
 */
export const problemOfStage = (
  name: string,
  operand: unknown,
  options: EvaluationOptions
): Problem | undefined => {
  const run = tryMingo(() => stageOf(name)?.(Lazy([]), operand, options).collect())
  return Result.isFailure(run) ? run.failure : undefined
}

/**
 * A stage that needs all its input at once. The documents are mutable copies held in memory.
 *
 * @internal
 */
export const ofAll = (
  name: string,
  documents: ReadonlyArray<Document>,
  operand: unknown,
  options: EvaluationOptions,
  memory: Memory
): BatchIterator => {
  let output: ReturnType<NonNullable<ReturnType<typeof stageOf>>> | undefined
  let left = documents.length + maxMade
  let isDone = false
  const next = () => {
    if (output === undefined) {
      charge(documentCost * documents.length)
      output = stageOf(name)?.(Lazy(documents), operand, options)
    }
    return output?.next() ?? { done: true }
  }
  return () => {
    if (isDone) return ended
    const some: Array<Document> = []
    do {
      beginEvaluation()
      spend(documentCost)
      const result = tryMingo(next)
      if (Result.isFailure(result)) return Result.fail(result.failure)
      if (result.success.done) {
        isDone = true
        for (const document of documents) memory.release(memoryOf(document))
        break
      }
      const document = made(result.success.value)
      if (Result.isFailure(document)) return Result.fail(document.failure)
      if (document.success !== undefined) some.push(definedFields(document.success))
      left -= 1
      if (left < 0) return Result.fail(rejected(`${name} makes more than ${maxMade} documents`))
    } while (some.length < maxPerStep && !isStepDone())
    return Result.succeed(some)
  }
}

// internal

const maxPerStep = 128

// MongoDB's limit for the documents that `$densify` generates.
const maxMade = 500_000

// These stages sort and group their whole input in one step.
const documentCost = 100

/** Whether the stage sets or removes nested fields, which mingo does in place. */
const changesNested = (name: string, operand: unknown): boolean =>
  isDocument(operand)
    ? Object.entries(operand).some(([key, value]) => key.includes(".") || (name === "$project" && isDocument(value)))
    : name === "$unset" && [operand].flat().some((path) => typeof path === "string" && path.includes("."))

// Checks the size first: a value that contains a part several times could take exponential time to visit.
const made = (value: unknown): Result.Result<Document | undefined, Problem> =>
  isDocument(value) ? checkSize(value) : Result.succeed(undefined)
