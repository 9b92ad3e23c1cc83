/**
 * The types that the stages of a pipeline share.
 */
import type * as Result from "effect/Result"
import type { BatchIterator } from "../execution/batchIterator.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import type { Problem } from "../limits/queryProblem.ts"
import type { Memory } from "../limits/sizeLimits.ts"

/**
 * What the stages of a pipeline depend on.
 *
 * @internal
 */
export interface StageContext extends ExpressionContext {
  /** A random number in [0, 1). */
  readonly random: () => number
  /** All documents of another collection. */
  readonly collection: (name: string) => BatchIterator
  /** The memory budget of all stages together. */
  readonly memory: Memory
}

/** @internal */
export type Transform = (source: BatchIterator) => BatchIterator

/**
 * Parses the operand of a stage.
 *
 * @internal
 */
export type StageParser = (operand: unknown, context: StageContext) => Result.Result<Transform, Problem>
