/**
 * The stages of a pipeline.
 */
import type * as Result from "effect/Result"
import type { Source } from "../execution/batchIterator.ts"
import type { Problem } from "../limits/queryProblem.ts"
import type { Memory } from "../limits/sizeLimits.ts"

/**
 * What a pipeline needs to know of the world.
 *
 * @internal
 */
export interface Surroundings {
  /** What `$$NOW` stands for, in milliseconds. */
  readonly now: number
  /** A number from 0 to 1, without 1. */
  readonly random: () => number
  /** All documents of another collection. */
  readonly collection: (name: string) => Source
  /** What all stages together may keep. */
  readonly memory: Memory
}

/** @internal */
export type Transform = (source: Source) => Source

/**
 * Reads the operand of a stage.
 *
 * @internal
 */
export type StageParser = (operand: unknown, surroundings: Surroundings) => Result.Result<Transform, Problem>
