/**
 * Jobs of the embedded store: what happens between two others.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Problem, toError } from "../../mql/limits/queryProblem.ts"
import type { DuplicateKey, ReadError } from "../../RepositoryError.ts"
import type { KeyValue } from "../../storage/orderedStore.ts"

/**
 * So many documents at most are written in one job, which nothing can interrupt.
 *
 * @internal
 */
export const maxPerJob = 256

/**
 * Runs a job that has looked at everything that could be wrong before it writes.
 *
 * @internal
 */
export const runJob = <A, D extends DuplicateKey = never>(
  store: KeyValue,
  operation: string,
  run: () => Result.Result<A, D | Problem>
): Effect.Effect<A, D | ReadError> =>
  Effect.flatMap(store.write(operation, run), (result) => outcome(operation, result))

/** @internal */
export const outcome = <A, D extends DuplicateKey>(
  operation: string,
  result: Result.Result<A, D | Problem>
): Effect.Effect<A, D | ReadError> =>
  Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(failureOf(result.failure, operation))

/** @internal */
export const failureOf = <D extends DuplicateKey>(failure: D | Problem, operation: string): D | ReadError =>
  "kind" in failure ? toError(failure, operation) : failure

/**
 * Goes on, after others when there is more to come.
 *
 * @internal
 */
export const inTurn = <A, E>(isLong: boolean, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  isLong ? Effect.flatMap(Effect.yieldNow, next) : next()
