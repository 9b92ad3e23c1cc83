/**
 * The stages of a pipeline.
 */
import type * as Result from "effect/Result"
import type { BatchIterator } from "../execution/batchIterator.ts"
import type { Problem } from "../limits/queryProblem.ts"
import type { Memory } from "../limits/sizeLimits.ts"

/**
 * What a pipeline needs to know of the world.
 *
 * @internal
 */
export interface StageContext {
  /** What `$$NOW` stands for, in milliseconds. */
  readonly now: number
  /** A number from 0 to 1, without 1. */
  readonly random: () => number
  /** All documents of another collection. */
  readonly collection: (name: string) => BatchIterator
  /** What all stages together may keep. */
  readonly memory: Memory
}

/** @internal */
export type Transform = (source: BatchIterator) => BatchIterator

/**
 * Reads the operand of a stage.
 *
 * @internal
 */
export type StageParser = (operand: unknown, context: StageContext) => Result.Result<Transform, Problem>
