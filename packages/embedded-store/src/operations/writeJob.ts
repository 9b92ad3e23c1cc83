/** Write jobs of the embedded store. A job is synchronous: it is atomic, and other fibers see all of it or nothing. */
import type { DuplicateKey, ReadError } from "@appkernel/document-store/StoreError"
import { type Problem, toError } from "@appkernel/mql/internal"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { KeyValue } from "../storage/orderedStore.ts"

/** The maximum number of documents that one job writes, so that other fibers don't wait long. */
export const maxPerJob = 256

/** Runs a job. The job must make all checks before its first write, since a failure does not undo its writes. */
export const runJob = <A, D extends DuplicateKey = never>(
  store: KeyValue,
  operation: string,
  run: () => Result.Result<A, D | Problem>
): Effect.Effect<A, D | ReadError> =>
  Effect.flatMap(store.write(operation, run), (result) => outcome(operation, result))

export const outcome = <A, D extends DuplicateKey>(
  operation: string,
  result: Result.Result<A, D | Problem>
): Effect.Effect<A, D | ReadError> =>
  Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(writeFailureOf(result.failure, operation))

export const writeFailureOf = <D extends DuplicateKey>(failure: D | Problem, operation: string): D | ReadError =>
  "kind" in failure ? toError(failure, operation) : failure

/** Continues. If `isLong`, other fibers run first. */
export const yieldIf = <A, E>(isLong: boolean, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  isLong ? Effect.flatMap(Effect.yieldNow, next) : next()
