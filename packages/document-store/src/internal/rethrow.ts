/** Throws any value from synchronous code, such as the evaluation of a query or a callback of LMDB. */
import * as Result from "effect/Result"

/** Throws a value from within code that can't return a failure. */
export const rethrow = (cause: unknown): never => Result.getOrThrowWith(Result.fail(cause), (thrown) => thrown)
