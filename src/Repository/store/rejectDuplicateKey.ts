import * as Effect from "effect/Effect"
import { QueryRejected, type ReadError, type StoreError } from "../RepositoryError.ts"

/** Turns `DuplicateKey` into `QueryRejected` where an operation adds no document and no indexed value itself. */
export const rejectDuplicateKey = <A>(
  operation: string,
  self: Effect.Effect<A, StoreError>
): Effect.Effect<A, ReadError> =>
  Effect.catchTag(
    self,
    "DuplicateKey",
    (duplicate) => Effect.fail(new QueryRejected({ operation, detail: duplicate.message }))
  )
