import * as Effect from "effect/Effect"
import { QueryRejected, type ReadError, type StoreError } from "../RepositoryError.ts"

/**
 * Turns `DuplicateKey` into `QueryRejected`, for an operation that adds no document and no indexed value. Such an operation
 * only violates a unique index when the stored documents violate it already, or when a pipeline writes them itself.
 */
export const rejectDuplicateKey = <A>(
  operation: string,
  self: Effect.Effect<A, StoreError>
): Effect.Effect<A, ReadError> =>
  Effect.catchTag(
    self,
    "DuplicateKey",
    (duplicate) => Effect.fail(new QueryRejected({ operation, detail: duplicate.message }))
  )
