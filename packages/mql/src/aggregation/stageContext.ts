/** The types that the stages of a pipeline share. */
import type { FindOptions } from "@appkernel/document-store/StoreTypes"
import type * as Result from "effect/Result"
import type { BatchIterator } from "../execution/batchIterator.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import type { Problem } from "../limits/queryProblem.ts"
import type { Memory } from "../limits/sizeLimits.ts"

/** What a pipeline depends on. */
export interface PipelineContext extends ExpressionContext {
  /** A random number in [0, 1). */
  readonly random: () => number
  /** Parses a find in another collection; the result begins to read it. */
  readonly find: (
    name: string,
    options: FindOptions,
    context: ExpressionContext
  ) => Result.Result<() => BatchIterator, Problem>
  /** The memory budget of all stages together. */
  readonly memory: Memory
}

/** What the stages of a pipeline depend on. */
export interface StageContext extends PipelineContext {
  /** Parses the pipeline in a stage. May throw. */
  readonly parse: (stages: ReadonlyArray<unknown>, context: StageContext) => Transform
  /** The memory budget of what is held for the whole operation, however often a stage runs. */
  readonly lasting: Memory
  /** The number of pipelines around this one. */
  readonly depth: number
}

export type Transform = (source: BatchIterator) => BatchIterator

/** Parses the operand of a stage. May throw. */
export type StageParser = (operand: unknown, context: StageContext) => Transform
